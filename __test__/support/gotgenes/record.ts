// The public shape of an agent's record and of the service, as @gotgenes/pi-subagents has them from 18 on. Types only.

import type { AgentSessionEvent } from "@earendil-works/pi-coding-agent";

export type AgentStatus = "queued" | "running" | "completed" | "steered" | "aborted" | "stopped" | "error";

export interface AgentRecord {
  id: string;
  type: string;
  description: string;
  status: AgentStatus;
  toolUses: number;
  startedAt: number;
  completedAt?: number;
  result?: string;
  error?: string;
  lifetimeUsage: { input: number; output: number; cacheWrite: number };
  compactionCount: number;
  /** From 20.1 on; absent where the session is not saved. */
  outputFile?: string;
  isBackground?: boolean;
  turnBudget?: number;
}

/** An agent as the package itself has it: private by type, a plain property of the service's `manager`. */
export interface LiveAgent {
  readonly id: string;
  readonly type: string;
  readonly description: string;
  readonly status: AgentStatus;
  readonly outputFile: string | undefined;
  readonly turnCount: number;
  /** Names of the tools that run now, by call. */
  readonly activeTools: ReadonlyMap<string, string>;
  readonly responseText: string;
  readonly messages: readonly unknown[];
  /** All events of its session; undefined while it has none. */
  subscribeToUpdates(listener: (event: AgentSessionEvent) => void): (() => void) | undefined;
  resume(prompt: string): Promise<void>;
}

export interface SpawnOptions {
  description?: string;
  isBackground?: boolean;
  /** Turns after which the agent is asked to wrap up; some turns later it is aborted. */
  maxTurns?: number;
}

export interface SubagentsService {
  spawn(type: string, prompt: string, options?: SpawnOptions): string;
  getRecord(id: string): AgentRecord | undefined;
  listAgents(): AgentRecord[];
  abort(id: string): boolean;
  steer(id: string, message: string): Promise<boolean>;
  waitForAll(): Promise<void>;
  hasRunning(): boolean;
  /** Not part of the public type. */
  manager?: { getRecord(id: string): LiveAgent | undefined };
  /** From 21.6 on. */
  resume?(id: string, prompt: string): Promise<AgentRecord | undefined>;
}

export const SERVICE_SLOT = Symbol.for("@gotgenes/pi-subagents:service");

/** Publishes on the main session's bus. Must not throw when that session is gone. */
export type Emit = (channel: string, payload: Record<string, unknown>) => void;
