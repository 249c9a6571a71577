// The Pi extension: what is there from Pi's start on. The rest is wired in watchdog.ts, which is loaded when Pi is idle.
// Nothing here may import that or the library by value: Pi ends when an extension cannot be imported.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { registerCommands } from "./commands.ts";
import { isDisabled, registerDisabled } from "./disabled.ts";
import { isFirst } from "./first.ts";
import { observe } from "./observe.ts";
import { createStage } from "./stage.ts";

export default function watchdog(pi: ExtensionAPI): void {
  if (!isFirst(pi)) return;
  if (isDisabled()) {
    registerDisabled(pi);
    return;
  }
  const stage = createStage(pi);
  registerCommands(pi, async () => (await stage.ready())?.runtime);
  observe(pi, stage);
}
