// `npm run bench [-- --short] [--strict] [part of a name…]`: measures what docs/performance.md promises and prints the table.
// --short: fewer rounds, a small soak. --strict: exit code 1 when a goal is missed.

import { execFile } from "node:child_process";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { assertEqual } from "./equal.ts";
import { flatInRingLength, flatInTargets } from "./flat.ts";
import { withHistory } from "./history.ts";
import { replay } from "./replay.ts";
import { type Row, table } from "./report.ts";
import type { SoakResult } from "./soak.ts";
import { GOALS, speed } from "./speed.ts";
import { startUp } from "./start.ts";

/** Growth of the resident size after the bounds are reached that counts as flat. */
const SOAK_GROWTH_MIB = 8;

const { values, positionals } = parseArgs({
  options: { short: { type: "boolean" }, strict: { type: "boolean" } },
  allowPositionals: true,
});
const short = values.short ?? false;
const plan = short ? { rounds: 3, sampleMs: 100 } : { rounds: 21, sampleMs: 250 };

const PARTS: [name: string, run: () => Promise<Row[]> | Row[]][] = [
  ["speed", () => speed(plan)],
  ["ring", () => [flatInRingLength(plan)]],
  ["targets", () => flatInTargets({ ...plan, rounds: Math.min(plan.rounds, 7) })],
  ["history", () => withHistory({ ...plan, rounds: Math.min(plan.rounds, 7) })],
  ["start", () => startUp(short ? 5 : 40)],
  ["replay", () => replay(short ? 1 : 3)],
  ["soak", async () => [await soakRow()]],
];

console.log(`${cpus()[0]?.model.trim()}, ${cpus().length} threads, Node ${process.version}`);
const compared = assertEqual(GOALS.map(({ size }) => size));
console.log(`native and twin agree after each of ${compared} events`);

const rows: Row[] = [];
for (const [name, run] of PARTS) {
  if (positionals.length > 0 && !positionals.some((part) => name.includes(part))) continue;
  rows.push(...(await run()));
}
console.log(table(rows));
const missed = rows.filter(({ met }) => met === false);
if (missed.length > 0) console.log(`missed: ${missed.map(({ what }) => what).join(", ")}`);
if (values.strict && missed.length > 0) process.exitCode = 1;

/** In a process of its own: the resident size is to be the store's. */
async function soakRow(): Promise<Row> {
  const [sessions, events] = short ? [1000, 200_000] : [10_000, 5_000_000];
  const script = fileURLToPath(new URL("soak.ts", import.meta.url));
  const args = ["--expose-gc", script, String(sessions), String(events)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const result = JSON.parse(stdout) as SoakResult;
  // The bounds (100 finished targets, allocator and code warm) are reached well within the first quarter.
  const settled = result.rss.slice(Math.ceil(result.rss.length / 4));
  const [first = Number.NaN, last = Number.NaN] = [settled[0], settled.at(-1)];
  const peak = Math.max(...settled);
  return {
    what: `soak: ${sessions} sessions, ${result.events} events`,
    detail: `${first.toFixed(0)} → ${last.toFixed(0)} MiB resident, peak ${peak.toFixed(0)}; ${result.seconds.toFixed(0)} s, ${result.targets} targets kept, ${result.evicted} evicted`,
    result: `${(last - first).toFixed(1)} MiB`,
    goal: `≤ ${SOAK_GROWTH_MIB} MiB`,
    met: last - first <= SOAK_GROWTH_MIB && result.targets <= 200,
  };
}
