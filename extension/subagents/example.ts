// Sub-agents that a tool call runs as processes of their own and tells of only in its details, as Pi's example extension
// `subagent` does: no bus, no service, no ids. Their finished messages are fed to targets; nothing can be said to them.
//
// A child that loads the extension reports over the link, and better. Nothing tells which result of a call is which
// process, so when children report that were started while a call ran, its results are not fed, and targets that were
// opened for them before are taken back: no message counts twice.

import type { TargetStatus } from "../../index.js";
import { textOf } from "../content.ts";
import { nameOfTask, UNNAMED } from "../link/names.ts";
import type { BackendConnection } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import type { Delivery, SubagentBackend, SubagentRecord } from "./backend.ts";
import type { Host } from "./connection.ts";
import { type Result, readResults, type State } from "./example-details.ts";
import { fedSink } from "./fed.ts";
import { Feed } from "./feed.ts";
import { isWatchdogType, kindOfType } from "./kind.ts";

export const EXAMPLE = "subagent (Pi's example)";
/** Name of the backend of children that report over the link. */
const LINK = "process (link)";
const NAME_CHARS = 80;
/** Calls that run at once, and agents that are listed; the oldest go first. */
const MAX_CALLS = 256;
const MAX_AGENTS = 200;
const REASON = "it is a process that its tool call speaks for: it takes no messages, and ends with that call";

interface FedAgent {
  readonly id: string;
  readonly handle: number;
  readonly feed: Feed;
  readonly type: string;
  readonly task: string;
  readonly startedAt: number;
  status: State;
  endedAt?: number;
}

interface Call {
  readonly id: string;
  readonly startedAt: number;
  /** By their place in the call. */
  readonly agents: Map<number, FedAgent>;
  /** Its children report themselves. */
  linked: boolean;
}

export function connectExample(host: Host): BackendConnection {
  const { pi, session, store, now, fault } = host;
  const calls = new Map<string, Call>();
  const agents = new Map<string, FedAgent>();
  /** Processes that were looked at for a name. */
  const named = new Set<string>();
  let disposed = false;

  const backend: SubagentBackend = {
    name: EXAMPLE,
    capabilities: { list: true, steer: false, stop: false, resume: false },
    list: () => [...agents.values()].map(toSubagent),
    steer: answer,
    stop: answer,
    dispose,
  };

  /** Details come from another extension: what is wrong with them must not reach Pi. */
  function attempt(work: () => void): void {
    if (disposed) return;
    try {
      work();
    } catch (error) {
      fault(`${EXAMPLE}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  const offs = [
    pi.on("tool_execution_start", ({ toolCallId }) => void begin(toolCallId)),
    pi.on("tool_execution_update", ({ toolCallId, partialResult }) =>
      attempt(() => look(toolCallId, detailsOf(partialResult), false)),
    ),
    pi.on("tool_execution_end", ({ toolCallId, result, isError }) => {
      attempt(() => {
        look(toolCallId, detailsOf(result), true);
        end(toolCallId, isError ? failure(result) : "stopped");
      });
      calls.delete(toolCallId);
    }),
  ];

  function begin(id: string): Call {
    const call: Call = { id, startedAt: now(), agents: new Map(), linked: false };
    calls.set(id, call);
    if (calls.size > MAX_CALLS) calls.delete(calls.keys().next().value ?? "");
    return call;
  }

  function look(callId: string, details: unknown, ended: boolean): void {
    const results = readResults(details, ended);
    if (results === undefined || results.length === 0) return;
    if (!session.backends.includes(backend)) session.backends.push(backend);
    const call = calls.get(callId) ?? begin(callId);
    const linked = linkedSince(call.startedAt);
    if (!call.linked && linked.length > 0) withdraw(call);
    for (const { sessionId } of linked) if (sessionId !== undefined) name(sessionId, results);
    if (call.linked) return;
    for (const [place, result] of results.entries()) follow(call, place, result);
  }

  function follow(call: Call, place: number, result: Result): void {
    if (result.status === "queued") return;
    const agent = call.agents.get(place) ?? open(call, place, result);
    if (agent.endedAt !== undefined) return;
    agent.feed.list(result.messages);
    if (result.status === "running") return;
    // Extensions that began as a copy of the example may keep the messages to themselves.
    if (agent.feed.turns === 0) agent.feed.spent(result.usage);
    finish(agent, result.status, result.error);
  }

  function open(call: Call, place: number, result: Result): FedAgent {
    const type = oneLine(result.agent, NAME_CHARS);
    const task = oneLine(result.task, NAME_CHARS);
    const id = targetId(call.id, place);
    const info = {
      rootId: session.rootId,
      parentId: session.id,
      name: task || type,
      kind: kindOfType(type),
      status: "running" as const,
      agentType: type,
      link: "none" as const,
      backend: EXAMPLE,
      visibility: "result_only" as const,
    };
    const handle = store.open(id, now(), info, session.config);
    store.note(handle, now(), "subagent_started", oneLine(`${type}: ${task}`));
    const feed = new Feed(fedSink(host, handle), { now });
    const agent: FedAgent = { id, handle, feed, type, task, startedAt: now(), status: "running" };
    call.agents.set(place, agent);
    agents.set(id, agent);
    if (agents.size > MAX_AGENTS) agents.delete(agents.keys().next().value ?? "");
    return agent;
  }

  /** Ids of calls are only as unique as their provider makes them. */
  function targetId(callId: string, place: number): string {
    const id = `${callId.slice(0, 48)}-${place + 1}-${session.id.slice(-8)}`;
    let free = id;
    for (let again = 2; agents.has(free); again += 1) free = `${id}-${again}`;
    return free;
  }

  function finish(agent: FedAgent, status: State, error: string): void {
    if (agent.endedAt !== undefined) return;
    agent.status = status;
    agent.endedAt = now();
    agent.feed.settled(status === "aborted");
    const good = status === "completed";
    const summary = oneLine(error === "" ? status : `${status}: ${error}`);
    store.note(agent.handle, agent.endedAt, good ? "subagent_completed" : "subagent_failed", summary);
    store.end(agent.handle, agent.endedAt, status satisfies TargetStatus);
  }

  /** The call has ended: agents of which its result says nothing ended with it. */
  function end(callId: string, status: State): void {
    for (const agent of calls.get(callId)?.agents.values() ?? [])
      finish(agent, status, "its tool call ended without a word on how it did");
  }

  function withdraw(call: Call): void {
    call.linked = true;
    for (const agent of call.agents.values()) {
      store.discard(agent.handle);
      agents.delete(agent.id);
    }
    call.agents.clear();
  }

  /** Processes that this session started since then and that report themselves. */
  function linkedSince(since: number): SubagentRecord[] {
    return session.backends
      .filter((other) => other.name === LINK)
      .flatMap((other) => other.list())
      .filter(({ parentId = session.id, startedAt = 0 }) => parentId === session.id && startedAt >= since);
  }

  /** A process that names itself by its first words is the agent with that task: words for people, no link. */
  function name(sessionId: string, results: readonly Result[]): void {
    const found = named.has(sessionId) ? undefined : store.resolve(sessionId, session.rootId);
    if (!found?.ok) return;
    const told = store.events(found.handle).find(({ type }) => type === "llm_input")?.summary;
    if (told === undefined) return;
    named.add(sessionId);
    // One task may begin as another one does.
    const [result] = results
      .filter(({ task }) => told.startsWith(`Task: ${oneLine(task).slice(0, 100)}`))
      .sort((a, b) => b.task.length - a.task.length);
    const said = store.target(found.handle)?.name;
    if (result === undefined || (said !== UNNAMED && said !== nameOfTask(told))) return;
    const type = oneLine(result.agent, NAME_CHARS);
    const kind = isWatchdogType(type) ? ({ kind: "watchdog" } as const) : {};
    store.update(found.handle, { name: oneLine(result.task, NAME_CHARS) || type, agentType: type, ...kind });
  }

  async function answer(agentId: string): Promise<Delivery> {
    if (!agents.has(agentId)) return { outcome: "unknown_target", reason: `${EXAMPLE} has no agent ${agentId}` };
    return { outcome: "refused", reason: REASON };
  }

  function dispose(): void {
    if (disposed) return;
    attempt(() => {
      for (const agent of agents.values()) finish(agent, "stopped", "the main session has ended");
    });
    disposed = true;
    for (const off of offs.splice(0)) off();
    calls.clear();
    session.backends = session.backends.filter((other) => other !== backend);
  }

  return {
    child: () => undefined,
    report: () =>
      session.backends.includes(backend)
        ? [{ package: EXAMPLE, state: "in use", detail: "seen by the details of its tool calls only" }]
        : [],
    dispose,
  };
}

/** Before Pi 1 the example throws when its call is aborted, and tells nothing of its agents. */
function failure(result: unknown): State {
  const content: unknown = typeof result === "object" && result !== null ? Reflect.get(result, "content") : "";
  return /\baborted\b/.test(textOf(content)) ? "aborted" : "error";
}

function detailsOf(result: unknown): unknown {
  return typeof result === "object" && result !== null ? Reflect.get(result, "details") : undefined;
}

function toSubagent({ id, type, task, status, startedAt, endedAt }: FedAgent): SubagentRecord {
  return {
    agentId: id,
    sessionId: id,
    link: "none",
    type,
    description: task,
    status,
    startedAt,
    visibility: "result_only",
    ...(endedAt === undefined ? {} : { completedAt: endedAt }),
  };
}
