// One watchdog a session: a second copy of the package in the same session (a global and a project install) stands back,
// or Pi would rename the commands of both and every event would be counted twice.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/** The bus is the only thing that the extensions of one session share, and no other session does. */
const CHANNEL = "pi-watchdog-supervisor:first/v1";

/** Whether this is the first copy that loads in the session. */
export function isFirst(pi: ExtensionAPI): boolean {
  const question = { taken: false };
  pi.events.emit(CHANNEL, question);
  if (question.taken) return false;
  const release = pi.events.on(CHANNEL, (asked) => {
    (asked as typeof question).taken = true;
  });
  // What loads after a reload must not meet its own predecessor.
  pi.on("session_shutdown", () => release());
  return true;
}
