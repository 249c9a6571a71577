// The run around the messages: when the agent works, retries, compacts, waits for the user. Pi tells
// extensions nothing of its retries, so they are told from a run that starts again after an error without settling.

import type {
  AgentSettledEvent,
  MessageEndEvent,
  SessionBeforeCompactEvent,
  SessionCompactEvent,
  SessionCompactFailedEvent,
  UIPromptStartEvent,
} from "@earendil-works/pi-coding-agent";
import { lifecycle, type Sink } from "./sink.ts";

export class RunObserver {
  readonly #sink: Sink;
  #failure: string | undefined;
  #attempt = 0;
  /** The latest message was cut off by the user; older versions of Pi say it nowhere else. */
  #aborted = false;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  begin(): void {
    if (this.#failure !== undefined) {
      this.#attempt += 1;
      lifecycle(this.#sink, "auto_retry_start", { attempt: this.#attempt, errorMessage: this.#failure });
      this.#failure = undefined;
    }
    lifecycle(this.#sink, "agent_start");
  }

  message({ message }: MessageEndEvent): void {
    if (message.role !== "assistant") return;
    const { stopReason, errorMessage = "" } = message;
    // One that was stopped in a tool call ends there with an error.
    this.#aborted = stopReason === "aborted" || (stopReason === "error" && /\babort/i.test(errorMessage));
    this.#failure =
      message.stopReason === "error" ? (message.errorMessage ?? "unknown error").slice(0, 1000) : undefined;
    if (this.#failure === undefined) this.#attempt = 0;
    else lifecycle(this.#sink, "provider_limit", { errorMessage: this.#failure });
  }

  end(): void {
    lifecycle(this.#sink, "agent_end");
  }

  /** Whether the user stopped the run. */
  settled(event: AgentSettledEvent): boolean {
    this.#attempt = 0;
    this.#failure = undefined;
    const aborted = event.aborted ?? this.#aborted;
    if (aborted) lifecycle(this.#sink, "user_abort");
    lifecycle(this.#sink, "agent_settled");
    return aborted;
  }

  /** Nobody saw how what was begun has gone on: nothing of it is taken to be open. */
  missed(): void {
    this.#failure = undefined;
    lifecycle(this.#sink, "agent_settled");
  }

  compacting(event: SessionBeforeCompactEvent): void {
    const { reason, preparation } = event;
    lifecycle(this.#sink, "compaction_start", { reason, tokensBefore: preparation.tokensBefore });
  }

  compacted(event: SessionCompactEvent): void {
    const { reason, compactionEntry } = event;
    lifecycle(this.#sink, "compaction_end", { reason, tokensBefore: compactionEntry.tokensBefore });
  }

  notCompacted(event: SessionCompactFailedEvent): void {
    const { reason, aborted, errorMessage } = event;
    lifecycle(this.#sink, "compaction_end", { reason, aborted, errorMessage });
  }

  thinks(level: string): void {
    lifecycle(this.#sink, "thinking_level", { level });
  }

  asking(event: UIPromptStartEvent): void {
    lifecycle(this.#sink, "ui_prompt_start", { kind: event.kind });
  }

  answered(): void {
    lifecycle(this.#sink, "ui_prompt_end");
  }
}
