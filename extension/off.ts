// What is left of the extension when it does not watch: one word in the footer, and the reason where it matters.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { tellOnce } from "./told.ts";

const CHIP = "watchdog";

export const switchedOff = (): boolean => process.env.PI_WATCHDOG_DISABLED === "1";

/** Registers nothing but the word that the watchdog is off; `reason` is told if the user did not ask for that. */
export function stayOff(pi: ExtensionAPI, reason?: string): void {
  pi.on("session_start", (_event, ctx) => {
    showOff(ctx, true);
    if (reason !== undefined) tellOnce(ctx, [reason]);
  });
}

export function showOff(ctx: ExtensionContext, off: boolean): void {
  if (ctx.hasUI) ctx.ui.setStatus(CHIP, off ? "watchdog: off" : undefined);
}
