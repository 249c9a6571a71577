// The footer chip: says that something is stuck or paused, and is gone when there is nothing to say. Main sessions
// only; a child has no footer.

import { hasEnded } from "./format.ts";
import type { Runtime, WatchedSession } from "./runtime.ts";

const KEY = "watchdog";

export interface StatusChip {
  /** Cheap when nothing changed; call it whenever something may have. */
  update(): void;
  clear(): void;
}

/** What is shown, so that an unchanged chip costs no redraw. By instance: there is one footer for each. */
const shown = new WeakMap<Runtime, string>();

export function statusChip(runtime: Runtime): StatusChip {
  return { update: () => updateChip(runtime), clear: () => put(runtime, undefined) };
}

export function updateChip(runtime: Runtime): void {
  const { session } = runtime;
  put(runtime, session?.isMain ? chipText(runtime, session) : undefined);
}

export function chipText({ native: { store } }: Runtime, session: WatchedSession): string | undefined {
  const stuck = store.targets(session.rootId, false).filter((target) => target.likelyStuck && !hasEnded(target)).length;
  const words = [...(stuck > 0 ? [`${stuck} stuck`] : []), ...(store.paused(session.rootId) ? ["paused"] : [])];
  return words.length > 0 ? `watchdog: ${words.join(", ")}` : undefined;
}

function put(runtime: Runtime, text: string | undefined): void {
  const ctx = runtime.session?.ctx;
  if (shown.get(runtime) === text || ctx === undefined || !ctx.hasUI) return;
  if (text === undefined) shown.delete(runtime);
  else shown.set(runtime, text);
  // Colour is for terminals; other clients get the words.
  ctx.ui.setStatus(KEY, text !== undefined && ctx.mode === "tui" ? ctx.ui.theme.fg("warning", text) : text);
}
