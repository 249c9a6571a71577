// Many sessions and events through one store: does memory stay where it is once the bounds are reached? Runs as a process
// of its own (`node bench/soak.ts [sessions events]`), so that the resident size is the store's and not a benchmark's.

import { defaultConfig, store } from "../index.js";
import { workload } from "./corpus.ts";
import { Session } from "./session.ts";

/** Sessions that run at the same time. */
const AT_ONCE = 20;
const SAMPLES = 40;

export interface SoakResult {
  sessions: number;
  events: number;
  seconds: number;
  /** MiB resident, at even distances. */
  rss: number[];
  targets: number;
  evicted: number;
}

export function soak(sessions: number, events: number): SoakResult {
  const steps = workload("20 B", 8192);
  const longer = workload("1 KB with ANSI", 2048, 2);
  const perSession = Math.ceil(events / sessions / 2);
  const config = defaultConfig();
  const rss: number[] = [];
  const start = performance.now();
  let opened = 0;
  let sent = 0;
  while (opened < sessions) {
    const batch = Array.from({ length: Math.min(AT_ONCE, sessions - opened) }, () => {
      const id = `soak-${opened++}`;
      const session = new Session(store, id, opened % 4 === 0 ? longer : steps, config);
      store.alias(session.handle, `agent-${id}`);
      return session;
    });
    for (let step = 0; step < perSession; step += 1) for (const session of batch) session.step();
    sent += batch.length * perSession * 2;
    for (const session of batch) store.end(session.handle, session.at, "completed");
    if (opened % Math.max(AT_ONCE, Math.floor(sessions / SAMPLES / AT_ONCE) * AT_ONCE) === 0) {
      globalThis.gc?.();
      rss.push(process.memoryUsage.rss() / 2 ** 20);
    }
  }
  const { targets, evicted } = store.stats();
  return { sessions, events: sent, seconds: (performance.now() - start) / 1000, rss, targets, evicted };
}

if (import.meta.main) {
  const [sessions = 10_000, events = 5_000_000] = process.argv.slice(2).map(Number);
  console.log(JSON.stringify(soak(sessions, events)));
}
