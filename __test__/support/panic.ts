// An extension for tests: `/panic` makes the loaded addon panic (it does so only with PI_WATCHDOG_TEST_PANIC=1) and tells
// what came of it.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  pi.registerCommand("panic", {
    description: "Panics inside the addon",
    handler: async (_args, ctx) => {
      const published = Reflect.get(globalThis, Symbol.for("pi-watchdog-supervisor:native/v1"));
      const { binding } = published as { binding: { __panicForTests(): void } };
      try {
        binding.__panicForTests();
        ctx.ui.notify("nothing happened");
      } catch (error) {
        ctx.ui.notify(`caught: ${error}`);
      }
    },
  });
}
