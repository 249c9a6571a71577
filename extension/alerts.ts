// Who is told what of a notice: the stuck main agent itself, or the main session of a stuck child. The store has
// decided by then that it is time to tell; here is decided whom and how.

import type { Notice } from "../index.js";
import { headline, overLine } from "./alert-text.ts";
import { now } from "./clock.ts";
import { post } from "./post.ts";
import { findMain } from "./root.ts";
import type { Runtime } from "./runtime.ts";
import type { Session } from "./session.ts";

/** Tells what is due for a session. */
export function tellDue(runtime: Runtime, session: Session): void {
  const notice = runtime.native.store.takeNotice(session.handle, now());
  if (notice === null) return;
  session.relate();
  if (session.isMain) tellSelf(runtime, session, notice);
  else findMain(session.rootId)?.deliver(notice);
}

/** The agent is its own main agent: it is told by a message that its next model call carries. */
function tellSelf(runtime: Runtime, session: Session, notice: Notice): void {
  const text = session.config.rescueMessage;
  if (isRemark(notice)) remark(session, notice);
  else if (post(runtime.pi, "watchdog-rescue", text, { notice })) runtime.debug("sent", text);
}

/** That something is over, or that a wait is long, is for people only and costs no context. */
export function isRemark(notice: Notice): boolean {
  return notice.kind === "over" || notice.severity === "info";
}

export function remark(session: Session, notice: Notice): void {
  if (!session.ctx.hasUI) return;
  session.ctx.ui.notify(notice.kind === "over" ? overLine(notice) : headline(notice), "info");
}
