// The text of an alert in the main session. Pure. The order of the fields is fixed; what a child or a model wrote is
// data in it: made safe, cut, on its own lines, and quoted where it is prose.

import type { Confidence, Intervention, Notice } from "../../index.js";
import { plural } from "../format.ts";
import { lines, oneLine, quoted } from "../sanitize.ts";
import { stateOf, suggestion } from "./words.ts";

const NAME_CHARS = 80;

export interface AlertContext {
  rescueMessage: string;
  /** What a model wrote about the target. */
  note?: string | undefined;
  /** The target is the main session itself. */
  itself?: boolean;
}

export function alertText(notice: Notice, { rescueMessage, note, itself = false }: AlertContext): string {
  const { analysis, intervention } = notice;
  const evidence = analysis.evidence.map(({ summary }) => oneLine(summary));
  // The reason of a silence is its evidence as well.
  const reason = intervention === undefined ? undefined : oneLine(intervention.reason);
  if (reason !== undefined && !evidence.includes(reason)) evidence.unshift(reason);
  const rescue =
    intervention === undefined ? lines(rescueMessage) : suggestion(intervention, { id: notice.targetId, itself });
  const fields = [
    "[Watchdog Alert]",
    [`Target: ${targetLine(notice)}`, `Status: ${status(notice)}`, `Confidence: ${confidence(notice)}`].join("\n"),
    ["Evidence:", ...(evidence.length > 0 ? evidence : ["none"]).map((line) => `- ${line}`)].join("\n"),
  ];
  const command = oneLine(notice.lastCommand ?? "");
  if (command !== "") fields.push(`Last command:\n${command}`);
  fields.push(`Suggested rescue:\n${rescue.join("\n")}`);
  if (note !== undefined) fields.push(`Note:\n${quoted(note)}`);
  return fields.join("\n\n");
}

function status({ analysis, intervention }: Notice): string {
  if (intervention !== undefined) return stateOf(intervention);
  return analysis.likelyStuck ? "likely stuck" : "not stuck by the rules";
}

/** As in verdicts, by the kinds of evidence; an intervention without a verdict is one. */
function confidence({ analysis, intervention }: Notice): Confidence {
  return intervention === undefined || analysis.likelyStuck ? analysis.confidence : "medium";
}

/** What a child is told of an intervention that concerns it, where the user allowed messages to children. */
export function interventionMessage({ targetId }: Notice, intervention: Intervention): string {
  const advice = suggestion(intervention, { id: targetId, itself: true });
  return [`The watchdog saw: ${oneLine(intervention.reason)}.`, ...advice].join("\n");
}

/** One line for people who are not reading the conversation right now. */
export function headline(notice: Notice): string {
  const name = oneLine(notice.targetName, NAME_CHARS);
  const { intervention } = notice;
  if (notice.kind === "over") {
    if (intervention?.kind === "timeout") return `Watchdog: ${name} is at work again`;
    return `Watchdog: ${name} is no longer ${intervention === undefined ? "stuck" : stateOf(intervention)}`;
  }
  if (intervention !== undefined) return `Watchdog: ${name}: ${oneLine(intervention.reason)}`;
  const [first, ...others] = notice.analysis.reasons;
  const more = others.length > 0 ? ` (and ${plural(others.length, "more reason")})` : "";
  const state = notice.analysis.likelyStuck ? "may be stuck" : "needs a look";
  return `Watchdog: ${name} ${state}${first === undefined ? "" : `: ${oneLine(first)}${more}`}`;
}

function targetLine({ targetName, targetId }: Notice): string {
  return `${oneLine(targetName, NAME_CHARS)} (${oneLine(targetId, NAME_CHARS)})`;
}
