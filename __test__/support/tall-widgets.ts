// An extension with widgets above and below the editor, as other packages have them: `/tall 12 2` shows so many rows.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function tallWidgets(pi: ExtensionAPI): void {
  pi.registerCommand("tall", {
    description: "Widgets of so many rows above and below the editor",
    handler: async (args, ctx) => {
      const [above = 12, below = 0] = args.split(" ").filter(Boolean).map(Number);
      const rows = (name: string, count: number) => () => ({
        render: () => Array.from({ length: count }, (_, i) => `${name} ${i + 1}`),
        invalidate() {},
      });
      ctx.ui.setWidget("tall-above", rows("above", above), { placement: "aboveEditor" });
      ctx.ui.setWidget("tall-below", rows("below", below), { placement: "belowEditor" });
    },
  });
  pi.registerCommand("ask-later", {
    description: "Asks a question a moment after the command has ended",
    handler: async (_args, ctx) => {
      setTimeout(() => void ctx.ui.confirm("Really?", "A question of another extension"), 1500);
    },
  });
}
