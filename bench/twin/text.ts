// The JS twin's text work, the way a JS extension would do it: regular expressions and node:crypto.
// Means the same as src/text; bench/equal.ts holds the two equal before anything is measured.

import { hash } from "node:crypto";

const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
const SEQUENCES = new RegExp(
  [
    "(?:\\x1b\\[|\\x9b)[^\\n\\r\\x1b\\x18\\x1a\\x40-\\x7e\\x80-\\uffff]*[\\x40-\\x7e\\x18\\x1a]?",
    "(?:\\x1b\\]|\\x9d)[^\\n\\x1b\\x18\\x1a\\x07\\x9c]*[\\x07\\x18\\x1a]?",
    "(?:\\x1b[PX^_]|[\\x90\\x98\\x9e\\x9f])[^\\n\\x1b\\x18\\x1a\\x9c]*[\\x18\\x1a]?",
    "\\x1b[\\x20-\\x2f]*[\\x30-\\x7e]?",
    "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]",
  ].join("|"),
  "g",
);

export function stripAnsi(text: string): string {
  if (!CONTROLS.test(text)) return text;
  const stripped = text.replace(SEQUENCES, "");
  if (!stripped.includes("\r")) return stripped;
  return stripped.replace(/\r+(?=\n|$)/g, "").replace(/^[^\n]*\r/gm, "");
}

export function normalizeCommand(raw: string): string {
  return stripAnsi(raw).trim().replace(/\s+/g, " ");
}

export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** For equality inside the twin only. */
export function digest(text: string): string {
  return hash("sha1", text, "base64");
}

export function firstLines(text: string, lines: number): string {
  let end = -1;
  for (let line = 0; line < lines; line += 1) {
    end = text.indexOf("\n", end + 1);
    if (end < 0) return text;
  }
  return text.slice(0, end);
}
