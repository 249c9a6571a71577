// Replaying recorded sessions: against the JS twin on 200 MB, after both were seen to find the same; and whether memory
// depends on the size of the file.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { defaultConfig, replayFile } from "../index.js";
import { median } from "./measure.ts";
import { writeSession } from "./replay-corpus.ts";
import { replayTwin } from "./replay-twin.ts";
import { type Row, ratioRow } from "./report.ts";

const SMALL = 20_000_000;
const LARGE = 200_000_000;
const LEAST_RATIO = 10;
/** Peak memory at 200 MB against 20 MB. */
const MOST_GROWTH = 1.3;

export async function replay(rounds: number): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), "pi-watchdog-replay-"));
  try {
    const [small, large] = [join(directory, "small.jsonl"), join(directory, "large.jsonl")];
    const { loops } = writeSession(small, SMALL);
    const corpus = writeSession(large, LARGE);
    await assertSame(small, loops);
    await assertSame(large, corpus.loops);

    const native: number[] = [];
    const twin: number[] = [];
    // Not in turn: the twin leaves a heap whose collection would go on, on the other core, while the next is measured.
    for (let round = 0; round < rounds; round += 1) native.push(await seconds(() => replayFile(large)));
    for (let round = 0; round < rounds; round += 1) {
      twin.push(await seconds(() => replayTwin(large, defaultConfig())));
    }
    const peaks = [await peakMiB(small), await peakMiB(large)] as const;
    const [ours, theirs] = [median(native), median(twin)];
    const what = `${(corpus.bytes / 1e6).toFixed(0)} MB session, ${corpus.results} results, ${corpus.loops} loops`;
    return [
      ratioRow(`replay: ${what}`, `${theirs.toFixed(2)} s in JS, ${ours.toFixed(2)} s native`, theirs / ours, {
        atLeast: LEAST_RATIO,
      }),
      ratioRow(
        "replay: peak memory, 20 MB → 200 MB",
        `${peaks.map((peak) => `${peak.toFixed(0)} MiB`).join(" → ")}, Node included`,
        peaks[1] / peaks[0],
        { atMost: MOST_GROWTH },
      ),
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Both must tell the same incidents at the same lines before anything is measured. */
async function assertSame(path: string, loops: number): Promise<void> {
  const { findings } = await replayFile(path);
  const told = findings
    // What a session costs is no verdict, and the twin knows none but verdicts.
    .filter(({ severity, intervention }) => severity === "warning" && intervention === undefined)
    .map(({ line, entryId, rule }) => ({ line, entryId, rule }));
  assert.deepEqual(told, await replayTwin(path, defaultConfig()));
  assert.equal(told.length, loops);
}

async function seconds(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return (performance.now() - start) / 1000;
}

/** In a process of its own, which does nothing else. */
async function peakMiB(path: string): Promise<number> {
  const library = new URL("../index.js", import.meta.url).href;
  // Where it can be had, the peak since the program began: the other figure also has its parent's size.
  const script = `import { existsSync, readFileSync } from "node:fs";
    import { replayFile } from ${JSON.stringify(library)};
    await replayFile(process.argv[1]);
    const status = existsSync("/proc/self/status") ? readFileSync("/proc/self/status", "utf8") : "";
    console.log(/VmHWM:\\s+(\\d+)/.exec(status)?.[1] ?? process.resourceUsage().maxRSS);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script, path], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
  });
  return Number(stdout) / 1024;
}
