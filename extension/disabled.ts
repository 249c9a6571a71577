// `PI_WATCHDOG_DISABLED`: the watchdog's off switch for a process and for all that it starts. Part of Pi's start, so it
// imports nothing by value; what a command answers is loaded when one is typed.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export const VARIABLE = "PI_WATCHDOG_DISABLED";

const ON: readonly string[] = ["1", "true", "yes"];

/** The variable as a main session found it, while it hands `enabled: false` down; shared by all copies of the package. */
const HELD = Symbol.for("pi-watchdog-supervisor:disabled/v1");

interface Held {
  by: Set<string>;
  before: string | undefined;
}

const shared = globalThis as unknown as Record<symbol, Held | undefined>;

/** Whether the watchdog does nothing in this process. What a session of this process set is meant for its children. */
export function isDisabled(): boolean {
  const value = shared[HELD] === undefined ? process.env[VARIABLE] : shared[HELD].before;
  return ON.includes((value ?? "").trim().toLowerCase());
}

/** Hands `enabled: false` of a main session down to the processes that are started from now on, or takes it back. */
export function handDown(sessionId: string, disabled: boolean): void {
  const held = shared[HELD];
  if (disabled) {
    if (held !== undefined) held.by.add(sessionId);
    else {
      shared[HELD] = { by: new Set([sessionId]), before: process.env[VARIABLE] };
      process.env[VARIABLE] = "1";
    }
    return;
  }
  if (held === undefined || !held.by.delete(sessionId) || held.by.size > 0) return;
  shared[HELD] = undefined;
  // Somebody else may have set it meanwhile; then it is theirs.
  if (process.env[VARIABLE] !== "1") return;
  if (held.before === undefined) delete process.env[VARIABLE];
  else process.env[VARIABLE] = held.before;
}

const OFF = `The watchdog is off in this process: ${VARIABLE} is set in the environment. Start Pi without it to use the watchdog.`;

/** All that is left of the extension: a word in the footer, and commands that say why they do nothing. */
export function registerDisabled(pi: ExtensionAPI): void {
  pi.on("session_start", (_event, ctx) => {
    if (ctx.hasUI) ctx.ui.setStatus("watchdog", "watchdog: off");
  });
  for (const name of ["watchdog", "watchdog:settings"]) {
    pi.registerCommand(name, {
      description: `Off: ${VARIABLE} is set`,
      handler: async (_args, ctx) => {
        if (ctx.hasUI) return ctx.ui.notify(OFF, "info");
        const { answer, keepAnswersFromModel } = await import("./commands/answer.ts");
        keepAnswersFromModel(pi);
        answer({ pi }, ctx, [{ text: OFF }]);
      },
    });
  }
}
