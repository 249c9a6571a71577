// Where observations go: one native call an event, with the session's handle and the time. Every part of the observer
// writes through this, so that what the store signals back has one way out.

import type { WatchdogStore } from "../../index.js";
import { now } from "../clock.ts";

export interface Sink {
  readonly store: WatchdogStore;
  readonly handle: number;
  /** Bits that the store returned. */
  signal(bits: number): void;
  /** Lifecycle events go there too; they are not kept by the store. */
  tap?: ((at: number, event: string, fields: Record<string, unknown> | undefined) => void) | undefined;
}

/** A lifecycle event; `fields` as in docs/trace.md. */
export function lifecycle(sink: Sink, event: string, fields?: Record<string, unknown>): void {
  const text = fields === undefined ? "" : JSON.stringify(fields);
  const at = now();
  sink.signal(sink.store.observeLifecycle(sink.handle, at, event, text));
  sink.tap?.(at, event, fields);
}
