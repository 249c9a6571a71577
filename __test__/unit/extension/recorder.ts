// A store that writes down what it is told, and messages as Pi sends them.

import type { Sink } from "../../../extension/observe/sink.ts";
import type { WatchdogStore } from "../../../index.js";

export type Call = [method: string, ...args: unknown[]];

export interface Recorder extends Sink {
  calls: Call[];
  signals: number[];
  /** What the next calls return, by method; 0 and `null` otherwise. */
  answers: Record<string, unknown>;
}

/** Times are left out of what is written down. */
export function recorder(): Recorder {
  const calls: Call[] = [];
  const answers: Record<string, unknown> = {};
  const store = new Proxy({} as WatchdogStore, {
    get:
      (_target, method: string) =>
      (...args: unknown[]) => {
        calls.push([method, ...(method === "refusal" ? args.slice(1) : args.slice(2))]);
        return answers[method] ?? (method.startsWith("observe") ? 0 : null);
      },
  });
  const signals: number[] = [];
  return { store, handle: 7, calls, answers, signals, signal: (bits) => signals.push(bits) };
}

export const text = (value: string) => ({ type: "text" as const, text: value });

/** Events are built by hand, without the fields that the observer must not need. */
// biome-ignore lint/suspicious/noExplicitAny: stands for any of Pi's event types
export const event = (fields: Record<string, unknown>): any => fields;

export const usage = (input: number, total: number) => ({
  input,
  output: 1,
  cacheRead: 2,
  cacheWrite: 3,
  cost: { total },
});
