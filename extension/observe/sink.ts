// Where observations go: one native call an event, with the session's handle and the time. Every part of the observer
// writes through this, so that what the store signals back has one way out.

import type { WatchdogStore } from "../../index.js";
import { now } from "../clock.ts";

export interface Sink {
  readonly store: WatchdogStore;
  readonly handle: number;
  /** Bits that the store returned. */
  signal(bits: number): void;
}

/** A lifecycle event; `fields` as in docs/trace.md. */
export function lifecycle(sink: Sink, event: string, fields?: Record<string, unknown>): void {
  const text = fields === undefined ? "" : JSON.stringify(fields);
  sink.signal(sink.store.observeLifecycle(sink.handle, now(), event, text));
}
