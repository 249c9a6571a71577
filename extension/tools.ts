// Registers the watchdog_* tools. They work on the process-wide store, so that a watchdog sub-agent sees the same
// targets as the main session; what they may see is the tree of the session that they run in.

import { now } from "./clock.ts";
import type { Runtime } from "./runtime.ts";
import { alertMain } from "./tools/alert-main.ts";
import { type ToolScope, toPiTool, type WatchdogTool } from "./tools/common.ts";
import { configTool } from "./tools/config.ts";
import { detectStuck } from "./tools/detect-stuck.ts";
import { listTargets } from "./tools/list-targets.ts";
import { readEvents } from "./tools/read-events.ts";
import { steerSubagent } from "./tools/steer-subagent.ts";

export const watchdogTools: readonly WatchdogTool[] = [
  listTargets,
  readEvents,
  detectStuck,
  alertMain,
  steerSubagent,
  configTool,
];

export function registerTools(runtime: Runtime): void {
  const scope = (): ToolScope => {
    const { session } = runtime;
    if (session === null) {
      throw new Error("The watchdog does not watch this session (it is disabled, or the session has ended).");
    }
    return {
      store: runtime.native.store,
      session,
      main: runtime.main(),
      now: now(),
    };
  };
  for (const tool of watchdogTools) runtime.pi.registerTool(toPiTool(tool, scope));
}
