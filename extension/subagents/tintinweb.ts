// @tintinweb/pi-subagents: sub-agents as sessions of this process. Finds the package by its manager's slot, follows its
// bus, and links agents to sessions. The rules for links are in roster.ts, the store is written in chronicle.ts.
//
// The package has no list, so agents are known from its events; their records are live, and hold the agent's session
// from before its first prompt on. That link is beyond doubt. It comes later than the child's own `session_start`,
// though, where a child asks who it is. Until then the async context tells: `subagents:started` is emitted in the call
// that goes on to create the session.

import { AsyncLocalStorage } from "node:async_hooks";
import { findLive, noteToolless } from "../root.ts";
import type { BackendConnection, ChildLink } from "../runtime.ts";
import { createTicker } from "../ticker.ts";
import type { Delivery, PackageReport, SubagentBackend, SubagentRecord, ToolCall } from "./backend.ts";
import { aroundCalls } from "./calls.ts";
import { careful } from "./careful.ts";
import { Chronicle } from "./chronicle.ts";
import type { Host } from "./connection.ts";
import { text } from "./foreign.ts";
import { hasTool } from "./ids.ts";
import { isOpen, observeOutside } from "./outside.ts";
import { type Agent, Roster } from "./roster.ts";
import {
  type AgentRecord,
  type AgentSession,
  hasEnded,
  type Manager,
  PACKAGE,
  publishedManager,
  readRecord,
  type Status,
} from "./tintinweb-manager.ts";
import { type Nest, nestsOf } from "./tintinweb-nests.ts";
import { request, STOP } from "./tintinweb-rpc.ts";
import { describe, ending, failed, reasonOf, refused, SESSION_OVER } from "./tintinweb-words.ts";

/** Between the creation of a session and its first request to the model. */
const SEEK_MS = 50;

export function connectTintinweb(host: Host): BackendConnection {
  const { pi, session, store, now, fault } = host;
  const attempt = careful(PACKAGE, fault);
  const roster = new Roster();
  const chronicle = new Chronicle(store, session, now, PACKAGE);
  const offs: (() => void)[] = [];
  /** What the record of an agent last said; the package forgets ended ones. */
  const latest = new WeakMap<Agent, AgentRecord>();
  /** Agents whose session was seen in their record. */
  const sighted = new WeakSet<Agent>();
  /** How to stop listening to the sessions that the extension is perhaps not in. */
  const outside = new Map<Agent, () => void>();
  /** Nothing tells when an agent gets its session. One that loads the extension asks; others must be looked for. */
  const seeker = createTicker(() => attempt(seek));
  let manager: Manager | undefined;
  /** Why the package cannot be met, though it is there. */
  let unusable: string | undefined;
  /** The agent in whose run the current code executes. Made only when the package is there: it has a cost on Node 22. */
  let running: AsyncLocalStorage<Agent | undefined> | undefined;
  let disposed = false;

  const backend: SubagentBackend = {
    name: PACKAGE,
    capabilities: { list: true, steer: true, stop: true, resume: false },
    list: () => attempt(list) ?? [],
    steer,
    stop,
    steerCall,
    dispose,
  };

  // The package claims the slot when it is loaded, which is before a session starts; it is looked at again for a package
  // that comes later.
  function find(): void {
    if (manager) return;
    const published = publishedManager();
    if (published === undefined) return;
    if (published === "unknown") {
      doubtPackage("its manager has no getRecord()");
      return;
    }
    manager = published;
    unusable = undefined;
    running = new AsyncLocalStorage();
    session.backends.push(backend);
  }

  function doubtPackage(what: string): void {
    if (unusable === undefined) fault(`${PACKAGE} cannot be read: ${what}`);
    unusable = `${what}: it is of a version that this watchdog does not know. Its children are watched, and cannot be steered or stopped`;
  }

  /** The record of an agent of this session; ids of other packages on the same channels have none. */
  function recordOf(agentId: string): AgentRecord | undefined {
    find();
    if (!manager || agentId === "") return undefined;
    const record = readRecord(manager, agentId);
    if (record === "unknown") doubtPackage("a record of an agent is not as expected");
    return record === "unknown" ? undefined : record;
  }

  function on(channel: string, handle: (payload: unknown) => void): void {
    const off = pi.events.on(channel, (payload) => {
      if (!disposed) attempt(() => handle(payload));
    });
    offs.push(off);
  }

  function onAgent(channel: string, handle: (agent: Agent, record: AgentRecord, payload: unknown) => void): void {
    on(channel, (payload) => {
      const record = recordOf(text(payload, "id"));
      if (record) handle(agentOf(record), record, payload);
    });
  }

  function agentOf(record: AgentRecord): Agent {
    const known = roster.get(record.id);
    if (known) return known;
    const agent = roster.add(record.id, record.type, record.description);
    latest.set(agent, record);
    chronicle.note(agent, "subagent_created", describe(agent));
    return agent;
  }

  // Background agents only; one that needs not queue has started by then.
  onAgent("subagents:created", settle);

  on("subagents:started", (payload) => {
    const record = recordOf(text(payload, "id"));
    const agent = record && agentOf(record);
    // An agent of another package must not be taken for the one that was started before it in the same call.
    running?.enterWith(agent);
    if (agent === undefined) return;
    chronicle.note(agent, "subagent_started", describe(agent));
    seeker.set(SEEK_MS);
  });

  onAgent("subagents:completed", settle);
  onAgent("subagents:failed", settle);

  onAgent("subagents:steered", (agent, _record, payload) => {
    chronicle.note(agent, "subagent_steered", `by the main agent: ${text(payload, "message")}`);
  });

  onAgent("subagents:compacted", (agent, _record, payload) => {
    chronicle.note(agent, "subagent_compacted", `context compacted (${text(payload, "reason") || "no reason given"})`);
  });

  // Nothing is emitted when an agent is resumed or ends again, nor when a queued one is stopped. The first two happen
  // while the main agent's tool call runs, so the records are looked at when that call shows progress or ends.
  const look = () => {
    if (disposed) return;
    attempt(find);
    attempt(reconcile);
  };
  offs.push(...aroundCalls(pi, look));

  function seek(): void {
    reconcile();
    const wanting = roster.agents().some((agent) => latest.get(agent)?.status === "running" && !sighted.has(agent));
    if (!wanting) seeker.set(0);
  }

  function reconcile(): void {
    if (!manager) return;
    for (const agent of outside.keys()) if (roster.get(agent.agentId) !== agent) leave(agent);
    for (const agent of roster.agents()) {
      const record = recordOf(agent.agentId);
      if (record) settle(agent, record);
      // The package disposes of the session together with the record, some minutes after the end.
      else leave(agent);
    }
  }

  /** Brings agent and target in step with the record, which is the truth about both. */
  function settle(agent: Agent, record: AgentRecord): void {
    const { session: own, ...rest } = record;
    latest.set(agent, rest);
    if (own) {
      link(agent, own.sessionId);
      sight(agent, own);
    }
    if (hasEnded(record.status)) finish(agent, record.status, ending(record), failed(record));
    else if (agent.ended && record.status === "running") reopen(agent);
  }

  function link(agent: Agent, sessionId: string): void {
    if (agent.sessionId === sessionId) return;
    if (roster.linkExact(agent, sessionId)) {
      chronicle.open(agent, sessionId);
    } else {
      // The context told of another session than the record: then neither is to be trusted.
      agent.link = "inferred";
      chronicle.relink(agent);
    }
  }

  /** Its session is there, and the extension perhaps not in it. */
  function sight(agent: Agent, own: AgentSession): void {
    if (sighted.has(agent)) return;
    sighted.add(agent);
    const handle = chronicle.handleOf(agent);
    if (agent.link !== "exact" || handle === undefined) return;
    if (!isOpen(own)) {
      if (findLive(own.sessionId) !== undefined) return;
      noteToolless(own.sessionId, true);
      store.update(handle, { visibility: "unseen" });
      return;
    }
    outside.set(agent, observeOutside(host, handle, own));
  }

  function leave(agent: Agent): void {
    agent.disposed = true;
    outside.get(agent)?.();
    outside.delete(agent);
  }

  function finish(agent: Agent, status: Status, summary: string, bad = true): void {
    if (agent.ended || !hasEnded(status)) return;
    chronicle.note(agent, bad ? "subagent_failed" : "subagent_completed", summary);
    chronicle.end(agent, status);
    agent.ended = true;
  }

  function reopen(agent: Agent): void {
    agent.ended = false;
    if (agent.sessionId === undefined) return;
    chronicle.open(agent, agent.sessionId);
    chronicle.note(agent, "subagent_started", `resumed: ${describe(agent)}`);
  }

  function list(): SubagentRecord[] {
    reconcile();
    const own = roster.agents().flatMap((agent) => {
      const record = latest.get(agent);
      return record === undefined ? [] : [toSubagent(agent, record)];
    });
    return [...own, ...nestsOf(session.id).flatMap((nest) => nest.list())];
  }

  function nestOf(agentId: string): Nest | undefined {
    if (disposed || roster.get(agentId) !== undefined) return undefined;
    return nestsOf(session.id).find((nest) => nest.list().some((record) => record.agentId === agentId));
  }

  /** The agent and its record, when a request may be made; else why not. */
  function addressee(agentId: string): { agent: Agent; record: AgentRecord } | Delivery {
    if (disposed) return refused(SESSION_OVER);
    const record = attempt(() => recordOf(agentId));
    if (!record) {
      if (roster.get(agentId)?.ended) return refused("the agent has ended and the package has forgotten it");
      return { outcome: "unknown_target", reason: `${PACKAGE} has no agent ${agentId}` };
    }
    const agent = agentOf(record);
    attempt(() => settle(agent, record));
    if (hasEnded(record.status)) return refused(`the agent has ended (${record.status})`);
    return { agent, record };
  }

  async function steer(agentId: string, message: string): Promise<Delivery> {
    const nest = nestOf(agentId);
    if (nest) return nest.steer(agentId, message);
    const to = addressee(agentId);
    if ("outcome" in to) return to;
    if (to.record.session === undefined) return refused("the agent has no session yet");
    if (to.agent.link !== "exact") return refused(NOT_EXACT);
    try {
      await to.record.session.steer(message);
    } catch (error) {
      return refused(`${PACKAGE}: ${reasonOf(error)}`);
    }
    // Pi puts it between the running tool calls and the next request; nothing tells when that has happened.
    return { outcome: "queued" };
  }

  /** Agents of agents are unknown to the main agent's tool. */
  function steerCall(agentId: string): ToolCall | undefined {
    if (roster.get(agentId) === undefined || attempt(() => recordOf(agentId))?.status !== "running") return undefined;
    return hasTool(pi, "steer_subagent", ["agent_id", "message"], "Agent")
      ? { tool: "steer_subagent", args: { agent_id: agentId } }
      : undefined;
  }

  async function stop(agentId: string): Promise<Delivery> {
    const nest = nestOf(agentId);
    if (nest) return nest.stop(agentId);
    const to = addressee(agentId);
    if ("outcome" in to) return to;
    // The id is the package's own: no link is needed to stop the right agent.
    const reply = await request(pi.events, STOP, { agentId });
    const after = attempt(() => recordOf(agentId));
    if (after) attempt(() => settle(to.agent, after));
    // Another package may listen on the channel and answer first that it has no such agent; the record tells.
    if (after && hasEnded(after.status)) return { outcome: "delivered" };
    if (reply.answer === "done") return { outcome: "queued" };
    if (reply.answer === "refused") return refused(`${PACKAGE}: ${reply.reason}`);
    return { outcome: "unknown", reason: `${PACKAGE} did not answer` };
  }

  function child(sessionId: string): ChildLink | undefined {
    if (disposed || sessionId === session.id) return undefined;
    attempt(reconcile);
    const known = roster.child(sessionId);
    if (known) return { ...known, backend: PACKAGE };
    for (const nest of nestsOf(session.id)) {
      const nested = attempt(() => nest.child(sessionId));
      if (nested) return nested;
    }
    const agent = running?.getStore();
    if (agent === undefined) return undefined;
    if (agent.sessionId === undefined && !agent.ended) {
      attempt(() => link(agent, sessionId));
      return { ...roster.child(sessionId), link: agent.link, backend: PACKAGE };
    }
    // A session that starts within an agent's run and is not the agent's own: one that was started in it.
    return { link: "none", ...(agent.sessionId === undefined ? {} : { parentId: agent.sessionId }) };
  }

  function dispose(): void {
    if (disposed) return;
    attempt(reconcile);
    for (const agent of roster.agents()) attempt(() => finish(agent, "stopped", SESSION_OVER));
    for (const nest of nestsOf(session.id)) attempt(() => nest.close());
    disposed = true;
    seeker.set(0);
    for (const agent of [...outside.keys()]) leave(agent);
    for (const off of offs.splice(0)) off();
    running?.disable();
    session.backends = session.backends.filter((other) => other !== backend);
  }

  function report(): PackageReport[] {
    if (unusable !== undefined) return [{ package: PACKAGE, state: "unusable", detail: unusable }];
    return [{ package: PACKAGE, state: manager === undefined ? "absent" : "in use" }];
  }

  attempt(find);
  return { child, report, dispose };
}

const NOT_EXACT =
  "the agent's session is not known beyond doubt: its record names another one than the call that began it";

function toSubagent(agent: Agent, record: AgentRecord): SubagentRecord {
  return {
    agentId: agent.agentId,
    type: agent.type,
    description: agent.description,
    // What is gone from the package without an end was closed with its session.
    status: agent.ended && !hasEnded(record.status) ? "stopped" : record.status,
    link: agent.link,
    ...(agent.sessionId === undefined ? {} : { sessionId: agent.sessionId }),
    ...(record.startedAt === undefined ? {} : { startedAt: record.startedAt }),
    ...(record.completedAt === undefined ? {} : { completedAt: record.completedAt }),
  };
}
