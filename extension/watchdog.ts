// The watchdog of one extension instance: what is wired to what. Loaded when the first session begins to work.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import * as native from "../index.js";
import { bindingInfo } from "../loader.js";
import { keepAnswersFromModel } from "./commands/answer.ts";
import { type Direction, debugConsole } from "./console.ts";
import { receivedText, sentText } from "./conversation.ts";
import { createGuard } from "./guard.ts";
import { createLifecycle, type Lifecycle } from "./lifecycle.ts";
import { registerRenderers } from "./render.ts";
import { findMain } from "./root.ts";
import type { Runtime } from "./runtime.ts";
import { statusChip } from "./status.ts";
import { connectBackends } from "./subagents/index.ts";
import { followNested } from "./subagents/tintinweb-nested.ts";
import { tellOnce } from "./told.ts";
import { createToolSwitch } from "./tool-switch.ts";
import { registerTools } from "./tools.ts";

export interface Watchdog extends Lifecycle {
  readonly runtime: Runtime;
}

export function createWatchdog(pi: ExtensionAPI): Watchdog {
  const runtime: Runtime = {
    pi,
    native,
    session: null,
    main: () => (runtime.session === null ? undefined : findMain(runtime.session.rootId)),
    // The console shows what the provider is sent; the watchdog's own messages are part of it when they are sent.
  };
  const console = debugConsole(runtime);
  const shown = (direction: Direction, text: () => string): void => {
    const { session } = runtime;
    if (session?.config.debug && session.config.enabled) console.record(direction, text());
  };
  const guard = createGuard((message) => {
    if (runtime.session?.isMain) tellOnce(runtime.session.ctx, [message]);
  });
  registerRenderers(runtime);
  keepAnswersFromModel(pi);
  // After the answers are left out: what is shown is what goes on to the provider.
  pi.on("context", ({ messages }) => guard.run("the debug console", () => shown("sent", () => sentText(messages))));
  pi.on("message_end", ({ message }) => {
    if (message.role !== "assistant") return;
    guard.run("the debug console", () => shown("received", () => receivedText(message.content, message.errorMessage)));
  });
  followNested(runtime);
  const lifecycle = createLifecycle(runtime, guard, {
    connect: () => connectBackends(runtime),
    showTools: createToolSwitch(pi, () => registerTools(runtime)),
    chip: statusChip(runtime),
    console,
    // After an update and a reload the process still runs on the addon that it loaded first.
    staleAddon: bindingInfo().warning,
  });
  return { runtime, ...lifecycle };
}
