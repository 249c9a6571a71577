// How an alert about a child, and the rescue message to the agent itself, look in the transcript: two lines that say
// what is the matter, and all of it when expanded. Texts are safe already (render.ts).

import type { MessageRenderOptions, Theme } from "@earendil-works/pi-coding-agent";
import { Box, type Component, truncateToWidth } from "@earendil-works/pi-tui";
import { oneLine } from "../sanitize.ts";
import { expandHint } from "./hint.ts";
import { type Line, layOut, type Page, paint, type Tone } from "./page.ts";

/** Fields of the alert text (alerts/text.ts); their order is fixed. */
const FIELD = /^(Target|Session|Status|Confidence|Evidence|Last command|Suggested rescue|Next|Also|Note(?: by ".*")?):/;

export function alertView(text: string, details: unknown, options: MessageRenderOptions, theme: Theme): Component {
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1] ?? "";
  const evidence = /^- (.*)$/m.exec(text)?.[1];
  const severity = severityOf(details);
  const tone: Tone = severity === "critical" ? "error" : severity === "info" ? "muted" : "warning";
  const label = paint(theme, theme.bold("Watchdog alert"), tone);
  // The id is for tools; in two lines there is room for the name only.
  const name = nameIn(field("Target")) || "unknown target";
  // Of what was measured and not judged, the word would say nothing.
  const confidence = isIntervention(details) ? "" : field("Confidence");
  const others = /^\[Watchdog Alert\] (\d+) alerts/.exec(text)?.[1];
  const more = others === undefined ? "" : `, and ${Number(others) - 1} more`;
  const state = `${name}: ${field("Status")}${confidence === "" ? "" : ` (${confidence})`}${more}`;
  // News of agents that were alerted before is a line each, without fields.
  const isNews = field("Target") === "";
  const head = options.expanded ? label : `${label} ${paint(theme, isNews ? (evidence ?? "") : state)}`;
  const summary = isNews ? "" : evidence === undefined || evidence === "none" ? noteOf(text) : evidence;
  return new Card(head, { text: summary, tone: "muted" }, colourFields(text), options, theme);
}

export function rescueView(text: string, details: unknown, options: MessageRenderOptions, theme: Theme): Component {
  const reasons = reasonsOf(details);
  const label = paint(theme, theme.bold("Watchdog rescue"), "warning");
  const why = oneLine(reasons[0] ?? "sent to this agent");
  const head = options.expanded ? label : `${label} ${paint(theme, why)}`;
  // What repeats comes before the message itself.
  const summary: Line = { text: oneLine(text.slice(text.lastIndexOf("\n\n") + 1)), tone: "muted" };
  const full: Page = [
    ...text.split("\n").map((line) => ({ text: line })),
    ...(reasons.length > 0 ? [{ text: "" }, { text: "Evidence:", tone: "accent" as const }] : []),
    ...reasons.map((reason) => ({ text: `- ${reason}`, tone: "muted" as const })),
  ];
  return new Card(head, summary, full, options, theme);
}

/** First line of what a model wrote. */
function noteOf(text: string): string {
  return /^Note(?: by ".*")?:\n> (.*)$/m.exec(text)?.[1] ?? "";
}

/** The name in a line such as `"find it" (id)`; older alerts have it without quotes. */
function nameIn(target: string): string {
  const bare = target.replace(/ \([^()]*\)$/, "");
  return /^"(.*)"$/.exec(bare)?.[1]?.replace(/\\(["\\])/g, "$1") ?? bare;
}

function colourFields(text: string): Page {
  const lines = text.split("\n");
  const body = lines[0]?.startsWith("[Watchdog") ? lines.slice(1) : lines;
  while (body[0] === "") body.shift();
  return body.map((line): Line => {
    if (FIELD.test(line)) return { text: line, tone: "accent" };
    if (line.startsWith("- ")) return { text: line, tone: "warning" };
    return { text: line, tone: line.startsWith("> ") ? "muted" : "text" };
  });
}

function severityOf(details: unknown): unknown {
  return (details as { notice?: { severity?: unknown } } | undefined)?.notice?.severity;
}

function isIntervention(details: unknown): boolean {
  const { notice } = (details ?? {}) as { notice?: { kind?: unknown } | null };
  return notice?.kind === "intervention";
}

function reasonsOf(details: unknown): string[] {
  const reasons = (details as { notice?: { analysis?: { reasons?: unknown } } } | undefined)?.notice?.analysis?.reasons;
  if (!Array.isArray(reasons)) return [];
  return reasons.flatMap((reason) => (typeof reason === "string" ? [oneLine(reason)] : []));
}

/** A box with a head line, and a summary or the whole below it. */
class Card implements Component {
  readonly #box: Box;

  constructor(head: string, summary: Line, full: Page, options: MessageRenderOptions, theme: Theme) {
    const { expanded, outputPad } = options;
    this.#box = new Box(outputPad, 0, (line) => theme.bg("customMessageBg", line));
    this.#box.addChild({
      invalidate() {},
      render(width) {
        if (expanded) return [truncateToWidth(head, width, "…"), ...layOut(full, theme, width)];
        const hint = paint(theme, `(${expandHint(options)})`, "dim");
        const below = summary.text === "" ? hint : `${paint(theme, summary.text, summary.tone)} ${hint}`;
        // The hint may fall off the edge, the summary is what matters.
        return [truncateToWidth(head, width, "…"), truncateToWidth(below, width, "…")];
      },
    });
  }

  render(width: number): readonly string[] {
    return this.#box.render(width);
  }

  invalidate(): void {
    this.#box.invalidate();
  }
}
