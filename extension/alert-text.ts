// The text of an alert in the main session. Pure. The order of the fields is fixed; what a child or a model wrote is
// data in it: made safe, cut, on its own lines, and quoted where it is prose.

import type { Notice } from "../index.js";
import { plural } from "./format.ts";
import { lines, oneLine, quoted } from "./sanitize.ts";

const NAME_CHARS = 80;

/** `note`: what a model wrote about the target. */
export function alertText(notice: Notice, rescueMessage: string, note?: string): string {
  const { analysis } = notice;
  const evidence = analysis.evidence.map(({ summary }) => `- ${oneLine(summary)}`);
  const fields = [
    "[Watchdog Alert]",
    [
      `Target: ${targetLine(notice)}`,
      `Status: ${analysis.likelyStuck ? "likely stuck" : "not stuck by the rules"}`,
      `Confidence: ${analysis.confidence}`,
    ].join("\n"),
    ["Evidence:", ...(evidence.length > 0 ? evidence : ["- none"])].join("\n"),
  ];
  const command = oneLine(notice.lastCommand ?? "");
  if (command !== "") fields.push(`Last command:\n${command}`);
  fields.push(`Suggested rescue:\n${lines(rescueMessage).join("\n")}`);
  if (note !== undefined) fields.push(`Note:\n${quoted(note)}`);
  return fields.join("\n\n");
}

/** One line for people who are not reading the conversation right now. */
export function headline(notice: Notice): string {
  const name = oneLine(notice.targetName, NAME_CHARS);
  if (notice.kind === "over") return `Watchdog: ${name} is no longer stuck`;
  if (notice.intervention !== undefined) return `Watchdog: ${name}: ${oneLine(notice.intervention.reason)}`;
  const [first, ...others] = notice.analysis.reasons;
  const more = others.length > 0 ? ` (and ${plural(others.length, "more reason")})` : "";
  const state = notice.analysis.likelyStuck ? "may be stuck" : "needs a look";
  return `Watchdog: ${name} ${state}${first === undefined ? "" : `: ${oneLine(first)}${more}`}`;
}

function targetLine({ targetName, targetId }: Notice): string {
  return `${oneLine(targetName, NAME_CHARS)} (${oneLine(targetId, NAME_CHARS)})`;
}
