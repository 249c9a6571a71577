// The cost of an event on Pi's thread: the native store against the JS twin, at three sizes of output.

import { defaultConfig, store } from "../index.js";
import { type Size, workload } from "./corpus.ts";
import { measure, type Plan } from "./measure.ts";
import { formatNs, type Row, ratioRow } from "./report.ts";
import { Session } from "./session.ts";
import { TwinStore } from "./twin/store.ts";

export const GOALS: readonly { size: Size; atLeast: number }[] = [
  { size: "20 B", atLeast: 3 },
  { size: "1 KB with ANSI", atLeast: 3 },
  { size: "64 KB with ANSI and one non-Latin-1 character", atLeast: 5 },
];

export function speed(plan: Plan): Row[] {
  return GOALS.map(({ size, atLeast }) => {
    const steps = workload(size, 8192);
    const config = defaultConfig();
    const sessions = {
      native: new Session(store, `speed-${size}`, steps, config),
      twin: new Session(new TwinStore(), "twin", steps, config),
      text: new Session(new TwinStore(false), "text", steps, config),
    };
    const sides = Object.entries(sessions).map(([name, session]) => {
      // Full rings and warm code before the clock starts.
      session.steps(size.startsWith("64") ? 120 : 2000);
      return { name, run: (iterations: number) => session.steps(iterations) };
    });
    const result = measure(sides, plan);
    const [native = Number.NaN, twin = Number.NaN, text = Number.NaN] = ["native", "twin", "text"].map(
      (name) => (result.get(name) ?? Number.NaN) / 2,
    );
    store.end(sessions.native.handle, sessions.native.at, "completed");
    const detail = `${formatNs(twin)} → ${formatNs(native)} per event (twin without detection: ${formatNs(text)})`;
    return ratioRow(`event, output of ${size}`, detail, twin / native, { atLeast });
  });
}
