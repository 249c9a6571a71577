// `/watchdog inspect <target>`: what a target did last, and the verdict on it. Pure over (runtime, session).

import type { Severity, StuckAnalysis, TargetSummary, WatchdogEvent, WatchdogStore } from "../../index.js";
import { holding, type ToldIntervention } from "../alerts/interventions.ts";
import { stateOf as stateOfIntervention } from "../alerts/words.ts";
import { ago, clock, plural, shortIds, stateOf, usage } from "../format.ts";
import type { Line, Page } from "../render/page.ts";
import type { Runtime, WatchedSession } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import { limitsOf, titleOf, toneOf } from "../target-words.ts";
import { asTree, type TreeRow } from "../tools/tree.ts";

const EVENTS_SHOWN = 30;

/** The target that was typed, or what to say instead. */
export function findTarget(
  store: WatchdogStore,
  session: WatchedSession,
  query: string,
  usage: string,
): { ok: true; handle: number; target: TargetSummary } | { ok: false; page: Page } {
  const wrong = (text: string) => ({ ok: false as const, page: [{ text, tone: "error" as const }] });
  const name = query.trim();
  if (name === "") return wrong(`Usage: ${usage}. ${known(store, session)}`);
  const shown = oneLine(name, 80);
  const found = store.resolve(name, session.rootId);
  if (!found.ok) {
    if (found.reason === "unknown") return wrong(`No target "${shown}". ${known(store, session)}`);
    const candidates = found.candidates.slice(0, 8).map((id) => oneLine(id, 80));
    return wrong(`"${shown}" is ambiguous: ${candidates.join(", ")}`);
  }
  const target = store.target(found.handle);
  return target === null ? wrong(`"${shown}" is no longer kept`) : { ok: true, handle: found.handle, target };
}

export function inspectPage(
  runtime: Runtime,
  session: WatchedSession,
  query: string,
  now: number,
  events = EVENTS_SHOWN,
): Page {
  const { store } = runtime.native;
  const found = findTarget(store, session, query, "/watchdog inspect <target>");
  if (!found.ok) return found.page;
  const { target } = found;
  const row = asTree(store.targets(session.rootId, true)).find((one) => one.target.id === target.id);
  return [
    ...headLines(target, row, now),
    { text: "" },
    ...interventionLines(holding(runtime.main(), target)),
    ...analysisLines(store.analysis(found.handle)),
    { text: "" },
    ...eventLines(store.events(found.handle, events), target.eventCount),
  ];
}

function known(store: WatchdogStore, session: WatchedSession): string {
  const targets = store.targets(session.rootId, true).slice(0, 10);
  if (targets.length === 0) return "No target is known yet.";
  const ids = shortIds(targets);
  return `Known: ${targets.map((target) => `${oneLine(ids.get(target.id) ?? "", 40)} (${oneLine(target.name, 30)})`).join(", ")}.`;
}

function headLines(target: TargetSummary, row: TreeRow | undefined, now: number): Page {
  const aliases = target.aliases.filter((alias) => alias !== target.id).map((alias) => oneLine(alias, 80));
  const used = row !== undefined && row.below > 0 ? [`with the ${row.below} below it ${usage(row.total)}`] : [];
  return [
    { text: titleOf(target), tone: "title" },
    {
      text: [
        stateOf(target),
        plural(target.toolCallCount, "call"),
        plural(target.patchCount, "edit"),
        usage(target.usage),
        ...used,
        `since ${clock(target.startedAt)}`,
        `active ${ago(target.lastActiveAt, now)}${now - target.lastActiveAt < 2000 ? "" : " ago"}`,
      ].join(" · "),
      tone: toneOf(target),
    },
    {
      text: [
        `session ${oneLine(target.id, 80)}`,
        ...aliases.map((alias) => `agent ${alias}`),
        ...(target.backend === undefined ? [] : [`started by ${oneLine(target.backend, 80)}`]),
        ...(target.link === "exact" ? ["link exact"] : []),
        ...limitsOf(target, now),
      ].join(", "),
      tone: "dim",
    },
  ];
}

function interventionLines(told: readonly ToldIntervention[]): Page {
  return [...told].reverse().flatMap((one): Line[] => [
    {
      key: `${one.at} ${one.reason}`,
      text: `${clock(one.at)} ${stateOfIntervention(one)}: ${oneLine(one.reason)}`,
      tone: toneOfSeverity(one.severity),
    },
  ]);
}

const toneOfSeverity = (severity: Severity): Line["tone"] =>
  severity === "critical" ? "error" : severity === "info" ? "muted" : "warning";

function analysisLines(analysis: StuckAnalysis): Page {
  if (!analysis.likelyStuck) return [{ text: "Not stuck by the rules", tone: "success" }];
  return [
    { text: `Likely stuck, confidence ${analysis.confidence}`, tone: "warning" },
    ...analysis.evidence.flatMap((item): Line[] => [
      { key: `${item.type} summary`, text: `- ${oneLine(item.summary)}`, tone: "warning", indent: 2 },
      {
        key: `${item.type} times`,
        text: `${item.type}, ${clock(item.firstAt)} to ${clock(item.lastAt)}${item.command ? `: ${oneLine(item.command)}` : ""}`,
        tone: "muted",
        indent: 4,
      },
    ]),
  ];
}

function eventLines(events: readonly WatchdogEvent[], total: number): Page {
  if (events.length === 0) return [{ text: "No events yet", tone: "muted" }];
  const head = events.length < total ? `Last ${events.length} of ${total} events` : plural(events.length, "event");
  return [{ key: "events", text: head, tone: "accent" }, ...events.map(eventLine)];
}

/** `HH:MM:SS type summary [first 8 of the hash]` */
function eventLine(event: WatchdogEvent): Line {
  return {
    key: event.id,
    text: `${clock(event.at)} ${event.type} ${oneLine(event.summary) || "(no text)"}`,
    tone: event.type === "alert" ? "warning" : event.isError === true ? "error" : "text",
    indent: 2,
    cut: true,
    ...(event.outputHash ? { tail: ` [${event.outputHash.slice(0, 8)}]` } : {}),
  };
}
