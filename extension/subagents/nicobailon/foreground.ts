// A foreground run: its agents are sessions of this process that load no installed extension, inside a tool call of the
// main agent. The details of that call name each agent's transcript, which tells all but streamed text; where there is
// none, the details themselves are all that is seen. Decides nothing about targets.

import { basename, dirname, join } from "node:path";
import type { Host } from "../connection.ts";
import { Child } from "./child.ts";
import { Tail } from "./files.ts";
import {
  type Fields,
  type ForegroundRun,
  fields,
  hasEnded,
  type Named,
  type Nested,
  readSpent,
  type Shown,
  text,
} from "./wire.ts";
import { Discovery, type Found } from "./workflow.ts";

const LINE_BYTES = 4 * 1024 * 1024;
const READ_BYTES = 1024 * 1024;
const DRAIN_BYTES = 64 * 1024 * 1024;
/** What the package puts before an agent's task. */
const TASK = /^Task: /;
/** How a name ends that was cut. */
const CUT = /(?:…|\.\.\.)$/;

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
  readonly #followers = new Map<string, Follower>();
  #discovery: Discovery | undefined;
  over = false;

  constructor(host: Host) {
    this.#host = host;
  }

  get children(): Child[] {
    return [...this.#followers.values()].map(({ child }) => child);
  }

  /** The call shows how far it is, or has ended. Returns the runs that its agents started. */
  show(run: ForegroundRun, ended: boolean): Nested[] {
    if (run.named !== undefined) this.#discovery ??= new Discovery(this.#host);
    for (const shown of run.agents) this.#show(shown);
    this.look();
    for (const named of run.named ?? []) this.#name(named);
    for (const follower of this.#followers.values()) this.#settle(follower);
    if (ended) this.over = this.children.every((child) => child.ended);
    return run.agents.flatMap(({ nested }) => nested);
  }

  /** Reads on. */
  look(): void {
    for (const found of this.#discovery?.look() ?? []) this.#show(stub(found));
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
    const key = `${shown.runId} ${shown.index}`;
    const follower = this.#followers.get(key) ?? this.#follow(key, shown);
    follower.shown = shown;
    const { child } = follower;
    if (shown.name !== shown.agent) child.name = shown.name;
    child.sessionFile = shown.sessionFile ?? child.sessionFile;
    if (!child.ended && !hasEnded(shown.status)) child.status = shown.status;
    if (!child.ended) child.active(shown.activeAt);
    if (follower.transcript === undefined && shown.transcript !== undefined)
      follower.transcript = new Tail(shown.transcript, LINE_BYTES);
    if (follower.transcript === undefined) this.#summary(follower);
  }

  #follow(key: string, shown: Shown): Follower {
    const { runId, index, agent, name } = shown;
    const child = new Child(this.#host, { runId, index, agent, foreground: true }, name);
    // Told only at the end; until then it is where the package puts it unless it is configured otherwise. The run's id
    // is in the path, so what is found there is this run's.
    child.sessionFile = usualSessionFile(this.#host, runId, index);
    const follower = { child, transcript: undefined, toldAt: 0, shown, truncated: false, lines: 0 };
    this.#followers.set(key, follower);
    return follower;
  }

  /** In a workflow an agent's state is told by its name, until its run is. */
  #name({ runId, name, status, activeAt }: Named): void {
    const all = [...this.#followers.values()];
    const short = name.replace(CUT, "");
    const same = all.filter(({ child }) =>
      runId === ""
        ? short !== "" && (child.name === name || child.name.startsWith(short))
        : child.origin.runId === runId,
    );
    const [only] = same;
    if (only === undefined || same.length > 1) return;
    only.shown = { ...only.shown, status };
    if (!only.child.ended) only.child.active(activeAt);
  }

  #settle(follower: Follower): void {
    const { child, shown } = follower;
    if (child.ended || !hasEnded(shown.status)) return;
    this.#drain(follower);
    if (follower.transcript === undefined || follower.truncated) child.used(shown.spent);
    child.end(shown.status, shown.error || `the package says ${shown.status}`);
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

  /** Whether there is more. */
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
    const { child } = follower;
    const { runId, agent } = child.origin;
    if (record === undefined || record.runId !== runId) return;
    if (record.recordType === "truncated") follower.truncated = true;
    // The first prompt is written down once more, as a message, when the session has it.
    if (record.recordType !== "message" || record.sourceEventType === "initial_prompt") return;
    const said = text(record.text);
    if (record.role === "user" && child.name === agent && TASK.test(said))
      child.name = `${agent}: ${said.replace(TASK, "").replace(/\s+/g, " ").trim()}`;
    const at = typeof record.ts === "number" ? record.ts : Number.NaN;
    child.message(record.message, `${runId} ${follower.lines} ${text(record.timestamp)}`, at);
  }
}

/** What is known of an agent that was found, not told. */
const stub = ({ runId, index, agent, transcript }: Found): Shown => ({
  runId,
  index,
  agent,
  name: agent,
  status: "running",
  transcript,
  spent: readSpent(undefined),
  tools: [],
  error: "",
  nested: [],
});

function usualSessionFile(host: Host, runId: string, index: number): string | undefined {
  const file = host.session.ctx.sessionManager.getSessionFile();
  if (file === undefined) return undefined;
  return join(dirname(file), basename(file, ".jsonl"), runId, `run-${index}`, "session.jsonl");
}
