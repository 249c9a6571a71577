// The real npm package @tintinweb/pi-subagents as a test's main agent uses it. Knows its answers, and nothing of the
// watchdog.

import { join } from "node:path";
import type { Kit } from "../gotgenes/family.ts";
import { REPOSITORY } from "../pi.ts";

export const TINTINWEB: Kit = {
  package: join(REPOSITORY, "node_modules", "@tintinweb", "pi-subagents"),
  tool: "Agent",
  started: /Agent ID: (\S+)/,
  // Agents that end together are told of in one message.
  tellsEnd: (message, agentId) =>
    message.customType === "subagent-notification" &&
    [message.details, ...(message.details?.others ?? [])].some((details) => details?.id === agentId),
};
