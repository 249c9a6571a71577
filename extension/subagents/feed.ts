// Turns finished messages of a session that no instance of the extension runs in into observations of its target. Takes
// them as they lie in an array, in a package's events or in a session file, and each only once. They come from other
// processes: every field is checked here. Opens and ends no target, reads no file, and knows no package.

import type { LifecycleFields } from "../../index.js";
import { argumentsText, assistantText, textOf } from "../content.ts";
import type { LiveEvent } from "../generated/events.ts";
import type { Sent, Sink } from "../observe/sink.ts";

/** Keys that are remembered, so that a message that comes again is known. */
const MAX_KEYS = 20_000;
/** Calls without a result whose turn is remembered. */
const MAX_OPEN = 1_000;
/** Calls that are taken of one message; what asks for more is no model. */
const MAX_CALLS = 500;
const ERROR_CHARS = 1_000;
/** Longest id or tool name; what is longer is cut. */
const NAME_CHARS = 500;
/** Begins the types of the watchdog's own messages. */
const OWN_MESSAGE = "watchdog-";

export interface FeedOptions {
  /** ms since the epoch. */
  now(): number;
  /** Whether a text that the agent was told is one that the watchdog had sent to it. */
  steered?(text: string): boolean;
}

type Fields = Record<string, unknown>;

export class Feed {
  readonly #sink: Sink;
  readonly #options: FeedOptions;
  readonly #keys = new Set<string>();
  /** Turns of the calls that wait for their result. */
  readonly #open = new Map<string, number>();
  /** How many messages of the list of {@link list} were taken. */
  #listed = 0;
  #turn = 0;
  #at = 0;
  #working = false;
  #failure: string | undefined;
  #attempt = 0;
  #unreadable = 0;

  constructor(sink: Sink, options: FeedOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  /** Assistant messages so far. */
  get turns(): number {
    return this.#turn;
  }

  /** What was no message, or could not be read. */
  get unreadable(): number {
    return this.#unreadable;
  }

  /**
   * Takes a message of Pi (`user`, `assistant`, `toolResult`, `custom`, …). `key` tells it from every other of the
   * session; without one it counts as new. `at` (ms): when it was finished, default now; it is never in the future and
   * never before the message that came last. False when it was known, or is none.
   */
  message(message: unknown, key = "", at = Number.NaN): boolean {
    return this.#once(key, () => {
      if (!isObject(message) || typeof message.role !== "string") return false;
      this.#time(at);
      return this.#take(message);
    });
  }

  /** Takes those messages of a list that only grows which were not taken before. Returns how many were new. */
  list(messages: unknown): number {
    if (!Array.isArray(messages)) return 0;
    let taken = 0;
    while (this.#listed < messages.length) {
      // Counted first: what cannot be read now cannot be read later either.
      const message: unknown = messages[this.#listed++];
      if (this.message(message)) taken += 1;
    }
    return taken;
  }

  /** Takes a parsed line of a session file (`docs/session-format.md` of Pi). False when it was known, or says nothing. */
  entry(entry: unknown): boolean {
    if (!isObject(entry)) return this.#once("", () => false);
    return this.#once(name(entry.id), () => {
      if (typeof entry.type !== "string") return false;
      const { message } = entry;
      const at = typeof entry.timestamp === "string" ? Date.parse(entry.timestamp) : Number.NaN;
      switch (entry.type) {
        case "message":
          if (!isObject(message) || typeof message.role !== "string") return false;
          this.#time(at);
          return this.#take(message);
        case "custom_message":
          this.#time(at);
          return this.#take({ role: "custom", customType: entry.customType, content: entry.content });
        case "compaction":
          this.#time(at);
          this.#lifecycle("compaction_end", { tokensBefore: amount(entry.tokensBefore) });
          this.#signal(this.#usage(entry.usage));
          return true;
        case "branch_summary":
        case "usage":
          this.#time(at);
          this.#signal(this.#usage(entry.usage));
          return true;
        default:
          return undefined;
      }
    });
  }

  /** What was spent beyond the usage of the messages. */
  spent(usage: unknown): void {
    this.#time(Number.NaN);
    this.#signal(this.#usage(usage));
  }

  /** The agent rests: whatever is still open now will never end. */
  settled(aborted = false): void {
    if (!this.#working) return;
    this.#time(Number.NaN);
    this.#working = false;
    this.#open.clear();
    this.#attempt = 0;
    this.#failure = undefined;
    if (aborted) this.#lifecycle("user_abort");
    this.#lifecycle("agent_settled");
  }

  /** `take`: false when there is nothing to read, undefined when there is nothing to say. */
  #once(key: string, take: () => boolean | undefined): boolean {
    if (key !== "") {
      if (this.#keys.has(key)) return false;
      this.#keys.add(key);
      if (this.#keys.size > MAX_KEYS) this.#keys.delete(this.#keys.values().next().value ?? "");
    }
    try {
      const taken = take();
      if (taken === false) this.#unreadable += 1;
      return taken === true;
    } catch {
      // Getters of a foreign object, or a store that was closed.
      this.#unreadable += 1;
      return false;
    }
  }

  #time(at: number): void {
    const now = this.#options.now();
    this.#at = Math.max(this.#at, Number.isFinite(at) ? Math.min(at, now) : now);
  }

  #take(message: Fields): boolean {
    switch (message.role) {
      case "user":
        this.#told(textOf(message.content));
        return true;
      case "custom":
      case "hookMessage":
        this.#toldByExtension(name(message.customType), textOf(message.content));
        return true;
      case "assistant":
        this.#answered(message);
        return true;
      case "toolResult":
        this.#ended(message);
        return true;
      case "compactionSummary":
        this.#lifecycle("compaction_end", { tokensBefore: amount(message.tokensBefore) });
        return true;
      default:
        // The system prompt, a command of the user, a summary of a branch, or what a later Pi has: not this agent's doing.
        return true;
    }
  }

  #told(text: string): void {
    this.#begin();
    if (this.#options.steered?.(text)) this.#lifecycle("steer", { text });
    else this.#user(text, false);
  }

  #toldByExtension(customType: string, text: string): void {
    if (customType === "watchdog-rescue") this.#lifecycle("steer", { text });
    else if (!customType.startsWith(OWN_MESSAGE)) this.#user(text, true);
  }

  #user(text: string, synthetic: boolean): void {
    const { store, handle } = this.#sink;
    // A person's word starts a new run of requests: what failed before is no failure of this one.
    if (!synthetic) {
      this.#failure = undefined;
      this.#attempt = 0;
    }
    this.#signal(store.observeUser(handle, this.#at, text, synthetic));
  }

  #answered(message: Fields): void {
    this.#begin();
    const stopReason = name(message.stopReason);
    if (this.#failure !== undefined) {
      // Pi writes no retry down: it is a request that was made again after one that failed.
      this.#attempt += 1;
      this.#lifecycle("auto_retry_start", { attempt: this.#attempt, errorMessage: this.#failure });
    }
    this.#failure = stopReason === "error" ? failure(message.errorMessage) : undefined;
    if (this.#failure === undefined) this.#attempt = 0;
    else this.#lifecycle("provider_limit", { errorMessage: this.#failure });
    this.#turn += 1;
    const { store, handle } = this.#sink;
    const { text, thinking } = assistantText(message.content);
    let bits = store.observeAssistant(handle, this.#at, this.#turn, text, thinking, stopReason);
    // Before its calls, so that a notice of what they repeat already knows what asking for them cost.
    bits |= this.#usage(message.usage);
    for (const call of callsOf(message.content)) bits |= this.#called(call);
    this.#signal(bits);
  }

  #called(call: Fields): number {
    const { store, handle } = this.#sink;
    const id = name(call.id);
    this.#open.set(id, this.#turn);
    if (this.#open.size > MAX_OPEN) this.#open.delete(this.#open.keys().next().value ?? "");
    return store.observeToolCall(handle, this.#at, this.#turn, id, name(call.name), argumentsText(call.arguments));
  }

  #ended(message: Fields): void {
    const { store, handle } = this.#sink;
    const id = name(message.toolCallId);
    const turn = this.#open.get(id) ?? this.#turn;
    this.#open.delete(id);
    const output = textOf(message.content);
    const failed = message.isError === true;
    let bits = this.#usage(message.usage);
    bits |= store.observeToolResult(handle, this.#at, turn, id, name(message.toolName), output, failed, "", "");
    this.#signal(bits);
  }

  #begin(): void {
    if (this.#working) return;
    this.#working = true;
    this.#lifecycle("agent_start");
  }

  #usage(usage: unknown): number {
    if (!isObject(usage)) return 0;
    const { cost } = usage;
    const counts = [usage.input, usage.output, usage.cacheRead, usage.cacheWrite].map(amount);
    const usd = amount(isObject(cost) ? cost.total : cost);
    if (usd === 0 && counts.every((count) => count === 0)) return 0;
    const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0] = counts;
    const { store, handle } = this.#sink;
    return store.observeUsage(handle, this.#at, input, output, cacheRead, cacheWrite, usd);
  }

  #lifecycle<E extends LiveEvent>(event: E, fields?: Sent<LifecycleFields[E]>): void {
    const { store, handle } = this.#sink;
    const text = fields === undefined ? "" : JSON.stringify(fields);
    this.#signal(store.observeLifecycle(handle, this.#at, event, text));
  }

  #signal(bits: number): void {
    if (bits !== 0) this.#sink.signal(bits);
  }
}

function callsOf(content: unknown): Fields[] {
  if (!Array.isArray(content)) return [];
  const calls: Fields[] = [];
  for (const part of content) {
    if (isObject(part) && part.type === "toolCall" && calls.length < MAX_CALLS) calls.push(part);
  }
  return calls;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

const name = (value: unknown): string => (typeof value === "string" ? value.slice(0, NAME_CHARS) : "");

const failure = (message: unknown): string =>
  typeof message === "string" && message !== "" ? message.slice(0, ERROR_CHARS) : "unknown error";

/** A count or an amount of money; nothing that would make a sum meaningless. */
const amount = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
