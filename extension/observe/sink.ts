// Where observations go: one native call an event, with the session's handle and the time. Every part of the observer
// writes through this, so that what the store signals back has one way out.

import type { LifecycleFields, WatchdogStore } from "../../index.js";
import { now } from "../clock.ts";
import type { LiveEvent } from "../generated/events.ts";

/** Fields as they are at hand: what is not known is left out. */
export type Sent<F> = { [K in keyof F]: F[K] | undefined };

export interface Sink {
  readonly store: WatchdogStore;
  readonly handle: number;
  /** Bits that the store returned. */
  signal(bits: number): void;
  /** Lifecycle events go there too; they are not kept by the store. */
  tap?: ((at: number, event: string, fields: Record<string, unknown> | undefined) => void) | undefined;
}

/** A lifecycle event; `fields` as in docs/trace.md. */
export function lifecycle<E extends LiveEvent>(sink: Sink, event: E, fields?: Sent<LifecycleFields[E]>): void {
  const text = fields === undefined ? "" : JSON.stringify(fields);
  const at = now();
  sink.signal(sink.store.observeLifecycle(sink.handle, at, event, text));
  sink.tap?.(at, event, fields);
}
