// `/watchdog history [filter]`: incidents of this and earlier sessions. Pure over the library's answer; words of the
// filter are read here.

import type { HistoryFilter, HistoryIncident, HistoryState, Severity } from "../../index.js";
import { day, money, plural } from "../format.ts";
import { historyPath } from "../history.ts";
import type { Line, Page, Tone } from "../render/page.ts";
import type { Native, WatchedSession } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";

const SHOWN = 20;
const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const USAGE =
  "Usage: /watchdog history [open] [here] [info|warning|critical] [24h|7d|4w] [rule] [session] [number]. Words in any order.";

export async function historyPage(
  native: Pick<Native, "readHistory" | "history">,
  session: Pick<WatchedSession, "config" | "ctx">,
  rest: string,
  now: number,
): Promise<Page> {
  const words = rest.trim() === "" ? [] : rest.trim().split(/\s+/);
  const filter = parseWords(words, session.ctx.cwd, now);
  if (filter === undefined) return [{ text: USAGE, tone: "error" }];
  try {
    const { incidents, incidentCount } = await native.readHistory(historyPath(), filter);
    return [...page(incidents, incidentCount, words.length > 0, now), ...stateLines(native.history.state(), session)];
  } catch (error) {
    if (!session.config.history) return [{ text: "There is no history: history is false in the configuration." }];
    return [{ text: oneLine(error instanceof Error ? error.message : String(error), 300), tone: "error" }];
  }
}

/** Undefined: a word means nothing. */
export function parseWords(words: readonly string[], cwd: string, now: number): HistoryFilter | undefined {
  const filter: HistoryFilter = { limit: SHOWN };
  for (const word of words) {
    const back = /^(\d+)([mhdw])$/.exec(word);
    if (word === "open") filter.open = true;
    else if (word === "here") filter.project = cwd;
    else if (["info", "warning", "critical"].includes(word)) filter.severity = word as Severity;
    else if (back) filter.since = now - Number(back[1]) * UNITS[back[2] as keyof typeof UNITS];
    else if (/^\d{1,4}$/.test(word)) filter.limit = Number(word);
    // Session ids are hexadecimal with dashes; every rule has another letter.
    else if (/^(intervention:)?[a-z_]*[g-z_][a-z_]*$/.test(word)) filter.rule = word;
    else if (/^[\w.-]+$/.test(word)) filter.session = word;
    else return undefined;
  }
  return filter;
}

function page(incidents: readonly HistoryIncident[], count: number, filtered: boolean, now: number): Page {
  if (incidents.length === 0) {
    return [{ text: filtered ? "No incident fits." : "No incident so far.", tone: "success" }];
  }
  const shown = incidents.length < count ? `, the latest ${incidents.length} of them` : "";
  return [
    { text: `${plural(count, "incident")}${shown}`, tone: "title" },
    ...incidents.flatMap((incident) => lines(incident, now)),
  ];
}

function lines(incident: HistoryIncident, now: number): Line[] {
  const { cost, notices, agentType, name, sessionId } = incident;
  const who = oneLine(name ?? agentType ?? "", 40);
  const price = [
    ...(cost.rounds > 0 ? [plural(cost.rounds, "round")] : []),
    ...(cost.usd > 0 ? [money(cost.usd)] : []),
  ];
  const head = [
    `${day(incident.lastAt, now)} ${incident.severity} ${oneLine(incident.rule, 60)}`,
    `${who === "" ? "" : `${who} `}[${oneLine(sessionId, 13)}]`,
    ...(notices > 1 ? [`told ${notices} times`] : []),
    OUTCOMES[incident.outcome ?? "open"],
    ...price,
  ];
  return [
    { text: head.join(" · "), tone: TONES[incident.severity] ?? "text", indent: 2 },
    ...(incident.summary ? [{ text: oneLine(incident.summary), tone: "muted" as const, indent: 4 }] : []),
    ...(incident.lastCommand
      ? [{ text: `last: ${oneLine(incident.lastCommand)}`, tone: "dim" as const, indent: 4 }]
      : []),
  ];
}

const OUTCOMES = {
  over: "the agent went on",
  answered: "answered by a person",
  ended: "until the session's end",
  open: "not over",
} as const;

const TONES: Record<string, Tone> = { info: "muted", warning: "warning", critical: "error" };

/** What is wrong with the history of this process. */
function stateLines(state: HistoryState, { config }: Pick<WatchedSession, "config">): Page {
  const lost = state.lost > 0 ? [`${plural(state.lost, "change")} could not be kept.`] : [];
  const off = config.history ? [] : ["history is false: nothing of this session is kept."];
  return [...state.warnings, ...lost, ...off].map((text) => ({ text: oneLine(text, 400), tone: "warning" }));
}
