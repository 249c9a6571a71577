// Requests to @tintinweb/pi-subagents over its bus: one request, one reply on a channel of its own. Knows no agents.

import { randomUUID } from "node:crypto";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { text } from "./foreign.ts";

export const STOP = "subagents:rpc:stop";

/** The package answers within the turn of the event loop; what has not come after so long will not come. */
const PATIENCE_MS = 2000;

export type Reply =
  | { answer: "done" }
  | { answer: "refused"; reason: string }
  /** Nobody answered. */
  | { answer: "none" };

/** Never rejects, also when the session is over, whose bus then throws. */
export function request(bus: ExtensionAPI["events"], channel: string, params: Record<string, unknown>): Promise<Reply> {
  const requestId = randomUUID();
  return new Promise((resolve) => {
    let off = (): void => {};
    const timer = setTimeout(() => end({ answer: "none" }), PATIENCE_MS).unref();
    function end(reply: Reply): void {
      clearTimeout(timer);
      off();
      resolve(reply);
    }
    try {
      off = bus.on(`${channel}:reply:${requestId}`, (payload) => {
        const done = typeof payload === "object" && payload !== null && Reflect.get(payload, "success") === true;
        end(done ? { answer: "done" } : { answer: "refused", reason: text(payload, "error") || "no reason given" });
      });
      bus.emit(channel, { requestId, ...params });
    } catch (error) {
      end({ answer: "refused", reason: error instanceof Error ? error.message : String(error) });
    }
  });
}
