// Cuts a message of the main agent that goes round while it is written, where the user allowed the circuit breaker.
// What was written stays; the agent is told why, once. A child's message is told of and not cut: aborting inside a
// child looks like a success to the package that started it.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { Notice } from "../index.js";
import { post } from "./alerts/post.ts";
import { rescueMessageOf } from "./alerts/rescue.ts";
import { oneLine } from "./sanitize.ts";
import type { Session } from "./session.ts";

export class StreamBreaker {
  readonly #pi: ExtensionAPI;
  /** A message is being written. */
  writing = false;
  /** What the message was cut for, until the agent has settled. */
  #cut: Notice | undefined;
  /** Messages cut since a person spoke. */
  #cuts = 0;

  constructor(pi: ExtensionAPI) {
    this.#pi = pi;
  }

  /** True when the notice is about the message that is being written, and it was cut. */
  breaks(session: Session, notice: Notice): boolean {
    const goesRound = notice.analysis.evidence.some(({ type }) => type === "stream_repetition");
    if (!goesRound || !this.writing || session.config.circuitBreaker === "off") return false;
    this.#cut = notice;
    this.#cuts += 1;
    session.ctx.abort();
    return true;
  }

  /** A person spoke: an earlier cut is no reproach any more. */
  answered(): void {
    this.#cuts = 0;
  }

  /** The agent has stopped. The first time it may go on, knowing why; with `stop`, or the next time, the user decides. */
  settled(session: Session): void {
    const notice = this.#cut;
    this.#cut = undefined;
    if (notice === undefined) return;
    const why = `The watchdog cut off the latest message: ${oneLine(notice.analysis.reasons.join("; "))}.`;
    const goesOn = session.config.circuitBreaker === "block" && this.#cuts === 1;
    const text = goesOn ? `${why}\n\n${rescueMessageOf(session)}` : why;
    post(this.#pi, "watchdog-rescue", text, { notice }, goesOn);
  }
}
