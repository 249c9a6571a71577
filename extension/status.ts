// The footer chip: says that something is stuck, paused or off, and is gone when there is nothing to say. Main sessions
// only; a child has no footer and passes the word on.

import { hasEnded } from "./format.ts";
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

export function chipText({ native: { store } }: Runtime, session: WatchedSession): string | undefined {
  if (!session.config.enabled) return "watchdog: off";
  const stuck = store.targets(session.rootId, false).filter((target) => target.likelyStuck && !hasEnded(target)).length;
  const words = [...(stuck > 0 ? [`${stuck} stuck`] : []), ...(store.paused(session.rootId) ? ["paused"] : [])];
  return words.length > 0 ? `watchdog: ${words.join(", ")}` : undefined;
}

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
