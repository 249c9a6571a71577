// The history of this process as the extension uses it: opened with the first session that wants one, told of trees that
// ended, and what is wrong with it told once. The writing is the core's, in the background, to the last batch before exit.

import { join } from "node:path";
import { getAgentDir } from "@earendil-works/pi-coding-agent";
import type { HistoryState } from "../index.js";
import { now } from "./clock.ts";
import type { Guard } from "./guard.ts";
import { orphanSentence } from "./orphans.ts";
import type { Native, WatchedSession } from "./runtime.ts";
import { tellOnce } from "./told.ts";

export const historyPath = (): string => join(getAgentDir(), "watchdog-supervisor", "state.db");

export interface History {
  /** Also when the session's configuration changed. Children that are processes of their own write their own rows. */
  begin(session: WatchedSession): void;
  /** Says what is new and wrong. */
  check(session: WatchedSession): void;
  /** The session ended, and with it what it started in this process. */
  end(session: WatchedSession): void;
}

/** A process that ends waits so long for its last batch; ms. What another process keeps from being written waits in a file. */
const LAST_BATCH = 1000;
const CLOSES = Symbol.for("pi-watchdog-supervisor:history-closes/v1");

/** Before anything else of the process is torn down, which would wait for questions to the history. */
function closeAtExit({ history }: Native): void {
  const shared = globalThis as unknown as Record<symbol, boolean | undefined>;
  if (shared[CLOSES]) return;
  shared[CLOSES] = true;
  process.once("exit", () => {
    history.close(LAST_BATCH);
  });
}

export function createHistory(native: Native, guard: Guard): History {
  const { history } = native;
  /** Session for which it was begun. */
  let begun: string | undefined;

  function tell(session: WatchedSession, state: HistoryState): void {
    if (session.isMain) tellOnce(session.ctx, state.warnings);
  }

  async function open(session: WatchedSession): Promise<void> {
    // A child within the process of its main session finds it open.
    if (!session.isMain && history.state().state !== "closed") return;
    const { historyMaxDays: maxDays, historyMaxMb: maxMb } = session.config;
    const state = await history.open(historyPath(), { maxDays, maxMb });
    if (begun !== session.id) return;
    tell(session, state);
    // Told once and to somebody: a program that only reads the answer of a model is nobody.
    if (state.state !== "open" || !session.isMain || !session.ctx.hasUI) return;
    const orphans = await native.findOrphans(historyPath(), true);
    if (begun === session.id && orphans.length > 0) session.ctx.ui.notify(orphanSentence(orphans, now()), "warning");
  }

  return {
    begin(session) {
      const { enabled, history: wanted } = session.config;
      if (!enabled || !wanted || begun === session.id) return;
      begun = session.id;
      closeAtExit(native);
      void guard.runAsync("the history", () => open(session));
    },
    check(session) {
      if (begun === session.id) tell(session, history.state());
    },
    end(session) {
      if (begun !== session.id) return;
      begun = undefined;
      history.closeTree(session.id, now());
    },
  };
}
