// A target in words: the same ones in status, dashboard, details and tools. Pure; every text that a package or a model
// gave is made safe here.

import type { TargetSummary, TargetUsage } from "../index.js";
import type { ToldIntervention } from "./alerts/interventions.ts";
import { stateOf as stateOfIntervention } from "./alerts/words.ts";
import { ago, amount, hasEnded, money, plural, stateOf, totalTokens, usage } from "./format.ts";
import type { Tone } from "./render/page.ts";
import { oneLine } from "./sanitize.ts";
import type { TreeRow } from "./tools/tree.ts";

/** Name and, where it says more, the agent type. */
export function titleOf(target: Pick<TargetSummary, "name" | "agentType">): string {
  const name = oneLine(target.name, 40);
  const type = target.agentType === undefined ? "" : oneLine(target.agentType, 30);
  return type === "" || type === name ? name : `${name} (${type})`;
}

export function toneOf(target: TargetSummary, told: readonly ToldIntervention[] = []): Tone {
  if (hasEnded(target)) return target.status === "error" || target.status === "aborted" ? "error" : "dim";
  return target.likelyStuck || told.some(({ severity }) => severity !== "info") ? "warning" : "text";
}

export type Known = Pick<TargetSummary, "link" | "visibility" | "status" | "endedAt" | "remote">;

/** A process that reports says something more often than that, ms. */
const HEARD_OF = 20_000;

const UNSEEN =
  "nothing of it is seen: the watchdog is not loaded in it (-e does not reach sub-agents); install the package with pi install";

/** What is to be known of how well a target is known and seen; nothing where all is as it should be. */
export function limitsOf(target: Known, now: number): string[] {
  const { link, visibility, remote } = target;
  const words: string[] = [];
  if (link === "inferred") words.push("guessed which agent this is: never steered");
  if (link === "none") words.push("not known which agent this is: never steered");
  if (visibility === "no_open_tools") words.push("open tools not visible");
  if (visibility === "result_only") words.push("only results are seen");
  if (visibility === "unseen") words.push(UNSEEN);
  if (remote === undefined) return words;
  const silent = !remote.connected || now - remote.contactAt > HEARD_OF;
  if (silent && !hasEnded(target)) words.push(`no contact for ${duration(now - remote.contactAt)}`);
  if (remote.lost > 0) words.push(`${plural(remote.lost, "event")} lost`);
  return words;
}

const duration = (ms: number): string => (ms < 2000 ? "a moment" : ago(0, ms));

/** Events of a target that never arrived. */
export const lostEvents = ({ remote }: Known): number => remote?.lost ?? 0;

/** `not responding (told 3m ago)`, the newest first. */
export function interventionWords(told: readonly ToldIntervention[], now: number): string[] {
  return [...told].reverse().map((one) => {
    const since = ago(one.at, now);
    return `${stateOfIntervention(one)} (told ${since === "now" ? since : `${since} ago`})`;
  });
}

/** The line of a target in a tree. `above`: its parent's row, whose package need not be named again. */
export function describe(
  { target, total, below }: TreeRow,
  above: TreeRow | undefined,
  id: string,
  told: readonly ToldIntervention[],
  now: number,
): string {
  const since = hasEnded(target) ? (target.endedAt ?? target.lastActiveAt) : target.lastActiveAt;
  const when = `${hasEnded(target) ? "ended" : "active"} ${ago(since, now)}`;
  return [
    `${titleOf(target)} [${id}]`,
    stateOf(target),
    ...interventionWords(told, now),
    ...(target.backend === undefined || target.backend === above?.target.backend
      ? []
      : [`by ${oneLine(target.backend, 40)}`]),
    plural(target.toolCallCount, "call"),
    plural(target.patchCount, "edit"),
    ...(target.repeatedCommandCount > 0 ? [plural(target.repeatedCommandCount, "repeat")] : []),
    usage(target.usage),
    ...(below > 0 ? [`with the ${below} below it ${usage(total)}`] : []),
    when.endsWith("now") ? when : `${when} ago`,
    ...limitsOf(target, now),
  ].join(" · ");
}

/** What a tree used, in all its parts. */
export function totalsWords(of: TargetUsage): string {
  const parts = [
    `${amount(of.input)} in`,
    `${amount(of.output)} out`,
    `${amount(of.cacheRead)} cache read`,
    `${amount(of.cacheWrite)} cache write`,
  ];
  if (of.usd > 0) return `${parts.join(", ")} · ${money(of.usd)}`;
  return totalTokens(of) > 0 ? `${parts.join(", ")} · cost not known` : "no tokens yet";
}
