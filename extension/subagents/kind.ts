// What a target is for: `watchdog` for an agent that watches others, so that no watchdog takes it for a worker. By its
// agent type, or by its tools; never by the words of its task, which may be about a watchdog.

import type { TargetKind } from "../../index.js";

/** Without these a watchdog sub-agent cannot look or report. */
const NEEDED = ["watchdog_list_targets", "watchdog_read_events", "watchdog_detect_stuck", "watchdog_alert_main"];
const TOOLS: ReadonlySet<string> = new Set([...NEEDED, "watchdog_steer_subagent", "watchdog_config"]);
/** With these an agent looks at files; whoever has others besides works. */
const READING: ReadonlySet<string> = new Set(["read", "grep", "find", "ls"]);

/** `watchdog`, `code-watchdog`; not `watchdogs-of-london`. */
export const isWatchdogType = (type: string): boolean => /(?:^|[^a-z])watchdog(?:$|[^a-z])/i.test(type);

/** Sessions that inherit the tools of all extensions have the watchdog's too; this one has nothing to work with. */
export function isWatchdogByTools(tools: readonly string[]): boolean {
  return tools.some((tool) => TOOLS.has(tool)) && tools.every((tool) => TOOLS.has(tool) || READING.has(tool));
}

/** What a watchdog sub-agent with these tools lacks. */
export function missingTools(tools: readonly string[]): string[] {
  return NEEDED.filter((name) => !tools.includes(name));
}

/** Of an agent of which the type is known; what its tools say comes from its own instance of the extension. */
export function kindOfType(type: string): TargetKind {
  return isWatchdogType(type) ? "watchdog" : "task";
}
