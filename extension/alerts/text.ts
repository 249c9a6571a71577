// The texts of alerts. Pure. The order of the fields is fixed; what a child or a model wrote is data in it: made safe,
// cut, and quoted, so that it cannot speak to the main agent as if it were the watchdog.

import type { Confidence, Intervention, Notice } from "../../index.js";
import { amount, clock, money, plural } from "../format.ts";
import { oneLine, quoted } from "../sanitize.ts";
import type { Item, Matter, Receipt } from "./queue.ts";
import { type RescueText, rescueLines } from "./rescue.ts";
import { stateOf, suggestion } from "./words.ts";

const NAME_CHARS = 80;
/** Alerts told in full in one message; the others get a line each. */
const FULL_ALERTS = 3;
/** Alerts that get a line each; the rest is counted. */
const BRIEF_ALERTS = 20;
/** Evidence of one alert. */
const EVIDENCE_LINES = 6;

/** How a target is named to the tools of the sub-agent package that runs it. */
export interface Address {
  /** The id that the package's own tools take. */
  agentId: string;
  /** A call that steers it, as the main agent's model can write it; absent where the package has no such tool. */
  steer?: string | undefined;
}

export interface AlertContext {
  rescue: RescueText;
  /** Session id of the main session, which reads this. */
  mainId: string;
  /** Undefined where no package's id is known beyond doubt. */
  address?(targetId: string): Address | undefined;
}

/** One message with everything that the main agent should hear now; `items` the gravest first. */
export function messageText(items: readonly Item[], context: AlertContext): string {
  const own = items.filter(({ matter, state }) => isOwnVerdict(matter, context) && state === "holds");
  const others = items.filter(({ matter }) => !isOwnVerdict(matter, context));
  const parts =
    own.length > 0
      ? [
          rescueText(
            own.map(({ matter }) => matter.notice),
            context,
          ),
        ]
      : [];
  const alerts = alertsText(others, context);
  if (alerts !== undefined) parts.push(alerts);
  return parts.join("\n\n");
}

/** What a stuck main agent reads: what repeats, then what to do about it. */
export function rescueText(notices: readonly Notice[], { rescue }: Pick<AlertContext, "rescue">): string {
  const evidence = notices.flatMap(({ analysis }) => analysis.evidence.map(({ summary }) => `- ${oneLine(summary)}`));
  const command = notices.map(({ lastCommand }) => oneLine(lastCommand ?? "")).find((line) => line !== "");
  const seen = [...new Set(evidence)].slice(0, 2);
  if (command !== undefined) seen.push(`- last command: ${JSON.stringify(command)}`);
  return [...(seen.length > 0 ? ["The watchdog saw in this session:", ...seen, ""] : []), ...rescueLines(rescue)].join(
    "\n",
  );
}

function isOwnVerdict({ notice, note }: Matter, { mainId }: Pick<AlertContext, "mainId">): boolean {
  return notice.targetId === mainId && notice.intervention === undefined && note === undefined;
}

function alertsText(items: readonly Item[], context: AlertContext): string | undefined {
  if (items.length === 0) return undefined;
  const isNew = ({ matter, state }: Item): boolean =>
    state === "holds" || (state === "ended" && matter.heard === undefined);
  const full = items.filter(isNew).slice(0, FULL_ALERTS);
  const brief = items.filter((item) => !full.includes(item));
  // The same advice is not said again under each alert.
  const shared = full.filter(({ matter, state }) => state === "holds" && wantsRescue(matter)).length > 1;
  const head = items.length > 1 ? `[Watchdog Alert] ${plural(items.length, "alert")}` : "[Watchdog Alert]";
  const parts = [head, ...full.map((item) => card(item, context, !shared))];
  if (brief.length > 0) {
    const shown = brief.slice(0, BRIEF_ALERTS).map((item) => briefLine(item, context));
    if (brief.length > BRIEF_ALERTS)
      shown.push(`- and ${brief.length - BRIEF_ALERTS} more; call watchdog_list_targets`);
    parts.push([...(full.length > 0 ? ["Also:"] : []), ...shown].join("\n"));
  }
  if (shared) parts.push(`Suggested rescue:\n${rescueLines(context.rescue).join("\n")}`);
  return parts.join("\n\n");
}

/** No rescue was sent to the child, so that one is suggested. */
const wantsRescue = ({ notice, receipts }: Matter): boolean =>
  notice.intervention === undefined && receipts.length === 0;

function card(item: Item, context: AlertContext, withRescue: boolean): string {
  const { matter, state } = item;
  const { notice, note } = matter;
  const address = context.address?.(notice.targetId);
  const itself = notice.targetId === context.mainId;
  const head = [
    `Target: ${targetLine(notice, address)}`,
    ...(address !== undefined && address.agentId !== notice.targetId
      ? [`Session: ${oneLine(notice.targetId, NAME_CHARS)}`]
      : []),
    `Status: ${state === "ended" ? endedStatus(item) : status(notice)}`,
    `Confidence: ${confidence(notice)}`,
  ];
  const fields = [head.join("\n"), ["Evidence:", ...evidenceLines(matter, context.mainId)].join("\n")];
  const command = oneLine(notice.lastCommand ?? "");
  if (command !== "") fields.push(`Last command:\n> ${command}`);
  if (matter.receipts.length > 0) fields.push(matter.receipts.map(receiptLine).join("\n"));
  // Who has ended needs no rescue.
  if (state === "holds") {
    const advice = adviceFor(notice, address, itself, matter, withRescue, context);
    if (advice !== undefined) fields.push(advice);
  }
  if (note !== undefined) {
    const author = note.author === undefined ? "" : ` by ${name(note.author)}`;
    fields.push(`Note${author}:\n${quoted(note.text)}`);
  }
  return fields.join("\n\n");
}

function adviceFor(
  notice: Notice,
  address: Address | undefined,
  itself: boolean,
  matter: Matter,
  withRescue: boolean,
  { rescue }: AlertContext,
): string | undefined {
  const { intervention, targetId } = notice;
  if (intervention !== undefined) {
    return `Suggested rescue:\n${suggestion(intervention, { id: targetId, itself, steer: address?.steer }).join("\n")}`;
  }
  const next = itself ? undefined : `Next: ${nextStep(targetId, address)}`;
  if (!withRescue || !wantsRescue(matter)) return next;
  return [`Suggested rescue:\n${rescueLines(rescue).join("\n")}`, ...(next === undefined ? [] : [next])].join("\n\n");
}

/** The one call that reaches the target from here. */
function nextStep(targetId: string, address: Address | undefined): string {
  if (address?.steer !== undefined) return `steer it with ${address.steer}, or leave it be`;
  return `look with watchdog_read_events; the user can steer it by /watchdog steer ${oneLine(targetId, NAME_CHARS)}`;
}

function evidenceLines({ notice, since }: Matter, readerId: string): string[] {
  const { analysis, intervention, cost } = notice;
  const evidence = analysis.evidence.slice(0, EVIDENCE_LINES).map(({ summary }) => oneLine(summary));
  // The reason of a silence is its evidence as well.
  const reason = intervention === undefined ? undefined : oneLine(reasonFor(intervention, readerId));
  if (reason !== undefined && !evidence.includes(reason)) evidence.unshift(reason);
  if (evidence.length === 0) return ["- none"];
  const price = costText(cost);
  if (price !== undefined) evidence.push(`since ${clock(firstAt(notice, since))}, ${price}`);
  return evidence.map((line) => `- ${line}`);
}

function firstAt({ analysis }: Notice, since: number): number {
  return analysis.evidence.reduce((at, { firstAt }) => (firstAt > 0 ? Math.min(at, firstAt) : at), since);
}

function costText({ rounds, tokens, usd }: Notice["cost"]): string | undefined {
  if (rounds === 0 && tokens === 0 && usd === 0) return undefined;
  const parts = [plural(rounds, "round")];
  if (tokens > 0) parts.push(`${amount(tokens)} tokens`);
  if (usd > 0) parts.push(money(usd));
  return parts.join(", ");
}

/** What became of a message to a child: `Rescue sent: 14:02 (delivered)`. */
export function receiptLine({ what: message, to, at, outcome, reason }: Receipt): string {
  const why = reason === undefined ? "" : `: ${oneLine(reason)}`;
  const what = outcome === "pending" ? "no answer yet" : `${outcome}${why}`;
  const kind = message === "rescue" ? "Rescue" : "Message";
  return `${kind} ${outcome === "refused" ? "refused" : "sent"}: ${clock(at).slice(0, 5)} to ${name(to)} (${what})`;
}

/** One line for an alert that is not told in full. */
function briefLine(item: Item, context: AlertContext): string {
  const { notice } = item.matter;
  const who = targetLine(notice, context.address?.(notice.targetId));
  if (item.state === "over") return `- ${who}: ${overWords(notice)}`;
  if (item.state === "ended") return `- ${who}: ${endedStatus(item)}`;
  const why = notice.intervention?.reason ?? notice.analysis.reasons[0];
  const state = stateWords(notice, item.matter.note !== undefined);
  return `- ${who}: ${state}${why === undefined ? "" : `: ${oneLine(why)}`}`;
}

function overWords({ intervention }: Notice): string {
  if (intervention?.kind === "timeout") return "at work again";
  return `no longer ${intervention === undefined ? "stuck" : stateOf(intervention)}`;
}

const endedStatus = ({ ended }: Item): string =>
  ended === "idle" ? "idle, its run is over" : `ended (${oneLine(ended ?? "", 40)})`;

function status(notice: Notice): string {
  return stateWords(notice, true);
}

function stateWords({ analysis, intervention }: Notice, noted: boolean): string {
  if (intervention !== undefined) return stateOf(intervention);
  return analysis.likelyStuck || !noted ? "likely stuck" : "not stuck by the rules";
}

/** As in verdicts, by the kinds of evidence; an intervention without a verdict is one. */
function confidence({ analysis, intervention }: Notice): Confidence {
  return intervention === undefined || analysis.likelyStuck ? analysis.confidence : "medium";
}

/** What a child is told of an intervention that concerns it, where the user allowed messages to children. */
export function interventionMessage({ targetId }: Notice, intervention: Intervention, readerId: string): string {
  const advice = suggestion(intervention, { id: targetId, itself: true });
  return [`The watchdog saw: ${oneLine(reasonFor(intervention, readerId))}.`, ...advice].join("\n");
}

/** The reason in the words for a reader. */
function reasonFor({ reason, texts = [] }: Intervention, readerId: string): string {
  return texts.find(({ targetId }) => targetId === readerId)?.text ?? reason;
}

/** One line for people who are not reading the conversation right now. */
export function headline(notice: Notice, note?: { text: string; author?: string }): string {
  const who = oneLine(notice.targetName, NAME_CHARS);
  if (note !== undefined) return `Watchdog: ${author(note, notice)}${who}: ${oneLine(note.text)}`;
  const { intervention } = notice;
  if (notice.kind === "over") return `Watchdog: ${who} is ${overWords(notice)}`;
  if (intervention !== undefined) return `Watchdog: ${who}: ${oneLine(intervention.reason)}`;
  const [first, ...others] = notice.analysis.reasons;
  const more = others.length > 0 ? ` (and ${plural(others.length, "more reason")})` : "";
  const goesOn = notice.ordinal > 1 && notice.severity === "critical";
  const stuck = goesOn ? "is still stuck" : "may be stuck";
  const state = notice.analysis.likelyStuck ? stuck : "needs a look";
  return `Watchdog: ${who} ${state}${first === undefined ? "" : `: ${oneLine(first)}${more}`}`;
}

/** That a target of which the screen was told is done. */
export function endedLine(targetName: string, status: string): string {
  return `Watchdog: ${oneLine(targetName, NAME_CHARS)} has ended (${oneLine(status, 40)})`;
}

/** How a matter ended. */
export function summaryOf({ notice }: Matter, ended: string | undefined): string {
  return ended === undefined ? headline({ ...notice, kind: "over" }) : endedLine(notice.targetName, ended);
}

/** What became of a matter that no model was told of: a line on stderr at the end of a one-shot run. */
export function closingLine({ notice, note, over, receipts }: Matter, ended: string | undefined): string {
  // How often it was reported says nothing at the end.
  const kind = notice.intervention === undefined ? "stuck" : "intervention";
  const line = headline({ ...notice, kind, ordinal: 1 }, note);
  const sent = receipts.map(receiptLine);
  const end = over ? "it recovered" : ended === undefined ? undefined : `it ended (${oneLine(ended, 40)})`;
  return [line, ...sent, ...(end === undefined ? [] : [end])].join("; ");
}

/** Who writes about itself is named once. */
const author = (note: { author?: string }, { targetName }: Notice): string =>
  note.author === undefined || note.author === targetName ? "" : `${oneLine(note.author, NAME_CHARS)} about `;

function targetLine({ targetName, targetId }: Notice, address: Address | undefined): string {
  return `${name(targetName)} (${oneLine(address?.agentId ?? targetId, NAME_CHARS)})`;
}

/** A name is somebody's text: in quotes, which it cannot close. */
function name(text: string): string {
  return JSON.stringify(oneLine(text, NAME_CHARS));
}
