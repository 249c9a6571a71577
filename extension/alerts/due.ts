// Who is told what of a notice: the stuck main agent itself, or the main session of a stuck child. The store has
// decided by then that it is time to tell; here is decided whom and how.

import type { InterventionKind, Notice, WatchdogStore } from "../../index.js";
import { now } from "../clock.ts";
import { findMain } from "../root.ts";
import type { Runtime } from "../runtime.ts";
import type { Session } from "../session.ts";
import { post } from "./post.ts";
import { headline } from "./text.ts";

/** Tells what is due for a session. */
export function tellDue(runtime: Runtime, session: Session): void {
  // First of all, because a child that is taken for a main session would be told of as one.
  session.relate();
  const due = takeAll(runtime.native.store, session.handle);
  const main = findMain(session.rootId);
  for (const notice of due) {
    if (!session.isMain || !tellSelf(runtime, session, notice)) main?.deliver(notice);
  }
}

/**
 * The circuit breaker ends the turn of a child: to the package that started it this looks like any other end, so the
 * main session is told. A main agent's user sees the refusal itself.
 */
export function tellStopped(runtime: Runtime, session: Session): void {
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

/**
 * A stuck agent that is its own main agent is told by a message that its next model call carries. False: the notice is
 * something else.
 */
function tellSelf(runtime: Runtime, session: Session, notice: Notice): boolean {
  if (session.breaker.breaks(session, notice)) return true;
  if (notice.kind !== "stuck" || isRemark(notice)) return false;
  const text = session.config.rescueMessage;
  if (post(runtime.pi, "watchdog-rescue", text, { notice })) runtime.debug("sent", text);
  return true;
}

/** Of what concerns time, money and other agents the main agent must know, because it has to act, or to ask. */
const POSTED: ReadonlySet<InterventionKind> = new Set([
  "timeout",
  "excessive_cost",
  "file_conflict",
  "deadlock",
  "orphan",
  "spawn_depth",
  "plan_lag",
]);

/** That something is over, that a wait is long, that a provider fails: for people only, and costs no context. */
export function isRemark({ kind, severity, intervention }: Notice): boolean {
  if (kind === "over" || severity === "info") return true;
  return intervention === undefined ? kind !== "stuck" : !POSTED.has(intervention.kind);
}

export function remark(session: Session, notice: Notice): void {
  if (!session.ctx.hasUI) return;
  const level = notice.kind === "over" || notice.severity === "info" ? "info" : "warning";
  session.ctx.ui.notify(headline(notice), level);
}
