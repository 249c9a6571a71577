// Feeds steps into a store as the extension does. Knows the store's interface, measures nothing.

import type { WatchdogConfig, WatchdogStore } from "../index.js";
import type { Step } from "./corpus.ts";

/** What both the native store and the JS twin offer to a benchmark. */
export type ObservingStore = Pick<WatchdogStore, "open" | "observeAssistant" | "observeToolCall" | "observeToolResult">;

/** Milliseconds between two events. */
const PACE = 700;

/** A session that takes steps without end, one turn each. */
export class Session {
  readonly handle: number;
  readonly #store: ObservingStore;
  readonly #steps: readonly Step[];
  #turn = 0;
  // Now: what is long ago is no longer kept by a history.
  #at = Date.now();

  constructor(store: ObservingStore, id: string, steps: readonly Step[], config: WatchdogConfig) {
    this.#store = store;
    this.#steps = steps;
    this.handle = store.open(id, this.#at, { name: id }, config);
  }

  get at(): number {
    return this.#at;
  }

  /** One call and its result: two events. Returns what they signalled. */
  step(): number {
    const step = this.#steps[this.#turn % this.#steps.length] as Step;
    const turn = ++this.#turn;
    const callId = `call-${turn}`;
    this.#at += PACE;
    const called = this.#store.observeToolCall(this.handle, this.#at, turn, callId, step.tool, step.args);
    this.#at += PACE;
    const { tool, output, isError } = step;
    return called | this.#store.observeToolResult(this.handle, this.#at, turn, callId, tool, output, isError, "", "");
  }

  steps(count: number): void {
    for (let index = 0; index < count; index += 1) this.step();
  }
}
