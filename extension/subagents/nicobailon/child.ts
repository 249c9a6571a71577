// One agent of a run as a target of the store: known by its session as soon as that can be told, observed by its own
// instance of the extension where there is one, else fed with what its run lets see. Reads no file but the first line
// of its session, and knows no bus.

import type { LifecycleFields, TargetInfo, Visibility, WatchdogStore } from "../../../index.js";
import type { LiveEvent } from "../../generated/events.ts";
import type { Sent } from "../../observe/sink.ts";
import { findLive, liveSessions, takeSteer } from "../../root.ts";
import type { ChildLink } from "../../runtime.ts";
import { oneLine } from "../../sanitize.ts";
import type { SubagentRecord } from "../backend.ts";
import type { Host } from "../connection.ts";
import { fedSink } from "../fed.ts";
import { Feed } from "../feed.ts";
import { kindOfType } from "../kind.ts";
import { sessionIdOf } from "./files.ts";
import { hasEnded, PACKAGE, type Spent, type Status } from "./wire.ts";

/** How long an instance of the extension in the agent's process may take to report, ms, once its session is known. */
const LINK_GRACE = 1500;
/** How long an agent is not shown when its session is not known, ms: where nothing names its file, and where that is
 * not there yet, because Pi writes it with the first answer. */
const NAMELESS_GRACE = 2000;
const UNWRITTEN_GRACE = 15_000;
/** Messages that are kept until the target is there; the oldest go first. */
const MAX_WAITING = 500;
const NAME_CHARS = 80;
/** How often it is told that an agent streams, ms. */
const STIR_EVERY = 5000;

interface Waiting {
  message: unknown;
  key: string;
  at: number;
}

export interface Origin {
  runId: string;
  index: number;
  agent: string;
  /** Whether the run is in this process, in the call of a tool. */
  foreground: boolean;
  /** The agent that started it; the main session when absent. */
  parent?: Child;
}

export class Child {
  readonly origin: Origin;
  readonly agentId: string;
  status: Status = "queued";
  pid: number | undefined;
  /** Names it in requests to stop it alone; `""` in a run of one. */
  childId = "";
  sessionFile: string | undefined;
  readonly startedAt: number;
  endedAt: number | undefined;

  #activeAt = 0;
  #name: string;
  readonly #host: Host;
  readonly #store: WatchdogStore;
  #sessionId: string | undefined;
  #identifiedAt = 0;
  #handle: number | undefined;
  #feed: Feed | undefined;
  /** An instance of the extension reports for the session: nothing is fed, or it would count twice. */
  #reported = false;
  /** The target was opened under the run's id, for want of the session's. */
  #keyless = false;
  /** For a target that is not there yet, or perhaps not to stay. */
  #waiting: Waiting[] = [];
  /** Messages that could not be kept, lines that could not be read. */
  #lost = 0;
  #visibility: Visibility | undefined;
  /** What the target had used before this run, to compare what the run used. */
  #before: Spent = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, usd: 0 };

  constructor(host: Host, origin: Origin, name: string) {
    this.#host = host;
    this.#store = host.store;
    this.origin = origin;
    this.#name = name;
    this.agentId = origin.index === 0 ? origin.runId : `${origin.runId}:${origin.index}`;
    this.startedAt = host.now();
  }

  get name(): string {
    return this.#name;
  }

  set name(name: string) {
    if (name === this.#name || name === "") return;
    this.#name = name;
    if (this.#handle !== undefined) this.#store.update(this.#handle, { name: this.#info().name ?? name });
  }

  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** `exact`: its session file, which the package names, tells its session. */
  get link(): ChildLink["link"] {
    return this.#sessionId === undefined ? "none" : "exact";
  }

  get ended(): boolean {
    return this.endedAt !== undefined;
  }

  /** Whether what the run lets see of it is of use. */
  get wantsFeed(): boolean {
    return !this.#reported;
  }

  /** It has a target, which has what it used. */
  get counts(): boolean {
    return this.#handle !== undefined;
  }

  get parentId(): string {
    return this.origin.parent?.sessionId ?? this.#host.session.id;
  }

  /** Finds out whose session it is and opens the target, as soon as that is possible. */
  look(): void {
    this.#identify();
    if (this.#handle === undefined) this.#open(false);
    else if (!this.#reported && this.#live()) this.#handOver();
  }

  /** A finished message of the session; `key` tells it from every other. */
  message(message: unknown, key: string, at: number): void {
    if (this.#reported) return;
    this.#feed?.message(message, key, at);
    if (this.#feed !== undefined && !this.#provisional) return;
    this.#waiting.push({ message, key, at });
    if (this.#waiting.length <= MAX_WAITING) return;
    this.#waiting.shift();
    this.#lost += 1;
  }

  /** The agent rests. */
  settled(): void {
    this.#feed?.settled();
  }

  /** Something other than a message, told as a lifecycle event; `event` as in docs/trace.md. */
  lifecycle<E extends LiveEvent>(event: E, more?: Sent<LifecycleFields[E]>): void {
    if (this.#handle === undefined || this.#feed === undefined) return;
    const bits = this.#store.observeLifecycle(this.#handle, this.#host.now(), event, JSON.stringify(more ?? {}));
    if (bits !== 0) fedSink(this.#host, this.#handle).signal(bits);
  }

  /** Something came of it then, of which nothing else may tell: it streams. */
  active(at: number | undefined): void {
    if (at === undefined || at - this.#activeAt < STIR_EVERY) return;
    this.#activeAt = at;
    this.lifecycle("subagent_stream");
  }

  note(type: "tool_call" | "subagent_steered" | "subagent_started", summary: string): void {
    if (this.#handle !== undefined && !this.#reported)
      this.#store.note(this.#handle, this.#host.now(), type, oneLine(summary));
  }

  /** Only so much is seen of it. */
  limit(visibility: Visibility): void {
    if (this.#visibility === visibility) return;
    this.#visibility = visibility;
    if (this.#handle !== undefined && !this.#reported) this.#store.update(this.#handle, { visibility });
  }

  lose(lines: number): void {
    this.#lost += lines;
  }

  /** Time has passed: for what is wrong because nothing happens. */
  tick(): void {
    if (this.#handle === undefined || this.#reported || this.ended) return;
    const bits = this.#store.tick(this.#handle, this.#host.now());
    if (bits !== 0) fedSink(this.#host, this.#handle).signal(bits);
  }

  /** What the run says that the agent used in all, where its messages were not seen. */
  used(total: Spent): void {
    const usage = this.#usage();
    if (this.#handle === undefined || this.#reported || usage === undefined) return;
    const missing = (part: keyof Spent): number => Math.max(0, total[part] - (usage[part] - this.#before[part]));
    const usd = missing("usd") < 1e-9 ? 0 : missing("usd");
    const [input, output, read, write] = (["input", "output", "cacheRead", "cacheWrite"] as const).map(missing);
    if (input === 0 && output === 0 && read === 0 && write === 0 && usd === 0) return;
    const at = this.#host.now();
    const bits = this.#store.observeUsage(this.#handle, at, input ?? 0, output ?? 0, read ?? 0, write ?? 0, usd);
    if (bits !== 0) fedSink(this.#host, this.#handle).signal(bits);
  }

  /** It has ended, as the package says; `why` for people. */
  end(status: Status, why: string): void {
    if (this.ended || !hasEnded(status)) return;
    this.status = status;
    this.endedAt = this.#host.now();
    this.#identify();
    if (this.#handle === undefined) this.#open(true);
    if (this.#handle === undefined) return;
    this.#feed?.settled();
    const lost = this.#lost === 0 ? "" : `; ${this.#lost} of its messages could not be read`;
    const type = status === "completed" || status === "paused" ? "subagent_completed" : "subagent_failed";
    this.#store.note(this.#handle, this.endedAt, type, oneLine(`${why}${lost}`));
    this.#store.end(this.#handle, this.endedAt, status);
  }

  /** An instance of the extension may have ended the target in its own words, after the package had. */
  insist(): void {
    if (!this.#reported || this.#handle === undefined || this.endedAt === undefined) return;
    const target = this.#store.target(this.#handle);
    if (target?.endedAt !== undefined && target.status !== this.status)
      this.#store.end(this.#handle, this.endedAt, this.status);
  }

  record(): SubagentRecord {
    return {
      agentId: this.agentId,
      runId: this.origin.runId,
      type: this.origin.agent,
      description: this.name,
      status: this.status,
      link: this.link,
      startedAt: this.startedAt,
      ...(this.#sessionId === undefined ? {} : { sessionId: this.#sessionId }),
      ...(this.endedAt === undefined ? {} : { completedAt: this.endedAt }),
      ...(this.origin.parent === undefined ? {} : { parentId: this.parentId }),
      ...(this.pid === undefined ? {} : { pid: this.pid }),
      ...(this.#visibility === undefined || this.#reported ? {} : { visibility: this.#visibility }),
    };
  }

  #identify(): void {
    if (this.#sessionId !== undefined || this.sessionFile === undefined) return;
    const reported = liveSessions().find(({ file }) => file === this.sessionFile);
    const id = reported?.id ?? sessionIdOf(this.sessionFile);
    if (id === undefined || id === this.#host.session.id) return;
    this.#sessionId = id;
    this.#identifiedAt = this.#host.now();
    // A target that was opened without it gives way to the session's own while it has hardly begun; later it is known
    // by it.
    if (this.#handle === undefined) return;
    if (this.#provisional) {
      this.#store.discard(this.#handle);
      this.#handle = undefined;
      this.#feed = undefined;
      return;
    }
    this.#store.alias(this.#handle, id);
    this.#store.update(this.#handle, { link: "exact" });
  }

  /** The target has no session yet, and nobody was told anything of it. */
  get #provisional(): boolean {
    return this.#handle !== undefined && this.#keyless && !this.ended && (this.#feed?.turns ?? 0) <= 1;
  }

  #live(): boolean {
    return this.#sessionId !== undefined && findLive(this.#sessionId) !== undefined;
  }

  #open(ended: boolean): void {
    if (this.#live()) {
      this.#handOver();
      return;
    }
    const now = this.#host.now();
    if (!ended && this.status === "queued") return;
    if (this.#sessionId === undefined) {
      const grace = this.sessionFile === undefined && this.#waiting.length > 0 ? NAMELESS_GRACE : UNWRITTEN_GRACE;
      if (!ended && now - this.startedAt < grace) return;
    } else if (!ended && reports() && now - this.#identifiedAt < LINK_GRACE) return;
    const { config } = this.#host.session;
    if (!config.enabled) return;
    const handle = this.#store.open(this.#sessionId ?? this.agentId, this.startedAt, this.#info(), config);
    this.#handle = handle;
    this.#keyless = this.#sessionId === undefined;
    if (!this.#keyless) this.#store.alias(handle, this.agentId);
    const { usage } = this.#store.target(handle) ?? {};
    if (usage !== undefined) this.#before = { ...usage };
    this.#store.note(handle, this.startedAt, "subagent_started", oneLine(`${this.origin.agent}: run ${this.agentId}`));
    const steered = (text: string): boolean => this.#sessionId !== undefined && takeSteer(this.#sessionId, text);
    this.#feed = new Feed(fedSink(this.#host, handle), { now: this.#host.now, steered });
    for (const { message, key, at } of this.#waiting) this.#feed.message(message, key, at);
    if (!this.#keyless) this.#waiting = [];
  }

  /** Its own instance of the extension observes the session: only what that cannot know is added to its target. */
  #handOver(): void {
    const found = this.#sessionId === undefined ? undefined : this.#store.resolve(this.#sessionId);
    if (found?.ok !== true || found.id !== this.#sessionId) return;
    this.#reported = true;
    this.#handle = found.handle;
    this.#feed = undefined;
    this.#waiting = [];
    this.#store.alias(found.handle, this.agentId);
    const { status: _, visibility: __, kind, ...info } = this.#info();
    // What the session's own tools say goes before a type that says nothing of it.
    this.#store.update(found.handle, kind === "watchdog" ? { ...info, kind } : info);
  }

  #usage(): Spent | undefined {
    return this.#handle === undefined ? undefined : this.#store.target(this.#handle)?.usage;
  }

  #info(): TargetInfo {
    const agentType = oneLine(this.origin.agent, NAME_CHARS);
    return {
      rootId: this.#host.session.id,
      parentId: this.parentId,
      name: oneLine(this.name, NAME_CHARS) || agentType || "sub-agent",
      kind: kindOfType(this.origin.agent),
      status: "running",
      agentType,
      link: this.link,
      backend: PACKAGE,
      ...(this.pid === undefined ? {} : { pid: this.pid }),
      ...(this.#visibility === undefined ? {} : { visibility: this.#visibility }),
    };
  }
}

/** Whether processes that this one starts are told where to report. */
const reports = (): boolean => process.env.PI_WATCHDOG_LINK !== undefined;
