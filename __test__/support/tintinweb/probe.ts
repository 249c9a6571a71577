// What tests of @tintinweb/pi-subagents cannot ask of the watchdog or of the package by a tool of theirs. To be listed in
// the settings' `extensions`, so that children load it too.
//
//   tool `nest`            in any session: lets the package of that session start an agent, as extensions may over its bus
//   command `/probe-stop`  stops a target by the way that the watchdog has to the package, and says what came of it

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";
import type { MainSession } from "../../../extension/runtime.ts";

const SESSIONS = Symbol.for("pi-watchdog-supervisor:sessions/v1");

export default function probe(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "nest",
    label: "Nest",
    description: "Starts an agent of an agent.",
    parameters: Type.Object({ prompt: Type.String(), description: Type.String() }),
    execute: async (callId, { prompt, description }) => {
      const reply = await new Promise((resolve) => {
        const off = pi.events.on(`subagents:rpc:spawn:reply:${callId}`, (answer) => {
          off();
          resolve(answer);
        });
        const params = { type: "general-purpose", prompt, options: { description, isBackground: true } };
        pi.events.emit("subagents:rpc:spawn", { requestId: callId, ...params });
      });
      return { content: [{ type: "text", text: JSON.stringify(reply) }], details: undefined };
    },
  });

  pi.registerCommand("probe-stop", {
    description: "Stops a target",
    handler: async (sessionId, ctx) => {
      const registry = Reflect.get(globalThis, SESSIONS) as { mains: Map<string, WeakRef<MainSession>> };
      const main = registry.mains.get(ctx.sessionManager.getSessionId())?.deref();
      ctx.ui.notify(JSON.stringify(await main?.stop(sessionId.trim())));
    },
  });
}
