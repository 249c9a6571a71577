// pi-subagents (npm, nicobailon): finds the package on the bus, follows its runs, and speaks for them. What a run lets
// see is read in nicobailon/run.ts (background) and nicobailon/foreground.ts; nicobailon/child.ts writes the targets.

import { VERSION } from "@earendil-works/pi-coding-agent";
import type { TargetUsage } from "../../index.js";
import { findLive } from "../root.ts";
import type { BackendConnection, ChildLink } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import type { Delivery, PackageReport, SubagentBackend, ToolCall } from "./backend.ts";
import { careful } from "./careful.ts";
import type { Host } from "./connection.ts";
import { hasTool } from "./ids.ts";
import type { Child } from "./nicobailon/child.ts";
import { ForegroundCall } from "./nicobailon/foreground.ts";
import { createRequests, refused } from "./nicobailon/requests.ts";
import { createRpc } from "./nicobailon/rpc.ts";
import { BackgroundRun } from "./nicobailon/run.ts";
import { backgroundObstacle, installedVersion } from "./nicobailon/version.ts";
import {
  fields,
  type Nested,
  PACKAGE,
  readForeground,
  readParts,
  readSpent,
  readStarted,
  type Started,
  statusOf,
  text,
} from "./nicobailon/wire.ts";

/** How often the files of what runs are looked at, ms. */
const LOOK_EVERY = 250;
/** How often time-bound rules are asked, ms. */
const TICK_EVERY = 5000;
/** How long ended agents are looked after, whose own instance may still tell their end in its words, ms. */
const AFTERCARE = 30_000;
/** Ended agents that are remembered, so that one that is revived is known again. */
const MAX_ENDED = 200;
const MAX_FOLLOWED = 10_000;
/** What the package answers when a background run cannot start. */
const NO_START = /failed to start async run|background children require/i;

export function connectNicobailon(host: Host): BackendConnection {
  const { pi, session, now, fault } = host;
  const attempt = careful(PACKAGE, fault);
  const rpc = createRpc(pi.events);
  const offs: (() => void)[] = [];
  const runs = new Map<string, BackgroundRun>();
  const calls = new Map<string, ForegroundCall>();
  /** Ids of the runs that were ever followed: none may be read twice. */
  const followed = new Set<string>();
  /** Agents that have ended, the latest last. */
  let ended: Child[] = [];
  let seen = false;
  let answers = false;
  let obstacle: string | undefined;
  /** It announced a run in a shape that is not known. */
  let strange = false;
  let timer: NodeJS.Timeout | undefined;
  let tickedAt = 0;
  let disposed = false;

  const backend: SubagentBackend = {
    name: PACKAGE,
    capabilities: { list: true, steer: true, stop: true, resume: true },
    list: () => attempt(latest)?.map((child) => child.record()) ?? [],
    steer,
    stop,
    resume,
    steerCall,
    dispose,
  };

  function found(): void {
    if (seen) return;
    seen = true;
    session.backends.push(backend);
    attempt(() => {
      const version = installedVersion(pi);
      if (version !== undefined) obstacle = backgroundObstacle(version, VERSION);
    });
  }

  async function ping(): Promise<void> {
    const reply = await rpc.ask("ping", {}, 2000);
    if (reply?.ok !== true || disposed) return;
    answers = true;
    found();
  }

  function on(channel: string, handle: (payload: unknown) => void): void {
    const off = pi.events.on(channel, (payload) => {
      if (!disposed) attempt(() => handle(payload));
    });
    offs.push(off);
  }

  on("subagents:rpc:v1:ready", (payload) => {
    if (!Array.isArray(fields(payload)?.methods)) return;
    answers = true;
    found();
  });

  on("subagent:async-started", (payload) => {
    const started = readStarted(payload);
    found();
    if (started === undefined) {
      strange = true;
      throw new Error(
        "it announces a run without an id or a folder that could be followed; background runs are not seen",
      );
    }
    strange = false;
    if (!answers) void ping();
    follow(started);
  });

  // The package has written its last word then; the files say the same, and more.
  on("subagent:async-complete", (payload) => {
    const from = fields(payload);
    const run = runs.get(text(from?.id) || text(from?.runId));
    if (run === undefined) return;
    look(run);
    if (!run.over && statusOf(from?.state) !== undefined) run.complete(from?.state, results(from?.results));
    tidy();
  });

  on("subagent:process-terminal", (payload) => {
    const from = fields(payload);
    const run = runs.get(text(from?.runId));
    if (run === undefined) return;
    const [instance] = Array.isArray(from?.instances) ? from.instances.map(fields) : [];
    const signal = text(instance?.signal);
    run.gone(signal === "" ? "its process has ended" : `its process was ended by ${signal}`);
    look(run);
    tidy();
  });

  on("subagent:foreground-complete", (payload) => {
    const from = fields(payload);
    const status = statusOf(from?.state);
    const child = [...calls.values()]
      .flatMap((call) => call.children)
      .find(({ origin }) => origin.runId === text(from?.runId) && origin.index === (from?.taskIndex ?? 0));
    if (child !== undefined && status !== undefined) child.end(status, `the package says ${status}`);
    tidy();
  });

  offs.push(
    pi.on("tool_execution_update", ({ toolCallId, partialResult }) => attempt(() => shown(toolCallId, partialResult))),
    pi.on("tool_execution_end", ({ toolCallId, result, isError }) =>
      attempt(() => {
        shown(toolCallId, result, true);
        if (seen && isError) failed(result);
      }),
    ),
  );

  /** A tool call shows how far it is; most are no business of this package. */
  function shown(toolCallId: string, result: unknown, over = false): void {
    if (disposed) return;
    const known = calls.get(toolCallId);
    const details = fields(result)?.details;
    const run = details === undefined ? undefined : readForeground(details, over);
    if (run !== undefined && (known !== undefined || (seen && !over))) {
      const call = known ?? new ForegroundCall(host);
      calls.set(toolCallId, call);
      // A workflow may run agents in the background and wait for them.
      const agents = run.agents.filter(({ runId }) => !followed.has(runId));
      for (const nested of call.show({ ...run, agents }, over)) followNested(nested);
      watch();
    }
    if (over) {
      // Detached agents go on after their call.
      if (run === undefined) known?.leave("its call ended without a result of the package");
      tidy();
    }
  }

  function failed(result: unknown): void {
    const content: unknown = fields(result)?.content;
    const said = Array.isArray(content) ? content.map((part) => text(fields(part)?.text, 2000)).join("\n") : "";
    const reason = said.split("\n").find((line) => NO_START.test(line));
    if (reason !== undefined) obstacle ??= `a background run could not start: ${reason}`;
  }

  function follow(started: Started, parent?: Child): void {
    // Records of a nested run go on coming when it is over.
    if (followed.has(started.runId)) return;
    followed.add(started.runId);
    if (followed.size > MAX_FOLLOWED) followed.delete(followed.values().next().value ?? "");
    const run = new BackgroundRun(host, started, parent);
    runs.set(started.runId, run);
    look(run);
    watch();
  }

  function followNested({ run, parentRunId, parentIndex }: Nested): void {
    const parent = children().find(({ origin }) => origin.runId === parentRunId && origin.index === parentIndex);
    if (parent !== undefined) follow(run, parent);
  }

  function children(): Child[] {
    return [...[...runs.values(), ...calls.values()].flatMap((run) => run.children), ...ended];
  }

  /** One for each session: the run that has it now. */
  function latest(): Child[] {
    const bySession = new Map<string, Child>();
    const all = [...ended, ...[...runs.values(), ...calls.values()].flatMap((run) => run.children)];
    for (const child of all) bySession.set(child.sessionId ?? child.agentId, child);
    return [...bySession.values()];
  }

  function look(run: BackgroundRun): void {
    for (const nested of run.look()) followNested(nested);
  }

  function watch(): void {
    if (timer !== undefined || disposed) return;
    timer = setInterval(() => attempt(round), LOOK_EVERY);
    timer.unref();
  }

  function round(): void {
    for (const run of [...runs.values()]) attempt(() => look(run));
    for (const call of calls.values()) attempt(() => call.look());
    if (now() - tickedAt >= TICK_EVERY) {
      tickedAt = now();
      for (const child of children()) child.tick();
    }
    tidy();
  }

  /** What is over is only remembered. */
  function tidy(): void {
    const over = <T extends { over: boolean; children: Child[] }>(map: Map<string, T>): void => {
      for (const [key, run] of map) {
        if (!run.over) continue;
        map.delete(key);
        ended.push(...run.children);
      }
    };
    over(runs);
    over(calls);
    ended = ended.slice(-MAX_ENDED);
    const recent = ended.filter(({ endedAt = 0 }) => now() - endedAt < AFTERCARE);
    for (const child of recent) child.insist();
    if (runs.size > 0 || calls.size > 0 || recent.length > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function find(agentId: string): Child | Delivery {
    if (disposed) return refused("the main session has ended");
    const child = latest().find((entry) => entry.agentId === agentId);
    return child ?? { outcome: "unknown_target", reason: `${PACKAGE} has no agent ${agentId}` };
  }

  const requests = createRequests(rpc, () => answers, until);

  /** Looks until the condition holds. */
  async function until(holds: () => boolean, timeoutMs: number): Promise<boolean> {
    const end = now() + timeoutMs;
    for (;;) {
      attempt(round);
      if (holds()) return true;
      if (disposed || now() >= end) return false;
      await new Promise((resolve) => setTimeout(resolve, 50).unref());
    }
  }

  async function steer(agentId: string, message: string): Promise<Delivery> {
    const child = find(agentId);
    if ("outcome" in child) return child;
    if (child.ended) return refused(`the agent has ended (${child.status})`);
    if (child.origin.foreground) return refused(NO_STEER);
    if (child.link !== "exact") return refused(NOT_EXACT);
    const run = runs.get(child.origin.runId);
    if (run === undefined) return refused("its run is over");
    return requests.steer(child, run, message);
  }

  /** The tool takes the run's id, and in a run of several the place of the agent in it. */
  function steerCall(agentId: string): ToolCall | undefined {
    const child = find(agentId);
    if ("outcome" in child || child.ended || child.origin.foreground) return undefined;
    const { runId, index } = child.origin;
    const run = runs.get(runId);
    if (run === undefined || !hasTool(pi, "subagent", ["action", "id", "index", "message"])) return undefined;
    return {
      tool: "subagent",
      args: { action: "steer", id: runId, ...(run.children.length > 1 ? { index } : {}) },
    };
  }

  async function stop(agentId: string): Promise<Delivery> {
    const child = find(agentId);
    if ("outcome" in child) return child;
    if (child.ended) return refused(`the agent has ended (${child.status})`);
    if (child.link !== "exact") return refused(NOT_EXACT);
    if (child.origin.foreground) return alone(child) ? requests.interrupt(child) : refused(NO_STOP);
    const run = runs.get(child.origin.runId);
    return run === undefined ? refused("its run is over") : requests.stop(child, run);
  }

  async function resume(agentId: string, prompt: string): Promise<Delivery> {
    const child = find(agentId);
    if ("outcome" in child) return child;
    if (!child.ended) return refused(`the agent has not ended (${child.status})`);
    return requests.resume(child, prompt);
  }

  /** An interrupt is for a whole foreground run. */
  function alone({ origin }: Child): boolean {
    return children().filter((other) => !other.ended && other.origin.runId === origin.runId).length === 1;
  }

  /** A foreground agent that loads the extension asks whose child it is. */
  function child(sessionId: string): ChildLink | undefined {
    if (disposed || sessionId === session.id) return undefined;
    const file = findLive(sessionId)?.file;
    const known = children().findLast(
      (entry) => entry.sessionId === sessionId || (file !== undefined && entry.sessionFile === file),
    );
    if (known === undefined) return undefined;
    return {
      agentId: known.agentId,
      agentType: known.origin.agent,
      description: known.name,
      link: "exact",
      parentId: known.parentId,
      backend: PACKAGE,
    };
  }

  /** A result's usage is made of that of agents, each of which has it in a target of its own. */
  function counted(_toolCallId: string, details: unknown): TargetUsage | undefined {
    if (!seen) return undefined;
    const sum: TargetUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, usd: 0 };
    for (const { runId, index, spent } of readParts(details)) {
      const known = children().find(({ origin }) => origin.runId === runId && origin.index === index);
      if (known?.counts !== true) continue;
      for (const part of Object.keys(sum) as (keyof TargetUsage)[]) sum[part] += spent[part];
    }
    return sum;
  }

  function report(): PackageReport[] {
    if (!seen) return [{ package: PACKAGE, state: "absent" }];
    if (strange) {
      const detail = "its background runs have another shape than is known (0.67) and are not seen";
      return [{ package: PACKAGE, state: "unusable", detail }];
    }
    const silent = answers ? undefined : "it does not answer requests: agents can be steered, not stopped";
    const detail = [obstacle, silent].filter((part) => part !== undefined).join("; ");
    return [{ package: PACKAGE, state: "in use", ...(detail === "" ? {} : { detail: oneLine(detail, 300) }) }];
  }

  function dispose(): void {
    if (disposed) return;
    attempt(round);
    for (const run of runs.values()) attempt(() => run.leave(LEFT));
    for (const call of calls.values()) attempt(() => call.leave("the main session has ended"));
    disposed = true;
    clearInterval(timer);
    timer = undefined;
    for (const off of offs.splice(0)) off();
    rpc.dispose();
    session.backends = session.backends.filter((other) => other !== backend);
  }

  void ping();
  return { child, counted, report, dispose };
}

const NOT_EXACT = "the agent's session is not known beyond doubt: its session file does not tell it yet";
const NO_STEER = `a foreground run of ${PACKAGE} takes no messages: the main agent waits for it`;
const NO_STOP = `${PACKAGE} cannot stop one agent of a foreground run; the main agent's call can be aborted`;
const LEFT = "the main session has ended; its run goes on by itself and is not watched any more";

const results = (value: unknown) => (Array.isArray(value) ? value.map((entry) => readSpent(fields(entry)?.usage)) : []);
