// Puts a message of the watchdog into a session. Sessions end while messages are on their way to them: that is a
// `false` here and never an exception.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { Notice } from "../../index.js";

export type MessageType = "watchdog-rescue" | "watchdog-alert";

/** What the renderers find with a message. */
export interface MessageDetails {
  notice?: Notice;
  /** Everything that the message is about. */
  notices?: Notice[];
}

/**
 * Queues a message before the next model call of a running agent. An idle agent finds it when it is next prompted,
 * unless `wake` starts it. A queued message makes Pi call the model once more, so alerts go another way: `append`.
 */
export function post(
  pi: ExtensionAPI,
  customType: MessageType,
  content: string,
  details: MessageDetails,
  wake = false,
): boolean {
  try {
    // Without `wake` the option must be left out: `triggerTurn: false` would hold the message back to the end of the turn.
    pi.sendMessage(
      { customType, content, display: true, details },
      { deliverAs: "steer", ...(wake ? { triggerTurn: true } : {}) },
    );
    return true;
  } catch {
    return false;
  }
}

/**
 * Puts a message behind the turn that is ending, without a call of its own: the agent's next call has it. Only from
 * within `turn_end`.
 */
export function append(pi: ExtensionAPI, customType: MessageType, content: string, details: MessageDetails): boolean {
  try {
    pi.sendMessage({ customType, content, display: true, details }, { triggerTurn: false });
    return true;
  } catch {
    return false;
  }
}
