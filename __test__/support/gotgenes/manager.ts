// Agents of one main session: records, queue, runs, and the order of the events on the bus. No tools, no slot.
//
// Order, as observed: [created] → started → child:spawning (same tick) → child factories → child:session-created →
// child session_start → the run … agent_settled (record still "running") → child:completed → [completed | failed] →
// child:disposed, much later. The bracketed ones are for background agents only.

import { AsyncResource } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { AgentSession, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { createChild, watchChild } from "./child.ts";
import type { Quirks } from "./quirks.ts";
import {
  type AgentRecord,
  type Emit,
  type LiveAgent,
  SERVICE_SLOT,
  type SpawnOptions,
  type SubagentsService,
} from "./record.ts";

const MAX_CONCURRENT = 4;
const GRACE_TURNS = 5;
const WRAP_UP = "You have used up your turns. Stop working and give your final answer now.";

interface Agent {
  record: AgentRecord;
  prompt: string;
  options: SpawnOptions;
  session?: AgentSession;
  unwatch?: () => void;
  /** The session's extensions have begun. */
  bound: boolean;
  disposed: boolean;
  /** Steering that came before the session was there. */
  pending: string[];
  wrapUp: boolean;
  turnLimit: boolean;
  turnCount: number;
  activeTools: Map<string, string>;
  /** Settles when the current run ends; never rejects. */
  done: Promise<void>;
  settle: () => void;
}

export interface Manager extends SubagentsService {
  wait(id: string): Promise<AgentRecord | undefined>;
  resume(id: string, prompt: string): Promise<AgentRecord | undefined>;
  /** Called whenever an agent has used a tool. */
  onProgress(id: string, listener: (record: AgentRecord) => void): void;
  isBackground(id: string): boolean;
  disposeAgent(id: string): boolean;
  live(id: string): LiveAgent | undefined;
  /** Ends everything; nothing is emitted afterwards. */
  shutdown(): void;
}

export function createManager(emit: Emit, context: () => ExtensionContext | undefined, quirks: Quirks): Manager {
  const agents = new Map<string, Agent>();
  const progress = new Map<string, (record: AgentRecord) => void>();
  const limit = quirks.serial ? 1 : MAX_CONCURRENT;
  // Captured here, so that runs resumed from it have lost the context of whoever asked for the agent.
  const outside = new AsyncResource("stand-in:detached");
  let closed = false;

  const publish: Emit = (channel, payload) => {
    if (!closed) emit(channel, payload);
  };
  const named = ({ record }: Agent) => ({ id: record.id, type: record.type, description: record.description });
  const busy = () => [...agents.values()].filter((agent) => agent.record.status === "running").length;

  function spawn(type: string, prompt: string, options: SpawnOptions = {}): string {
    const id = randomUUID().replaceAll("-", "").slice(0, 17);
    let settle = () => {};
    const done = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const record: AgentRecord = {
      id,
      type,
      description: options.description ?? prompt.slice(0, 60),
      status: "queued",
      toolUses: 0,
      startedAt: Date.now(),
      lifetimeUsage: { input: 0, output: 0, cacheWrite: 0 },
      compactionCount: 0,
    };
    const agent: Agent = {
      record,
      prompt,
      options,
      pending: [],
      bound: false,
      disposed: false,
      wrapUp: false,
      turnLimit: false,
      turnCount: 0,
      activeTools: new Map(),
      done,
      settle,
    };
    if (quirks.outputFile) {
      record.isBackground = options.isBackground === true;
      record.turnBudget = options.maxTurns;
    }
    agents.set(id, agent);
    if (options.isBackground) publish("subagents:created", { ...named(agent), isBackground: true });
    if (!options.isBackground || busy() < limit) start(agent);
    return id;
  }

  function start(agent: Agent): void {
    agent.record.status = "running";
    agent.record.startedAt = Date.now();
    publish("subagents:started", named(agent));
    const begin = () => void run(agent);
    if (quirks.detached) outside.runInAsyncScope(() => setImmediate(begin));
    else begin();
  }

  async function run(agent: Agent): Promise<void> {
    const { record } = agent;
    const parent = context();
    let session: AgentSession | undefined;
    try {
      if (!parent) throw new Error("no main session");
      const parentSessionId = parent.sessionManager.getSessionId();
      publish("subagents:child:spawning", { agentName: record.type, parentSessionId });
      session = await createChild(parent, record.type, quirks.nested);
      agent.session = session;
      if (quirks.outputFile) record.outputFile = session.sessionFile;
      publish("subagents:child:session-created", { sessionId: session.sessionId, parentSessionId });
      await session.bindExtensions({});
      agent.bound = true;
      agent.unwatch = watch(agent, session);
      for (const message of agent.pending.splice(0)) await session.steer(message);
      if (quirks.unstarted) await agent.done;
      else if (record.status === "running") await session.prompt(agent.prompt);
      if (quirks.unreturned) await agent.done;
      finish(agent, session);
    } catch (error) {
      record.error = error instanceof Error ? error.message : String(error);
      if (record.status === "running") record.status = "error";
    }
    record.completedAt = Date.now();
    conclude(agent);
  }

  function watch(agent: Agent, session: AgentSession): () => void {
    const { record, activeTools } = agent;
    return watchChild(session, {
      begun: (callId, tool) => activeTools.set(callId, tool),
      tool: (callId) => {
        activeTools.delete(callId);
        record.toolUses++;
        progress.get(record.id)?.(record);
      },
      usage: (use) => {
        record.lifetimeUsage.input += use.input;
        record.lifetimeUsage.output += use.output;
        record.lifetimeUsage.cacheWrite += use.cacheWrite;
      },
      compacted: (reason, tokensBefore) => {
        record.compactionCount++;
        publish("subagents:compacted", {
          ...named(agent),
          reason,
          tokensBefore,
          compactionCount: record.compactionCount,
        });
      },
      turn: (n) => {
        agent.turnCount = n;
        const max = agent.options.maxTurns;
        if (max === undefined) return;
        if (n === max) {
          agent.wrapUp = true;
          void session.steer(WRAP_UP);
        } else if (n >= max + GRACE_TURNS) {
          agent.turnLimit = true;
          void session.abort();
        }
      },
    });
  }

  // A provider error and an abort from inside the child are not told apart from success: the result is just empty.
  function finish(agent: Agent, session: AgentSession): void {
    const { record } = agent;
    publish("subagents:child:completed", {
      sessionDir: session.sessionManager.getSessionDir(),
      agentName: record.type,
      aborted: agent.turnLimit || record.status === "stopped",
      steered: agent.wrapUp,
    });
    record.result = lastText(session);
    if (record.status === "running")
      record.status = agent.turnLimit ? "aborted" : agent.wrapUp ? "steered" : "completed";
  }

  function conclude(agent: Agent): void {
    if (quirks.deleteSlot) Reflect.deleteProperty(globalThis, SERVICE_SLOT);
    if (agent.options.isBackground || quirks.announceAll) announce(agent);
    agent.settle();
    for (const next of agents.values()) {
      if (closed || busy() >= limit) break;
      if (next.record.status === "queued") start(next);
    }
  }

  function announce(agent: Agent): void {
    const { record } = agent;
    const failed = record.status === "error" || record.status === "stopped" || record.status === "aborted";
    publish(failed ? "subagents:failed" : "subagents:completed", {
      ...named(agent),
      result: record.result,
      error: record.error,
      status: record.status,
      toolUses: record.toolUses,
      durationMs: (record.completedAt ?? record.startedAt) - record.startedAt,
      tokens: { ...record.lifetimeUsage },
    });
  }

  function abort(id: string): boolean {
    const agent = agents.get(id);
    if (!agent) return false;
    const { record } = agent;
    if (record.status === "queued") {
      record.status = "stopped";
      record.completedAt = Date.now();
      agent.settle();
      return true;
    }
    if (record.status !== "running") return false;
    record.status = "stopped";
    void agent.session?.abort();
    if (quirks.unstarted || quirks.unreturned) agent.settle();
    return true;
  }

  async function steer(id: string, message: string): Promise<boolean> {
    const agent = agents.get(id);
    if (agent?.record.status !== "running") return false;
    if (agent.session) await agent.session.steer(message);
    else agent.pending.push(message);
    return true;
  }

  // Goes on in the old session, and says nothing of it on the bus.
  async function resume(id: string, prompt: string): Promise<AgentRecord | undefined> {
    const agent = agents.get(id);
    if (!agent?.session || agent.disposed || agent.record.status === "running") return undefined;
    const { record, session } = agent;
    record.status = "running";
    record.completedAt = undefined;
    record.result = undefined;
    try {
      await session.prompt(prompt);
      record.result = lastText(session);
      if (record.status === "running") record.status = "completed";
    } catch (error) {
      record.status = "error";
      record.error = error instanceof Error ? error.message : String(error);
    }
    record.completedAt = Date.now();
    if (quirks.announceAll) announce(agent);
    return record;
  }

  function disposeAgent(id: string): boolean {
    const agent = agents.get(id);
    if (!agent?.session || agent.disposed) return false;
    agent.disposed = true;
    agent.unwatch?.();
    agent.session.dispose();
    publish("subagents:child:disposed", { sessionId: agent.session.sessionId });
    return true;
  }

  return {
    spawn,
    abort,
    steer,
    disposeAgent,
    // Copies, as the real service makes them for each call.
    getRecord: (id) => copyOf(agents.get(id)?.record),
    listAgents: () => [...agents.values()].flatMap((agent) => copyOf(agent.record) ?? []),
    live: (id) => {
      const agent = agents.get(id);
      return agent && liveAgent(agent, (prompt) => resume(id, prompt));
    },
    hasRunning: () =>
      [...agents.values()].some(({ record }) => record.status === "running" || record.status === "queued"),
    waitForAll: async () => {
      await Promise.all([...agents.values()].map((agent) => agent.done));
    },
    wait: async (id) => {
      await agents.get(id)?.done;
      return agents.get(id)?.record;
    },
    isBackground: (id) => agents.get(id)?.options.isBackground === true,
    onProgress: (id, listener) => progress.set(id, listener),
    resume,
    shutdown: () => {
      closed = true;
      for (const agent of agents.values()) {
        if (agent.record.status === "running" || agent.record.status === "queued") agent.record.status = "stopped";
        agent.unwatch?.();
        if (!agent.disposed) agent.session?.dispose();
        agent.disposed = true;
        agent.settle();
      }
    },
  };
}

function copyOf(record: AgentRecord | undefined): AgentRecord | undefined {
  return record && { ...record, lifetimeUsage: { ...record.lifetimeUsage } };
}

function liveAgent(agent: Agent, resume: (prompt: string) => Promise<unknown>): LiveAgent {
  const { record } = agent;
  return {
    id: record.id,
    type: record.type,
    description: record.description,
    get status() {
      return record.status;
    },
    get outputFile() {
      return agent.session?.sessionFile;
    },
    get turnCount() {
      return agent.turnCount;
    },
    get activeTools() {
      return agent.activeTools;
    },
    get responseText() {
      return agent.session === undefined ? "" : lastText(agent.session);
    },
    get messages() {
      return agent.bound ? (agent.session?.messages ?? []) : [];
    },
    // Its session is shown when its extensions have begun.
    subscribeToUpdates: (listener) => (agent.bound ? agent.session?.subscribe(listener) : undefined),
    resume: async (prompt) => void (await resume(prompt)),
  };
}

function lastText(session: AgentSession): string {
  for (const message of [...session.messages].reverse()) {
    if (message.role !== "assistant") continue;
    if (message.stopReason === "error" || message.stopReason === "aborted") return "";
    return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  }
  return "";
}
