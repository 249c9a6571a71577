// Tells the store that time passes while an agent works, for rules about silence. No rule of time, no timer; and never
// one that keeps Pi alive.

export interface Ticker {
  /** Ticks every `everyMs` until stopped; 0 stops it. */
  set(everyMs: number): void;
}

export function createTicker(tick: () => void): Ticker {
  let timer: NodeJS.Timeout | undefined;
  let every = 0;
  return {
    set(everyMs) {
      if (everyMs === every) return;
      every = everyMs;
      clearInterval(timer);
      timer = undefined;
      if (everyMs > 0) timer = setInterval(tick, everyMs).unref();
    },
  };
}

/** Often enough that a rule of so many seconds is late by a quarter of them at most, and by 5 s at most. */
export function tickEvery(idleNoProgressSec: number): number {
  return idleNoProgressSec > 0 ? Math.min(5000, Math.max(250, idleNoProgressSec * 250)) : 0;
}
