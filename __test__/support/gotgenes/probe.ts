// A Pi extension for tests that writes what it sees of sub-agents, one JSON line each, to $SUBAGENT_PROBE: the bus
// events of its session, the session's own events, and whose service the slot holds. It changes nothing.

import { appendFileSync } from "node:fs";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { SERVICE_SLOT, type SubagentsService } from "./record.ts";

export interface ProbeLine {
  /** Channel or event. */
  what: string;
  /** Session of this extension instance; `""` in the factory. */
  sessionId: string;
  /** Agents (`id:status`) that the service in the slot knows; absent when the slot is empty. */
  slotAgents?: string[];
  /** The same of the service that was in the slot first, the main session's. */
  mainAgents?: string[];
  payload?: Record<string, unknown>;
}

// Shared by the probe's instances, as the slot is shared by the package's.
const FIRST = Symbol.for("subagent-probe:first-service");

const CHANNELS = [
  "created",
  "started",
  "completed",
  "failed",
  "steered",
  "compacted",
  "child:spawning",
  "child:session-created",
  "child:completed",
  "child:disposed",
];
const EVENTS = ["session_start", "agent_start", "agent_settled", "session_shutdown"] as const;

export default function probe(pi: ExtensionAPI): void {
  const file = process.env.SUBAGENT_PROBE;
  if (file === undefined) return;
  let sessionId = "";

  const agentsOf = (service: unknown) =>
    (service as SubagentsService | undefined)?.listAgents().map((record) => `${record.id}:${record.status}`);

  const write = (what: string, payload?: unknown) => {
    const service = Reflect.get(globalThis, SERVICE_SLOT);
    if (service !== undefined && !Reflect.has(globalThis, FIRST)) Reflect.set(globalThis, FIRST, service);
    const line = {
      what,
      sessionId,
      slotAgents: agentsOf(service),
      mainAgents: agentsOf(Reflect.get(globalThis, FIRST)),
    };
    appendFileSync(file, `${JSON.stringify({ ...line, payload })}\n`);
  };

  write("factory");
  for (const channel of CHANNELS)
    pi.events.on(`subagents:${channel}`, (payload) => write(`subagents:${channel}`, payload));
  for (const event of EVENTS) {
    // The overloads of `on` take one literal event each.
    pi.on(event as "agent_start", (_event, ctx) => {
      sessionId = ctx.sessionManager.getSessionId();
      write(event);
    });
  }
}
