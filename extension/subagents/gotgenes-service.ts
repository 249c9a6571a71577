// The service that @gotgenes/pi-subagents publishes, read with distrust: its package cannot be imported, so every field
// is checked here and nowhere else. Knows no bus and no store.

import { number, text } from "./foreign.ts";
import { hasEnded, type InProcessRecord, readInProcess, type Status } from "./in-process.ts";
import type { OpenSession } from "./outside.ts";

export { hasEnded, type Status };

export const PACKAGE = "@gotgenes/pi-subagents";

const SLOT = Symbol.for("@gotgenes/pi-subagents:service");

export interface AgentRecord extends InProcessRecord {
  /** The agent's session file, from version 20 on. */
  outputFile?: string;
  /** Turns after which the agent is told to wrap up. */
  turnLimit?: number;
}

/** What is used of the service; every call may throw. */
export interface Service {
  getRecord(id: string): unknown;
  listAgents(): unknown;
  hasRunning(): boolean;
  abort(id: string): boolean;
  steer(id: string, message: string): Promise<boolean>;
  /** From version 21 on. What it answers, and when, is not known. */
  resume?(id: string, prompt: string): unknown;
}

const METHODS = ["getRecord", "listAgents", "hasRunning", "abort", "steer"] as const;

/** The service in the slot now: the main session's, or the empty one of the child that was loaded last. */
export function publishedService(): Service | undefined {
  const value: unknown = Reflect.get(globalThis, SLOT);
  if (typeof value !== "object" || value === null) return undefined;
  const complete = METHODS.every((method) => typeof Reflect.get(value, method) === "function");
  return complete ? (value as Service) : undefined;
}

export function readRecord(service: Service, id: string): AgentRecord | undefined {
  return parseRecord(service.getRecord(id));
}

/**
 * The session of an agent, as the package's own live record shows it. That record is no part of the service's type, so
 * each piece is looked at before it is used: undefined where it is not there, `"later"` while the agent has no session to
 * subscribe to.
 */
export function liveSession(service: Service, agentId: string, sessionId: string): OpenSession | "later" | undefined {
  const live = liveRecord(service, agentId);
  if (live === undefined) return undefined;
  const { outputFile } = live;
  if (typeof outputFile === "string" && !isFileOf(outputFile, sessionId)) return undefined;
  const off = live.subscribeToUpdates(() => {});
  if (typeof off !== "function") return "later";
  off();
  return {
    sessionId,
    get messages() {
      return live.messages;
    },
    subscribe: (listener) => live.subscribeToUpdates(listener),
  };
}

interface LiveRecord {
  outputFile?: unknown;
  messages?: unknown;
  subscribeToUpdates(listener: (event: unknown) => void): unknown;
}

function liveRecord(service: Service, agentId: string): LiveRecord | undefined {
  const manager: unknown = Reflect.get(service, "manager");
  if (!isObject(manager) || typeof manager.getRecord !== "function") return undefined;
  const live: unknown = manager.getRecord(agentId);
  const known = isObject(live) && live.id === agentId && typeof live.subscribeToUpdates === "function";
  return known ? (live as unknown as LiveRecord) : undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

export function readRecords(service: Service): AgentRecord[] {
  const list = service.listAgents();
  return Array.isArray(list) ? list.map(parseRecord).filter((record) => record !== undefined) : [];
}

/** The one agent whose record names the session's file; undefined when none does, or several do. */
export function recordOfSession(service: Service, sessionId: string): AgentRecord | undefined {
  const [only, ...others] = readRecords(service).filter(({ outputFile }) => isFileOf(outputFile, sessionId));
  return others.length === 0 ? only : undefined;
}

export const isFileOf = (file: string | undefined, sessionId: string): boolean =>
  file?.endsWith(`_${sessionId}.jsonl`) ?? false;

function parseRecord(value: unknown): AgentRecord | undefined {
  const agent = readInProcess(value);
  if (agent === undefined) return undefined;
  const outputFile = text(value, "outputFile");
  const turnLimit = number(value, "turnBudget");
  return {
    ...agent,
    ...(outputFile === "" ? {} : { outputFile }),
    ...(turnLimit === undefined ? {} : { turnLimit }),
  };
}
