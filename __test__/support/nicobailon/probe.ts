// Shows a test what pi-subagents says on the bus, and lets it ask the package something. Knows nothing of the watchdog.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const CHANNELS = ["subagent:async-started", "subagent:async-complete", "subagent:process-terminal"];

export default function probe(pi: ExtensionAPI): void {
  pi.on("session_start", (_event, ctx) => {
    if (!ctx.hasUI) return;
    for (const channel of CHANNELS) {
      pi.events.on(channel, (payload) => ctx.ui.notify(`${channel} ${JSON.stringify(payload)}`, "info"));
    }
  });

  pi.registerCommand("package-ask", {
    description: "Sends a request to pi-subagents and tells its answer",
    handler: async (args, ctx) => {
      const requestId = `probe-${Date.now()}-${Math.random()}`;
      const reply = new Promise((resolve) => {
        const off = pi.events.on(`subagents:rpc:v1:reply:${requestId}`, (payload) => {
          off();
          resolve(payload);
        });
      });
      pi.events.emit("subagents:rpc:v1:request", { version: 1, requestId, ...JSON.parse(args) });
      ctx.ui.notify(`answer ${JSON.stringify(await reply)}`, "info");
    },
  });

  pi.registerCommand("package-emit", {
    description: "Says something on the bus as if the package had",
    handler: async (args) => {
      const { channel, payload } = JSON.parse(args);
      pi.events.emit(channel, payload);
    },
  });
}
