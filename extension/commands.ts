// Registers `/watchdog` and `/watchdog:settings`. What they do is loaded when they are first used, because every file
// read at Pi's start makes the start slower.

import type { Runtime } from "./runtime.ts";

export function registerCommands(runtime: Runtime): void {
  const main = () => import("./commands/watchdog.ts");
  runtime.pi.registerCommand("watchdog", {
    description: "Show the watchdog: status, config, set, pause, resume, inspect",
    getArgumentCompletions: async (typed) => (await main()).complete(runtime, typed),
    handler: async (args, ctx) => (await main()).run(runtime, args, ctx),
  });
  runtime.pi.registerCommand("watchdog:settings", {
    description: "Change the watchdog's settings for this run",
    handler: async (_args, ctx) => (await import("./settings.ts")).openSettings(runtime, ctx),
  });
}
