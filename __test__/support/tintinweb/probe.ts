// A tool by which a child of a test starts an agent itself, as extensions may over the package's bus. To be listed in the
// settings' `extensions`, so that children load it too.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

export default function probe(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "nest",
    label: "Nest",
    description: "Starts an agent of an agent.",
    parameters: Type.Object({ prompt: Type.String(), description: Type.String() }),
    execute: async (requestId, { prompt, description }) => {
      const reply = await new Promise((resolve) => {
        const off = pi.events.on(`subagents:rpc:spawn:reply:${requestId}`, (answer) => {
          off();
          resolve(answer);
        });
        const options = { description, isBackground: true };
        pi.events.emit("subagents:rpc:spawn", { requestId, type: "general-purpose", prompt, options });
      });
      return { content: [{ type: "text", text: JSON.stringify(reply) }], details: undefined };
    },
  });
}
