// Shows that the native store and the JS twin say the same before anything is measured: the same keys and hashes of every
// event, and the same verdict after every event, on everything that is measured and on scripted agents besides.

import assert from "node:assert/strict";
import { defaultConfig, type Evidence, store, type WatchdogConfig } from "../index.js";
import { random, type Size, type Step, workload } from "./corpus.ts";
import { TwinStore } from "./twin/store.ts";

/** Steps of one turn each, or of one turn together. */
type Round = Step | Step[];

const bash = (command: string, output: string, isError = false): Step => ({
  tool: "bash",
  args: JSON.stringify({ command }),
  output,
  isError,
});
const edit = (path: string, oldText: string, newText: string): Step => ({
  tool: "edit",
  args: JSON.stringify({ path, edits: [{ oldText, newText }] }),
  output: "Edited.",
  isError: false,
});
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Pairs of outputs that differ in noise, and pairs that differ in what counts. */
const NOISE: [string, string][] = [
  ["started at 12:00:33", "started at 12:01:34"],
  ["2024-01-02T10:02:33.123Z ok", "2025-11-30T23:59:59.001Z ok"],
  ["built on 2024-01-02", "built on 2024-03-04"],
  ["1 failed in 3.41s", "1 failed in 0.98s"],
  ["took 120 ms", "took 98 ms"],
  ["downloaded 12.3 MB/s", "downloaded 980 kB/s"],
  ["listening (pid 4711)", "listening (pid 52)"],
  ["id 0b5e9c1a-7f3d-4e2b-9a6c-1d2e3f405162 gone", "id 9d2f4b6a-1c3e-4f5a-8b7c-0f1e2d3c4b5a gone"],
  ["container 3f2a1bc9d0e45f67 up", "container aa0f19c2b3d4e5f6 up"],
  ["<Pool object at 0x7f3a5c0012d0>", "<Pool object at 0x7fbb1c99a010>"],
  ["attempt 3/5 failed", "attempt 4/5 failed"],
  ["saved to /tmp/out-0.txt", "saved to /tmp/out-17.txt"],
  ["\u001b[31mFAIL\u001b[0m 1 test", "FAIL 1 test"],
  ["10%\r50%\r100%\n", "100%\r\n"],
];
const SIGNAL: [string, string][] = [
  ["41 failed", "2 failed"],
  ["exit code 1", "exit code 2"],
  ["[Errno 2] No such file", "[Errno 13] No such file"],
  ["listening on :8080", "listening on :8081"],
  ["src/a.rs:41:7: error", "src/a.rs:42:7: error"],
  ["wrote 8 bytes", "wrote 9 bytes"],
  ["node 20.1.0", "node 20.2.0"],
  ["commit 3f2a1bc9d0e45f6718293a4b5c6d7e8f90a1b2c3", "commit 00aa1bc9d0e45f6718293a4b5c6d7e8f90a1b2c3"],
];

const AGENTS: Record<string, Round[]> = {
  "same command, same result": times(14, () => bash("rg TOKEN src", "no match", true)),
  "same command, an edit in between": times(12, (n) =>
    n % 3 === 2 ? edit("a.ts", `x${n}`, `y${n}`) : bash("npm test", "41 failed", true),
  ),
  "an edit and its reversal, again and again": times(12, (n) =>
    n % 2 ? edit("a.ts", "y", "x") : edit("a.ts", "x", "y"),
  ),
  alternating: times(16, (n) => bash(`cat ${n % 2}.txt`, `text ${n % 2}`)),
  "cycle of three": times(21, (n) => bash(`cat ${n % 3}.txt`, `text ${n % 3}`)),
  "cycle of five": times(30, (n) => bash(`cat ${n % 5}.txt`, `text ${n % 5}`)),
  "results that change": times(16, (n) => bash("make", `target ${"abcdefghijklmnopqrst"[n]} is broken`, true)),
  "a counter that moves": times(16, (n) => bash("make", `${n * 7} objects left`)),
  "batches of six equal calls": times(5, () => times(6, () => bash("ls", "a b c"))),
  "batches in changing order": times(6, (n) => {
    const batch = [bash("ls", "a b c"), bash("pwd", "home")];
    return n % 2 ? batch : batch.toReversed();
  }),
  "type check, nothing changed": times(5, () => bash("npx tsc --noEmit", "error TS2322", true)),
  "type check, an edit in between": times(8, (n) =>
    n % 2 ? edit("b.ts", `${n}`, `${n + 1}`) : bash("npx tsc --noEmit", "error TS2322", true),
  ),
  paging: times(8, (n) => ({
    ...bash("", `lines of page ${n}`),
    tool: "read",
    args: JSON.stringify({ path: "a", offset: n }),
  })),
  ...Object.fromEntries(
    [...NOISE, ...SIGNAL].map(([a, b]) => [
      `outputs ${JSON.stringify([a, b])}`,
      [a, b, a, b, a].map((output) => bash("cat run.log", output)),
    ]),
  ),
};

/** Rules that the twin does not have are off here. They are on, as users have them, when time is measured. */
const ONLY_SHARED_RULES: Partial<WatchdogConfig> = {
  cycleThreshold: 0,
  typecheckRepeatThreshold: 0,
  staleRevisitsThreshold: 0,
  errorLoopThreshold: 0,
  unknownToolThreshold: 0,
  deniedThreshold: 0,
  emptyResultThreshold: 0,
  failingEditThreshold: 0,
  editRevertThreshold: 0,
  persistentFailureThreshold: 0,
  rereadThreshold: 0,
  narrationThreshold: 0,
  streamRepetition: false,
  compactionLoopThreshold: 0,
};

/** Throws at the first difference; returns how many events were compared. */
export function assertEqual(sizes: readonly Size[]): number {
  let events = 0;
  for (const [name, rounds] of Object.entries(AGENTS)) events += compare(name, rounds);
  const next = random(7);
  for (const size of sizes) {
    const steps = workload(size, 90, 3);
    // The same again, to see loops on these outputs too.
    const loops = steps.slice(0, 6).flatMap((step) => times(3 + Math.floor(next() * 3), () => step));
    events += compare(`workload of ${size}`, [...steps, ...loops]);
  }
  return events;
}

function compare(name: string, rounds: readonly Round[]): number {
  const config: WatchdogConfig = { ...defaultConfig(), ...ONLY_SHARED_RULES, maxEventsPerAgent: 1000 };
  const twin = new TwinStore();
  const id = `equal: ${name}`;
  let at = 1_700_000_000_000;
  const native = { store, handle: store.open(id, at, { name: id }, config) };
  const js = { store: twin, handle: twin.open(id, at, { name: id }, config) };
  let turn = 0;
  let count = 0;
  const agree = () => {
    count += 1;
    const analysis = store.analysis(native.handle);
    const evidence = twin.evidence(js.handle);
    const where = `${name}, turn ${turn}`;
    assert.equal(analysis.likelyStuck, evidence.length > 0, where);
    assert.deepEqual(verdict(analysis.evidence), verdict(evidence), where);
  };
  for (const round of rounds) {
    turn += 1;
    const steps = [round].flat();
    for (const [index, step] of steps.entries()) {
      at += 500;
      for (const side of [native, js]) {
        side.store.observeToolCall(side.handle, at, turn, `${turn}.${index}`, step.tool, step.args);
      }
      agree();
    }
    for (const [index, { tool, output, isError }] of steps.entries()) {
      at += 500;
      for (const side of [native, js]) {
        side.store.observeToolResult(side.handle, at, turn, `${turn}.${index}`, tool, output, isError, "", "");
      }
      agree();
    }
  }
  const kept = store.events(native.handle, 1000);
  const twins = twin.events(js.handle);
  assert.deepEqual(
    kept.map(({ type, outputHash, turn: of }) => ({ type, outputHash, of })),
    twins.map(({ type, outputHash, turn: of }) => ({ type, outputHash, of })),
    `${name}: events and hashes`,
  );
  const keys = (events: readonly { commandKey?: string }[]) => events.map(({ commandKey }) => plainKey(commandKey));
  assert.deepEqual(keys(kept), keys(twins), `${name}: keys`);
  store.end(native.handle, at, "completed");
  return count;
}

/** What is said of an agent: kinds of evidence, over how many steps, and how often at most. */
function verdict(evidence: readonly Pick<Evidence, "type" | "count" | "period">[]): Record<string, number> {
  const most: Record<string, number> = {};
  for (const { type, count, period } of evidence) {
    const kind = `${type} of ${period}`;
    most[kind] = Math.max(most[kind] ?? 0, count);
  }
  return most;
}

/** The hash behind an edit's key is of the implementation's own choice. */
function plainKey(key: string | undefined): string | undefined {
  return key?.replace(/(^|→ )(edit \S+) #\S{8}/g, "$1$2");
}
