// An extension for tests: the tool `hold` ends when so many sub-agents of its session have ended, whichever package runs
// them. So a test has one long call during which children work, without a clock.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

export default function hold(pi: ExtensionAPI): void {
  let ended = 0;
  let look = (): void => {};
  for (const channel of ["completed", "failed"]) {
    pi.events.on(`subagents:${channel}`, () => {
      ended += 1;
      look();
    });
  }
  pi.registerTool({
    name: "hold",
    label: "hold",
    description: "Ends when so many agents have ended.",
    parameters: Type.Object({ agents: Type.Number() }),
    async execute(_id, { agents }, signal) {
      await new Promise<void>((resolve) => {
        look = () => {
          if (ended >= agents || signal?.aborted === true) resolve();
        };
        signal?.addEventListener("abort", look);
        look();
      });
      // What the package has to say of the last end is said by then.
      await new Promise((resolve) => setImmediate(resolve));
      return { content: [{ type: "text", text: `${agents} agents have ended` }], details: {} };
    },
  });
}
