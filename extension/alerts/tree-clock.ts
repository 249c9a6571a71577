// The clock of a main session's tree: tells the store that time passes while any agent of it works, and hands on what is
// due about the tree. One timer, which never keeps Pi alive and stops when nothing runs.

import type { Notice, WatchdogConfig } from "../../index.js";
import { now, watchTime } from "../clock.ts";
import type { Guard } from "../guard.ts";
import type { Runtime } from "../runtime.ts";
import type { Session } from "../session.ts";
import { createTicker } from "../ticker.ts";

export interface TreeClock {
  /** Hands on what is due, and keeps the time from now on. */
  tend(): void;
  stop(): void;
}

/** Ticks at least so often and at most so often, ms. */
const OFTEN = 250;
const SELDOM = 5000;

export function createTreeClock(
  { native }: Runtime,
  session: Session,
  guard: Guard,
  due: (notice: Notice) => void,
  ticked: () => void = () => {},
): TreeClock {
  const { store, Signal } = native;
  let stopped = false;
  let unwatch: (() => void) | undefined;

  const ticker = createTicker(() =>
    guard.run("the clock of the tree", () => {
      if (stopped || session.disposed || !session.observing) return keepTime(0);
      const bits = store.tickTree(session.id, now());
      if (bits & Signal.TREE) takeAll();
      ticked();
      if (!(bits & Signal.BUSY)) keepTime(0);
    }),
  );

  /** Ticks every so many ms; 0: not any more. */
  function keepTime(everyMs: number): void {
    ticker.set(everyMs);
    if (everyMs > 0) unwatch ??= watchTime(session.id, (ms, at) => store.suspended(session.id, ms, at));
    else {
      unwatch?.();
      unwatch = undefined;
    }
  }

  function takeAll(): void {
    for (;;) {
      const notice = store.takeTreeNotice(session.id, now());
      if (notice === null) return;
      due(notice);
    }
  }

  return {
    tend() {
      if (stopped || !session.observing) return;
      takeAll();
      keepTime(treeTickEvery(session.config));
    },
    stop() {
      stopped = true;
      keepTime(0);
    },
  };
}

/** Often enough that the shortest limit is met within a quarter of it. 0: no limit is set; waits still have to be seen. */
export function treeTickEvery(config: WatchdogConfig): number {
  const { idleTimeoutSec, openToolTimeoutSec, staleAfterSec, autoKillAfterSec } = config;
  const limits = [idleTimeoutSec, openToolTimeoutSec, staleAfterSec, autoKillAfterSec].filter((limit) => limit > 0);
  return Math.min(SELDOM, Math.max(OFTEN, Math.min(...limits) * 250));
}
