// Makes text from models, processes and files safe to show. Pure; knows neither Pi nor the store.
// Whatever a child or a tool printed is data: it must not move the cursor, recolour the screen, hide or reorder
// characters, or break out of the line or quote that it is shown in.

import { cut, LINE_CHARS, oneLine, plain, SLACK } from "../shared/plain.js";
import { plural } from "./format.ts";

export { cut, LINE_CHARS, oneLine, plain };

/** Most lines shown of foreign text. */
export const QUOTE_LINES = 10;

/** Safe lines, each and all of them cut; the last one says how many are missing. */
export function lines(text: string, maxLines = QUOTE_LINES, maxChars = LINE_CHARS): string[] {
  const all = plain(text.slice(0, maxLines * (maxChars + SLACK))).split("\n");
  while (all.length > 0 && all[all.length - 1]?.trim() === "") all.pop();
  const shown = all.slice(0, maxLines).map((line) => cut(line.trimEnd(), maxChars));
  if (all.length > maxLines) shown.push(`… ${plural(all.length - maxLines, "more line")}`);
  return shown;
}

/** Foreign text as a quotation, so that it is not taken for an instruction. */
export function quoted(text: string, maxLines = QUOTE_LINES, maxChars = LINE_CHARS): string {
  return lines(text, maxLines, maxChars)
    .map((line) => `> ${line}`)
    .join("\n");
}
