// The ways from a main session to its children: by the sub-agent package that runs them, else by the child's own
// instance of the extension. Whether a child may be reached at all is decided by who calls this.

import { findLive, noteSteer } from "../root.ts";
import type { Delivery, SubagentBackend } from "../subagents/backend.ts";
import { wasTaken } from "../subagents/backend.ts";

/** Puts a message before a child's next model call. */
export async function steerChild(
  backends: readonly SubagentBackend[],
  sessionId: string,
  message: string,
): Promise<Delivery> {
  const known = exactAgent(backends, sessionId, "steer");
  let delivery: Delivery = { outcome: "unknown_target", reason: "no sub-agent package knows this session" };
  if (known !== undefined) {
    noteSteer(sessionId, message);
    delivery = await known.backend.steer(known.agentId, message);
    // Sent twice would be worse than perhaps not at all.
    if (wasTaken(delivery) || delivery.outcome === "unknown") return delivery;
  }
  // The session's own instance of the extension is beyond doubt who it is.
  return findLive(sessionId)?.steer(message) ? { outcome: "queued" } : delivery;
}

export async function stopChild(backends: readonly SubagentBackend[], sessionId: string): Promise<Delivery> {
  const known = exactAgent(backends, sessionId, "stop");
  if (known !== undefined) return known.backend.stop(known.agentId);
  return { outcome: "unknown_target", reason: "no sub-agent package that can stop it knows this session" };
}

function exactAgent(
  backends: readonly SubagentBackend[],
  sessionId: string,
  ability: "steer" | "stop",
): { backend: SubagentBackend; agentId: string } | undefined {
  for (const backend of backends) {
    if (!backend.capabilities[ability]) continue;
    const record = backend.list().find((entry) => entry.sessionId === sessionId && entry.link === "exact");
    if (record !== undefined) return { backend, agentId: record.agentId };
  }
  return undefined;
}
