// `/watchdog status`: what runs, what was found, and every target of the tree. Pure over (store, session).

import type { TargetSummary, WatchdogStore } from "../../index.js";
import { holding } from "../alerts/interventions.ts";
import { hasEnded, plural, shortIds } from "../format.ts";
import { branch } from "../render/branch.ts";
import type { Line, Page } from "../render/page.ts";
import { isToolless } from "../root.ts";
import type { MainSession, WatchedSession } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import { agentFile, packagesIn } from "../subagents/agent-file.ts";
import { isWatchdogType } from "../subagents/kind.ts";
import { describe, titleOf, toneOf, totalsWords } from "../target-words.ts";
import { asTree, type TreeRow } from "../tools/tree.ts";
import { packageLines } from "./packages.ts";

/** Ended targets shown, the latest ones. */
const ENDED_SHOWN = 10;

export interface StatusInput {
  store: WatchdogStore;
  session: WatchedSession;
  /** Main session of the tree. */
  main: MainSession | undefined;
  /** Version of the package on disk. */
  version: string;
  now: number;
}

export function statusPage(input: StatusInput): Page {
  const { store, session, version } = input;
  const all = store.targets(session.rootId, true);
  const live = all.filter((target) => !hasEnded(target));
  const ended = all.filter(hasEnded);
  const shown = new Set([...live, ...ended.slice(0, ENDED_SHOWN)]);
  const stuck = live.filter((target) => target.likelyStuck).length;
  return [
    { text: "Watchdog", tone: "title" },
    versionLine(store.version, version),
    alertLine(store.paused(session.rootId), session),
    ...packageLines(session.backends, session.packages()),
    ...watchdogLines(all, session),
    { text: "" },
    {
      text: `Targets: ${live.length} live${stuck > 0 ? `, ${stuck} stuck` : ""}${ended.length > 0 ? `, ${ended.length} ended` : ""}`,
      tone: "accent",
    },
    ...targetLines(
      asTree(all, (target) => shown.has(target)),
      input,
    ),
    ...(ended.length > ENDED_SHOWN
      ? [{ text: `and ${ended.length - ENDED_SHOWN} that ended earlier`, tone: "dim" as const, indent: 2 }]
      : []),
    ...(all.length > 0
      ? [{ text: `Together: ${totalsWords(store.treeUsage(session.rootId))}`, tone: "accent" as const }]
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

function targetLines(rows: readonly TreeRow[], { main, now }: StatusInput): Page {
  const ids = shortIds(rows.map(({ target }) => target));
  const above: TreeRow[] = [];
  return rows.map((row, i) => {
    const { target, follows, depth } = row;
    above[depth] = row;
    const told = holding(main, target);
    const { indent, level, ...glyphs } = branch(follows, (rows[i + 1]?.depth ?? 0) > depth);
    const margin = (text: string): string => `  ${text}`;
    return {
      text:
        (level === undefined ? "" : `level ${level}: `) +
        describe(row, above[depth - 1], shownId(ids, target), told, now),
      tone: toneOf(target, told),
      indent: 2 + indent,
      branch: { lead: margin(glyphs.lead), hang: margin(glyphs.hang) },
    };
  });
}

/** Watchdog sub-agents that cannot do what they are for, and what mends it. */
function watchdogLines(targets: readonly TargetSummary[], session: WatchedSession): Page {
  const packages = packagesIn(session);
  if (packages.length === 0) return [];
  const file = agentFile(session.ctx.cwd, packages);
  const ids = shortIds(targets);
  const mend = "/watchdog install-agent mends it";
  const why =
    file === undefined
      ? `no agent file lists them; ${mend}`
      : file.missing.length > 0
        ? `its agent file ${oneLine(file.path, 300)} does not list them; ${mend}`
        : "the watchdog was not loaded in it (-e does not reach sub-agents), or its agent file came later; install the package with pi install";
  const lines = targets
    .filter(({ id, agentType, rootId }) => id !== rootId && isWatchdogType(agentType ?? "") && isToolless(id))
    .map((target) => ({
      text: `${titleOf(target)} [${shownId(ids, target)}] lacks the watchdog_* tools: ${why}`,
      tone: "warning" as const,
    }));
  if (lines.length > 0 || file === undefined || file.missing.length === 0) return lines;
  const text = `The agent file ${oneLine(file.path, 300)} does not list ${file.missing.join(", ")}: a watchdog sub-agent lacks these tools; ${mend}`;
  return [{ text, tone: "warning" }];
}

const shownId = (ids: ReadonlyMap<string, string>, { id }: TargetSummary): string => oneLine(ids.get(id) ?? id, 40);

function warningLines({ warnings }: WatchedSession): Page {
  if (warnings.length === 0) return [];
  return [
    { text: "" },
    { text: `Configuration: ${plural(warnings.length, "warning")}`, tone: "warning" },
    ...warnings.map((warning) => ({ text: oneLine(warning.message, 300), tone: "warning" as const, indent: 2 })),
  ];
}
