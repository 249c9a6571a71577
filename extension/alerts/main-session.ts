// A main session as its children see it: takes notices about them and messages to them. What is done about a notice
// (a rescue, a stop, a word to the agents that it concerns) is the main session's configuration; when somebody hears of it
// is the room's business.

import type { Intervention, Notice } from "../../index.js";
import { Attempts } from "../attempts.ts";
import { now } from "../clock.ts";
import { hasEnded } from "../format.ts";
import type { Guard } from "../guard.ts";
import type { BackendConnection, Delivering, MainSession, Runtime } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import type { Session } from "../session.ts";
import { updateChip } from "../status.ts";
import { type Delivery, wasTaken } from "../subagents/backend.ts";
import { agentOf } from "../subagents/ids.ts";
import { InterventionLog } from "./interventions.ts";
import { outletOf } from "./outlet.ts";
import { publisherOf } from "./publish.ts";
import { isForPeople, type Matter, type Note, type Receipt } from "./queue.ts";
import { steerChild, stopChild } from "./reach.ts";
import { AlertRoom } from "./room.ts";
import { saved } from "./saved.ts";
import { interventionMessage, receiptLine, rescueText } from "./text.ts";
import { createTreeClock } from "./tree-clock.ts";
import { infoOf } from "./words.ts";

export interface OwnMainSession extends MainSession {
  readonly room: AlertRoom;
  /** `goesOn`: the session goes on in another instance of the extension. */
  close(goesOn: boolean): void;
}

export function mainSession(
  runtime: Runtime,
  session: Session,
  guard: Guard,
  connection: () => BackendConnection | undefined,
): OwnMainSession {
  const { store } = runtime.native;
  const publisher = publisherOf(runtime, session);
  const outlet = outletOf(runtime, session, guard, publisher);
  const room = new AlertRoom(outlet);
  room.queue.restore(saved.take(session.id));
  const clock = createTreeClock(
    runtime,
    session,
    guard,
    (notice) => void guard.runAsync("an alert", () => act(notice)),
    () => room.refresh(),
  );
  const attempts = new Attempts(runtime, session);
  const log = new InterventionLog();
  /** For which the log holds. */
  let costLimit = session.config.costLimitUsd;

  const steer = (id: string, message: string): Promise<Delivery> => steerChild(session.backends, id, message);
  const stop = (id: string): Promise<Delivery> => stopChild(session.backends, id);

  /** False: it came out of a spent budget, and nobody hears of it. */
  function deliver(notice: Notice, text?: string, how: Delivering = {}): boolean {
    const { wake = true, author } = how;
    const note: Note | undefined =
      text === undefined ? undefined : { text, ...(author === undefined ? {} : { author }) };
    if (note === undefined) log.record(notice, now());
    updateChip(runtime);
    const foreign = !wake || author !== undefined || isRemote(notice.targetId);
    const reported = room.report(notice, { foreign, ...(note === undefined ? {} : { note }) });
    if (reported?.news) void guard.runAsync("an alert", () => follow(reported.matter, notice));
    return reported !== undefined;
  }

  async function follow(matter: Matter, notice: Notice): Promise<void> {
    const receipts = matter.note === undefined ? await inform(matter, notice) : [];
    room.show(matter, notice, receipts.map((receipt) => `; ${receiptLine(receipt)}`).join(""));
  }

  const isRemote = (targetId: string): boolean => {
    const found = store.resolve(targetId);
    return found.ok && store.target(found.handle)?.remote !== undefined;
  };

  /** Sends what the user's configuration lets be sent to children; what became of it stands in the matter. */
  async function inform(matter: Matter, notice: Notice): Promise<readonly Receipt[]> {
    const { alertMode } = session.config;
    matter.receipts = [];
    if (alertMode === "main_only" || notice.kind === "over" || notice.severity === "info") return [];
    if (notice.targetId === session.id && notice.intervention === undefined) return [];
    if (notice.intervention === undefined) {
      const sent = await send(matter, notice.targetId, "rescue", rescueText([notice], { rescue: outlet.rescue() }));
      // An incident that could not be told to the child is told here, or nobody would know of it.
      matter.childOnly = alertMode === "direct_subagent" && isTaken(sent);
      return [sent];
    }
    if (isForPeople(notice) || infoOf(notice.intervention.kind)?.audience !== "parties") return [];
    return Promise.all(informParties(matter, notice, notice.intervention));
  }

  function informParties(matter: Matter, notice: Notice, intervention: Intervention): Promise<Receipt>[] {
    const concerned = new Set([notice.targetId, ...(intervention.parties ?? [])]);
    concerned.delete(session.id);
    return [...concerned].map((id) => send(matter, id, "message", interventionMessage(notice, intervention, id)));
  }

  /** One message to one child, and what became of it. */
  async function send(matter: Matter, id: string, what: Receipt["what"], message: string): Promise<Receipt> {
    const found = store.resolve(id);
    const target = found.ok ? store.target(found.handle) : null;
    const receipt: Receipt = { what, to: target?.name ?? id, at: now(), outcome: "pending" };
    // Known before there is an answer, so that an alert that goes out meanwhile does not suggest it.
    matter.receipts.push(receipt);
    const isRescue = what === "rescue";
    const delivery = isRescue && found.ok && hasAnswered(found.handle) ? HAS_ANSWERED : await steer(id, message);
    receipt.outcome = delivery.outcome === "unknown_target" ? "refused" : delivery.outcome;
    if ("reason" in delivery) receipt.reason = oneLine(delivery.reason);
    if (wasTaken(delivery)) {
      if (found.ok && isRescue) {
        store.note(found.handle, now(), "subagent_steered", `steered: ${oneLine(message, 120)}`);
      }
      publisher.publish("rescue", matter);
    }
    return receipt;
  }

  /** It has given an answer that asks for nothing: a message now would start it again when it may be done. */
  function hasAnswered(handle: number): boolean {
    const target = store.target(handle);
    if (target !== null && hasEnded(target)) return true;
    const events = store.events(handle, 8);
    const last = events.filter(({ type }) => type === "llm_output" || type === "tool_call" || ANSWERS.has(type)).at(-1);
    return last?.type === "llm_output";
  }

  /** Does what the user's configuration allows without asking, and reports it. */
  async function act(notice: Notice): Promise<void> {
    const { intervention } = notice;
    if (intervention?.autoExecute !== true || intervention.suggestedAction !== "kill") {
      deliver(notice);
      return;
    }
    const delivery = await stop(notice.targetId);
    const done = wasTaken(delivery) ? "it was stopped" : `it could not be stopped: ${refusal(delivery)}`;
    deliver({ ...notice, intervention: { ...intervention, reason: `${intervention.reason}; ${done}` } });
  }

  return {
    id: session.id,
    attended: session.ctx.mode !== "print",
    get config() {
      return session.config;
    },
    get sources() {
      return session.sources;
    },
    room,
    deliver: (notice, note, how) => guard.run("an alert", () => deliver(notice, note, how)) ?? false,
    tend: () => guard.run("what is due of the tree", () => clock.tend()),
    close(goesOn) {
      clock.stop();
      if (goesOn) saved.put(session.id, room.queue.snapshot());
      room.close(goesOn);
      publisher.close();
    },
    steer,
    stop,
    child: (sessionId) => connection()?.child(sessionId),
    agentOf: (sessionId) => agentOf(session.backends, sessionId),
    attempted: (id, what, done) => guard.run("a child's settings", () => attempts.show(id, what, done)),
    interventions(targetId) {
      if (costLimit !== session.config.costLimitUsd) log.forget("excessive_cost");
      costLimit = session.config.costLimitUsd;
      return log.of(targetId);
    },
  };
}

/** Events that are the outcome of a call. */
const ANSWERS: ReadonlySet<string> = new Set(["tool_result", "edit", "patch"]);

const HAS_ANSWERED: Delivery = {
  outcome: "refused",
  reason: "it had just given its answer, and a message would have started it again",
};

const isTaken = ({ outcome }: Receipt): boolean => outcome === "delivered" || outcome === "queued";

const refusal = (delivery: Delivery): string => ("reason" in delivery ? oneLine(delivery.reason) : delivery.outcome);
