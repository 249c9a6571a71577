// The one interface through which sub-agent packages are met. One file per package implements it.

import type { TargetStatus, Visibility } from "../../index.js";

/** What became of a steer, stop or resume request, told as it was. */
export type Delivery =
  /** The agent has it, or it has taken effect. */
  | { outcome: "delivered" }
  /** It was taken and will have its turn; nothing tells when. */
  | { outcome: "queued" }
  | { outcome: "refused"; reason: string }
  | { outcome: "unknown_target"; reason: string }
  /** It was sent and nothing came back: it may have arrived. */
  | { outcome: "unknown"; reason: string };

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
  status: Exclude<TargetStatus, "idle">;
  startedAt?: number;
  completedAt?: number;
  /** The package's id of the run, where that is not the agent's: a revived agent has a new one. */
  runId?: string;
  /** Session id of the session that started it, where that is not the main session. */
  parentId?: string;
  /** Of a process of its own. */
  pid?: number;
  /** Absent: `full`. */
  visibility?: Visibility;
}

export interface BackendCapabilities {
  list: boolean;
  steer: boolean;
  stop: boolean;
  resume: boolean;
}

/** A call of a tool of the main agent. */
export interface ToolCall {
  tool: string;
  /** Without the message. */
  args: Record<string, string | number>;
}

export interface SubagentBackend {
  /** Package name and version if known, e.g. `@gotgenes/pi-subagents`. */
  readonly name: string;
  readonly capabilities: BackendCapabilities;
  list(): SubagentRecord[];
  steer(agentId: string, message: string): Promise<Delivery>;
  stop(agentId: string): Promise<Delivery>;
  resume?(agentId: string, prompt: string): Promise<Delivery>;
  /** How the main agent itself sends a message to the agent; undefined where the package has no tool that can now. */
  steerCall?(agentId: string): ToolCall | undefined;
  /** Stops listening; idempotent. */
  dispose(): void;
}

/** What `/watchdog status` says of a package that children may come from. */
export interface PackageReport {
  package: string;
  /** `unusable`: it is there and cannot be met; `detail` says why and what to do. */
  state: "in use" | "absent" | "unusable";
  detail?: string;
}

/** Whether a request got to the agent, or is on its way. */
export function wasTaken({ outcome }: Delivery): boolean {
  return outcome === "delivered" || outcome === "queued";
}
