// What is said of agents of @tintinweb/pi-subagents, in their history and in answers. No state.

import type { Delivery } from "./backend.ts";
import type { Agent } from "./roster.ts";
import type { AgentRecord } from "./tintinweb-manager.ts";

export const SESSION_OVER = "the main session has ended";

export function describe(agent: Agent): string {
  return [agent.type, agent.description].filter((part) => part !== "").join(": ") || "sub-agent";
}

/** Whether the agent did not do what it was asked. */
export function failed(record: AgentRecord): boolean {
  return !((record.status === "completed" || record.status === "steered") && record.answered);
}

export function ending(record: AgentRecord): string {
  const after = `${record.status} after ${record.toolUses} tool ${record.toolUses === 1 ? "use" : "uses"}`;
  if (record.error !== undefined) return `${after}: ${record.error}`;
  if (record.status === "aborted") return `${after}: its turn limit was reached`;
  if (record.status === "completed" && !record.answered) return `${after}, without an answer`;
  return after;
}

export function refused(reason: string): Delivery {
  return { outcome: "refused", reason };
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
