// Stand-in for @gotgenes/pi-subagents, 18 unless a later one is asked for (quirks.ts): what is wired to what. Loaded by Pi as an installed package, in the main
// session and, as every installed extension, in each child, where it overwrites the slot with a service of its own.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { createManager } from "./manager.ts";
import { readQuirks } from "./quirks.ts";
import { type Emit, SERVICE_SLOT, type SubagentsService } from "./record.ts";
import { describe, registerTools } from "./tools.ts";

export default function standIn(pi: ExtensionAPI): void {
  const quirks = readQuirks();
  let context: ExtensionContext | undefined;
  const consumed = new Set<string>();

  // The session may be gone when a late child ends; its bus then throws.
  const emit: Emit = (channel, payload) => {
    if (context) pi.events.emit(channel, payload);
  };
  const manager = createManager(emit, () => context, quirks);
  const { spawn, getRecord, listAgents, abort, steer, waitForAll, hasRunning, resume } = manager;
  const service: SubagentsService = { spawn, getRecord, listAgents, abort, steer, waitForAll, hasRunning };
  if (quirks.resume) service.resume = resume;
  if (!quirks.noLive) service.manager = { getRecord: manager.live };
  const publish = () => Reflect.set(globalThis, SERVICE_SLOT, service);

  if (!quirks.lateSlot) publish();
  registerTools(quirks.oneTool ? firstTool(pi) : pi, manager, emit, (id) => consumed.add(id));

  pi.on("session_start", (_event, ctx) => {
    context = ctx;
  });
  pi.on("input", () => {
    if (quirks.lateSlot) publish();
  });
  pi.on("session_shutdown", () => {
    context = undefined;
    manager.shutdown();
  });

  pi.events.on("subagents:completed", (payload) => notifyMain(payload));
  pi.events.on("subagents:failed", (payload) => notifyMain(payload));

  // The main agent learns of a background agent's end, unless it is waiting for it already.
  function notifyMain(payload: unknown): void {
    const id = String((payload as { id?: unknown }).id);
    const record = manager.getRecord(id);
    if (quirks.untold || !record || consumed.has(id) || !manager.isBackground(id)) return;
    pi.sendMessage(
      { customType: "subagent-notification", content: describe(record), display: true, details: { agentId: id } },
      { deliverAs: "followUp", triggerTurn: true },
    );
  }

  // The real package disposes ended children minutes later; a test says when.
  pi.registerCommand("stand-in-dispose", {
    description: "Disposes the session of an ended agent",
    handler: async (args) => {
      manager.disposeAgent(args.trim());
    },
  });
}

function firstTool(pi: ExtensionAPI): Pick<ExtensionAPI, "registerTool"> {
  let registered = false;
  return {
    registerTool(tool) {
      if (!registered) pi.registerTool(tool);
      registered = true;
    },
  };
}
