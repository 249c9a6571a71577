// Alerts as a test meets them. An idle main agent hears of its children with its next prompt; what is new is on the
// screen before. So whoever waits for an alert types something when the screen was told.

import type { PiRecord, PiRpc } from "./pi-rpc.ts";
import { textOf } from "./scripts.ts";

const isAlert = ({ type, message }: PiRecord): boolean =>
  type === "message_end" && message.role === "custom" && String(message.customType).startsWith("watchdog-");

/** Something that the watchdog showed the user. */
export const isNotice = ({ type, method, message }: PiRecord): boolean =>
  type === "extension_ui_request" && method === "notify" && String(message).startsWith("Watchdog:");

const isIdle = (pi: PiRpc): boolean => {
  const last = pi.records.findLast(({ type }) => type === "agent_start" || type === "agent_settled");
  return last?.type !== "agent_start";
};

/** The first alert for the main agent's model, past or coming, that contains the text. */
export async function alertWith(pi: PiRpc, part: string): Promise<string> {
  let seen = 0;
  let untold = false;
  for (;;) {
    const record = await pi.waitFor(
      (record) => isAlert(record) || isNotice(record) || record.type === "agent_settled",
      `an alert with ${part}`,
      { from: seen },
    );
    seen = pi.records.indexOf(record, seen) + 1;
    if (isAlert(record) && textOf(record.message).includes(part)) return textOf(record.message);
    untold ||= isNotice(record);
    if (!untold || !isIdle(pi) || pi.records.slice(seen).some((later) => isAlert(later) || isNotice(later))) continue;
    untold = false;
    // It may have begun to work in this moment.
    await pi.send({ type: "prompt", message: "What is new?", streamingBehavior: "followUp" });
  }
}
