// What `/watchdog steer` and `/watchdog stop` share: the child that was meant, and the package's answer within a bound of
// time. Both are the user's own hand, so alertMode does not forbid them; who is not known beyond doubt is not reached.

import type { TargetSummary } from "../../index.js";
import { unreachable } from "../reach.ts";
import type { Page } from "../render/page.ts";
import type { MainSession, Runtime, WatchedSession } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import type { Delivery } from "../subagents/backend.ts";
import { findTarget } from "./inspect.ts";

/** A package that does not answer must not hold the command; ms. */
const PATIENCE = 30_000;

export interface Reached {
  handle: number;
  target: TargetSummary;
  main: MainSession;
}

/** The child to be reached, or what to say instead. */
export function reach(
  runtime: Runtime,
  session: WatchedSession,
  query: string,
  usage: string,
): { ok: true; child: Reached } | { ok: false; page: Page } {
  const { store } = runtime.native;
  const found = findTarget(store, session, query, usage);
  if (!found.ok) return found;
  const main = runtime.main();
  const reason = main === undefined ? "the main session of this tree is gone" : unreachable(found.target, session.id);
  if (main === undefined || reason !== undefined) {
    const text = `Refused, nothing was sent to ${shownName(found.target)}: ${reason}.`;
    return { ok: false, page: [{ text, tone: "error" }] };
  }
  return { ok: true, child: { handle: found.handle, target: found.target, main } };
}

/** The answer of whoever was asked; what fails or takes too long may have happened all the same. */
export async function answered(request: Promise<Delivery>): Promise<Delivery> {
  const { promise: late, resolve } = Promise.withResolvers<Delivery>();
  const timer = setTimeout(
    () => resolve({ outcome: "unknown", reason: `no answer within ${PATIENCE / 1000} seconds` }),
    PATIENCE,
  ).unref();
  try {
    return await Promise.race([request, late]);
  } catch (error) {
    return { outcome: "unknown", reason: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}

export const shownName = (target: Pick<TargetSummary, "name">): string => `"${oneLine(target.name, 60)}"`;

/** What became of a request that was not taken. */
export function failure(delivery: Exclude<Delivery, { outcome: "delivered" | "queued" }>, name: string): Page {
  const reason = oneLine(delivery.reason);
  switch (delivery.outcome) {
    case "refused":
      return [{ text: `Refused by whatever runs ${name}, nothing was sent: ${reason}.`, tone: "error" }];
    case "unknown_target":
      return [{ text: `Nobody who could be asked knows ${name}, nothing was sent: ${reason}.`, tone: "error" }];
    case "unknown":
      return [{ text: `Sent to ${name}, and nothing is known of what became of it: ${reason}.`, tone: "warning" }];
  }
}
