// Takes the strings that the detector needs out of Pi's messages and results. Bounds what crosses into the addon;
// knows no rule and judges nothing.

import { createHash } from "node:crypto";

/** Longest text handed over whole, in UTF-16 units. A longer one is handed over as its head and its tail. */
export const WHOLE = 256 * 1024;
const HEAD = 64 * 1024;
const TAIL = 32 * 1024;
/** Longest string kept in arguments that are too long as a whole; a longer one is replaced by a digest of it. */
const ARGUMENT = 4 * 1024;

/** A text or image part of a message; other kinds are named by their type. */
interface Part {
  type: string;
  text?: unknown;
  mimeType?: unknown;
}

const highSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** The text, or its first 64 Ki and last 32 Ki units with the length of the gap between them. */
export function bounded(text: string): string {
  if (text.length <= WHOLE) return text;
  let head = HEAD;
  if (highSurrogate(text.charCodeAt(head - 1))) head -= 1;
  let tail = text.length - TAIL;
  if (highSurrogate(text.charCodeAt(tail - 1))) tail -= 1;
  return `${text.slice(0, head)}\n[${tail - head} characters left out]\n${text.slice(tail)}`;
}

/** Text of a message or a result: text parts joined, anything else only named. Never throws. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return bounded(content);
  if (!Array.isArray(content)) return "";
  if (content.length === 1) return bounded(partText(content[0]));
  // Joining first would copy every part of a result of many large ones.
  return bounded(content.map((part) => bounded(partText(part))).join("\n"));
}

function partText(part: Part | null | undefined): string {
  if (part === null || typeof part !== "object") return "";
  if (part.type === "text") return typeof part.text === "string" ? part.text : "";
  const kind = typeof part.mimeType === "string" ? `${part.type} ${part.mimeType}` : String(part.type);
  return `[${kind}]`;
}

/** Thinking and text of an assistant message, each joined. Tool calls are observed as such. */
export function assistantText(content: unknown): { text: string; thinking: string } {
  if (!Array.isArray(content)) return { text: textOf(content), thinking: "" };
  const text: string[] = [];
  const thinking: string[] = [];
  for (const part of content) {
    if (part?.type === "text" && typeof part.text === "string") text.push(part.text);
    else if (part?.type === "thinking" && typeof part.thinking === "string") thinking.push(part.thinking);
  }
  return { text: bounded(text.join("\n")), thinking: bounded(thinking.join("\n")) };
}

/**
 * JSON text of a call's arguments. Arguments are compared exactly, so when they are too long (a written file) their
 * long strings become digests instead of being cut.
 */
export function argumentsText(args: unknown): string {
  if (args === undefined || args === null) return "{}";
  try {
    const text = JSON.stringify(args) ?? "{}";
    return text.length <= WHOLE ? text : JSON.stringify(args, digested);
  } catch {
    // Circular, or a value that JSON has no form for: not from a model, and nothing to compare.
    return "{}";
  }
}

function digested(_key: string, value: unknown): unknown {
  if (typeof value !== "string" || value.length <= ARGUMENT) return value;
  return `${value.slice(0, 256)}[${value.length} characters, sha256 ${createHash("sha256").update(value).digest("hex")}]`;
}
