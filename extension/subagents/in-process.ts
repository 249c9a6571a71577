// An agent of this process as the packages' records tell it: the fields and states that they share. What a package has
// besides is read in its own file.

import type { SubagentRecord } from "./backend.ts";
import { number, text } from "./foreign.ts";

export type Status = SubagentRecord["status"];

export interface InProcessRecord {
  id: string;
  type: string;
  description: string;
  status: Status;
  toolUses: number;
  startedAt?: number;
  completedAt?: number;
  /** Whether the agent answered anything. */
  answered: boolean;
  error?: string;
}

const STATUSES: ReadonlySet<string> = new Set<Status>([
  "queued",
  "running",
  "completed",
  "steered",
  "aborted",
  "stopped",
  "error",
]);

/** Undefined where a record has no id, or a state that is not known. */
export function readInProcess(value: unknown): InProcessRecord | undefined {
  const id = text(value, "id");
  const status = text(value, "status");
  if (id === "" || !STATUSES.has(status)) return undefined;
  const startedAt = number(value, "startedAt");
  const completedAt = number(value, "completedAt");
  const error = text(value, "error");
  return {
    id,
    type: text(value, "type"),
    description: text(value, "description"),
    status: status as Status,
    toolUses: number(value, "toolUses") ?? 0,
    answered: text(value, "result").trim() !== "",
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(completedAt === undefined ? {} : { completedAt }),
    ...(error === "" ? {} : { error }),
  };
}

export function hasEnded(status: Status): boolean {
  return status !== "queued" && status !== "running";
}
