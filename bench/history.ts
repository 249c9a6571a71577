// Whether an event costs more while a history is written: the same work, with the writer and without it, in turn.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultConfig, history, readHistory, store } from "../index.js";
import { workload } from "./corpus.ts";
import { measure, median, type Plan } from "./measure.ts";
import { formatNs, type Row, ratioRow } from "./report.ts";
import { Session } from "./session.ts";

const LIMIT = 1.1;

export async function withHistory(plan: Plan): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "watchdog-bench-history-"));
  const path = join(folder, "state.db");
  const session = new Session(store, "bench-history", workload("20 B", 8192), defaultConfig());
  // What a model's message brings: two events and what they used, and the notice when there is one.
  const run = (iterations: number) => {
    for (let index = 0; index < iterations; index += 1) {
      if (session.step() !== 0) store.takeNotice(session.handle, session.at);
      store.observeUsage(session.handle, session.at, 1000, 100, 0, 0, 0.01);
    }
  };
  const once = { rounds: 1, sampleMs: plan.sampleMs };
  const sample = () => measure([{ name: "", run }], once).get("") ?? Number.NaN;
  const samples = { without: [] as number[], with: [] as number[] };
  session.steps(2000);
  try {
    for (let round = 0; round < plan.rounds; round += 1) {
      samples.without.push(sample());
      await history.open(path, { maxDays: 90, maxMb: 64 });
      samples.with.push(sample());
      if (!history.close(10_000)) throw new Error("the history was not written");
    }
    const { usage } = store.target(session.handle) ?? {};
    const written = (await readHistory(path)).sessions[0]?.usage;
    if (usage?.input !== written?.input) throw new Error(`${written?.input} of ${usage?.input} tokens were written`);
  } finally {
    store.end(session.handle, session.at, "completed");
    rmSync(folder, { recursive: true, force: true });
  }
  const [without, written] = [median(samples.without), median(samples.with)];
  const detail = `${formatNs(without / 3)} → ${formatNs(written / 3)} per event`;
  return [ratioRow("event while a history is written", detail, written / without, { atMost: LIMIT })];
}
