// Agents that a child session starts by @tintinweb/pi-subagents. In a child the package publishes no manager, and its
// events go to the child's own bus, so the child's instance of the extension listens there: events tell who began and how
// it ended, the async context whose session it is. What is known is handed to the main session (tintinweb-nests.ts).

import { AsyncLocalStorage } from "node:async_hooks";
import { now } from "../clock.ts";
import { findLive } from "../root.ts";
import type { ChildLink, Runtime, WatchedSession } from "../runtime.ts";
import type { Delivery, SubagentRecord } from "./backend.ts";
import { Chronicle } from "./chronicle.ts";
import { text } from "./foreign.ts";
import { type Agent, Roster } from "./roster.ts";
import { type AgentRecord, hasEnded, PACKAGE, parseRecord } from "./tintinweb-manager.ts";
import { type Nest, publishNest, retractNest } from "./tintinweb-nests.ts";
import { request, STOP } from "./tintinweb-rpc.ts";
import { describe, ending, failed, refused, SESSION_OVER } from "./tintinweb-words.ts";

/** The package's ids are the beginning of a UUID; other packages use the same channels. */
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{3}$/;

/** Listens on the bus of an instance. Does nothing as long as its session is a main one. */
export function followNested(runtime: Runtime): void {
  const { pi } = runtime;
  let nest: ReturnType<typeof createNest> | undefined;

  /** The nest of the session; made when its first agent begins. */
  function current(): ReturnType<typeof createNest> | undefined {
    const { session } = runtime;
    if (session === null || session.isMain) return undefined;
    if (nest === undefined || nest.sessionId !== session.id) {
      nest?.close();
      nest = createNest(runtime, session);
      publishNest(nest);
    }
    return nest;
  }

  function on(channel: string, handle: (id: string, payload: unknown) => void): void {
    pi.events.on(channel, (payload) => {
      try {
        const id = text(payload, "id");
        if (ID.test(id)) handle(id, payload);
      } catch {
        // A child has nobody to tell; its main session says what it does not know.
      }
    });
  }

  on("subagents:started", (id, payload) => current()?.started(id, payload));
  for (const channel of ["subagents:completed", "subagents:failed"])
    on(channel, (_id, payload) => nest?.ended(payload));
}

function createNest({ pi, native }: Runtime, session: WatchedSession) {
  const roster = new Roster();
  const chronicle = new Chronicle(native.store, session, now, PACKAGE);
  const latest = new WeakMap<Agent, AgentRecord>();
  const running = new AsyncLocalStorage<Agent>();

  function started(id: string, payload: unknown): void {
    const agent = roster.add(id, text(payload, "type"), text(payload, "description"));
    running.enterWith(agent);
    chronicle.note(agent, "subagent_created", describe(agent));
    chronicle.note(agent, "subagent_started", describe(agent));
  }

  function ended(payload: unknown): void {
    const record = parseRecord(payload);
    const agent = record === "unknown" ? undefined : roster.get(record.id);
    if (record === "unknown" || agent === undefined || agent.ended || !hasEnded(record.status)) return;
    latest.set(agent, record);
    finish(agent, record.status, ending(record), failed(record));
  }

  function finish(agent: Agent, status: AgentRecord["status"], summary: string, bad: boolean): void {
    chronicle.note(agent, bad ? "subagent_failed" : "subagent_completed", summary);
    chronicle.end(agent, status);
    agent.ended = true;
  }

  function child(sessionId: string): ChildLink | undefined {
    const agent = running.getStore();
    if (agent && !agent.ended && roster.child(sessionId) === undefined && roster.linkExact(agent, sessionId))
      chronicle.open(agent, sessionId);
    const known = roster.child(sessionId);
    if (known) return { ...known, parentId: session.id, backend: PACKAGE };
    // One that an agent of this session started in its turn, by whatever it has.
    return agent?.sessionId === undefined ? undefined : { link: "none", parentId: agent.sessionId };
  }

  function toSubagent(agent: Agent): SubagentRecord {
    return {
      agentId: agent.agentId,
      type: agent.type,
      description: agent.description,
      status: latest.get(agent)?.status ?? (agent.ended ? "stopped" : "running"),
      link: agent.link,
      parentId: session.id,
      ...(agent.sessionId === undefined ? {} : { sessionId: agent.sessionId }),
    };
  }

  /** No record shows the session, but it has an instance of the extension, which is beyond doubt who it is. */
  function steer(agentId: string, message: string): Delivery {
    const agent = roster.get(agentId);
    if (agent === undefined) return { outcome: "unknown_target", reason: `${PACKAGE} has no agent ${agentId}` };
    if (agent.ended) return refused("the agent has ended");
    const sent = agent.sessionId !== undefined && findLive(agent.sessionId)?.steer(message) === true;
    return sent ? { outcome: "queued" } : refused("the agent's session does not take messages now");
  }

  async function stop(agentId: string): Promise<Delivery> {
    const agent = roster.get(agentId);
    if (agent === undefined) return { outcome: "unknown_target", reason: `${PACKAGE} has no agent ${agentId}` };
    if (agent.ended) return refused("the agent has ended");
    const reply = await request(pi.events, STOP, { agentId });
    // The package has set the state before it answers.
    if (reply.answer === "done") return { outcome: "delivered" };
    if (reply.answer === "refused") return refused(`${PACKAGE}: ${reply.reason}`);
    return { outcome: "unknown", reason: `${PACKAGE} did not answer` };
  }

  /** The child may have been disposed of first, and its bus with it; the session of its agent never is. */
  function abort(agent: Agent): void {
    try {
      if (agent.sessionId !== undefined) findLive(agent.sessionId)?.abort?.();
    } catch {
      // Then it is over.
    }
  }

  const nest: Nest & { started: typeof started; ended: typeof ended } = {
    sessionId: session.id,
    rootId: session.rootId,
    child,
    list: () => roster.agents().map(toSubagent),
    steer,
    stop,
    close() {
      for (const agent of roster.agents()) {
        if (agent.ended) continue;
        // With the main session the package stops its agents, and forgets theirs: their commands would run on alone.
        void request(pi.events, STOP, { agentId: agent.agentId }).then(({ answer }) => {
          if (answer !== "done") abort(agent);
        });
        finish(agent, "stopped", SESSION_OVER, true);
      }
      running.disable();
      retractNest(nest);
    },
    started,
    ended,
  };
  return nest;
}
