// An extension of which no part of the watchdog knows anything: a tool by which agents might be started, and a list of
// tasks, which starts none.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

export default function delegate(pi: ExtensionAPI): void {
  const tool = (name: string, parameters: Record<string, ReturnType<typeof Type.String>>) =>
    pi.registerTool({
      name,
      label: name,
      description: name,
      parameters: Type.Object(parameters),
      execute: async () => ({ content: [{ type: "text", text: `${name} is done` }], details: undefined }),
    });
  tool("delegate", { prompt: Type.String() });
  tool("task", { action: Type.String() });
}
