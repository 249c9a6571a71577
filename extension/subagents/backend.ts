// The one interface through which sub-agent packages are met. One file per package implements it.

/** What became of a steer or stop request, told as it was. */
export type Delivery =
  | { outcome: "delivered" }
  | { outcome: "queued" }
  | { outcome: "refused"; reason: string }
  | { outcome: "unknown_target"; reason: string };

export interface SubagentRecord {
  /** The package's own id of the agent. */
  agentId: string;
  /** Session id, when it is linked. */
  sessionId?: string;
  /** `exact`: known beyond doubt. Anything else is shown and never steered. */
  link: "exact" | "inferred" | "none";
  type: string;
  description: string;
  /** The package's own state; its truth, not ours. */
  status: "queued" | "running" | "completed" | "steered" | "aborted" | "stopped" | "error";
  startedAt?: number;
  completedAt?: number;
}

export interface BackendCapabilities {
  list: boolean;
  steer: boolean;
  stop: boolean;
  resume: boolean;
}

export interface SubagentBackend {
  /** Package name and version if known, e.g. `@gotgenes/pi-subagents`. */
  readonly name: string;
  readonly capabilities: BackendCapabilities;
  list(): SubagentRecord[];
  steer(agentId: string, message: string): Promise<Delivery>;
  stop(agentId: string): Promise<Delivery>;
  resume?(agentId: string, prompt: string): Promise<Delivery>;
  /** Stops listening; idempotent. */
  dispose(): void;
}
