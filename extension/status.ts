// The footer chip: says that something is stuck, silent, in another's way, near its cost limit, paused or off, and is
// gone when there is nothing to say. Main sessions only; a child has no footer and passes the word on.

import { holding } from "./alerts/interventions.ts";
import { infoOf } from "./alerts/words.ts";
import { hasEnded } from "./format.ts";
import { INTERVENTIONS } from "./generated/kinds.ts";
import { findLive } from "./root.ts";
import type { Runtime, WatchedSession } from "./runtime.ts";

const KEY = "watchdog";
/** How long a chip may be out of date when what it says ended without an event of this session. */
const RECHECK_MS = 2000;

export interface StatusChip {
  /** Cheap when nothing changed; call it whenever something may have. */
  update(): void;
  clear(): void;
}

interface Shown {
  text: string;
  recheck: NodeJS.Timeout;
}

/** What each instance shows, so that an unchanged chip costs no redraw. */
const shown = new WeakMap<Runtime, Shown>();

export function statusChip(runtime: Runtime): StatusChip {
  return { update: () => updateChip(runtime), clear: () => put(runtime, undefined) };
}

export function updateChip(runtime: Runtime): void {
  const { session } = runtime;
  if (session === null) return;
  if (session.isMain) put(runtime, chipText(runtime, session));
  else findLive(session.rootId)?.refresh();
}

export function chipText(runtime: Runtime, session: WatchedSession): string | undefined {
  const { store } = runtime.native;
  const { enabled, costLimitUsd } = session.config;
  if (!enabled) return "watchdog: off";
  const all = store.targets(session.rootId, true);
  const counts = new Map<string, number>();
  for (const target of all) {
    if (hasEnded(target)) continue;
    // One word for each: what it is stuck in says the most.
    const word = target.likelyStuck
      ? "stuck"
      : holding(runtime.main(), target).flatMap(({ kind }) => infoOf(kind)?.footer || [])[0];
    if (word !== undefined) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const spent = costLimitUsd > 0 ? store.treeUsage(session.rootId).usd / costLimitUsd : 0;
  const words = [
    ...["stuck", ...Object.values(INTERVENTIONS).map(({ footer }) => footer)].flatMap((word) => {
      const count = counts.get(word);
      return count === undefined ? [] : [`${count} ${word}`];
    }),
    ...(spent >= COST_SHOWN ? [`cost ${Math.floor(100 * spent)} %`] : []),
    ...(store.paused(session.rootId) ? ["paused"] : []),
  ];
  return words.length > 0 ? `watchdog: ${words.join(", ")}` : undefined;
}

/** Part of the cost limit from which on it is shown. */
const COST_SHOWN = 0.8;

function put(runtime: Runtime, text: string | undefined): void {
  const ctx = runtime.session?.ctx;
  const before = shown.get(runtime);
  if (before?.text === text || ctx === undefined || !ctx.hasUI) return;
  if (before !== undefined) clearInterval(before.recheck);
  if (text === undefined) shown.delete(runtime);
  else shown.set(runtime, { text, recheck: recheck(runtime) });
  // Colour is for terminals; other clients get the words.
  ctx.ui.setStatus(KEY, text !== undefined && ctx.mode === "tui" ? ctx.ui.theme.fg("warning", text) : text);
}

/** Children end, and are disposed of, without telling: while something is shown, it is looked at again. */
function recheck(runtime: Runtime): NodeJS.Timeout {
  const timer = setInterval(() => {
    try {
      if (runtime.session === null) clearInterval(timer);
      else updateChip(runtime);
    } catch {
      // The session was replaced; a throw in a timer would end Pi.
      clearInterval(timer);
    }
  }, RECHECK_MS);
  timer.unref();
  return timer;
}
