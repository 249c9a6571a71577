// Numbers the turns of a session: one assistant message, and the batch of calls that it asks for, is one turn. Rises
// over the whole session, also over branches and resumes; what happened before is counted and not observed again, so
// that a loop of yesterday is not reported today.

interface Entry {
  type: string;
  message?: { role: string };
}

export class Turns {
  #current: number;

  constructor(entries: readonly Entry[]) {
    this.#current = 0;
    for (const entry of entries)
      if (entry.type === "message" && entry.message?.role === "assistant") this.#current += 1;
  }

  /** Turn of the assistant message that came last. */
  get current(): number {
    return this.#current;
  }

  next(): number {
    this.#current += 1;
    return this.#current;
  }
}
