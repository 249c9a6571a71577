// Two texts that differ anywhere are two texts, however long they are, on every road into the detector.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { argumentsText, bounded, textOf } from "../../extension/content.ts";
import {
  analyze,
  defaultConfig,
  hashOutput,
  normalizeMessage,
  replayFile,
  store,
  type TraceEvent,
} from "../../index.js";

const directory = mkdtempSync(join(tmpdir(), "watchdog-whole-"));
after(() => rmSync(directory, { recursive: true, force: true }));

/** What one round of an agent is made of; `n` makes it differ. */
interface Round {
  tool: string;
  args: unknown;
  output: string;
  text: string;
}

const LINE = "nothing new here, and nothing there\n";
const filler = (length: number): string => LINE.repeat(Math.ceil(length / LINE.length)).slice(0, length);
/** A text of `length` with `mark` in the middle. */
const marked = (length: number, mark: string): string => `${filler(length / 2)}${mark}${filler(length / 2)}`;
const WORDS = ["alpha", "bravo", "delta", "gamma", "kappa", "sigma"];
const word = (n: number): string => WORDS[n % WORDS.length] ?? "";

/** Long texts of one kind that either differ in one word in their middle or are the same. */
const KINDS: Record<string, (length: number, mark: string) => Round> = {
  "a written file": (length, mark) => ({
    tool: "write",
    args: { path: "a.txt", content: marked(length, mark) },
    output: "ok",
    text: "",
  }),
  "many short arguments": (length, mark) => {
    const names = Array.from({ length: Math.ceil(length / 100) }, (_, index) => [`n${index}`, filler(80)]);
    return { tool: "post", args: { to: "a", rest: { ...Object.fromEntries(names), mark } }, output: "ok", text: "" };
  },
  "a list of edits": (length, mark) => ({
    tool: "edit",
    args: { path: "a", edits: Array.from({ length: 300 }, () => ({ oldText: filler(length / 300), newText: mark })) },
    output: "ok",
    text: "",
  }),
  "an output": (length, mark) => ({
    tool: "bash",
    args: { command: "./report" },
    output: marked(length, mark),
    text: "",
  }),
};

const trace = (rounds: Round[]): TraceEvent[] =>
  rounds.flatMap(({ tool, args, output, text }, turn): TraceEvent[] => [
    { type: "assistant", at: turn, turn, text, stopReason: "toolUse" } as TraceEvent,
    { type: "tool_call", at: turn, turn, callId: `${turn}`, tool, args } as TraceEvent,
    { type: "tool_result", at: turn, turn, callId: `${turn}`, tool, output, isError: false } as TraceEvent,
  ]);

let files = 0;
async function replayed(lines: unknown[]): Promise<boolean> {
  const path = join(directory, `${files++}.jsonl`);
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const { findings } = await replayFile(path);
  rmSync(path);
  return findings.length > 0;
}

/** Whether each road finds that the rounds are a loop. */
const ROADS: Record<string, (rounds: Round[]) => boolean | Promise<boolean>> = {
  "the library": (rounds) => analyze(trace(rounds)).findings.length > 0,
  "a replayed trace": (rounds) => replayed(trace(rounds)),
  "a session file": (rounds) => {
    const time = (n: number): string => new Date(1_700_000_000_000 + n * 1000).toISOString();
    let id = 0;
    const entry = (message: object): object => {
      const parentId = id === 0 ? null : `e${id}`;
      id += 1;
      return { type: "message", id: `e${id}`, parentId, timestamp: time(id), message };
    };
    return replayed([
      { type: "session", version: 3, id: "s", timestamp: time(0), cwd: "/" },
      ...rounds.flatMap(({ tool, args, output }, turn) => [
        entry({ role: "assistant", content: [{ type: "toolCall", id: `${turn}`, name: tool, arguments: args }] }),
        entry({ role: "toolResult", toolCallId: `${turn}`, toolName: tool, content: [{ type: "text", text: output }] }),
      ]),
    ]);
  },
  "live events": (rounds) => {
    const handle = store.open(`whole-${files++}`, 0, { name: "main" }, defaultConfig());
    for (const [turn, { tool, args, output }] of rounds.entries()) {
      const at = turn * 1000;
      store.observeToolCall(handle, at, turn, `${turn}`, tool, argumentsText(args));
      const text = textOf([{ type: "text", text: output }]);
      store.observeToolResult(handle, at, turn, `${turn}`, tool, text, false, "", "");
    }
    const stuck = store.analysis(handle)?.likelyStuck === true;
    store.discard(handle);
    return stuck;
  },
};

for (const [kind, round] of Object.entries(KINDS)) {
  describe(kind, () => {
    for (const [road, loops] of Object.entries(ROADS)) {
      // Below and above every bound: what is compared, what is handed over whole, what was once cut.
      for (const length of [3_000, 90_000, 300_000, 1_200_000]) {
        test(`${road}: ${length} characters differ in one word, or do not`, async () => {
          const different = Array.from({ length: 5 }, (_, n) => round(length, word(n)));
          const same = Array.from({ length: 5 }, () => round(length, word(0)));
          assert.equal(await loops(different), false, "different ones are no loop");
          assert.equal(await loops(same), true, "the same ones are");
        });
      }
    }
  });
}

test("a long message that differs in its middle is another message", () => {
  const form = (mark: string): string => normalizeMessage(bounded(marked(1_200_000, mark)));
  assert.equal(form("alpha"), form("alpha"));
  assert.notEqual(form("alpha"), form("bravo"));
});

test("more than all that is handed over becomes a digest, and stays apart", () => {
  const args = (mark: string): unknown => ({
    path: "a",
    list: Array.from({ length: 1000 }, () => filler(3000)),
    mark: [mark],
  });
  assert.ok(argumentsText(args("a")).length < 1000);
  assert.equal(JSON.parse(argumentsText(args("a"))).path, "a");
  assert.notEqual(argumentsText(args("a")), argumentsText(args("b")));
});

test("an output's hash covers so many bytes of what is left without escape sequences", () => {
  const colours = "\u001b[31m\u001b[0m".repeat(100_000);
  const maxBytes = 3_000_000;
  for (const [before, between] of [
    ["", filler(2_000_000)],
    [colours, ""],
    [colours, `${colours}\n`],
    ["", `${"progress\r".repeat(200_000)}`],
  ] as const) {
    const hash = (mark: string, options?: { maxBytes: number }) =>
      hashOutput(`${before}${between}${mark}`, options).hash;
    assert.notEqual(hash("a", { maxBytes }), hash("b", { maxBytes }));
    if (between.length < 65_536 || between.startsWith("\u001b") || between.includes("\r"))
      assert.notEqual(hash("a"), hash("b"));
  }
  // Cut where it is documented to be, on both sides of the limit.
  const text = filler(200_000);
  for (const limit of [0, 1, 65_535, 65_536, 199_999]) {
    const hash = (rest: string) => hashOutput(text.slice(0, limit) + rest, { maxBytes: limit }).hash;
    assert.equal(hash("a\nb"), hash("c\n"));
    if (limit > 0) {
      const other = `${text.slice(0, limit - 1)}#`;
      assert.notEqual(hash("a\nb"), hashOutput(`${other}a\nb`, { maxBytes: limit }).hash);
    }
  }
});

test("a text that cannot be taken is refused and not cut", () => {
  const huge = "x".repeat(2 ** 26 + 1);
  assert.throws(() => normalizeMessage(huge), /at most 67108864 are taken/);
  // Its first lines say all that is asked for.
  assert.equal(hashOutput(`${filler(600_000)}\n${huge}`).hash, hashOutput(filler(600_000)).hash);
});
