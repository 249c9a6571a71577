// Registers `/watchdog` and `/watchdog:settings`. What they do is loaded when they are first used, because every file
// read at Pi's start makes the start slower.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { Runtime } from "./runtime.ts";

/** `ready`: the runtime once there is one; nothing when the watchdog could not begin, which was told then. */
export function registerCommands(pi: ExtensionAPI, ready: () => Promise<Runtime | undefined>): void {
  const watchdog = () => import("./commands/watchdog.ts");

  async function runtime(): Promise<Runtime> {
    const found = await ready();
    if (found === undefined) throw new Error("The watchdog is not running. Its first message of this run says why.");
    return found;
  }

  pi.registerCommand("watchdog", {
    description:
      "Show the watchdog: status, config, set, pause, resume, inspect, steer, stop, history, orphans, install-agent, help",
    getArgumentCompletions: async (typed) => (await watchdog()).complete(await runtime(), typed),
    handler: async (args, ctx) => (await watchdog()).run(await runtime(), args, ctx),
  });
  pi.registerCommand("watchdog:settings", {
    description: "Change the watchdog's settings for this run",
    handler: async (_args, ctx) => (await import("./settings.ts")).openSettings(await runtime(), ctx),
  });
}
