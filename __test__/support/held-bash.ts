// An extension for tests: `bash` ends when the file `go` appears in the working directory, so that a test decides
// what happens while a tool runs.

import { existsSync, watch } from "node:fs";
import { join } from "node:path";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

export default function (pi: ExtensionAPI) {
  pi.registerTool({
    name: "bash",
    label: "bash",
    description: "Runs a command once the test lets it.",
    parameters: Type.Object({ command: Type.String() }),
    async execute(_id, params, signal, _update, ctx) {
      const go = join(ctx.cwd, "go");
      await new Promise<void>((resolve) => {
        const watcher = watch(ctx.cwd);
        const look = () => {
          if (!existsSync(go) && signal?.aborted !== true) return;
          watcher.close();
          resolve();
        };
        watcher.on("change", look);
        signal?.addEventListener("abort", look);
        look();
      });
      return { content: [{ type: "text", text: `ran ${params.command}` }], details: {} };
    },
  });
}
