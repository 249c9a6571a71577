// @gotgenes/pi-subagents from 18 on: sub-agents as sessions of this process. Finds the package by its service slot, follows its
// bus, and links agents to sessions. The rules for links are in roster.ts, the store is written in chronicle.ts.
//
// No event carries agent id and session id together, and sessions of several agents are created in any order. But
// `subagents:started` is emitted in the call that goes on to create the session, so a value put into that async context
// there is still present when `child:session-created` comes. From version 20 on the record also names the session's
// file, and so the session.

import { AsyncLocalStorage } from "node:async_hooks";
import { findLive, noteToolless } from "../root.ts";
import type { BackendConnection, ChildLink } from "../runtime.ts";
import { createTicker } from "../ticker.ts";
import type { Delivery, PackageReport, SubagentBackend, SubagentRecord, ToolCall } from "./backend.ts";
import { aroundCalls } from "./calls.ts";
import { careful } from "./careful.ts";
import { Chronicle } from "./chronicle.ts";
import type { Host } from "./connection.ts";
import { Followed } from "./followed.ts";
import { text } from "./foreign.ts";
import {
  type AgentRecord,
  hasEnded,
  isFileOf,
  liveSession,
  PACKAGE,
  publishedService,
  readRecord,
  readRecords,
  recordOfSession,
  type Service,
  type Status,
} from "./gotgenes-service.ts";
import { hasTool } from "./ids.ts";
import { observeOutside } from "./outside.ts";
import { resumed } from "./resumed.ts";
import { type Agent, Roster } from "./roster.ts";

/** How often it is looked whether the session of an agent that has just begun can be seen, ms. */
const SEEK_MS = 50;
/** Loading the extension takes its time; a session that nothing shows for longer is said not to be seen, ms. */
const UNSEEN_MS = 3000;

export function connectGotgenes(host: Host): BackendConnection {
  const { pi, session, store, now, fault } = host;
  const attempt = careful(PACKAGE, fault);
  const roster = new Roster();
  const chronicle = new Chronicle(store, session, now);
  /** Session files of agents, read where the extension is not in the session and nothing shows the session itself. */
  const files = new Map<Agent, Followed>();
  /** How to stop listening to the sessions that the extension is perhaps not in. */
  const outside = new Map<Agent, () => void>();
  /** Since when it is not clear how an agent's session can be seen. */
  const unclear = new Map<Agent, number>();
  const unseen = new Set<Agent>();
  /** Nothing tells when the package shows an agent's session, nor whether the extension is in it. */
  const seeker = createTicker(() => attempt(seek));
  const offs: (() => void)[] = [];
  let service: Service | undefined;
  /** The agent in whose run the current code executes. Made only when the package is there: it has a cost on Node 22. */
  let running: AsyncLocalStorage<Agent | undefined> | undefined;
  let disposing = false;
  let disposed = false;

  const backend: SubagentBackend = {
    name: PACKAGE,
    get capabilities() {
      return { list: true, steer: true, stop: true, resume: service?.resume !== undefined };
    },
    list: () => attempt(() => (service ? readRecords(service).map(toSubagent) : [])) ?? [],
    steer,
    stop,
    resume,
    steerCall,
    dispose,
  };

  // The slot holds the main session's service only until the first child is loaded, so it is looked at when the session
  // starts, and, for a package that publishes later, before each run, each tool and each agent.
  function find(): void {
    if (service) return;
    service = publishedService();
    if (!service) return;
    running = new AsyncLocalStorage();
    session.backends.push(backend);
  }

  /** The record of an agent of this session; ids of other packages on the same channels have none. */
  function recordOf(agentId: string): AgentRecord | undefined {
    find();
    if (!service || agentId === "") return undefined;
    const record = readRecord(service, agentId);
    if (record) return record;
    // The service in hand may be a child's, if the package published its own only after a child was loaded.
    const other = publishedService();
    const found = other && other !== service ? readRecord(other, agentId) : undefined;
    if (found) service = other;
    return found;
  }

  function agentOf(record: AgentRecord): Agent {
    return roster.get(record.id) ?? roster.add(record.id, record.type, record.description);
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

  onAgent("subagents:created", (agent) => {
    chronicle.note(agent, "subagent_created", describe(agent));
  });

  on("subagents:started", (payload) => {
    const record = recordOf(text(payload, "id"));
    const agent = record && agentOf(record);
    // An agent of another package must not be taken for the one that was started before it in the same call.
    running?.enterWith(agent);
    if (agent?.ended) reopen(agent);
    else if (agent) chronicle.note(agent, "subagent_started", describe(agent));
  });

  on("subagents:child:session-created", (payload) => {
    const sessionId = text(payload, "sessionId");
    if (!service || sessionId === "" || roster.child(sessionId)) return;
    if (linkByFile(sessionId)) return;
    const agent = running?.getStore();
    const ours = text(payload, "parentSessionId") === session.id;
    if (agent && ours && !agent.ended && roster.linkExact(agent, sessionId)) return open(agent, sessionId);
    if (agent?.link === "exact") doubt(agent);
    const inferred = agent === undefined && ours ? roster.linkInferred(sessionId) : undefined;
    if (inferred) return open(inferred, sessionId);
    roster.addUnlinked(sessionId);
    chronicle.openUnlinked(sessionId);
  });

  // Without an id, and before the record is final: the record is looked at when the package has had its turn.
  on("subagents:child:completed", () => {
    setImmediate(() => {
      if (!disposed) attempt(reconcile);
    });
  });

  onAgent("subagents:completed", settle);
  onAgent("subagents:failed", settle);

  onAgent("subagents:steered", (agent, _record, payload) => {
    chronicle.note(agent, "subagent_steered", `by the main agent: ${text(payload, "message")}`);
  });

  onAgent("subagents:compacted", (agent, _record, payload) => {
    chronicle.note(agent, "subagent_compacted", `context compacted (${text(payload, "reason") || "no reason given"})`);
  });

  on("subagents:child:disposed", (payload) => {
    const sessionId = text(payload, "sessionId");
    reconcile();
    const agent = roster.bySession(sessionId);
    if (agent) {
      agent.disposed = true;
      leave(agent);
      finish(agent, "stopped", "its session was disposed");
    } else if (roster.forgetUnlinked(sessionId)) {
      chronicle.endSession(sessionId, "completed", UNKNOWN_END);
    }
  });

  // Foreground agents and resumed ones end without an event, and a resumed one starts without one. All of it happens
  // while the main agent's tool call runs, so the records are looked at when that call shows progress or ends.
  const check = () => {
    if (disposed) return;
    attempt(find);
    attempt(reconcile);
  };
  offs.push(...aroundCalls(pi, check));

  function reconcile(): void {
    if (!service) return;
    for (const agent of outside.keys()) if (roster.get(agent.agentId) !== agent) leave(agent);
    for (const agent of roster.agents()) {
      const record = readRecord(service, agent.agentId);
      if (record) settle(agent, record);
    }
    for (const sessionId of roster.uncertain()) linkByFile(sessionId);
    const unlinked = roster.unlinked();
    if (unlinked.length === 0 || service.hasRunning()) return;
    for (const sessionId of unlinked) {
      roster.forgetUnlinked(sessionId);
      chronicle.endSession(sessionId, "completed", UNKNOWN_END);
    }
  }

  /** Brings the target in step with the record, which is the truth about an agent's end. */
  function settle(agent: Agent, record: AgentRecord): void {
    if (hasEnded(record.status)) finish(agent, record.status, ending(record), failed(record));
    else if (agent.ended && record.status === "running") reopen(agent);
  }

  function open(agent: Agent, sessionId: string): void {
    chronicle.open(agent, sessionId);
    look(agent);
  }

  /** Finds a way to see what the agent does; where there is none for long, its target says so. */
  function look(agent: Agent): void {
    unclear.set(agent, now());
    seeker.set(SEEK_MS);
    attempt(seek);
  }

  function seek(): void {
    for (const [agent, since] of unclear) {
      if (agent.ended || agent.disposed || isSeen(agent)) unclear.delete(agent);
      else if (now() - since >= UNSEEN_MS) notSeen(agent);
    }
    // Its instance of the extension may come late.
    for (const agent of unseen) if (agent.ended || isInside(agent)) seenAgain(agent);
    if (unclear.size === 0 && unseen.size === 0) seeker.set(0);
  }

  function isSeen(agent: Agent): boolean {
    const handle = chronicle.handleOf(agent);
    const { sessionId } = agent;
    if (handle === undefined || sessionId === undefined || isInside(agent) || outside.has(agent)) return true;
    // Which agent's record shows this session is not known.
    if (agent.link !== "exact") return false;
    const live = service && liveSession(service, agent.agentId, sessionId);
    if (live === "later") return false;
    if (live === undefined) return watchFile(agent);
    outside.set(agent, observeOutside(host, handle, live));
    seenAgain(agent);
    return true;
  }

  const isInside = ({ sessionId }: Agent): boolean => sessionId !== undefined && findLive(sessionId) !== undefined;

  function notSeen(agent: Agent): void {
    const handle = chronicle.handleOf(agent);
    unclear.delete(agent);
    unseen.add(agent);
    if (agent.sessionId !== undefined) noteToolless(agent.sessionId, true);
    if (handle !== undefined) store.update(handle, { visibility: "unseen" });
  }

  function seenAgain(agent: Agent): void {
    const handle = chronicle.handleOf(agent);
    if (unseen.delete(agent) && handle !== undefined && !agent.ended) store.update(handle, { visibility: "full" });
  }

  function leave(agent: Agent): void {
    outside.get(agent)?.();
    outside.delete(agent);
    unclear.delete(agent);
  }

  /** The record of an agent names the file of this session: then they belong together beyond doubt. */
  function linkByFile(sessionId: string): boolean {
    const record = service && recordOfSession(service, sessionId);
    if (record === undefined || hasEnded(record.status)) return false;
    const agent = agentOf(record);
    if (agent.sessionId === undefined) {
      roster.forgetUnlinked(sessionId);
      roster.linkExact(agent, sessionId);
    } else if (agent.sessionId === sessionId) {
      roster.confirm(agent);
    } else {
      // The context told of another session than the record: then neither is to be trusted.
      doubt(agent);
      return false;
    }
    chronicle.adopt(agent, sessionId);
    look(agent);
    return true;
  }

  /** False where no file is named. */
  function watchFile(agent: Agent): boolean {
    const { sessionId } = agent;
    const file = service && readRecord(service, agent.agentId)?.outputFile;
    const handle = chronicle.handleOf(agent);
    if (file === undefined || handle === undefined || sessionId === undefined || !isFileOf(file, sessionId))
      return false;
    const followed = files.get(agent) ?? new Followed(host, sessionId, handle, file);
    files.set(agent, followed);
    followed.start();
    return true;
  }

  function finish(agent: Agent, status: Status, summary: string, bad = true): void {
    if (agent.ended || status === "queued" || status === "running") return;
    // One that was quick is seen by what its record still holds.
    if (unclear.delete(agent)) attempt(() => isSeen(agent));
    agent.ended = true;
    const close = () => {
      if (!agent.ended) return;
      chronicle.note(agent, bad ? "subagent_failed" : "subagent_completed", summary);
      chronicle.end(agent, status);
    };
    const file = files.get(agent);
    // Its last words may still be in the file, unless it reported them itself.
    if (file?.reading && !disposing && !isInside(agent)) void file.rest().then(() => attempt(close));
    else close();
  }

  /** Two sessions of this main session in one context: then the context does not tell which of them is the agent's. */
  function doubt(agent: Agent): void {
    agent.link = "inferred";
    chronicle.relink(agent);
  }

  function reopen(agent: Agent): void {
    agent.ended = false;
    if (agent.sessionId === undefined) return;
    open(agent, agent.sessionId);
    chronicle.note(agent, "subagent_started", `resumed: ${describe(agent)}`);
  }

  function toSubagent(record: AgentRecord): SubagentRecord {
    const agent = roster.get(record.id);
    return {
      agentId: record.id,
      type: record.type,
      description: record.description,
      status: record.status,
      link: agent?.link ?? "none",
      ...(agent?.sessionId === undefined ? {} : { sessionId: agent.sessionId }),
      ...(record.startedAt === undefined ? {} : { startedAt: record.startedAt }),
      ...(record.completedAt === undefined ? {} : { completedAt: record.completedAt }),
    };
  }

  /** The service and the agent, when a request may be made; else why not. */
  function addressee(agentId: string): { service: Service; agent: Agent; record: AgentRecord } | Delivery {
    if (disposed) return refused("the main session has ended");
    const record = attempt(() => recordOf(agentId));
    if (!record || !service) return { outcome: "unknown_target", reason: `${PACKAGE} has no agent ${agentId}` };
    if (hasEnded(record.status)) return refused(`the agent has ended (${record.status})`);
    const agent = agentOf(record);
    if (agent.disposed) return refused("the agent's session is disposed");
    return { service, agent, record };
  }

  async function steer(agentId: string, message: string): Promise<Delivery> {
    const to = addressee(agentId);
    if ("outcome" in to) return to;
    if (to.record.status === "queued") return refused("the agent has not started yet");
    if (to.agent.link !== "exact") return refused(NOT_EXACT);
    try {
      if (!(await to.service.steer(agentId, message))) return refused(`${PACKAGE} did not take the message`);
    } catch (error) {
      return refused(`${PACKAGE}: ${error instanceof Error ? error.message : String(error)}`);
    }
    // Pi puts it between the running tool calls and the next request; nothing tells when that has happened.
    return { outcome: "queued" };
  }

  function steerCall(agentId: string): ToolCall | undefined {
    const record = attempt(() => service && readRecord(service, agentId));
    if (record?.status !== "running" || roster.get(agentId)?.disposed) return undefined;
    return hasTool(pi, "steer_subagent", ["agent_id", "message"], "subagent")
      ? { tool: "steer_subagent", args: { agent_id: agentId } }
      : undefined;
  }

  async function stop(agentId: string): Promise<Delivery> {
    const to = addressee(agentId);
    if ("outcome" in to) return to;
    // A queued agent has no session yet, so there is no link to be wrong about.
    if (to.record.status !== "queued" && to.agent.link !== "exact") return refused(NOT_EXACT);
    try {
      if (!to.service.abort(agentId)) return refused(`${PACKAGE} did not stop the agent`);
    } catch (error) {
      return refused(`${PACKAGE}: ${error instanceof Error ? error.message : String(error)}`);
    }
    const after = attempt(() => recordOf(agentId));
    if (after) attempt(() => settle(to.agent, after));
    return { outcome: after && hasEnded(after.status) ? "delivered" : "queued" };
  }

  /** The agent goes on in its session with a new task; what it did before stays its history. */
  async function resume(agentId: string, prompt: string): Promise<Delivery> {
    if (disposed) return refused("the main session has ended");
    const record = attempt(() => recordOf(agentId));
    if (!record || !service) return { outcome: "unknown_target", reason: `${PACKAGE} has no agent ${agentId}` };
    if (service.resume === undefined)
      return refused(`this version of ${PACKAGE} lets no other package resume an agent`);
    if (!hasEnded(record.status)) return refused(`the agent has not ended (${record.status})`);
    const agent = agentOf(record);
    if (agent.disposed) return refused("the agent's session is disposed");
    const from = service;
    const delivery = await resumed(
      () => from.resume?.(agentId, prompt),
      () => attempt(() => recordOf(agentId)?.status),
    );
    const after = attempt(() => recordOf(agentId));
    if (after) attempt(() => settle(agent, after));
    return delivery;
  }

  function child(sessionId: string): ChildLink | undefined {
    if (disposed || sessionId === session.id) return undefined;
    attempt(reconcile);
    const known = roster.child(sessionId);
    if (known) return { ...known, backend: PACKAGE };
    const agent = running?.getStore();
    if (agent === undefined) return undefined;
    // A session that starts within an agent's run and is not the agent's own: one that was started in it.
    const parentId = agent.link === "exact" ? agent.sessionId : undefined;
    return { link: "none", ...(parentId === undefined ? {} : { parentId }) };
  }

  function dispose(): void {
    if (disposed) return;
    disposing = true;
    seeker.set(0);
    for (const agent of [...outside.keys()]) leave(agent);
    for (const file of files.values()) file.close();
    attempt(reconcile);
    for (const agent of roster.agents()) attempt(() => finish(agent, "stopped", "the main session has ended"));
    for (const sessionId of roster.unlinked()) attempt(() => chronicle.endSession(sessionId, "stopped"));
    disposed = true;
    for (const off of offs.splice(0)) off();
    running?.disable();
    session.backends = session.backends.filter((other) => other !== backend);
  }

  function report(): PackageReport[] {
    return [{ package: PACKAGE, state: service === undefined ? "absent" : "in use" }];
  }

  attempt(find);
  return { child, report, dispose };
}

const NOT_EXACT =
  "the agent's session is not known beyond doubt: it was created outside the context in which the agent started";
const UNKNOWN_END = "it has ended; how is not known, because it could not be linked to its agent";

function refused(reason: string): Delivery {
  return { outcome: "refused", reason };
}

function describe(agent: Agent): string {
  return [agent.type, agent.description].filter((part) => part !== "").join(": ") || "sub-agent";
}

/** Whether the agent did not do what it was asked. A provider error also ends as `completed`, only without an answer. */
function failed(record: AgentRecord): boolean {
  if (record.status === "completed" || record.status === "steered") return !record.answered;
  return true;
}

function ending(record: AgentRecord): string {
  const uses = `${record.toolUses} tool ${record.toolUses === 1 ? "use" : "uses"}`;
  const limit = record.turnLimit === undefined ? "" : ` of ${record.turnLimit}`;
  if (record.error !== undefined) return `${record.status} after ${uses}: ${record.error}`;
  if (record.status === "aborted") return `aborted after ${uses}: its turn limit${limit} was reached`;
  if (failed(record) && record.status !== "stopped" && record.status !== "error")
    return `${record.status} after ${uses}, without an answer (a provider error or an abort in the child ends so)`;
  return `${record.status} after ${uses}`;
}
