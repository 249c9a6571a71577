// Messages: what the agent is told, what it answers, what that costs. Knows the watchdog's own messages from others'.

import type {
  InputEvent,
  MessageEndEvent,
  MessageStartEvent,
  MessageUpdateEvent,
} from "@earendil-works/pi-coding-agent";
import type { TargetUsage } from "../../index.js";
import { now } from "../clock.ts";
import { assistantText, textOf } from "../content.ts";
import { takeSteer } from "../root.ts";
import { lifecycle, type Sink } from "./sink.ts";
import type { Turns } from "./turns.ts";

/** Begins the types of the watchdog's own messages: interventions and answers, no input of the agent. */
const OWN_MESSAGE = "watchdog-";
const MAX_PENDING = 16;
/** A sign of life is enough so often; ms. */
const SIGN_EVERY = 250;

type Message = MessageEndEvent["message"];
type Assistant = Extract<Message, { role: "assistant" }>;
/** What is taken of a message's usage. */
type Used = Pick<Assistant["usage"], "input" | "output" | "cacheRead" | "cacheWrite"> & { cost: { total: number } };
type ToolResult = Extract<Message, { role: "toolResult" }>;

export interface MessageHooks {
  /** A message has begun, or ended. */
  writing(now: boolean): void;
  /** A person spoke. */
  person(): void;
  /** What of the usage in a tool's result is counted already, for the agents that it was made by. */
  counted?(toolCallId: string, details: unknown): TargetUsage | undefined;
}

export class MessageObserver {
  readonly #sink: Sink;
  readonly #sessionId: string;
  readonly #turns: Turns;
  readonly #hooks: MessageHooks;
  /** What another extension sends as if the user had, until it arrives as a message. */
  readonly #byProgram: string[] = [];
  /** The latest input came from a person, and no run has begun with it. */
  #promptedByPerson = false;
  #writing = false;
  /** When something of an answer was last told of. */
  #signAt = 0;

  constructor(sink: Sink, sessionId: string, turns: Turns, hooks: MessageHooks) {
    this.#sink = sink;
    this.#sessionId = sessionId;
    this.#turns = turns;
    this.#hooks = hooks;
  }

  input(event: InputEvent): void {
    this.#promptedByPerson = event.source !== "extension";
    if (event.source !== "extension") return;
    this.#byProgram.push(event.text);
    if (this.#byProgram.length > MAX_PENDING) this.#byProgram.shift();
  }

  /** Whether a person started the run that begins; asked once for each run. */
  takePrompt(): boolean {
    const byPerson = this.#promptedByPerson;
    this.#promptedByPerson = false;
    return byPerson;
  }

  start(event: MessageStartEvent): void {
    if (event.message.role === "assistant") this.#begin();
  }

  /** The hot path: once per streamed token. */
  update({ assistantMessageEvent: piece }: MessageUpdateEvent): void {
    const speech = piece.type === "text_delta" || piece.type === "thinking_delta";
    if (!speech && piece.type !== "toolcall_delta") return;
    const { store, handle } = this.#sink;
    const at = now();
    // The arguments of a call are looked at when it is complete; that they are being written is a sign of life.
    if (!speech && at - this.#signAt < SIGN_EVERY) return;
    this.#signAt = at;
    this.#sink.signal(store.observeChunk(handle, at, this.#turns.current, speech ? piece.delta : ""));
  }

  end({ message }: MessageEndEvent): void {
    switch (message.role) {
      case "user":
        this.#told(textOf(message.content));
        break;
      case "custom":
        this.#toldByExtension(message.customType, textOf(message.content));
        break;
      case "assistant":
        this.#answered(message);
        break;
      case "toolResult":
        // The result itself was observed as the call ended; the message also carries the usage of nested calls.
        this.#nested(message);
        break;
    }
  }

  #nested({ toolCallId, details, usage }: ToolResult): void {
    if (usage === undefined) return;
    const counted = this.#hooks.counted?.(toolCallId, details);
    this.#sink.signal(this.#usage(counted === undefined ? usage : rest(usage, counted)));
  }

  #begin(): void {
    if (!this.#writing) this.#turns.next();
    this.#writing = true;
    this.#hooks.writing(true);
  }

  #told(text: string): void {
    if (takeSteer(this.#sessionId, text)) {
      lifecycle(this.#sink, "steer", { text });
      return;
    }
    const index = this.#byProgram.indexOf(text);
    if (index >= 0) this.#byProgram.splice(index, 1);
    this.#user(text, index >= 0);
  }

  #toldByExtension(customType: string, text: string): void {
    if (customType === "watchdog-rescue") lifecycle(this.#sink, "steer", { text });
    // What the agent says to it is an answer to something new.
    if (customType === "watchdog-rescue" || customType === "watchdog-alert") lifecycle(this.#sink, "notice");
    else if (!customType.startsWith(OWN_MESSAGE)) this.#user(text, true);
  }

  #user(text: string, synthetic: boolean): void {
    if (!synthetic) this.#hooks.person();
    const { store, handle } = this.#sink;
    this.#sink.signal(store.observeUser(handle, now(), text, synthetic));
  }

  #answered(message: Assistant): void {
    this.#begin();
    this.#writing = false;
    this.#hooks.writing(false);
    const { text, thinking } = assistantText(message.content);
    const { store, handle } = this.#sink;
    // A provider error has no body: its text would look like an answer.
    const bits = store.observeAssistant(handle, now(), this.#turns.current, text, thinking, message.stopReason);
    // One signal for both, so that a notice already knows what the message cost.
    this.#sink.signal(bits | this.#usage(message.usage));
  }

  #usage(usage: Used | undefined): number {
    if (usage === undefined) return 0;
    const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = usage;
    if (input + output + cacheRead + cacheWrite === 0) return 0;
    const { store, handle } = this.#sink;
    return store.observeUsage(handle, now(), input, output, cacheRead, cacheWrite, usage.cost?.total ?? 0);
  }
}

function rest({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cost }: Used, counted: TargetUsage): Used {
  const left = (whole: number, part: number): number => Math.max(0, whole - part);
  return {
    input: left(input, counted.input),
    output: left(output, counted.output),
    cacheRead: left(cacheRead, counted.cacheRead),
    cacheWrite: left(cacheWrite, counted.cacheWrite),
    cost: { total: left(cost?.total ?? 0, counted.usd) },
  };
}
