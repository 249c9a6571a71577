// The time that observations carry: milliseconds since the epoch that never run backwards, because the detector takes
// events in time order and the system clock may be set back.
//
// Also who notices that time passed which nobody saw: while a tree of sessions is watched, a timer beats once a second.
// When it did not (a suspended machine, a stopped process, a blocked event loop, a clock set forward), the store is told
// how long, before anything else is told the new time.

let last = 0;
let offset = 0;

export function now(): number {
  const raw = Date.now();
  if (raw + offset < last) offset = last - raw;
  last = raw + offset;
  noticeGap(last);
  return last;
}

/** Called with the ms that nobody saw pass, and the time at their end. */
export type OnGap = (ms: number, at: number) => void;

const BEAT_MS = 1000;
/** A beat that comes later than this was not late, it was missed. */
const MISSED_MS = 2500;

interface Beats {
  /** When the timer last ran, or the first tree began to be watched. */
  at: number;
  timer: NodeJS.Timeout | undefined;
  /** By main session; how many watch its time, of which one hears. */
  trees: Map<string, { onGap: OnGap; watchers: number }>;
}

const KEY = Symbol.for("pi-watchdog-supervisor:beats/v1");

/** One for the process, however often this module is loaded: a gap that is noticed twice would count twice. */
function beats(): Beats {
  const shared = globalThis as unknown as Record<symbol, Beats | undefined>;
  shared[KEY] ??= { at: 0, timer: undefined, trees: new Map() };
  return shared[KEY];
}

function noticeGap(at: number): void {
  const { trees, at: before } = beats();
  if (trees.size === 0 || at - before <= MISSED_MS) return;
  beats().at = at;
  for (const { onGap } of trees.values()) {
    try {
      onGap(at - before - BEAT_MS, at);
    } catch {
      // A throw in a timer would end Pi, and one tree's fault must not keep the others from hearing.
    }
  }
}

/**
 * Watches the time of a tree, until the returned function is called. Several may watch one tree; a gap is told once. The
 * timer never keeps Pi alive.
 */
export function watchTime(rootId: string, onGap: OnGap): () => void {
  const state = beats();
  if (state.trees.size === 0) state.at = now();
  const tree = state.trees.get(rootId) ?? { onGap, watchers: 0 };
  tree.watchers += 1;
  state.trees.set(rootId, tree);
  state.timer ??= setInterval(() => {
    const at = now();
    beats().at = at;
  }, BEAT_MS).unref();
  let watching = true;
  return () => {
    if (!watching) return;
    watching = false;
    tree.watchers -= 1;
    if (tree.watchers > 0) return;
    state.trees.delete(rootId);
    if (state.trees.size > 0) return;
    clearInterval(state.timer);
    state.timer = undefined;
  };
}
