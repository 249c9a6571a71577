// Scripted models and questions to the record that several tests share. No process, no assertion.

import type { ModelRequest, Reply, ReplyToolCall, Script } from "./model-types.ts";
import type { PiRecord } from "./pi-rpc.ts";

export const call = (name: string, args: Record<string, unknown>): ReplyToolCall => ({ name, args });
export const bash = (command: string): Reply => ({ toolCalls: [call("bash", { command })] });
export const read = (path: string, offset?: number, limit?: number): Reply => ({
  toolCalls: [
    call("read", { path, ...(offset === undefined ? {} : { offset }), ...(limit === undefined ? {} : { limit }) }),
  ],
});
export const write = (path: string, content: string): Reply => ({ toolCalls: [call("write", { path, content })] });
export const edit = (path: string, oldText: string, newText: string): Reply => ({
  toolCalls: [call("edit", { path, edits: [{ oldText, newText }] })],
});

/** Gives the replies one by one, then ends the run. */
export const steps =
  (replies: readonly Reply[], end = "That is all."): Script =>
  ({ turn }) =>
    replies[turn] ?? { text: end };

/** A rescue message that no prompt, tool or other text of a test contains. */
export const RESCUE = "Rescue 4711: sum up and plan anew.";

/** How often the rescue message is in the whole request. */
export const rescues = (request: ModelRequest | undefined): number =>
  (request?.messages ?? []).reduce(
    (count, { role, text }) => count + (role === "user" ? text.split(RESCUE).length - 1 : 0),
    0,
  );

/** How the default rescue message begins. */
const DEFAULT_RESCUE = "The AI agent might be stuck.";

const isRescue = (text: string): boolean => text.includes(RESCUE) || text.includes(DEFAULT_RESCUE);

/** Whether a rescue message, that of the tests or the default one, is new in this request. */
export const rescued = (request: ModelRequest): boolean => request.newUserTexts.some(isRescue);

/** Where the model is in the conversation: what a person asked last, and how often it has answered since. */
export function phase({ messages }: ModelRequest): { prompt: string; turn: number } {
  const at = messages.findLastIndex(
    ({ role, text }) => role === "user" && !isRescue(text) && !text.startsWith("[Watchdog"),
  );
  const turn = messages.slice(at + 1).filter(({ role }) => role === "assistant").length;
  return { prompt: messages[at]?.text ?? "", turn };
}

/** Repeats one reply until it is rescued, at most `bound` times for one prompt. */
export const loop =
  (reply: Reply, bound = 10): Script =>
  (request) =>
    rescued(request) || phase(request).turn >= bound ? { text: "I stop here." } : reply;

/** On the prompt "begin" the replies; on any other a loop, which shows that the watchdog was awake all the time. */
export const quietThenLoop =
  (quiet: readonly Reply[]): Script =>
  (request, conversation) => {
    const { prompt, turn } = phase(request);
    if (prompt === "begin") return quiet[turn] ?? { text: "That was the quiet part." };
    return loop(bash("echo round and round"), 8)(request, conversation);
  };

/** Everything the watchdog put into the session, as text. */
export const watchdogTexts = (records: readonly PiRecord[]): string[] =>
  records
    .filter(({ type, message }) => type === "message_end" && message.role === "custom")
    .filter(({ message }) => String(message.customType).startsWith("watchdog"))
    .map(({ message }) => textOf(message));

/** Text of a message of Pi, whatever its content is made of. */
export function textOf(message: PiRecord["message"]): string {
  const { content } = message;
  if (typeof content === "string") return content;
  return (content as { type: string; text?: string }[]).map((block) => block.text ?? "").join("\n");
}

/** All that Pi told its user in RPC mode by other ways than the model: notifications, watchdog messages, stderr. */
export const told = (pi: { records: readonly PiRecord[]; stderr: string }): string =>
  [
    ...pi.records
      .filter(({ type, method }) => type === "extension_ui_request" && method === "notify")
      .map(({ message }) => message),
    ...watchdogTexts(pi.records),
    pi.stderr,
  ].join("\n");
