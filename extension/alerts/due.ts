// Hands what the store has found due for a session to the main session of its tree. When somebody hears of it is the
// room's business.

import type { Notice, WatchdogStore } from "../../index.js";
import { now } from "../clock.ts";
import { findMain } from "../root.ts";
import type { Runtime } from "../runtime.ts";
import type { Session } from "../session.ts";

/** Reports what is due for a session. */
export function reportDue(runtime: Runtime, session: Session): void {
  // First of all, because a child that is taken for a main session would be reported as one.
  session.relate();
  const main = findMain(session.rootId);
  for (const notice of takeAll(runtime.native.store, session.handle)) {
    if (!session.isMain || !session.breaker.breaks(session, notice)) main?.deliver(notice);
  }
}

/**
 * The circuit breaker ends the turn of a child: to the package that started it this looks like any other end, so the
 * main session gets an account. A main agent's user sees the refusal itself.
 */
export function reportStopped(runtime: Runtime, session: Session): void {
  const main = session.isMain ? undefined : findMain(session.rootId);
  const { store } = runtime.native;
  const target = store.target(session.handle);
  const analysis = store.analysis(session.handle);
  const [first] = analysis.evidence;
  if (main === undefined || target === null || first === undefined) return;
  const at = now();
  const account = {
    ...first,
    summary: "the circuit breaker ended its turn: it went on after a refusal; what it did so far is kept",
    firstAt: at,
    lastAt: at,
  };
  main.deliver({
    kind: "stuck",
    targetId: target.id,
    targetName: target.name,
    severity: "critical",
    incident: analysis.evidenceKey,
    analysis: {
      ...analysis,
      evidence: [...analysis.evidence, account],
      reasons: [...analysis.reasons, account.summary],
    },
    lastCommand: store.lastCommand(session.handle),
    // What the loop cost was in the notice of the loop.
    cost: { rounds: 0, tokens: 0, usd: 0, wallMs: 0 },
    ordinal: 2,
  });
}

/** All that is due for a target; of the verdicts, which are all on the present state, only the gravest. */
export function takeAll(store: WatchdogStore, handle: number): Notice[] {
  const due: Notice[] = [];
  let stuck: Notice | undefined;
  for (;;) {
    const notice = store.takeNotice(handle, now());
    if (notice === null) return stuck === undefined ? due : [...due, stuck];
    if (notice.kind !== "stuck") due.push(notice);
    else if (stuck === undefined || GRAVITY[notice.severity] > GRAVITY[stuck.severity]) stuck = notice;
  }
}

const GRAVITY = { info: 0, warning: 1, critical: 2 } as const;
