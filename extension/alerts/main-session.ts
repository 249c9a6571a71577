// A main session as its children see it: takes notices about them, and messages to them. Whether a child may be
// steered is the main session's configuration.

import type { Intervention, InterventionKind, Notice } from "../../index.js";
import { now } from "../clock.ts";
import type { Guard } from "../guard.ts";
import { findLive, noteSteer } from "../root.ts";
import type { BackendConnection, Delivering, MainSession, Runtime } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import type { Session } from "../session.ts";
import { updateChip } from "../status.ts";
import { type Delivery, type SubagentBackend, wasTaken } from "../subagents/backend.ts";
import { agentOf } from "../subagents/ids.ts";
import { isRemark, remark } from "./due.ts";
import { InterventionLog } from "./interventions.ts";
import { post } from "./post.ts";
import { alertText, headline, interventionMessage } from "./text.ts";
import { createTreeClock } from "./tree-clock.ts";

/** Kinds of which a child can do something itself, once it knows. */
const CHILDREN_HEAR: ReadonlySet<InterventionKind> = new Set(["file_conflict", "deadlock"]);

export function mainSession(
  runtime: Runtime,
  session: Session,
  guard: Guard,
  connection: () => BackendConnection | undefined,
): MainSession & { close(): void } {
  const { store } = runtime.native;
  const clock = createTreeClock(
    runtime,
    session,
    guard,
    (notice) => void guard.runAsync("an alert", () => act(notice)),
  );

  const log = new InterventionLog();
  /** For which the log holds. */
  let costLimit = session.config.costLimitUsd;

  function show(notice: Notice, note?: string, wake = true): void {
    const { rescueMessage } = session.config;
    const text = alertText(notice, { rescueMessage, note, itself: notice.targetId === session.id });
    // A busy main agent gets the message only after its running tools, and one of them may be the stuck child.
    if (session.ctx.hasUI && !session.ctx.isIdle() && notice.ordinal === 1) {
      session.ctx.ui.notify(headline(notice), "warning");
    }
    if (post(runtime.pi, "watchdog-alert", text, { notice }, wake && notice.severity === "critical"))
      runtime.debug("sent", text);
  }

  async function rescue(notice: Notice): Promise<boolean> {
    const message = session.config.rescueMessage;
    const delivery = await steer(notice.targetId, message);
    if (!wasTaken(delivery)) return false;
    const found = store.resolve(notice.targetId);
    if (found.ok) store.note(found.handle, now(), "subagent_steered", `steered: ${oneLine(message, 120)}`);
    runtime.debug("sent", message);
    return true;
  }

  async function deliver(notice: Notice, note?: string, { wake }: Delivering = {}): Promise<void> {
    if (note !== undefined) return show(notice, note, wake);
    log.record(notice, now());
    updateChip(runtime);
    if (isRemark(notice)) return remark(session, notice);
    if (notice.intervention !== undefined) return intervene(notice, notice.intervention, wake);
    const { alertMode } = session.config;
    if (alertMode !== "direct_subagent") show(notice, undefined, wake);
    if (alertMode === "main_only") return;
    // An incident that could not be told to the child is told here, or nobody would know of it.
    if (!(await rescue(notice)) && alertMode === "direct_subagent") show(notice, undefined, wake);
  }

  /** The main agent is told in any case: most of these matters are between agents, or for a person to decide. */
  async function intervene(notice: Notice, intervention: Intervention, wake?: boolean): Promise<void> {
    show(notice, undefined, wake);
    if (session.ctx.mode === "print") console.error(`pi-watchdog-supervisor: ${headline(notice)}`);
    if (session.config.alertMode === "main_only" || !CHILDREN_HEAR.has(intervention.kind)) return;
    const message = interventionMessage(notice, intervention);
    const concerned = new Set([notice.targetId, ...(intervention.parties ?? [])]);
    concerned.delete(session.id);
    for (const id of concerned) {
      if (wasTaken(await steer(id, message))) runtime.debug("sent", message);
    }
  }

  /** Does what the user's configuration allows without asking, and tells. */
  async function act(notice: Notice): Promise<void> {
    const { intervention } = notice;
    if (intervention?.autoExecute !== true || intervention.suggestedAction !== "kill") return deliver(notice);
    const delivery = await stop(notice.targetId);
    const done = wasTaken(delivery) ? "it was stopped" : `it could not be stopped: ${refusal(delivery)}`;
    await deliver({ ...notice, intervention: { ...intervention, reason: `${intervention.reason}; ${done}` } });
  }

  async function steer(sessionId: string, message: string): Promise<Delivery> {
    const known = exactAgent(session.backends, sessionId, "steer");
    let delivery: Delivery = { outcome: "unknown_target", reason: "no sub-agent package knows this session" };
    if (known !== undefined) {
      noteSteer(sessionId, message);
      delivery = await known.backend.steer(known.agentId, message);
      // Sent twice would be worse than perhaps not at all.
      if (wasTaken(delivery) || delivery.outcome === "unknown") return delivery;
    }
    // The session's own instance of the extension is beyond doubt who it is.
    return findLive(sessionId)?.steer(message) ? { outcome: "queued" } : delivery;
  }

  async function stop(sessionId: string): Promise<Delivery> {
    const known = exactAgent(session.backends, sessionId, "stop");
    if (known !== undefined) return known.backend.stop(known.agentId);
    return { outcome: "unknown_target", reason: "no sub-agent package that can stop it knows this session" };
  }

  return {
    id: session.id,
    attended: session.ctx.mode !== "print",
    get config() {
      return session.config;
    },
    deliver: (notice, note, how) => void guard.runAsync("an alert", () => deliver(notice, note, how)),
    tend: () => guard.run("what is due of the tree", () => clock.tend()),
    close: () => clock.stop(),
    steer,
    stop,
    child: (sessionId) => connection()?.child(sessionId),
    agentOf: (sessionId) => agentOf(session.backends, sessionId),
    interventions(targetId) {
      if (costLimit !== session.config.costLimitUsd) log.forget("excessive_cost");
      costLimit = session.config.costLimitUsd;
      return log.of(targetId);
    },
  };
}

const refusal = (delivery: Delivery): string => ("reason" in delivery ? oneLine(delivery.reason) : delivery.outcome);

function exactAgent(
  backends: readonly SubagentBackend[],
  sessionId: string,
  ability: "steer" | "stop",
): { backend: SubagentBackend; agentId: string } | undefined {
  for (const backend of backends) {
    if (!backend.capabilities[ability]) continue;
    const record = backend.list().find((entry) => entry.sessionId === sessionId && entry.link === "exact");
    if (record !== undefined) return { backend, agentId: record.agentId };
  }
  return undefined;
}
