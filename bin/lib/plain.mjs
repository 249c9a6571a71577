// Text from files, made safe for a terminal: it must not move the cursor, recolour, hide, reorder or break a line.

import { stripVTControlCharacters } from "node:util";

const LINE_CHARS = 200;
// Escape sequences can be longer than what is shown, so more than that is looked at.
const READ_CHARS = 4096;
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
// Soft hyphen, bidi marks, embeddings and isolates, zero-width characters but the joiner of emoji, tags.
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/**
 * One safe line of at most `max` characters.
 * @param {string} text
 */
export function plain(text, max = LINE_CHARS) {
  const line = stripVTControlCharacters(text.slice(0, max + READ_CHARS))
    .replace(CONTROL, " ")
    .replace(INVISIBLE, "")
    .replace(/ {2,}/g, " ")
    .trim()
    .toWellFormed();
  const characters = [...line];
  return characters.length <= max ? line : `${characters.slice(0, max - 1).join("")}…`;
}
