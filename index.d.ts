/**
 * pi-watchdog-supervisor: says when a coding agent is stuck, deterministically and without asking a model.
 *
 * Units: times in {@link WatchdogEvent} and in every `now`/`at` argument are milliseconds since the epoch; times in
 * trace events are seconds since the start of the trace (the trace format, `docs/trace.md`).
 * Functions throw `TypeError` when called with the wrong types, methods of {@link store} and {@link history} an `Error`;
 * bad configuration never throws, it warns.
 */

// ---------------------------------------------------------------------------------------------------------------
// Configuration

export type AlertMode = "main_only" | "direct_subagent" | "both";
export type CircuitBreaker = "off" | "block" | "stop";

/** Every key, its default and its meaning: `docs/configuration.md`. A threshold of 0 disables its rule. */
export interface WatchdogConfig {
  enabled: boolean;
  rescueMessage: string;
  repeatThreshold: number;
  changingOutputThreshold: number;
  typecheckRepeatThreshold: number;
  llmRepeatThreshold: number;
  cycleThreshold: number;
  staleRevisitsThreshold: number;
  errorLoopThreshold: number;
  unknownToolThreshold: number;
  deniedThreshold: number;
  emptyResultThreshold: number;
  failingEditThreshold: number;
  editRevertThreshold: number;
  persistentFailureThreshold: number;
  rereadThreshold: number;
  narrationThreshold: number;
  streamRepetition: boolean;
  pollingThreshold: number;
  compactionLoopThreshold: number;
  idleNoProgressSec: number;
  idleTimeoutSec: number;
  openToolTimeoutSec: number;
  staleAfterSec: number;
  autoKillAfterSec: number;
  autoKill: boolean;
  costLimitUsd: number;
  fileConflicts: boolean;
  deadlockThreshold: number;
  maxSpawnDepth: number;
  planLagTurns: number;
  history: boolean;
  historyPreviews: boolean;
  historyMaxDays: number;
  historyMaxMb: number;
  cooldownSec: number;
  wakeOnCritical: boolean;
  maxPreviewLines: number;
  maxEventsPerAgent: number;
  alertMode: AlertMode;
  steerDryRunDefault: boolean | null;
  circuitBreaker: CircuitBreaker;
  /** Program and arguments; empty: off. */
  notifyCommand: string[];
  /** Path; empty: off. */
  findingsLog: string;
  debug: boolean;
  allowProjectPowers: boolean;
}

/**
 * Where a configuration layer came from; decides what it may change (`docs/security.md`). `model`: the main agent's model;
 * `child`: a sub-agent's model, for its own session.
 */
export type ConfigSource = "global" | "project" | "command" | "model" | "child";

export interface ConfigLayer {
  source: ConfigSource;
  /** Named in warnings: a file path, or `/watchdog set`. */
  name: string;
  /** JSON text of the layer. */
  text: string;
}

export interface ConfigWarning {
  source: ConfigSource;
  name: string;
  key?: string;
  /** One sentence: file, key, value, what is used instead. */
  message: string;
}

/** For each key the layer that its effective value comes from: text from a project or a model is not the user's. */
export type ConfigSources = Record<keyof WatchdogConfig, ConfigSource | "default">;

export interface ResolvedConfig {
  config: WatchdogConfig;
  sources: ConfigSources;
  warnings: ConfigWarning[];
}

/** Merges layers over the defaults, later ones win. Never throws: what is wrong is a warning and the value below stands. */
export function resolveConfig(layers: readonly ConfigLayer[]): ResolvedConfig;
/** A fresh copy of the defaults. */
export function defaultConfig(): WatchdogConfig;
/** The JSON schema (draft 2020-12) of a configuration file; also shipped as `watchdog-supervisor.schema.json`. */
export function configSchema(): Record<string, unknown>;

// ---------------------------------------------------------------------------------------------------------------
// Text

/** ANSI stripped, trimmed, white space collapsed. @example normalizeCommand("  rg \x1b[1mTOKEN\x1b[0m  src ") // "rg TOKEN src" */
export function normalizeCommand(raw: string): string;
/** For prose: also dates, times, UUIDs, long hex ids and digit runs become placeholders. */
export function normalizeMessage(raw: string): string;

export interface HashOutputOptions {
  /** Bytes of UTF-8 hashed at most, cut at a character boundary. Default 65536. */
  maxBytes?: number;
  /** Lines of preview. Default 20; 0: none. */
  previewLines?: number;
}
/** SHA-256 (hex) of the output without ANSI sequences, and its first lines. */
export function hashOutput(raw: string, options?: HashOutputOptions): { hash: string; preview: string };

// ---------------------------------------------------------------------------------------------------------------
// Findings

export type EvidenceType =
  | "repeated_command"
  | "repeated_output"
  | "alternating"
  | "cycle"
  | "typecheck_loop"
  | "repeated_llm_input"
  | "repeated_llm_output"
  | "idle_no_progress"
  | "stale_revisits"
  | "error_loop"
  | "unknown_tool"
  | "denied"
  | "empty_results"
  | "failing_edit"
  | "edit_revert"
  | "persistent_failure"
  | "reread"
  | "empty_turns"
  | "narration"
  | "stream_repetition"
  | "unresponsive";

export type Severity = "info" | "warning" | "critical";
export type Confidence = "low" | "medium" | "high";

export interface Evidence {
  type: EvidenceType;
  /** One sentence for people. */
  summary: string;
  /** Rounds that repeat (for cycles: laps). */
  count: number;
  /** Steps in one lap; 1 for a plain repetition. */
  period?: number;
  /** The normalised command or tool and main argument. */
  command?: string;
  /** ms, first repetition that counts. */
  firstAt: number;
  /** ms, latest. */
  lastAt: number;
}

export interface StuckAnalysis {
  likelyStuck: boolean;
  /** 0, 1, or at least 2 distinct evidence types. */
  confidence: Confidence;
  /** One sentence per evidence. */
  reasons: string[];
  evidence: Evidence[];
  /** `""` without evidence; else 16 hex digits of SHA-256 over the sorted types and their triggers. */
  evidenceKey: string;
}

/** What the repeated rounds of an incident used, summed from the messages' usage. */
export interface LoopCost {
  rounds: number;
  /** All tokens, cached ones included. */
  tokens: number;
  /** US dollars; 0 where unknown. */
  usd: number;
  /** ms from the first repetition to the latest. */
  wallMs: number;
}

export type InterventionKind =
  | "timeout"
  | "excessive_cost"
  | "file_conflict"
  | "deadlock"
  | "orphan"
  | "stream_loop"
  | "compaction_loop"
  | "provider_failure"
  | "spawn_depth"
  | "empty_result"
  | "polling"
  | "denied"
  | "plan_lag";

/** What calls for a hand without being a loop of the agent's own. */
export interface Intervention {
  kind: InterventionKind;
  /** One sentence for people. */
  reason: string;
  suggestedAction: "warn" | "steer" | "restart" | "kill" | "skip";
  /** True: the user's configuration lets the extension do it without asking. False: a proposal. */
  autoExecute: boolean;
  /** Other agents that it concerns: target ids, agents of the trace. */
  parties?: string[];
  /** The reason as it is said to an agent that it is about ("you changed …"), by target id; absent: as it stands. */
  texts?: { targetId: string; text: string }[];
}

/** A verdict at one event, or an intervention. */
export interface Finding {
  /** Main evidence type, or `intervention:<kind>`. */
  rule: string;
  severity: Severity;
  /** ms. */
  at: number;
  /** Agent of the trace; absent for the main one. */
  agent?: string;
  /** Same for all findings of one incident. */
  incident: string;
  analysis: StuckAnalysis;
  cost: LoopCost;
  /**
   * Set when `rule` is `intervention:<kind>`. That alone is no verdict that the agent is stuck; where it is stuck as well
   * (it does not respond), `analysis` says so, and a trace has a finding `unresponsive` beside it.
   */
  intervention?: Intervention;
}

// ---------------------------------------------------------------------------------------------------------------
// Traces

export interface TraceUsage {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  cost?: number | { total?: number };
}

/** One event of a trace; `at` in seconds. Fields: `docs/trace.md`. */
export type TraceEvent = { at: number; agent?: string } & (
  | { type: "user"; text: string; synthetic?: boolean }
  | {
      type: "assistant";
      turn?: number;
      text?: string;
      thinking?: string;
      stopReason?: string;
      partial?: boolean;
      usage?: TraceUsage;
    }
  | { type: "tool_call"; turn: number; callId: string; tool: string; args?: unknown }
  | {
      type: "tool_result";
      turn: number;
      callId: string;
      tool: string;
      output?: string;
      isError?: boolean;
      files?: Record<string, string>;
      blockedBy?: string;
    }
  | { type: "file_change"; path: string; hashBefore?: string; hashAfter?: string }
  | { type: "lifecycle"; event: string; [field: string]: unknown }
);

export type PartialConfig = Partial<WatchdogConfig>;

/**
 * The incremental engine over trace events.
 * @example
 * const detector = new Detector({ repeatThreshold: 3 });
 * for (const event of trace) for (const finding of detector.observe(event)) console.log(finding.rule);
 */
export class Detector {
  constructor(config?: PartialConfig);
  /** Takes the next event; returns the findings it caused (often none). */
  observe(event: TraceEvent): readonly Finding[];
  /** Time has passed (seconds, as in the trace) and nothing happened; returns the findings that this caused. */
  tick(at: number): readonly Finding[];
  /** The verdict now, for one agent (default: the main one). */
  analysis(agent?: string): StuckAnalysis;
  /** Forgets everything; the configuration stays. */
  reset(): void;
}

/** All findings of a whole trace, each with the index of the event that caused it. */
export function analyze(
  events: Iterable<TraceEvent>,
  config?: PartialConfig,
): { findings: (Finding & { eventIndex: number })[]; analysis: StuckAnalysis };

// ---------------------------------------------------------------------------------------------------------------
// Compact events

export type WatchdogEventType =
  | "subagent_created"
  | "subagent_started"
  | "subagent_completed"
  | "subagent_failed"
  | "subagent_steered"
  | "subagent_compacted"
  | "tool_call"
  | "tool_result"
  | "edit"
  | "patch"
  | "llm_input"
  | "llm_output"
  | "alert";

/** What the store keeps of an event: hashes and a short preview, never a whole output. */
export interface WatchdogEvent {
  /** `${sessionId}-${seq}`; `seq` never repeats. */
  id: string;
  targetId: string;
  /** ms since the epoch. */
  at: number;
  type: WatchdogEventType;
  /** One line for people. */
  summary: string;
  commandKey?: string;
  /** SHA-256, hex, of the output without ANSI sequences (first 64 KiB). */
  outputHash?: string;
  outputPreview?: string;
  /** Assistant message that asked for the call: calls with the same turn are one round. */
  turn?: number;
  callId?: string;
  tool?: string;
  isError?: boolean;
  /** File that an edit or a read names. */
  path?: string;
  /** Normalised first error line of a failed result. */
  errorClass?: string;
  /** ms that a call says that it may take. */
  timeoutMs?: number;
}

/**
 * The verdict over compact events in time order. Events at or before `sinceAt` (the last alert) do not count.
 * `now` (default: the last event's time) is only used by time rules.
 */
export function detectStuck(
  events: readonly WatchdogEvent[],
  config?: PartialConfig,
  now?: number,
  sinceAt?: number,
): StuckAnalysis;

export interface LastAlert {
  /** ms. */
  at: number;
  evidenceKey: string;
}
/** Whether an alert is due: rules in `docs/configuration.md`, `cooldownSec`. */
export function shouldAlert(
  lastAlert: LastAlert | null | undefined,
  analysis: StuckAnalysis,
  now: number,
  cooldownSec: number,
): boolean;

// ---------------------------------------------------------------------------------------------------------------
// Recorded sessions

export interface ReplayOptions {
  config?: PartialConfig;
  /** Ends the work at once: the promise is rejected with the signal's reason. */
  signal?: AbortSignal;
}
export interface ReplayFinding extends Finding {
  /** 0-based index of the trace event within its branch. */
  eventIndex: number;
  /** 1-based line of the file. */
  line: number;
  /** Pi session entry id; absent for traces. */
  entryId?: string;
  /** Leaf entry of the branch, for session files with several. */
  branch?: string;
}
export interface ReplayReport {
  file: string;
  kind: "session" | "trace";
  sessionId?: string;
  lines: number;
  events: number;
  branches: number;
  findings: ReplayFinding[];
  /** Lines that could not be used. At most 100 are listed; `warningCount` counts all. */
  warnings: { line: number; message: string }[];
  warningCount: number;
  usage: { tokens: number; usd: number };
}
/** Reads a Pi session file or a trace, streaming. Rejects when it cannot be read, or is not a regular file. */
export function replayFile(path: string, options?: ReplayOptions): Promise<ReplayReport>;

export interface ScanOptions {
  config?: PartialConfig;
  /** A Date, or ms since the epoch: what was before does not count. */
  since?: Date | number;
  /** Sessions in {@link ScanReport.costliest} at most. Default 10. */
  costliest?: number;
  /** Called after files, as often as there is time for it, and at the end. */
  onProgress?: (progress: { files: number; bytes: number; totalBytes: number }) => void;
  /** Ends the work at once: the promise is rejected with the signal's reason. */
  signal?: AbortSignal;
}
/** What was found of one rule. */
export interface ScanRow {
  /** An {@link EvidenceType}, or `intervention:<kind>`. */
  rule: string;
  /** Incidents; for interventions how often one was called for. */
  count: number;
  /** Sessions that have one. */
  sessions: number;
  /** As told last: rounds that came after the latest notice of an incident are not in it. Zero for interventions. */
  cost: LoopCost;
}
export interface ScanReport {
  folder: string;
  /** All that were found, and their sizes together. */
  files: number;
  bytes: number;
  /** Sessions in which something happened that counts. */
  sessions: number;
  /** Sessions that hold nothing (since {@link ScanOptions.since}). */
  older: number;
  /** Files and folders that could not be read or are no sessions; each has a warning. */
  unreadable: number;
  /** Sessions with an incident. */
  stuckSessions: number;
  events: number;
  usage: { tokens: number; usd: number };
  /** Verdicts by rule, the costliest first. */
  incidents: ScanRow[];
  interventions: ScanRow[];
  /** Findings of severity `info`. */
  remarks: number;
  /** The sessions whose incidents cost most, the costliest first. */
  costliest: {
    file: string;
    sessionId?: string;
    incidents: number;
    rules: string[];
    /** Of its incidents. */
    cost: LoopCost;
    /** Of the whole session, as far as it counts. */
    usage: { tokens: number; usd: number };
  }[];
  /** By file. At most 100 are listed; `warningCount` counts all. */
  warnings: { file: string; message: string }[];
  warningCount: number;
}
/**
 * Replays all session files (`.jsonl`) below a folder. What a forked session copied from its parent counts once, there.
 * Rejects when the folder cannot be read.
 */
export function scanFolder(path: string, options?: ScanOptions): Promise<ScanReport>;

export interface CaseDetection {
  eventIndex: number;
  rule: string;
  severity: Severity;
  evidenceKey: string;
}
/** Runs labelled cases (JSON lines, `docs/trace.md`); one result a line, in file order. */
export function replayCases(
  path: string,
  options?: ReplayOptions,
): Promise<{ results: { id: string; detections: CaseDetection[] }[]; warnings: { line: number; message: string }[] }>;

// ---------------------------------------------------------------------------------------------------------------
// The store: one per process, shared by every instance of the extension. Used by the extension; stable for other hosts.

export type TargetKind = "task" | "watchdog" | "unknown";
export type TargetStatus =
  | "queued"
  | "running"
  | "idle"
  | "paused"
  | "completed"
  | "partial"
  | "steered"
  | "aborted"
  | "stopped"
  | "rejected"
  | "error";

/**
 * How much of a session is seen: all its events; finished messages only (its session file is read, open tools are not
 * visible); only what its parent's tool call shows of it; or nothing but when it began and ended.
 */
export type Visibility = "full" | "no_open_tools" | "result_only" | "unseen";

export interface TargetInfo {
  /** For people: session name, agent description, or `main`. */
  name?: string;
  kind?: TargetKind;
  status?: TargetStatus;
  /** Session id of the main session of the tree; absent: the target is a main session itself. */
  rootId?: string;
  parentId?: string;
  /** Agent type, e.g. `Explore`. */
  agentType?: string;
  /** How the session was linked to its sub-agent id; only `exact` may be steered. Absent for main sessions. */
  link?: "exact" | "inferred" | "none";
  /** Package that started it, e.g. `@tintinweb/pi-subagents`. */
  backend?: string;
  /** Absent: `full`. */
  visibility?: Visibility;
  /** Folder that it works in. For the history. */
  project?: string;
  /**
   * Process that runs the session, where that is another one than this. For the history: whose end is looked for. It is
   * taken only when it is proven: by `pidStart`, or because this process started it (itself or through others; Linux).
   */
  pid?: number;
  /** When that process started, as `processes` tells it. */
  pidStart?: string;
  /** Its parent goes on meanwhile. */
  background?: boolean;
}

export interface TargetUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  usd: number;
}

export interface TargetSummary extends Required<Pick<TargetInfo, "name" | "kind" | "status">> {
  /** Session id. */
  id: string;
  aliases: string[];
  rootId: string;
  parentId?: string;
  agentType?: string;
  link?: "exact" | "inferred" | "none";
  backend?: string;
  visibility?: Visibility;
  startedAt: number;
  lastActiveAt: number;
  endedAt?: number;
  eventCount: number;
  toolCallCount: number;
  patchCount: number;
  repeatedCommandCount: number;
  repeatedMessageCount: number;
  likelyStuck: boolean;
  usage: TargetUsage;
  /** Present when the session is, or was, watched by a process of its own that reports here. */
  remote?: RemoteWatch;
}

/** The watch of a session in another process, as seen from here. */
export interface RemoteWatch {
  /** Names one life of that process. */
  run: string;
  connected: boolean;
  /** ms, when it was last heard of. */
  contactAt: number;
  /** Events that were made there and never arrived. */
  lost: number;
}

/** Bits of the number that every `observe*` and `tick` call returns. */
export const Signal: Readonly<{
  /** The analysis is not what it was. */
  VERDICT: 1;
  /** A notice may be due: ask {@link WatchdogStore.takeNotice}. */
  NOTICE: 2;
  /** Something may be due about agents of the target's tree: ask {@link WatchdogStore.takeTreeNotice}. */
  TREE: 4;
  /** Only from {@link WatchdogStore.tickTree}: an agent is at work, so the clocks must go on. */
  BUSY: 8;
}>;

/** Something to tell: an alert, an intervention, or that an incident is over. */
export interface Notice {
  kind: "stuck" | "over" | "intervention";
  targetId: string;
  targetName: string;
  severity: Severity;
  incident: string;
  analysis: StuckAnalysis;
  /** Last command of the target, normalised. */
  lastCommand?: string;
  cost: LoopCost;
  /** 1 for the first notice of the incident. */
  ordinal: number;
  intervention?: Intervention;
}

export type Resolved =
  | { ok: true; handle: number; id: string }
  | { ok: false; reason: "unknown" | "ambiguous"; candidates: string[] };

export interface WatchdogStore {
  /** Version of the loaded native image. */
  readonly version: string;
  /** Opens (or reopens) the target of a session. The handle stays valid until the target is evicted; then calls return 0. */
  open(sessionId: string, at: number, info: TargetInfo, config: WatchdogConfig): number;
  /** Changes what is known of a target. The status of one that has ended stays until it is opened again. */
  update(handle: number, info: TargetInfo): void;
  /** Another name for a target (agent id, run id). An alias that another target has is taken from it. */
  alias(handle: number, name: string): void;
  configure(handle: number, config: WatchdogConfig): void;
  /** The target has ended; nothing more is alerted for it. */
  end(handle: number, at: number, status: TargetStatus): void;
  /** The target turned out to be another's double: it goes, with its names and all that was counted for it. */
  discard(handle: number): void;

  // The hot path: one call per event, a number back ({@link Signal}).
  observeUser(handle: number, at: number, text: string, synthetic: boolean): number;
  observeAssistant(
    handle: number,
    at: number,
    turn: number,
    text: string,
    thinking: string,
    stopReason: string,
  ): number;
  /** Streamed text of the message being written. */
  observeChunk(handle: number, at: number, turn: number, text: string): number;
  observeUsage(
    handle: number,
    at: number,
    input: number,
    output: number,
    cacheRead: number,
    cacheWrite: number,
    usd: number,
  ): number;
  /** `args`: JSON text. */
  observeToolCall(handle: number, at: number, turn: number, callId: string, tool: string, args: string): number;
  /** `files`: JSON text of path → content hash, or `""`. `blockedBy`: guard that refused the call, or `""`. */
  observeToolResult(
    handle: number,
    at: number,
    turn: number,
    callId: string,
    tool: string,
    output: string,
    isError: boolean,
    files: string,
    blockedBy: string,
  ): number;
  observeFileChange(handle: number, at: number, path: string, hashBefore: string, hashAfter: string): number;
  /** `fields`: JSON text of the event's further fields, or `""`. */
  observeLifecycle(handle: number, at: number, event: string, fields: string): number;
  /** A compact event that is no part of the trace (`subagent_created`, `alert`, …). */
  note(handle: number, at: number, type: WatchdogEventType, summary: string): void;
  tick(handle: number, at: number): number;
  /** Time has passed for a main session and everything below it: who is silent, too old, or waits for ever. */
  tickTree(rootId: string, at: number): number;
  /**
   * This process did not run for `ms` milliseconds until `at` (a suspended machine, a blocked event loop, a clock that was
   * set): no agent of the tree was silent for as long, or grew older.
   */
  suspended(rootId: string, ms: number, at: number): void;

  // Sessions that a process of its own watches. Its verdict counts; what is observed of them here is passed over.
  /** Begins to take reports of one life (`run`) of that process. The number of the latest event taken of it, 0 for none. */
  attachRemote(handle: number, run: string, now: number): number;
  /** The session goes on in this process: it is observed here again. */
  detachRemote(handle: number): void;
  /** Something was heard of it, or the connection is gone. Signal bits: what it said that it used may count only now. */
  remoteContact(handle: number, now: number, connected: boolean): number;
  /**
   * Takes a batch of events, JSON text of an array: {@link WatchdogEvent} fields with a number `q` that rises by one, or
   * `{q, at, life, fields}` for a lifecycle event. Each is taken once; numbers left out count as lost. The number of the
   * latest event taken.
   */
  importEvents(handle: number, now: number, events: string): number;
  /** Takes verdict and counts, JSON text of a part of {@link TargetSummary} with `analysis` and `lastCommand`. Signal bits. */
  importState(handle: number, now: number, state: string): number;

  // Pulled when a signal says so, or by tools and commands.
  /** The notice that is due now, if any; taking it counts as having told it (cooldown, distance). Honours pause. */
  takeNotice(handle: number, now: number): Notice | null;
  /**
   * The notice that is due now about any agent of a tree, from what concerns several agents, time or money; taking it
   * counts as having told it.
   */
  takeTreeNotice(rootId: string, now: number): Notice | null;
  /** Why a call should be refused (`circuitBreaker`), or `null`. */
  refusal(handle: number, tool: string, args: string): { reason: string; terminate: boolean } | null;
  analysis(handle: number): StuckAnalysis;
  /** Records an alert that was sent outside `takeNotice`. Returns whether it may be sent (pause, cooldown). */
  requestAlert(handle: number, now: number): { send: boolean; reason: "" | "paused" | "cooldown"; recorded: boolean };
  /** `sinceEventId`: only later ones. `limit`: the newest so many, in time order (default 50). */
  events(handle: number, limit?: number, sinceEventId?: string): WatchdogEvent[];
  target(handle: number): TargetSummary | null;
  /** Running first, then by last activity. `rootId`: only the tree of that main session. */
  targets(rootId?: string, includeCompleted?: boolean): TargetSummary[];
  /** What a main session and everything below it used since they were opened, evicted targets included. */
  treeUsage(rootId: string): TargetUsage;
  lastCommand(handle: number): string;
  /** Session id, alias or unambiguous prefix of either, within the tree of `rootId` (all when absent). */
  resolve(query: string, rootId?: string): Resolved;
  /** Pauses alerts for the tree of a main session; observation goes on. */
  pause(rootId: string, paused: boolean): void;
  paused(rootId: string): boolean;
  stats(): { targets: number; events: number; evicted: number };
  /** A fast content hash (32 hex digits) for equality within this process: `files` of {@link observeToolResult}. */
  contentHash(content: string): string;
}

/** The process-wide store. */
export const store: WatchdogStore;
/** Version of this package. */
export const version: string;

// ---------------------------------------------------------------------------------------------------------------
// The history: an SQLite database that outlives the process (`docs/history.md`)

export interface HistoryState {
  /** `waiting`: cannot be written now and is tried again; `off`: not in this process any more. */
  state: "opening" | "open" | "waiting" | "off" | "closed";
  path: string;
  /** What a user should know, each said once and with what to do next. */
  warnings: string[];
  /** Changes that were not kept because they came faster than they could be written. */
  lost: number;
}

/** The writer of this process: takes what the store knows, and writes it in the background, every 100 ms at most. */
export interface HistoryWriter {
  /**
   * Begins to write; open already, it goes on. Resolves when the database is open or cannot be opened; never rejects for
   * the database's sake. Targets whose configuration has `history: false` are left out.
   */
  open(path: string, limits: { maxDays: number; maxMb: number }): Promise<HistoryState>;
  state(): HistoryState;
  /** A main session ended: what of its tree still runs in this process ended with it. */
  closeTree(rootId: string, at: number): void;
  /** Waits until all is written, so long at most. Blocks. Returns whether it is. */
  flush(timeoutMs: number): boolean;
  /** As `flush`, and writes no more. */
  close(timeoutMs: number): boolean;
}
export const history: HistoryWriter;

/** What is asked for; a field that is not set leaves everything in. */
export interface HistoryFilter {
  /** A Date, or ms since the epoch: what was told last before that is left out. */
  since?: Date | number;
  /** Beginning of a session id; a main session's tree goes with it. */
  session?: string;
  /** An {@link EvidenceType}, or an {@link InterventionKind} with or without `intervention:`. */
  rule?: string;
  /** This one and graver ones. */
  severity?: Severity;
  /** Folder: sessions in it and below it. */
  project?: string;
  /** Only incidents that are not over. */
  open?: boolean;
  /** Incidents, and sessions, at most. Default 50. */
  limit?: number;
}
export interface HistoryIncident {
  sessionId: string;
  rootId: string;
  name?: string;
  agentType?: string;
  project?: string;
  incident: string;
  /** Counts up when the same incident begins anew in a session. */
  number: number;
  rule: string;
  /** The gravest that was told. */
  severity: Severity;
  firstAt: number;
  lastAt: number;
  notices: number;
  /** Absent: not over, as far as known. */
  overAt?: number;
  /** The agent went on; a person spoke; the session ended. */
  outcome?: "over" | "answered" | "ended";
  /** As told last. */
  cost: LoopCost;
  evidenceKey: string;
  /** Absent with `historyPreviews: false`. */
  summary?: string;
  lastCommand?: string;
}
export interface HistorySession {
  sessionId: string;
  rootId: string;
  parentId?: string;
  name?: string;
  agentType?: string;
  backend?: string;
  project?: string;
  /** `orphaned`: closed after its process was gone. */
  status: TargetStatus | "orphaned";
  startedAt: number;
  lastAt: number;
  endedAt?: number;
  incidents: number;
  toolCalls: number;
  patches: number;
  /** Of all processes in which the session ran. */
  usage: TargetUsage;
}
export interface HistoryReport {
  /** Newest first. */
  incidents: HistoryIncident[];
  /** All that fit, also beyond the limit. */
  incidentCount: number;
  /** Newest first; those that fit `since`, `session` and `project`. */
  sessions: HistorySession[];
  sessionCount: number;
}
/** Reads a history; works while others write it. Rejects when it cannot be read. */
export function readHistory(path: string, filter?: HistoryFilter): Promise<HistoryReport>;

/** A process by its id and its start time: a later one with the same id has another start. */
export interface ProcessInfo {
  pid: number;
  /** In whatever form the system tells it. */
  start: string;
  /** Command line, words with a space between; empty where it cannot be read. */
  command: string;
}
/** Processes of this machine, as far as the system proves something of them. */
export const processes: Readonly<{
  /**
   * The process at the other end of a connected local socket, by the socket's file descriptor. `null` where the system does
   * not tell (Windows), or when it is another user's.
   */
  peer(descriptor: number): ProcessInfo | null;
  /** A process and those above it, as far as they can be seen; empty where that cannot be told (all but Linux). */
  ancestry(pid: number): ProcessInfo[];
  /** `null` when no process runs under this id. */
  start(pid: number): string | null;
  /**
   * Sends SIGTERM to the process if it is still the one that started then, and this user's. `false` when it is not, or when
   * that cannot be told (Windows); then nothing was done.
   */
  end(pid: number, start: string): boolean;
}>;

/** A session that nobody ended and whose process is gone; or one that runs on without its main session. */
export interface Orphan extends HistorySession {
  pid: number;
  /** When the process started; for `processes.end`. */
  start: string;
  /** The process is there, verified by its start time and its user at the moment of the answer. */
  running: boolean;
}
/** `claim`: only those that nobody was told of yet; they count as told then. */
export function findOrphans(path: string, claim?: boolean): Promise<Orphan[]>;
/** Marks what is gone as ended, all of it or one session. Resolves to how many there were. */
export function closeOrphans(path: string, sessionId?: string): Promise<number>;
