// When the records of a package in this process are worth a look: its agents are started, resumed and ended while a tool
// call of the main agent runs, and not all of that is told on the bus.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/** What takes the listeners back. */
export function aroundCalls(pi: ExtensionAPI, look: () => void): (() => void)[] {
  return [
    pi.on("before_agent_start", look),
    pi.on("tool_execution_start", look),
    pi.on("tool_execution_update", look),
    pi.on("tool_execution_end", look),
    pi.on("agent_settled", look),
  ];
}
