// What sub-agents tried to change of the watchdog, as a line for the user: once for each sub-agent and key, and bounded for
// all of them, because what they try can be as much as they like.

import type { Runtime, WatchedSession } from "./runtime.ts";
import { oneLine } from "./sanitize.ts";
import { tell } from "./told.ts";

const MAX_LINES = 50;

export class Attempts {
  readonly #runtime: Runtime;
  readonly #session: WatchedSession;
  readonly #seen = new Set<string>();

  constructor(runtime: Runtime, session: WatchedSession) {
    this.#runtime = runtime;
    this.#session = session;
  }

  /** `what`: a key, or a command with its slash. Anything else came from another process and is left out. */
  show(id: string, what: string, done: boolean): void {
    const { store } = this.#runtime.native;
    const line = `${id} ${what} ${done}`;
    const known = what in this.#session.config || /^\/watchdog [a-z]{1,20}$/.test(what);
    if (!known || this.#seen.has(line) || this.#seen.size >= MAX_LINES) return;
    this.#seen.add(line);
    const found = store.resolve(id, this.#session.rootId);
    const name = (found.ok ? store.target(found.handle)?.name : undefined) ?? "";
    const who = `sub-agent "${oneLine(name, 60)}" (${oneLine(id.slice(0, 8))})`;
    const text = done
      ? `${who} set ${what} for its own session`
      : `${who} tried ${what.startsWith("/") ? what : `to set ${what}`}; it was refused, a sub-agent may not`;
    const last =
      this.#seen.size === MAX_LINES ? ["further attempts of sub-agents to change settings are not shown"] : [];
    tell(this.#session.ctx, [text, ...last]);
  }
}
