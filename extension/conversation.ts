// What the debug console shows of the conversation with the provider: the messages that are new since the last answer,
// and the answer. Taken from Pi's own messages, not from a provider's payload. Makes texts only; the console cuts them.

import type { ContextEvent } from "@earendil-works/pi-coding-agent";
import { assistantText, textOf } from "./content.ts";
import { plural } from "./format.ts";

type Message = ContextEvent["messages"][number];

/** Longest text of one message or one call: the console bounds the whole, and the last message must not hide the others. */
const MAX_CHARS = 8000;

/** `2 new of 7 messages`, then each new message with its role. */
export function sentText(messages: readonly Message[]): string {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const fresh = messages.slice(last + 1);
  const head = `${fresh.length} new of ${plural(messages.length, "message")}`;
  return [head, ...fresh.map((message) => `${roleOf(message)}: ${bounded(bodyOf(message))}`)].join("\n");
}

/** The text of the answer, or its thinking where it has none, and its calls as `bash {"command":"ls"}`. */
export function receivedText(content: unknown, errorMessage?: string): string {
  const { text, thinking } = assistantText(content);
  const calls = Array.isArray(content) ? content.filter((part) => part?.type === "toolCall").map(callLine) : [];
  const said = text.trim() === "" ? thinking : text;
  const lines = [bounded(said), ...calls, ...(errorMessage ? [`error: ${bounded(errorMessage)}`] : [])];
  return lines.filter((line) => line.trim() !== "").join("\n") || "(an empty answer)";
}

function callLine({ name, arguments: args }: { name?: unknown; arguments?: unknown }): string {
  let json: string;
  try {
    json = JSON.stringify(args) ?? "";
  } catch {
    json = "(arguments that are no JSON)";
  }
  return bounded(`${String(name)} ${json}`);
}

function roleOf(message: Message): string {
  if (message.role === "toolResult") return `toolResult ${message.toolName}${message.isError ? " (error)" : ""}`;
  return message.role === "custom" ? `custom ${message.customType}` : message.role;
}

function bodyOf(message: Message): string {
  if ("content" in message) return textOf(message.content);
  if ("summary" in message) return message.summary;
  return "command" in message ? `${message.command}\n${message.output}` : "";
}

const bounded = (text: string): string =>
  text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}… [${text.length - MAX_CHARS} characters more]`;
