// Bounds the texts that cross into the addon so that two different ones stay different: what is left out is replaced by
// a digest of it. Used by the extension and by the library.

import { createHash } from "node:crypto";

/** Longest text handed over whole, in UTF-16 units. A longer one is handed over as its head and its tail. */
export const WHOLE = 256 * 1024;
const HEAD = 64 * 1024;
const TAIL = 32 * 1024;
/** Longest string kept in arguments that are too long as a whole; a longer one is replaced by a digest of it. */
const ARGUMENT = 4 * 1024;
/** Arguments that are longer than this without their long strings are replaced by a digest as a whole. */
const ARGUMENTS = 4 * WHOLE;
/** Entries of such arguments that are kept: what the call is about. */
const KEPT_ENTRIES = 32;
const KEPT_CHARS = 256;

/** @param {number} code */
const highSurrogate = (code) => code >= 0xd800 && code <= 0xdbff;

/** @param {string} text */
const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/**
 * A digest in letters: digits and hexadecimal words are noise to the addon, and would make different texts equal.
 * @param {string} text
 */
const inLetters = (text) =>
  sha256(text).replace(/./g, (digit) => String.fromCharCode(103 + Number.parseInt(digit, 16)));

/**
 * The text, or its first 64 Ki and last 32 Ki units with the length and a digest of what is between them.
 * @param {string} text
 */
export function bounded(text) {
  if (text.length <= WHOLE) return text;
  let head = HEAD;
  if (highSurrogate(text.charCodeAt(head - 1))) head -= 1;
  let tail = text.length - TAIL;
  if (highSurrogate(text.charCodeAt(tail - 1))) tail -= 1;
  const gap = text.slice(head, tail);
  return `${text.slice(0, head)}\n[${gap.length} characters left out: ${inLetters(gap)}]\n${text.slice(tail)}`;
}

/**
 * JSON text of a call's arguments. They are compared exactly: when they are too long (a written file), their long
 * strings become digests, and when that is not enough, all but the first short entries become one.
 * @param {unknown} args
 */
export function argumentsText(args) {
  if (args === undefined || args === null) return "{}";
  try {
    const text = JSON.stringify(args) ?? "{}";
    if (text.length <= WHOLE) return text;
    const shorter = JSON.stringify(args, (_key, value) => digested(value));
    return shorter.length <= ARGUMENTS ? shorter : JSON.stringify({ ...shortEntries(args), "…": summary(text) });
  } catch {
    // Circular, or a value that JSON has no form for: not from a model, and nothing to compare.
    return "{}";
  }
}

/** @param {unknown} value */
function digested(value) {
  if (typeof value !== "string" || value.length <= ARGUMENT) return value;
  return `${value.slice(0, KEPT_CHARS)}${summary(value)}`;
}

/** @param {string} text */
const summary = (text) => `[${text.length} characters, sha256 ${sha256(text)}]`;

/** @param {unknown} args @returns {Record<string, unknown>} */
function shortEntries(args) {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return {};
  const short = Object.entries(args).filter(
    ([name, value]) => name.length <= KEPT_CHARS && typeof value === "string" && value.length <= KEPT_CHARS,
  );
  return Object.fromEntries(short.slice(0, KEPT_ENTRIES));
}
