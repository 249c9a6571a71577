// Whether a target may be reached by a message or a stop at all, whoever wishes it. Pure; powers that the user grants or
// not (alertMode) are asked elsewhere.

import type { TargetSummary } from "../index.js";
import { hasEnded } from "./format.ts";

/** Why steering or stopping a target is out of the question, or undefined. `asker`: session that asks for it. */
export function unreachable(target: TargetSummary, asker: string): string | undefined {
  if (target.id === target.rootId) return "the target is a main session, not a sub-agent";
  if (target.id === asker) return "an agent cannot reach itself";
  if (target.link !== "exact") {
    return `the target is not identified beyond doubt (link: ${target.link ?? "none"}), so another agent could be meant`;
  }
  if (hasEnded(target)) return `the target has ended (${target.status})`;
  return undefined;
}
