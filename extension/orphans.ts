// How sessions that a Pi left behind are told: in one sentence when the next one starts, and in a list. Pure.

import type { Orphan } from "../index.js";
import { day, money, plural } from "./format.ts";
import { oneLine } from "./sanitize.ts";

const NAMED = 3;

/** What, when, what it cost, what still runs, and what to do. */
export function orphanSentence(orphans: readonly Orphan[], now: number): string {
  const gone = orphans.filter((orphan) => !orphan.running);
  const running = orphans.filter((orphan) => orphan.running);
  const latest = Math.max(...orphans.map((orphan) => orphan.lastAt));
  const usd = orphans.reduce((sum, orphan) => sum + orphan.usage.usd, 0);
  const names = gone.slice(0, NAMED).map(orphanName);
  const more = gone.length > NAMED ? ` and ${gone.length - NAMED} more` : "";
  const about = [`last seen ${day(latest, now)}`, ...(usd > 0 ? [`${money(usd)} spent`] : [])].join(", ");
  return [
    `Watchdog: ${plural(gone.length, "session")} of a Pi that is gone did not end in order: ${names.join(", ")}${more}, ${about}.`,
    ...(running.length > 0
      ? [`Still running without a main session: ${running.slice(0, NAMED).map(orphanName).join(", ")}.`]
      : []),
    "/watchdog orphans lists what was left, /watchdog orphans close marks it closed.",
  ].join(" ");
}

export function orphanName(orphan: Orphan): string {
  const name = oneLine(orphan.name ?? orphan.agentType ?? orphan.sessionId, 40);
  return `"${name}" (pid ${orphan.pid})`;
}
