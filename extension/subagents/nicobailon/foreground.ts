// A foreground run: its agents are sessions of this process that load no installed extension, inside a tool call of the
// main agent. The details of that call name each agent's transcript, which tells all but streamed text; where there is
// none, the details themselves are all that is seen. Decides nothing about targets.

import { basename, dirname, join } from "node:path";
import type { Host } from "../connection.ts";
import { Child } from "./child.ts";
import { Tail } from "./files.ts";
import { type Fields, type ForegroundRun, fields, hasEnded, type Nested, type Shown, text } from "./wire.ts";

const LINE_BYTES = 4 * 1024 * 1024;
const READ_BYTES = 1024 * 1024;
const DRAIN_BYTES = 64 * 1024 * 1024;

interface Follower {
  child: Child;
  transcript: Tail | undefined;
  /** When the latest tool call that was told of ended. */
  toldAt: number;
  shown: Shown;
  /** The transcript leaves out what came after. */
  truncated: boolean;
  lines: number;
}

export class ForegroundCall {
  readonly #host: Host;
  readonly #followers = new Map<number, Follower>();
  #runId = "";
  over = false;

  constructor(host: Host) {
    this.#host = host;
  }

  get runId(): string {
    return this.#runId;
  }

  get children(): Child[] {
    return [...this.#followers.values()].map(({ child }) => child);
  }

  /** The call shows how far it is, or has ended. Returns the runs that its agents started. */
  show(run: ForegroundRun, ended: boolean): Nested[] {
    this.#runId = run.runId;
    for (const shown of run.agents) this.#show(shown);
    this.look();
    for (const follower of this.#followers.values()) {
      const { child, shown } = follower;
      if (child.ended || !hasEnded(shown.status)) continue;
      this.#drain(follower);
      if (follower.transcript === undefined || follower.truncated) child.used(shown.spent);
      child.end(shown.status, shown.error || `the package says ${shown.status}`);
    }
    if (ended) this.over = this.children.every((child) => child.ended);
    return run.agents.flatMap(({ nested }) => nested);
  }

  /** Reads on. */
  look(): void {
    for (const follower of this.#followers.values()) {
      if (follower.child.ended) continue;
      follower.child.look();
      if (follower.child.wantsFeed) this.#read(follower);
    }
  }

  /** The call has ended without telling how its agents did. */
  leave(why: string): void {
    if (this.over) return;
    this.over = true;
    for (const follower of this.#followers.values()) {
      if (!follower.child.ended) this.#drain(follower);
      follower.child.end("stopped", why);
    }
  }

  #show(shown: Shown): void {
    const follower = this.#followers.get(shown.index) ?? this.#follow(shown);
    follower.shown = shown;
    const { child } = follower;
    child.name = shown.name;
    child.sessionFile = shown.sessionFile ?? child.sessionFile;
    if (!child.ended && !hasEnded(shown.status)) child.status = shown.status;
    if (follower.transcript === undefined && shown.transcript !== undefined)
      follower.transcript = new Tail(shown.transcript, LINE_BYTES);
    if (follower.transcript === undefined) this.#summary(follower);
  }

  #follow(shown: Shown): Follower {
    const origin = { runId: this.#runId, index: shown.index, agent: shown.agent, foreground: true };
    const child = new Child(this.#host, origin, shown.name);
    // Told only at the end; until then it is where the package puts it unless it is configured otherwise. The run's id
    // is in the path, so what is found there is this run's.
    child.sessionFile = usualSessionFile(this.#host, this.#runId, shown.index);
    const follower = { child, transcript: undefined, toldAt: 0, shown, truncated: false, lines: 0 };
    this.#followers.set(shown.index, follower);
    return follower;
  }

  /** Without a transcript: that tools were called, and what all of it has cost so far. */
  #summary(follower: Follower): void {
    const { child, shown } = follower;
    child.limit("result_only");
    child.look();
    for (const { tool, args, endedAt } of shown.tools) {
      if (endedAt <= follower.toldAt) continue;
      follower.toldAt = endedAt;
      child.note("tool_call", `${tool}: ${args}`);
    }
    child.used(shown.spent);
  }

  #drain(follower: Follower): void {
    for (let read = 0; this.#read(follower) && read < DRAIN_BYTES; read += READ_BYTES);
  }

  #read(follower: Follower): boolean {
    const lines = follower.transcript?.read(READ_BYTES) ?? [];
    for (const line of lines) this.#line(follower, line);
    return follower.transcript?.behind === true;
  }

  #line(follower: Follower, line: string): void {
    follower.lines += 1;
    let record: Fields | undefined;
    try {
      record = fields(JSON.parse(line));
    } catch {
      return;
    }
    if (record === undefined || record.runId !== this.#runId) return;
    if (record.recordType === "truncated") follower.truncated = true;
    // The first prompt is written down once more, as a message, when the session has it.
    if (record.recordType !== "message" || record.sourceEventType === "initial_prompt") return;
    const at = typeof record.ts === "number" ? record.ts : Number.NaN;
    follower.child.message(record.message, `${this.#runId} ${follower.lines} ${text(record.timestamp)}`, at);
  }
}

function usualSessionFile(host: Host, runId: string, index: number): string | undefined {
  const file = host.session.ctx.sessionManager.getSessionFile();
  if (file === undefined) return undefined;
  return join(dirname(file), basename(file, ".jsonl"), runId, `run-${index}`, "session.jsonl");
}
