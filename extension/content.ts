// Takes the strings that the detector needs out of Pi's messages and results. Bounds what crosses into the addon;
// knows no rule and judges nothing.

import { argumentsText, bounded, WHOLE } from "../shared/whole.js";

export { argumentsText, bounded, WHOLE };

/** A text or image part of a message; other kinds are named by their type. */
interface Part {
  type: string;
  text?: unknown;
  mimeType?: unknown;
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
