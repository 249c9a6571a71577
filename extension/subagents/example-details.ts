// What the details of a sub-agent tool call tell of its agents, in the shape of Pi's example extension `subagent`. Other
// extensions began as a copy of it, and versions differ, so every field is checked here. Feeds nothing, knows no target.

import type { SubagentRecord } from "./backend.ts";
import { text } from "./foreign.ts";

export type State = SubagentRecord["status"];

/** One agent of a call. */
export interface Result {
  agent: string;
  task: string;
  status: State;
  /** All finished messages so far. */
  messages: readonly unknown[];
  /** The package's own sum. */
  usage: unknown;
  /** Why it failed; `""` otherwise. */
  error: string;
}

const MODES: ReadonlySet<unknown> = new Set(["single", "parallel", "chain"]);
/** More agents of one call than any version starts. */
const MAX_RESULTS = 64;
/** Fields that packages with results of the same name have, which have a file of their own here. */
const OTHERS = ["runId", "asyncId", "asyncDir", "progress", "toolCallId"];

/** The agents of a call, in the order of its arguments; undefined when these are the details of something else. */
export function readResults(details: unknown, ended: boolean): Result[] | undefined {
  if (typeof details !== "object" || details === null) return undefined;
  if (!MODES.has(Reflect.get(details, "mode")) || OTHERS.some((field) => Reflect.has(details, field))) return undefined;
  const list: unknown = Reflect.get(details, "results");
  if (!Array.isArray(list)) return undefined;
  const results: Result[] = [];
  for (const [index, entry] of list.slice(0, MAX_RESULTS).entries()) {
    const messages: unknown = typeof entry === "object" && entry !== null ? Reflect.get(entry, "messages") : undefined;
    if (!Array.isArray(messages) || text(entry, "agent") === "") return undefined;
    // In a chain the next one starts when this one has ended.
    const over = ended || (Reflect.get(details, "mode") === "chain" && index < list.length - 1);
    results.push({
      agent: text(entry, "agent"),
      task: text(entry, "task"),
      messages,
      usage: Reflect.get(entry, "usage"),
      status: stateOf(entry, over),
      error: text(entry, "errorMessage"),
    });
  }
  return results;
}

/** Pi 1.x names the state; before, only the exit code of an ended agent tells it, and it is 0 while a single one runs. */
function stateOf(result: object, ended: boolean): State {
  switch (text(result, "status")) {
    case "pending":
      return ended ? "stopped" : "queued";
    case "running":
      return ended ? "stopped" : "running";
    case "completed":
      return "completed";
    case "aborted":
      return "aborted";
    case "failed":
      return "error";
  }
  const code: unknown = Reflect.get(result, "exitCode");
  if (!ended && code !== -1 && (code === 0 || typeof code !== "number")) return "running";
  if (code === -1) return ended ? "stopped" : "running";
  const reason = text(result, "stopReason");
  if (reason === "aborted") return "aborted";
  return code === 0 && reason !== "error" ? "completed" : "error";
}
