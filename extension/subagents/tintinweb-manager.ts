// The manager that @tintinweb/pi-subagents publishes, read with distrust: its package cannot be imported, so every field
// is checked here and nowhere else. Knows no bus and no store.

import { hasEnded, type InProcessRecord, readInProcess, type Status } from "./in-process.ts";

export { hasEnded, type Status };

export const PACKAGE = "@tintinweb/pi-subagents";

const SLOT = Symbol.for("pi-subagents:manager");

/** What is used of an agent's session; every call may throw. */
export interface AgentSession {
  readonly sessionId: string;
  steer(message: string): Promise<unknown>;
}

export interface AgentRecord extends InProcessRecord {
  /** Present as soon as the session is bound, which is before its first prompt. */
  session?: AgentSession;
}

/** What is used of the manager. Only the main session's is published; a child leaves the slot as it is. */
export interface Manager {
  getRecord(id: string): unknown;
}

/** The manager in the slot; `"unknown"` when something else is there. */
export function publishedManager(): Manager | "unknown" | undefined {
  const value: unknown = Reflect.get(globalThis, SLOT);
  if (value === undefined || value === null) return undefined;
  return isObject(value) && typeof value.getRecord === "function" ? (value as unknown as Manager) : "unknown";
}

/** `"unknown"` when there is a record and it cannot be read. */
export function readRecord(manager: Manager, id: string): AgentRecord | "unknown" | undefined {
  const value = manager.getRecord(id);
  if (value === undefined || value === null) return undefined;
  const record = parseRecord(value);
  return record === "unknown" || record.id !== id ? "unknown" : record;
}

/** Events of ends have the same fields. */
export function parseRecord(value: unknown): AgentRecord | "unknown" {
  if (!isObject(value)) return "unknown";
  const agent = readInProcess(value);
  if (agent === undefined) return "unknown";
  const session = readSession(value.session);
  if (session === "unknown") return "unknown";
  return { ...agent, ...(session === undefined ? {} : { session }) };
}

function readSession(value: unknown): AgentSession | "unknown" | undefined {
  if (value === undefined || value === null) return undefined;
  const known = isObject(value) && typeof value.sessionId === "string" && value.sessionId !== "";
  return known && typeof value.steer === "function" ? (value as unknown as AgentSession) : "unknown";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
