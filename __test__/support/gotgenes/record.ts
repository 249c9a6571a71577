// The public shape of an agent's record and of the service, as @gotgenes/pi-subagents has them from 18 on. Types only.

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
  /** From 21.6 on. */
  resume?(id: string, prompt: string): Promise<AgentRecord | undefined>;
}

export const SERVICE_SLOT = Symbol.for("@gotgenes/pi-subagents:service");

/** Publishes on the main session's bus. Must not throw when that session is gone. */
export type Emit = (channel: string, payload: Record<string, unknown>) => void;
