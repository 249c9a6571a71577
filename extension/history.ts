// The history of this process as the extension uses it: opened with the first main session that wants one, told of what
// ended, and what is wrong with it told once. The writing is the core's, in the background.

import { join } from "node:path";
import { getAgentDir } from "@earendil-works/pi-coding-agent";
import type { HistoryState } from "../index.js";
import { now } from "./clock.ts";
import type { Guard } from "./guard.ts";
import { orphanSentence } from "./orphans.ts";
import type { Native, WatchedSession } from "./runtime.ts";
import { tellOnce } from "./told.ts";

/** Pi's end waits so long at most for the last batch; ms. */
const LAST_BATCH = 1500;

export const historyPath = (): string => join(getAgentDir(), "watchdog-supervisor", "state.db");

export interface History {
  /** Call it for a main session, also when its configuration changed. */
  begin(session: WatchedSession): void;
  /** Says what is new and wrong. */
  check(session: WatchedSession): void;
  /** The main session ended; `quit`: the process ends with it. */
  end(session: WatchedSession, quit: boolean): void;
}

export function createHistory(native: Native, guard: Guard): History {
  const { history } = native;
  /** Session for which it was begun. */
  let begun: string | undefined;

  function tell(session: WatchedSession, state: HistoryState): void {
    tellOnce(session.ctx, state.warnings);
  }

  async function open(session: WatchedSession): Promise<void> {
    const { historyMaxDays: maxDays, historyMaxMb: maxMb } = session.config;
    const state = await history.open(historyPath(), { maxDays, maxMb });
    if (begun !== session.id) return;
    tell(session, state);
    // Told once and to somebody: a program that only reads the answer of a model is nobody.
    if (state.state !== "open" || !session.ctx.hasUI) return;
    const orphans = await native.findOrphans(historyPath(), true);
    if (begun === session.id && orphans.length > 0) session.ctx.ui.notify(orphanSentence(orphans, now()), "warning");
  }

  return {
    begin(session) {
      const { enabled, history: wanted } = session.config;
      if (!enabled || !wanted || begun === session.id) return;
      begun = session.id;
      void guard.runAsync("the history", () => open(session));
    },
    check(session) {
      if (begun === session.id) tell(session, history.state());
    },
    end(session, quit) {
      if (begun !== session.id) return;
      begun = undefined;
      history.closeTree(session.id, now());
      if (quit) history.flush(LAST_BATCH);
    },
  };
}
