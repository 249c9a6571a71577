// `/watchdog status`: what runs, what was found, and every target of the tree. Pure over (store, session).

import type { TargetSummary, WatchdogStore } from "../../index.js";
import { ago, hasEnded, plural, shortIds, stateOf, usage } from "../format.ts";
import type { Line, Page, Tone } from "../render/page.ts";
import type { WatchedSession } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import type { SubagentBackend } from "../subagents/backend.ts";
import { asTree } from "../tools/tree.ts";

/** Ended targets shown, the latest ones. */
const ENDED_SHOWN = 10;

export interface StatusInput {
  store: WatchdogStore;
  session: WatchedSession;
  /** Version of the package on disk. */
  version: string;
  now: number;
}

export function statusPage({ store, session, version, now }: StatusInput): Page {
  const all = store.targets(session.rootId, true);
  const live = all.filter((target) => !hasEnded(target));
  const ended = all.filter(hasEnded);
  const shown = new Set([...live, ...ended.slice(0, ENDED_SHOWN)]);
  const stuck = live.filter((target) => target.likelyStuck).length;
  return [
    { text: "Watchdog", tone: "title" },
    versionLine(store.version, version),
    alertLine(store.paused(session.rootId), session),
    ...packageLines(session.backends),
    { text: "" },
    {
      text: `Targets: ${live.length} live${stuck > 0 ? `, ${stuck} stuck` : ""}${ended.length > 0 ? `, ${ended.length} ended` : ""}`,
      tone: "accent",
    },
    ...targetLines(
      all.filter((target) => shown.has(target)),
      now,
    ),
    ...(ended.length > ENDED_SHOWN
      ? [{ text: `and ${ended.length - ENDED_SHOWN} that ended earlier`, tone: "dim" as const, indent: 2 }]
      : []),
    ...warningLines(session),
  ];
}

function versionLine(native: string, version: string): Line {
  if (native === version) return { text: `Native core ${native}` };
  return {
    text: `Native core ${native}, package ${version}: restart Pi to load the core of this package`,
    tone: "warning",
  };
}

function alertLine(paused: boolean, { config }: WatchedSession): Line {
  const how = `alertMode ${config.alertMode}, circuitBreaker ${config.circuitBreaker}`;
  if (!config.enabled) return { text: `Alerts off: enabled is false (${how})`, tone: "warning" };
  if (paused) return { text: `Alerts paused, /watchdog resume turns them on again (${how})`, tone: "warning" };
  return { text: `Alerts on (${how})` };
}

function packageLines(backends: readonly SubagentBackend[]): Page {
  if (backends.length === 0) return [{ text: "Sub-agents: no sub-agent package was found", tone: "muted" }];
  return backends.map(({ name, capabilities }) => {
    const can = Object.entries(capabilities).flatMap(([what, able]) => (able ? [what] : []));
    return { text: `Sub-agents: ${oneLine(name, 80)} (${can.length > 0 ? can.join(", ") : "can only be watched"})` };
  });
}

function targetLines(targets: readonly TargetSummary[], now: number): Page {
  const ids = shortIds(targets);
  return asTree(targets).map(({ target, depth }) => ({
    text: describe(target, oneLine(ids.get(target.id) ?? target.id, 40), now),
    tone: toneOf(target),
    indent: 2 + 2 * depth,
  }));
}

function describe(target: TargetSummary, id: string, now: number): string {
  const when = hasEnded(target)
    ? `ended ${ago(target.endedAt ?? target.lastActiveAt, now)}`
    : `active ${ago(target.lastActiveAt, now)}`;
  return [
    `${titleOf(target)} [${id}]`,
    stateOf(target),
    plural(target.toolCallCount, "call"),
    plural(target.patchCount, "edit"),
    ...(target.repeatedCommandCount > 0 ? [`${plural(target.repeatedCommandCount, "repeat")}`] : []),
    usage(target.usage),
    when.endsWith("now") ? when : `${when} ago`,
    ...(target.link === undefined || target.link === "exact" ? [] : [`link ${target.link}`]),
  ].join(" · ");
}

/** Name and, where it says more, the agent type. */
export function titleOf(target: TargetSummary): string {
  const name = oneLine(target.name, 40);
  const type = target.agentType === undefined ? "" : oneLine(target.agentType, 30);
  return type === "" || type === name ? name : `${name} (${type})`;
}

export function toneOf(target: TargetSummary): Tone {
  if (hasEnded(target)) return target.status === "error" || target.status === "aborted" ? "error" : "dim";
  return target.likelyStuck ? "warning" : "text";
}

function warningLines({ warnings }: WatchedSession): Page {
  if (warnings.length === 0) return [];
  return [
    { text: "" },
    { text: `Configuration: ${plural(warnings.length, "warning")}`, tone: "warning" },
    ...warnings.map((warning) => ({ text: oneLine(warning.message, 300), tone: "warning" as const, indent: 2 })),
  ];
}
