// What the demo has to show, and what was seen of it. A step counts only when an observation ticked it.

import type { Screen } from "./screen.ts";

export const STEPS = {
  started: "Pi started with the watchdog and its sub-agent package",
  spawned: "the main agent started a child",
  looped: "the child repeated one command",
  alerted: "the user was told of the child at once",
  rescued: "the rescue message was in the child's next model request, once",
  recovered: "the child did something else and finished",
  undisturbed: "the main agent made no model call for it: the child had recovered by its next one",
  cost: "what the loop cost was known",
  inspected: "the watchdog's own events of the child could be read",
  replayed: "the replay of the recorded session found the same loop",
} as const;

export type Step = keyof typeof STEPS;

export class Checklist {
  readonly #seen = new Map<Step, string>();

  /** An observation. The first one of a step is kept. */
  tick(step: Step, detail = ""): void {
    if (!this.#seen.has(step)) this.#seen.set(step, detail);
  }

  get complete(): boolean {
    return this.#seen.size === Object.keys(STEPS).length;
  }

  show(screen: Screen): void {
    screen.title("Seen");
    for (const [step, name] of Object.entries(STEPS)) {
      const detail = this.#seen.get(step as Step);
      screen.check(detail !== undefined, name, detail ?? "");
    }
  }
}
