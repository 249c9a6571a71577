// Whether an event costs the same however much the store holds: long rings, many targets.

import { defaultConfig, store } from "../index.js";
import { workload } from "./corpus.ts";
import { measure, median, type Plan } from "./measure.ts";
import { formatNs, type Row, ratioRow } from "./report.ts";
import { Session } from "./session.ts";

const LIMIT = 1.3;
const SHORT_RING = 200;
const LONG_RING = 20_000;
const MANY_TARGETS = 10_000;

const steps = workload("20 B", 8192);

export function flatInRingLength(plan: Plan): Row {
  const sides = [SHORT_RING, LONG_RING].map((maxEventsPerAgent) => {
    const name = `ring-${maxEventsPerAgent}`;
    const session = new Session(store, name, steps, { ...defaultConfig(), maxEventsPerAgent });
    // Full before the clock starts: what is measured is a ring that drops an event for each that it takes.
    session.steps(LONG_RING);
    return { name, session, run: (iterations: number) => session.steps(iterations) };
  });
  const result = measure(sides, plan);
  for (const { session } of sides) store.end(session.handle, session.at, "completed");
  const [short, long] = sides.map(({ name }) => result.get(name));
  return flatRow(`maxEventsPerAgent ${SHORT_RING} → ${LONG_RING}`, short, long);
}

/**
 * A busy session alone, then beside 10,000 others that run as well, and that again: ended targets are evicted, so each
 * phase finds the store as it says.
 */
export function flatInTargets(plan: Plan): Row[] {
  const config = defaultConfig();
  const busy = new Session(store, "busy", steps, config);
  const samples = { alone: [] as number[], crowded: [] as number[], inTurn: [] as number[] };
  const once = { rounds: 1, sampleMs: plan.sampleMs };
  const sample = (run: (iterations: number) => void) => measure([{ name: "", run }], once).get("") ?? Number.NaN;
  for (let round = 0; round < plan.rounds; round += 1) {
    samples.alone.push(sample((iterations) => busy.steps(iterations)));
    const others = Array.from({ length: MANY_TARGETS }, (_, index) => {
      const session = new Session(store, `other-${round}-${index}`, steps, config);
      session.steps(5);
      return session;
    });
    samples.crowded.push(sample((iterations) => busy.steps(iterations)));
    let next = 0;
    const inTurn = (iterations: number) => {
      for (let index = 0; index < iterations; index += 1) others[next++ % others.length]?.step();
    };
    samples.inTurn.push(sample(inTurn));
    for (const { handle, at } of others) store.end(handle, at, "completed");
  }
  store.end(busy.handle, busy.at, "completed");
  const [alone, crowded, inTurn] = [median(samples.alone), median(samples.crowded), median(samples.inTurn)];
  return [
    flatRow(`targets 1 → ${MANY_TARGETS}, events of one of them`, alone, crowded),
    {
      what: `${MANY_TARGETS} targets, an event of each in turn`,
      detail: `${formatNs(inTurn / 2)} per event: the state of each comes from main memory`,
      result: `${(inTurn / alone).toFixed(2)}×`,
    },
  ];
}

/** Times are of a step: two events. */
function flatRow(what: string, one = Number.NaN, other = Number.NaN): Row {
  return ratioRow(what, `${formatNs(one / 2)} → ${formatNs(other / 2)} per event`, other / one, { atMost: LIMIT });
}
