// What pi-subagents says, on the bus, in its files and in the details of its tool, read with distrust: every field is
// checked here and nowhere else. Reads no file, holds no state.

import { basename, isAbsolute } from "node:path";
import type { TargetUsage } from "../../../index.js";
import type { SubagentRecord } from "../backend.ts";

export const PACKAGE = "pi-subagents";
/** The first version whose background runs start on Pi 1.0 and later. */
export const BACKGROUND_ON_PI_1 = "0.75";

export type Status = SubagentRecord["status"];

const NAME_CHARS = 200;
const PATH_CHARS = 4096;
const REASON_CHARS = 300;
/** Agents of one run, and runs below one agent: more are no real ones. */
const MAX_STEPS = 256;

/** The package's words for where a run or a step is. */
const STATUS = new Map<string, Status>([
  ["queued", "queued"],
  ["pending", "queued"],
  ["running", "running"],
  // It waits for its supervisor, and is nobody's who could be told of it.
  ["detached", "running"],
  ["paused", "paused"],
  ["complete", "completed"],
  ["completed", "completed"],
  ["partial", "partial"],
  ["failed", "error"],
  ["stopped", "stopped"],
  ["rejected", "rejected"],
]);

export const statusOf = (word: unknown): Status | undefined =>
  typeof word === "string" ? STATUS.get(word) : undefined;

export const hasEnded = (status: Status): boolean => status !== "queued" && status !== "running";

export type Fields = Record<string, unknown>;

export function fields(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value.slice(0, MAX_STEPS) : []);

export const text = (value: unknown, max = NAME_CHARS): string =>
  typeof value === "string" ? value.slice(0, max) : "";

const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;

const path = (value: unknown): string | undefined =>
  typeof value === "string" && value.length <= PATH_CHARS && isAbsolute(value) && !value.includes("\0")
    ? value
    : undefined;

/** A background run, as the package announces it or as a nested one is recorded. */
export interface Started {
  runId: string;
  asyncDir: string;
  agent: string;
  pid?: number;
  /** Where the runs below this one are recorded. */
  nestedSink?: string;
}

export function readStarted(value: unknown): Started | undefined {
  const from = fields(value);
  const asyncDir = path(from?.asyncDir);
  const runId = text(from?.id);
  if (from === undefined || asyncDir === undefined || runId === "") return undefined;
  const pid = number(from.pid);
  const nestedSink = path(fields(from.nestedRoute)?.eventSink);
  return {
    runId,
    asyncDir,
    agent: text(from.agent),
    ...(pid === undefined ? {} : { pid }),
    ...(nestedSink === undefined ? {} : { nestedSink }),
  };
}

/** A run that an agent of a run started itself. */
export interface Nested {
  run: Started;
  parentRunId: string;
  parentIndex: number;
}

/** A record of the folder that nested runs are announced in. */
export function readNested(value: unknown): Nested | undefined {
  const from = fields(value);
  const type = text(from?.type);
  return type.startsWith("subagent.nested.") ? readNestedRun(from?.child) : undefined;
}

function readNestedRun(value: unknown): Nested | undefined {
  const from = fields(value);
  const run = readStarted(from);
  const parentRunId = text(from?.parentRunId);
  if (run === undefined || parentRunId === "") return undefined;
  return { run, parentRunId, parentIndex: number(from?.parentStepIndex) ?? 0 };
}

export interface Step {
  index: number;
  agent: string;
  /** For people: agent and the beginning of its task. */
  name: string;
  status: Status;
  childId: string;
  sessionFile?: string;
  startedAt?: number;
  /** When something last came of it, streamed text included. */
  activeAt?: number;
  error: string;
}

export interface RunStatus {
  status: Status;
  pid?: number;
  error: string;
  steps: Step[];
}

/** The contents of a run's `status.json`. */
export function readStatus(value: unknown): RunStatus | undefined {
  const from = fields(value);
  const status = statusOf(from?.state);
  if (from === undefined || status === undefined) return undefined;
  const pid = number(from.pid);
  return {
    status,
    error: text(from.error, REASON_CHARS),
    steps: list(from.steps).map((step, index) => readStep(step, index)),
    ...(pid === undefined ? {} : { pid }),
  };
}

function readStep(value: unknown, index: number): Step {
  const from = fields(value) ?? {};
  const sessionFile = path(from.sessionFile);
  const startedAt = number(from.startedAt);
  const activeAt = number(from.lastActivityAt);
  const agent = text(from.agent);
  return {
    index,
    agent,
    name: text(from.sessionName) || text(from.label) || agent,
    status: statusOf(from.status) ?? "queued",
    childId: text(from.childId),
    error: text(from.error, REASON_CHARS),
    ...(sessionFile === undefined ? {} : { sessionFile }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(activeAt === undefined ? {} : { activeAt }),
  };
}

/** What became of a steering request by the run's status: the state of one of its addressees. */
export function steeringState(status: unknown, requestId: string, index: number): { state: string; reason: string } {
  const recent = list(fields(fields(status)?.steering)?.recent);
  return addressee(
    recent.find((request) => fields(request)?.id === requestId),
    index,
  );
}

/** The same in the answer to a `steer` request. */
export function addressee(steering: unknown, index: number): { state: string; reason: string } {
  const targets = list(fields(steering)?.targets).map(fields);
  const target = targets.find((entry) => entry?.index === index) ?? (targets.length === 1 ? targets[0] : undefined);
  return { state: text(target?.state), reason: text(target?.reason, REASON_CHARS) };
}

export type Spent = TargetUsage;

/** What the details of a tool's result say that agents used: one that ran in the call, or was waited for in it. */
export interface Part {
  runId: string;
  index: number;
  spent: Spent;
}

/** The package adds up the same numbers for the usage of the result. */
export function readParts(details: unknown): Part[] {
  const from = fields(details) ?? {};
  const part = (runId: string, entry: unknown, index: number): Part => {
    const { usage, index: own } = fields(entry) ?? {};
    return { runId, index: number(own) ?? index, spent: readSpent(usage) };
  };
  const shown = list(from.results).map((entry, index) => part(runIdOf(fields(entry) ?? {}, from), entry, index));
  const waited = list(from.completions).flatMap((completion) => {
    const { runId, results } = fields(completion) ?? {};
    return list(results).map((entry, index) => part(text(runId), entry, index));
  });
  return [...shown, ...waited];
}

/** An agent of a foreground run, in the details of the tool call that it runs in. */
export interface Shown {
  /** In a workflow each agent has a run of its own. */
  runId: string;
  index: number;
  agent: string;
  name: string;
  status: Status;
  transcript?: string;
  sessionFile?: string;
  /** When something last came of it, streamed text included. */
  activeAt?: number;
  spent: Spent;
  /** Ended tool calls, the latest few, each with when it ended. */
  tools: { tool: string; args: string; endedAt: number }[];
  error: string;
  nested: Nested[];
}

/** An agent of a workflow that runs: who it is may be told only at the end. */
export interface Named {
  activeAt?: number;
  runId: string;
  name: string;
  status: Status;
}

export interface ForegroundRun {
  agents: Shown[];
  /** Set for a workflow. */
  named?: Named[];
}

/** Undefined when the details are another tool's, or of a call that runs nothing in the foreground. */
export function readForeground(details: unknown, ended: boolean): ForegroundRun | undefined {
  const from = fields(details);
  if (from === undefined || text(from.runId) === "" || typeof from.mode !== "string" || from.asyncId !== undefined)
    return undefined;
  const agents = list(from.results).flatMap((result) => readShown(result, from, ended) ?? []);
  if (from.mode === "workflow") return { agents, named: workflowChildren(from).map(readNamed) };
  return agents.length === 0 ? undefined : { agents };
}

const workflowChildren = (details: Fields): unknown[] => list(fields(details.workflowChildren)?.children);

function readNamed(value: unknown): Named {
  const from = fields(value);
  const activeAt = number(fields(from?.activity)?.lastActivityAt);
  const name = text(from?.sessionName);
  const status = statusOf(from?.state) ?? "running";
  return { runId: text(from?.runId), name, status, ...(activeAt === undefined ? {} : { activeAt }) };
}

/** The run of an agent: the call's own, or, in a workflow, what the workflow or the names of its files say. */
function runIdOf(result: Fields, details: Fields): string {
  if (details.mode !== "workflow") return text(details.runId);
  const child = workflowChildren(details).find((entry) => fields(entry)?.childId === result.workflowKey);
  return text(fields(child)?.runId) || runIdIn(text(result.transcriptPath, PATH_CHARS)) || text(details.runId);
}

/** Artifacts are named after their run. */
export const runIdIn = (file: string): string => /^([0-9a-f-]{36})_/.exec(basename(file))?.[1] ?? "";

function readShown(value: unknown, details: Fields, ended: boolean): Shown | undefined {
  const from = fields(value);
  const index = number(from?.index);
  const agent = text(from?.agent);
  if (from === undefined || index === undefined || agent === "") return undefined;
  const runId = runIdOf(from, details);
  const progress = fields(from.progress);
  const activeAt = number(progress?.lastActivityAt);
  const transcript = path(from.transcriptPath);
  const sessionFile = path(from.sessionFile);
  return {
    runId,
    index,
    agent,
    name: text(from.sessionName) || agent,
    status: ended ? finalStatus(from) : (statusOf(progress?.status) ?? "running"),
    spent: readSpent(from.usage),
    tools: list(progress?.recentTools).flatMap(readTool),
    error: text(from.error, REASON_CHARS),
    nested: list(from.children).flatMap((child) => {
      const nested = readNestedRun(child);
      return nested === undefined ? [] : [{ ...nested, parentRunId: runId, parentIndex: index }];
    }),
    ...(activeAt === undefined ? {} : { activeAt }),
    ...(transcript === undefined ? {} : { transcript }),
    ...(sessionFile === undefined ? {} : { sessionFile }),
  };
}

/** An agent that has ended has no state of its own any more, only marks of how. */
function finalStatus(from: Fields): Status {
  if (from.detached === true) return "running";
  if (from.stopped === true) return "stopped";
  if (from.interrupted === true) return "paused";
  const execution = statusOf(fields(from.execution)?.status);
  if (execution !== undefined) return execution;
  return from.exitCode === 0 && text(from.error) === "" ? "completed" : "error";
}

function readTool(value: unknown): Shown["tools"] {
  const from = fields(value);
  const endedAt = number(from?.endMs);
  return endedAt === undefined ? [] : [{ tool: text(from?.tool), args: text(from?.args), endedAt }];
}

export function readSpent(value: unknown): Spent {
  const from = fields(value) ?? {};
  return {
    input: number(from.input) ?? 0,
    output: number(from.output) ?? 0,
    cacheRead: number(from.cacheRead) ?? 0,
    cacheWrite: number(from.cacheWrite) ?? 0,
    usd: number(from.cost) ?? 0,
  };
}
