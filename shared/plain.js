// Text from models, processes and files made safe to show: it must not move the cursor, recolour the screen, hide or
// reorder characters, or break out of the line that it is shown in. Used by the extension and by the command; works
// without the addon, since what is wrong with that is shown as well. `src/text/preview.rs` takes out the same characters.

/** Longest line shown of foreign text, in characters. */
export const LINE_CHARS = 200;

/** What is read of a text beyond what is shown: escape sequences can be longer than that. */
export const SLACK = 4096;

// Ends nothing that may be missing, so that no text is read twice: a sequence goes as far as it can, and to the end of
// its line at most. The same forms as in `src/text/ansi.rs`.
const SEQUENCE = new RegExp(
  [
    String.raw`(?:\x1b\[|\x9b)[^\n\r\x1b\x18\x1a\x40-\x7e\x80-\uffff]*[\x40-\x7e\x18\x1a]?`,
    String.raw`(?:\x1b\]|\x9d)[^\n\x1b\x18\x1a\x07\x9c]*[\x07\x18\x1a]?`,
    String.raw`(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\n\x1b\x18\x1a\x9c]*[\x18\x1a]?`,
    String.raw`\x1b[\x20-\x2f]*[\x30-\x7e]?`,
  ].join("|"),
  "g",
);
const LINE_BREAK = /\r\n?|[\u2028\u2029\u0085\v\f]/g;
// C0 without tab and newline, DEL, C1.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
// What Unicode says to be invisible by default (zero width characters and joiners, fillers, variation selectors, tags and
// what will be added beside them) or to set a direction, and what is as good as invisible: the empty Braille cell, null
// note head, Khitan filler, annotation marks, format controls of hieroglyphs, and code points that are no characters.
// An emoji may lose its colour or fall apart; a hidden text in tags or selectors does worse.
const INVISIBLE =
  /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Noncharacter_Code_Point}\u2800\ufff9-\ufffb\u{13430}-\u{1343f}\u{16fe4}\u{1d159}]/gu;

/**
 * Text of several lines without escape sequences, control characters, bidi marks and invisible characters.
 * @param {string} text
 */
export function plain(text) {
  return text
    .replace(SEQUENCE, "")
    .replace(LINE_BREAK, "\n")
    .replace(/\t/g, "  ")
    .replace(CONTROL, "")
    .replace(INVISIBLE, "")
    .toWellFormed();
}

/**
 * The first `max` characters, with an ellipsis if something was cut. Never splits a surrogate pair.
 * @param {string} text @param {number} max
 */
export function cut(text, max) {
  if (text.length <= max) return text;
  let end = Math.max(0, max - 1);
  const code = text.charCodeAt(end - 1);
  if (code >= 0xd800 && code <= 0xdbff) end -= 1;
  return `${text.slice(0, end).trimEnd()}…`;
}

/**
 * One safe line of at most `max` characters.
 * @param {string} text
 */
export function oneLine(text, max = LINE_CHARS) {
  return cut(
    plain(text.slice(0, max + SLACK))
      .replace(/\s+/g, " ")
      .trim(),
    max,
  );
}
