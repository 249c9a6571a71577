// A background run: a process of its own, followed by the files that it keeps in its folder. `status.json` tells its
// agents and how they end, `events.jsonl` what they do. Decides nothing about targets.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../connection.ts";
import { Child } from "./child.ts";
import { Snapshot, Tail } from "./files.ts";
import {
  fields,
  hasEnded,
  type Nested,
  type RunStatus,
  readNested,
  readStatus,
  type Spent,
  type Started,
  statusOf,
  text,
} from "./wire.ts";

const STATUS_BYTES = 4 * 1024 * 1024;
const LINE_BYTES = 4 * 1024 * 1024;
/** Of the events, in one look: what is more waits for the next. */
const READ_BYTES = 1024 * 1024;
/** At the end of a run, in all. */
const DRAIN_BYTES = 64 * 1024 * 1024;
/** The package writes a last status after the process has gone, ms. */
const LAST_WORD = 5000;
/** How often it is looked whether the process is still there, ms. */
const ALIVE_EVERY = 2000;
/** Records of nested runs that are looked at. */
const MAX_NESTED = 4096;
/** Lines that repeat what others say, or hold no message: not worth parsing. */
const IDLE_TALK = /^\{"type":"(?:message_start|message_update|turn_start|turn_end|tool_execution_\w+|agent_end)"/;

export class BackgroundRun {
  readonly started: Started;
  readonly parent: Child | undefined;
  readonly children: Child[] = [];
  /** The package has said that it is over, or its process has gone. */
  over = false;

  readonly #host: Host;
  readonly #status: Snapshot;
  readonly #events: Tail;
  readonly #nestedSeen = new Set<string>();
  #latest: RunStatus | undefined;
  #raw: unknown;
  #goneAt: number | undefined;
  #gone = "";
  #aliveAt = 0;
  #lost = 0;

  constructor(host: Host, started: Started, parent?: Child) {
    this.#host = host;
    this.started = started;
    this.parent = parent;
    this.#status = new Snapshot(join(started.asyncDir, "status.json"), STATUS_BYTES);
    this.#events = new Tail(join(started.asyncDir, "events.jsonl"), LINE_BYTES);
    this.#child(0, started.agent, started.agent);
  }

  /** The latest status as it was written, for what is asked of it seldom. */
  get status(): unknown {
    return this.#raw;
  }

  /** Brings the agents in step with the files. Returns the runs that were started below. */
  look(): Nested[] {
    if (this.over) return [];
    this.#readStatus();
    for (const child of this.children) if (!child.ended) child.look();
    if (this.children.some((child) => child.wantsFeed && !child.ended)) this.#readEvents(READ_BYTES);
    this.#endSteps();
    if (this.#latest !== undefined && hasEnded(this.#latest.status)) this.#end(this.#latest);
    else if (this.#isGone()) this.#endGone();
    return this.#nested();
  }

  /** The package tells the end on the bus; only needed where its status could not be read. */
  complete(state: unknown, spent: readonly Spent[]): void {
    const status = statusOf(state);
    if (this.over || status === undefined || !hasEnded(status)) return;
    this.#drain();
    for (const child of this.children) {
      const used = spent[child.origin.index];
      if (used !== undefined && this.#latest === undefined) child.used(used);
      child.end(status, `the package says ${status}`);
    }
    this.over = true;
  }

  /** The process has gone: what the package writes next is its last word. */
  gone(how: string): void {
    this.#goneAt ??= this.#host.now();
    this.#gone = how;
  }

  /** Nothing more is read; what runs goes on without being watched. */
  leave(why: string): void {
    if (this.over) return;
    this.over = true;
    for (const child of this.children) child.end("stopped", why);
  }

  #child(index: number, agent: string, name: string): Child {
    const known = this.children.find((child) => child.origin.index === index);
    if (known !== undefined) return known;
    const { runId } = this.started;
    const origin = { runId, index, agent, foreground: false, ...(this.parent ? { parent: this.parent } : {}) };
    const child = new Child(this.#host, origin, name);
    child.pid = this.started.pid;
    this.children.push(child);
    return child;
  }

  #readStatus(): void {
    const raw = this.#status.read();
    const latest = raw === undefined ? undefined : readStatus(raw);
    if (latest === undefined) return;
    this.#raw = raw;
    this.#latest = latest;
    for (const step of latest.steps) {
      const child = this.#child(step.index, step.agent, step.name);
      child.name = step.name;
      child.childId = step.childId;
      child.sessionFile = step.sessionFile ?? child.sessionFile;
      // The file may be written by others; what the package announced may not.
      child.pid ??= latest.pid;
      if (!child.ended && !hasEnded(step.status)) child.status = step.status;
      if (!child.ended) child.active(step.activeAt);
    }
  }

  /** An agent of several may end long before its run. */
  #endSteps(): void {
    for (const step of this.#latest?.steps ?? []) {
      const child = this.children.find(({ origin }) => origin.index === step.index);
      if (child === undefined || child.ended || !hasEnded(step.status)) continue;
      if (child.wantsFeed) this.#drain();
      child.end(step.status, step.error || `the package says ${step.status}`);
    }
  }

  #end({ status, error }: RunStatus): void {
    this.#drain();
    // Agents whose turn never came have not done anything that could be told.
    for (const child of this.children) child.end(status, error || `the package says ${status}`);
    this.over = true;
  }

  #isGone(): boolean {
    const now = this.#host.now();
    if (this.#goneAt === undefined && now - this.#aliveAt >= ALIVE_EVERY) {
      this.#aliveAt = now;
      const pid = this.#latest?.pid ?? this.started.pid;
      if (pid !== undefined && !isAlive(pid)) this.gone("its process has gone");
    }
    return this.#goneAt !== undefined && now - this.#goneAt >= LAST_WORD;
  }

  #endGone(): void {
    this.#drain();
    for (const child of this.children) child.end("error", this.#gone);
    this.over = true;
  }

  #drain(): void {
    for (let read = 0; this.#readEvents(READ_BYTES) && read < DRAIN_BYTES; read += READ_BYTES);
  }

  /** Whether there is more. */
  #readEvents(bytes: number): boolean {
    const lines = this.#events.read(bytes);
    for (const line of lines) this.#line(line);
    if (this.#events.skipped > this.#lost) {
      for (const child of this.children) if (!child.ended) child.lose(this.#events.skipped - this.#lost);
      this.#lost = this.#events.skipped;
    }
    return this.#events.behind;
  }

  #line(line: string): void {
    if (IDLE_TALK.test(line)) return;
    let event: Record<string, unknown> | undefined;
    try {
      event = fields(JSON.parse(line));
    } catch {
      return;
    }
    if (event === undefined || event.subagentSource !== "child" || event.subagentRunId !== this.started.runId) return;
    const child = this.children.find(({ origin }) => origin.index === event.subagentStepIndex);
    if (child === undefined || child.ended) return;
    const at = typeof event.observedAt === "number" ? event.observedAt : Number.NaN;
    switch (event.type) {
      case "message_end":
        // What is written again after a rotation is the same to the letter.
        child.message(event.message, `${this.started.runId} ${event.observedAt} ${line.length}`, at);
        break;
      case "agent_settled":
        child.settled();
        break;
      case "compaction_start":
      case "compaction_end":
        child.lifecycle(event.type, { reason: text(event.reason) });
        break;
    }
  }

  #nested(): Nested[] {
    const sink = this.started.nestedSink;
    if (sink === undefined) return [];
    const found: Nested[] = [];
    for (const file of entries(sink)) {
      if (this.#nestedSeen.has(file)) continue;
      if (this.#nestedSeen.size >= MAX_NESTED) break;
      this.#nestedSeen.add(file);
      const nested = readNested(new Snapshot(join(sink, file), STATUS_BYTES).read());
      if (nested !== undefined) found.push(nested);
    }
    return found;
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder).filter((file) => file.endsWith(".json"));
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
