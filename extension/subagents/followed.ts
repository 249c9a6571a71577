// A child whose session file is known and in which no instance of the extension runs: its file is read into its target.
// As soon as the child reports itself, in this process or over the link, the file is left alone: no message counts twice.

import { findLive, takeSteer } from "../root.ts";
import type { Host } from "./connection.ts";
import { fedSink } from "./fed.ts";
import { Feed } from "./feed.ts";
import { type Follower, follow } from "./follow.ts";
import { text } from "./foreign.ts";

export class Followed {
  readonly #host: Host;
  readonly #sessionId: string;
  readonly #handle: number;
  readonly #path: string;
  /** Lives as long as the child is remembered: it knows which entries were taken. */
  readonly #feed: Feed;
  #follower: Follower | undefined;
  #seen = false;

  constructor(host: Host, sessionId: string, handle: number, path: string) {
    this.#host = host;
    this.#sessionId = sessionId;
    this.#handle = handle;
    this.#path = path;
    const steered = (told: string) => takeSteer(sessionId, told);
    this.#feed = new Feed(fedSink(host, handle), { now: host.now, steered });
  }

  /** Whether the file may hold what was not taken yet. */
  get reading(): boolean {
    return this.#follower !== undefined;
  }

  /** The agent works. */
  start(): void {
    this.#follower ??= follow(this.#path, { line: (entry) => this.#take(entry) });
  }

  /** The agent rests: what is left in the file is read. Resolves when that is done, or when it was closed. */
  async rest(): Promise<void> {
    const follower = this.#follower;
    this.#follower = undefined;
    await follower?.end();
    this.#feed.settled();
  }

  close(): void {
    this.#follower?.close();
    this.#follower = undefined;
  }

  #take(entry: unknown): void {
    if (findLive(this.#sessionId) !== undefined) {
      if (this.#seen) this.#host.store.update(this.#handle, { visibility: "full" });
      this.close();
      return;
    }
    if (text(entry, "type") === "session" && text(entry, "id") !== this.#sessionId) {
      this.#host.fault(`the session file named for a sub-agent is that of another session: ${this.#path}`);
      this.close();
      return;
    }
    if (!this.#seen) this.#host.store.update(this.#handle, { visibility: "no_open_tools" });
    this.#seen = true;
    this.#feed.entry(entry);
  }
}
