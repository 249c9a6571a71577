// Observes a session of this process that the extension is not loaded in, from outside: by the session object that its
// package shows. All of it is seen that the extension itself would see, but it cannot refuse a call there. Opens and ends
// no target, and knows no package.

import type {
  AgentSettledEvent,
  MessageEndEvent,
  MessageStartEvent,
  MessageUpdateEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
} from "@earendil-works/pi-coding-agent";
import { now } from "../clock.ts";
import { MessageObserver } from "../observe/messages.ts";
import { RunObserver } from "../observe/run.ts";
import { lifecycle, type Sink } from "../observe/sink.ts";
import { ToolObserver } from "../observe/tools.ts";
import { Turns } from "../observe/turns.ts";
import { findLive, noteToolless, takeSteer } from "../root.ts";
import { createTicker, tickEvery } from "../ticker.ts";
import type { Host } from "./connection.ts";
import { fedSink } from "./fed.ts";
import { Feed } from "./feed.ts";

/** What is used of a session; every call may throw. */
export interface OpenSession {
  readonly sessionId: string;
  /** What was said before anybody listened. */
  readonly messages: unknown;
  subscribe(listener: (event: unknown) => void): unknown;
}

/** Whether a session object can be observed from outside. */
export function isOpen(session: object): session is OpenSession {
  return typeof Reflect.get(session, "subscribe") === "function";
}

/**
 * Observes the session if the extension turns out not to be in it. That shows when its run has begun: before that an
 * instance may still be loading. The listener throws nothing into the session. Returns how to stop listening.
 */
export function observeOutside(host: Host, handle: number, open: OpenSession): () => void {
  let off: unknown;
  let watch: ReturnType<typeof startWatch> | undefined;
  let decided = false;

  function attempt(task: () => void): void {
    try {
      task();
    } catch (error) {
      host.fault(`a sub-agent's session: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  function stop(): void {
    decided = true;
    watch?.end();
    if (typeof off === "function") attempt(() => (off as () => void)());
    off = undefined;
  }

  function decide(): void {
    decided = true;
    if (findLive(open.sessionId) === undefined) {
      noteToolless(open.sessionId, true);
      watch = startWatch(host, handle, open, attempt);
    } else stop();
  }

  off = open.subscribe((event) =>
    attempt(() => {
      if (!decided && beginsRun(event)) decide();
      watch?.take(event as Event);
    }),
  );
  const { messages } = open;
  if (Array.isArray(messages) && messages.some((message) => fields(message).role === "user")) decide();
  return stop;
}

/** Pi asks every extension before a run's first message, and no instance of this one begins later. */
function beginsRun(event: unknown): boolean {
  const { type, message } = fields(event);
  return type === "agent_start" || fields(message).role === "user" || fields(message).role === "assistant";
}

function startWatch(host: Host, handle: number, open: OpenSession, attempt: (task: () => void) => void) {
  const { session } = host;
  const sink = fedSink(host, handle);
  const earlier = Array.isArray(open.messages) ? [...open.messages] : [];
  const missed = new Missed(earlier);
  if (session.config.enabled) new Feed(sink, { now, steered: (text) => takeSteer(open.sessionId, text) }).list(earlier);
  const turns = new Turns(earlier.map((message) => ({ type: "message", message })));
  const handlers = observers(sink, open.sessionId, turns);
  const ticker = createTicker(() => attempt(() => sink.signal(sink.store.tick(handle, now()))));
  const rhythm = () => tickEvery(session.config.idleNoProgressSec);
  ticker.set(rhythm());
  return {
    take(event: Event): void {
      // The agent rests after this, perhaps for good.
      if (event.type === "agent_settled") ticker.set(0);
      else if (event.type === "agent_start") ticker.set(rhythm());
      if (session.config.enabled && !missed.has(event)) handlers.get(event.type)?.(event as never);
    },
    end: () => ticker.set(0),
  };
}

type Event = { type: string } & Record<string, unknown>;

/** Which events are of messages that were there before; their events may still be on their way to listeners. */
class Missed {
  readonly #messages = new Set<string>();
  readonly #calls = new Set<unknown>();
  readonly #results = new Set<unknown>();

  constructor(messages: readonly unknown[]) {
    for (const message of messages) {
      const { role, content, toolCallId } = fields(message);
      this.#messages.add(keyOf(message));
      if (role === "toolResult") this.#results.add(toolCallId);
      if (role !== "assistant" || !Array.isArray(content)) continue;
      for (const part of content) if (fields(part).type === "toolCall") this.#calls.add(fields(part).id);
    }
  }

  has(event: Event): boolean {
    switch (event.type) {
      case "message_start":
      case "message_end":
        return this.#messages.has(keyOf(event.message));
      case "tool_execution_start":
        return this.#calls.has(event.toolCallId);
      case "tool_execution_end":
        return this.#results.has(event.toolCallId);
      default:
        return false;
    }
  }
}

function keyOf(message: unknown): string {
  const { role, timestamp, toolCallId } = fields(message);
  return `${role} ${timestamp} ${toolCallId}`;
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** By type of the session's event. Retries are told from the run, as they are inside. */
function observers(sink: Sink, sessionId: string, turns: Turns): Map<string, (event: never) => void> {
  const messages = new MessageObserver(sink, sessionId, turns, { writing() {}, person() {} });
  const tools = new ToolObserver(sink, turns);
  const run = new RunObserver(sink);
  return new Map(
    Object.entries({
      message_start: (event: MessageStartEvent) => messages.start(event),
      message_update: (event: MessageUpdateEvent) => messages.update(event),
      message_end: (event: MessageEndEvent) => {
        run.message(event);
        messages.end(event);
      },
      tool_execution_start: (event: ToolExecutionStartEvent) => tools.start(event),
      tool_execution_end: (event: ToolExecutionEndEvent) => tools.end(event),
      agent_start: () => run.begin(),
      agent_end: () => run.end(),
      agent_settled: (event: AgentSettledEvent) => {
        run.settled(event);
        tools.settled();
      },
      compaction_start: ({ reason }: CompactionEvent) => lifecycle(sink, "compaction_start", { reason }),
      compaction_end: ({ reason, aborted, errorMessage, result }: CompactionEvent) =>
        lifecycle(sink, "compaction_end", { reason, aborted, errorMessage, tokensBefore: result?.tokensBefore }),
    }),
  );
}

type CompactionEvent = {
  reason: string;
  aborted?: boolean;
  errorMessage?: string;
  result?: { tokensBefore?: number };
};
