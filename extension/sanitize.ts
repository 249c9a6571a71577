// Makes text from models, processes and files safe to show. Pure; knows neither Pi nor the store.
// Whatever a child or a tool printed is data: it must not move the cursor, recolour the screen, hide or reorder
// characters, or break out of the line or quote that it is shown in.

import { stripVTControlCharacters } from "node:util";
import { plural } from "./format.ts";

/** Longest line shown of foreign text, in characters. */
export const LINE_CHARS = 200;
/** Most lines shown of foreign text. */
export const QUOTE_LINES = 10;

// What is read of a text at most. Escape sequences can be longer than what is shown, so a cut text is read wider.
const SLACK = 4096;

const LINE_BREAKS = /\r\n?|[\u2028\u2029\u0085\v\f]/g;
// C0 without tab and newline, DEL, C1.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
// Soft hyphen, Arabic letter mark, Mongolian vowel separator, zero width space, non-joiner and marks, bidi embeddings,
// overrides and isolates, word joiner and invisible operators, BOM, interlinear annotation, language tags.
// The zero width joiner stays: emoji and several scripts are written with it.
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Text of several lines without escape sequences, control characters, bidi marks and invisible characters. */
export function plain(text: string): string {
  return stripVTControlCharacters(text)
    .replace(LINE_BREAKS, "\n")
    .replace(/\t/g, "  ")
    .replace(CONTROL, "")
    .replace(INVISIBLE, "")
    .toWellFormed();
}

/** The first `max` characters, with an ellipsis if something was cut. Never splits a surrogate pair. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  let end = Math.max(0, max - 1);
  const code = text.charCodeAt(end - 1);
  if (code >= 0xd800 && code <= 0xdbff) end -= 1;
  return `${text.slice(0, end).trimEnd()}…`;
}

/** One safe line of at most `max` characters. */
export function oneLine(text: string, max = LINE_CHARS): string {
  return cut(
    plain(text.slice(0, max + SLACK))
      .replace(/\s+/g, " ")
      .trim(),
    max,
  );
}

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
