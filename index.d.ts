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

export type AlertMode = WatchdogConfig["alertMode"];
export type CircuitBreaker = WatchdogConfig["circuitBreaker"];

/** A threshold of 0 disables its rule. Who may set what: `docs/configuration.md`. */
export interface WatchdogConfig {
  // generated: keys
  /** Whether anything is watched at all. Default: `true`. */
  enabled: boolean;
  /**
   * Sent to a stuck agent, in any language. Text, 1 to 2000 characters. Default: "The AI agent might be stuck. Stop
   * repeating the current actions, summarise what you know, and plan the next step anew. Do not run the same command
   * again unless the query or the path changed.".
   */
  rescueMessage: string;
  /**
   * `main_only`: a sub-agent's incident is shown in the main session, nothing is sent to the sub-agent.
   * `direct_subagent`: the rescue message goes to the sub-agent. `both`: both. Default: `main_only`.
   */
  alertMode: "main_only" | "direct_subagent" | "both";
  /**
   * Whether a turn of an idle main agent is started for critical alerts of running children, once per incident.
   * Default: `true`.
   */
  wakeOnCritical: boolean;
  /**
   * Seconds before the same evidence is reported again. 0: at every check. Negative: never again. Other evidence is
   * reported at once. Seconds, -31536000 to 31536000. Default: `60`.
   */
  cooldownSec: number;
  /**
   * `block`: the next identical call of a found loop is refused with a reason. `stop`: if it still goes on, the turn is
   * ended. `off`: neither. Default: `off`.
   */
  circuitBreaker: "off" | "block" | "stop";
  /**
   * What `watchdog_steer_subagent` does when the call leaves `dryRun` out. `null` and `true`: it says what it would
   * send. `false`: it sends. Default: `null`.
   */
  steerDryRunDefault: boolean | null;
  /**
   * Whether a project file may set `alertMode`, `steerDryRunDefault`, `circuitBreaker` and `autoKill` as freely as the
   * global file. Counts in the global file only. Default: `false`.
   */
  allowProjectPowers: boolean;
  /**
   * A program and its arguments, run with each finding as JSON on its standard input, never through a shell. `[]`: off.
   * List of texts, 0 to 100. Default: `[]`.
   */
  notifyCommand: string[];
  /**
   * Path of a file to which each finding is appended as a line of JSON. Empty: off. Empty, or text up to 4000
   * characters. Default: "".
   */
  findingsLog: string;
  /**
   * Whether incidents, usage totals and left-over agents are kept in `state.db` in the agent directory. Default:
   * `true`.
   */
  history: boolean;
  /** Whether the database keeps commands and one-line summaries beside the hashes. Default: `true`. */
  historyPreviews: boolean;
  /** Days that the database keeps what has ended. Whole number, 1 to 3650. Default: `90`. */
  historyMaxDays: number;
  /** Size in MB beyond which the database drops its oldest sessions. Whole number, 1 to 10000. Default: `64`. */
  historyMaxMb: number;
  /** Lines of an output that are kept as its preview. 0: no previews at all. Whole number, 0 to 200. Default: `20`. */
  maxPreviewLines: number;
  /** Events that are kept for each agent; the oldest are dropped. Whole number, 10 to 100000. Default: `200`. */
  maxEventsPerAgent: number;
  /**
   * Shows a console below the editor: what the provider was last sent (how many messages, and the last with its role)
   * and what it answered, each with its time. Default: `false`.
   */
  debug: boolean;
  /** Runs of the same failing type check with nothing changed in between. Whole number, 0 to 1000. Default: `2`. */
  typecheckRepeatThreshold: number;
  /**
   * Rounds with the same action and the same result that make an agent stuck. 0 disables the rule, as for every
   * threshold. Whole number, 0 to 1000. Default: `3`.
   */
  repeatThreshold: number;
  /**
   * Rounds with the same action and materially different results. 3 makes the rule literal: any command run three
   * times. Whole number, 0 to 1000. Default: `10`.
   */
  changingOutputThreshold: number;
  /** Failures of one program or tool with the same error, whatever the arguments. Whole number, 0 to 1000. Default: `4`. */
  errorLoopThreshold: number;
  /**
   * Calls in a row of tools that do not exist or with arguments that do not validate. Whole number, 0 to 1000. Default:
   * `3`.
   */
  unknownToolThreshold: number;
  /** Refusals of one tool by a person, a permission or a policy. Whole number, 0 to 1000. Default: `3`. */
  deniedThreshold: number;
  /** Edits of one file that fail or change nothing. Whole number, 0 to 1000. Default: `3`. */
  failingEditThreshold: number;
  /** Returns of a file to an old state with no new state in between. Whole number, 0 to 1000. Default: `3`. */
  editRevertThreshold: number;
  /**
   * Runs of a check that fails in the same way although something was changed before each. Whole number, 0 to 1000.
   * Default: `5`.
   */
  persistentFailureThreshold: number;
  /**
   * Varied questions in a row that all find nothing, or get the very same answer. Whole number, 0 to 1000. Default:
   * `8`.
   */
  emptyResultThreshold: number;
  /**
   * Rounds in a row in which nothing new was asked or answered, in whatever order. Whole number, 0 to 1000. Default:
   * `30`.
   */
  staleRevisitsThreshold: number;
  /** Reads of a file that show no line that was not shown before. Whole number, 0 to 1000. Default: `5`. */
  rereadThreshold: number;
  /** Laps of a cycle of two to eight rounds with the same results. Whole number, 0 to 1000. Default: `3`. */
  cycleThreshold: number;
  /** Messages in a row with the same body, to or from the model. Whole number, 0 to 1000. Default: `3`. */
  llmRepeatThreshold: number;
  /**
   * Messages in a row that announce work, ask the same question or are empty, without a tool call. Whole number, 0 to
   * 1000. Default: `3`.
   */
  narrationThreshold: number;
  /** Seconds in which tools run and nothing is edited. 0: off. Seconds, 0 to 31536000. Default: `0`. */
  idleNoProgressSec: number;
  /** Whether a message whose text goes round is reported, while it is written. Default: `true`. */
  streamRepetition: boolean;
  /** Equal answers to polls that follow each other without a pause. Whole number, 0 to 1000. Default: `20`. */
  pollingThreshold: number;
  /** Compactions of the context with nothing new between them. Whole number, 0 to 1000. Default: `2`. */
  compactionLoopThreshold: number;
  /**
   * Seconds without any sign of an agent that has nothing open (no tool, stream, dialog, compaction or retry, no
   * question to an agent that can answer it, and no working sub-agent). Twice as long at thinking level medium, five
   * times at high, ten times at xhigh. 0: off. Seconds, 0 to 31536000. Default: `180`.
   */
  idleTimeoutSec: number;
  /**
   * Seconds that one tool call may run; a call that declares a longer time itself may run that long and a little more.
   * 0: off. Seconds, 0 to 31536000. Default: `600`.
   */
  openToolTimeoutSec: number;
  /** Age in seconds at which a running sub-agent is reported. 0: off. Seconds, 0 to 31536000. Default: `300`. */
  staleAfterSec: number;
  /** Age in seconds at which a running sub-agent is past its limit. 0: off. Seconds, 0 to 31536000. Default: `600`. */
  autoKillAfterSec: number;
  /**
   * Whether a sub-agent past `autoKillAfterSec` is stopped without asking, if it is also silent or looping. A busy one
   * never is. Default: `false`.
   */
  autoKill: boolean;
  /**
   * US dollars that one agent, or a main session with all its sub-agents, may use before it is reported; remarks at 50
   * and 80 %. Nothing is stopped. 0: off. US dollars, 0 to 1000000. Default: `1`.
   */
  costLimitUsd: number;
  /**
   * Agents that wait while none can go on. Circles, and waits for agents that have ended, are reported at any number.
   * Whole number, 0 to 1000. Default: `3`.
   */
  deadlockThreshold: number;
  /**
   * Whether two running agents that change the same file are reported, and git commands that would undo another agent's
   * unsaved work in the tree, folders or files that they concern. Default: `true`.
   */
  fileConflicts: boolean;
  /** Levels of sub-agents below a main session. 0: off. Whole number, 0 to 100. Default: `5`. */
  maxSpawnDepth: number;
  /**
   * Turns of work after which a plan (todo list) that was not updated is remarked on, once for each message of the
   * user. Whole number, 0 to 1000. Default: `10`.
   */
  planLagTurns: number;
  // end: keys
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
  /** Bytes of UTF-8 hashed at most, cut at a character boundary, ANSI sequences not counted. Default 65536. */
  maxBytes?: number;
  /** Lines of preview. Default 20; 0: none. */
  previewLines?: number;
}
/** SHA-256 (hex) of the output without ANSI sequences, and its first lines. */
export function hashOutput(raw: string, options?: HashOutputOptions): { hash: string; preview: string };

// ---------------------------------------------------------------------------------------------------------------
// Findings

// generated: evidence
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
// end: evidence

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

// generated: interventions
export type InterventionKind =
  | "stream_loop"
  | "polling"
  | "denied"
  | "provider_failure"
  | "compaction_loop"
  | "empty_result"
  | "timeout"
  | "excessive_cost"
  | "deadlock"
  | "file_conflict"
  | "orphan"
  | "spawn_depth"
  | "plan_lag";
// end: interventions

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

/** Lifecycle events with the fields that are read; others are ignored. A field of another shape counts as absent. */
export interface LifecycleFields {
  // generated: events
  /** The run begins. */
  agent_start: Record<string, never>;
  /** The run is over; it may go on by itself. */
  agent_end: Record<string, never>;
  /** The run is over for good. */
  agent_settled: Record<string, never>;
  /** Where the agent works; another name of it. */
  session_start: { cwd?: string; worktree?: string; sessionId?: string; reason?: string };
  /** The session has ended. */
  session_shutdown: Record<string, never>;
  /** A chain of agents is over. In recorded traces only. */
  chain_end: Record<string, never>;
  /**
   * Time passed and nothing else happened: the clocks are read. Agents named in `inFlight` are at work; output and
   * processor time that grew are a sign of open calls (the fields are in traces only).
   */
  tick: { inFlight?: string[]; outputBytes?: number; cpuSec?: number };
  /** Nothing ran for so many ms until now: nobody was silent meanwhile. */
  suspended: { ms: number };
  /** What came since the last finished turn is rolled back and will be sent again. In recorded traces only. */
  provider_retry: Record<string, never>;
  /** The request is sent again, after the delay (ms) or the time that the message names. */
  auto_retry_start: { delayMs?: number; errorMessage?: string; attempt?: number };
  /**
   * The provider failed a request; it answers nothing until then (seconds), or the request may be sent again within a
   * minute.
   */
  provider_limit: { resetInSec?: number; errorMessage?: string };
  /** The context is being compacted. */
  compaction_start: { reason?: string; tokensBefore?: number };
  /** The context was compacted, or not. `reason` `manual`: a person asked for it. */
  compaction_end: { reason?: string; aborted?: boolean; errorMessage?: string; tokensBefore?: number };
  /** `off`, `minimal`, `low`, `medium`, `high`, `xhigh`: silence is measured by it. */
  thinking_level: { level: string };
  /** A running call has output. */
  tool_update: { callId?: string };
  /**
   * A question to a person. What a child asks counts as seen while a dialog of the main session is open that was opened
   * after it.
   */
  ui_prompt_start: { requestId?: string; kind?: string };
  /** The end of a question to a person. */
  ui_prompt_end: { requestId?: string };
  /** A question about a permission. In recorded traces only. */
  permission_ask: { requestId?: string };
  /** Its answer. In recorded traces only. */
  permission_reply: { requestId?: string };
  /**
   * A message to another agent; with `replyWanted` the sender waits for one until it is answered or works on. In
   * recorded traces only.
   */
  message_send: { to: string; replyWanted?: boolean };
  /** The user stopped the agent. */
  user_abort: Record<string, never>;
  /**
   * The watchdog, or a sub-agent package with news of a child, spoke to the agent: the same answer to each of many is
   * no repetition.
   */
  notice: Record<string, never>;
  /** A message that steers the agent has reached it. */
  steer: { text: string };
  /** `agent` begins; `parent` absent: the main agent started it. */
  subagent_spawn: {
    id?: string;
    parent?: string;
    agentType?: string;
    task?: string;
    name?: string;
    background?: boolean;
  };
  /** `agent` is at work. */
  subagent_stream: Record<string, never>;
  /** `agent` asks its model. In recorded traces only. */
  subagent_request: Record<string, never>;
  /** `agent` had ended and is taken up again. */
  subagent_resume: Record<string, never>;
  /** `agent` has ended, as whoever started it says. */
  subagent_end: { status?: string; error?: string };
  /**
   * US dollars of one request, of the whole tree so far, and a limit that counts before the configured one. In recorded
   * traces only.
   */
  usage: { usd?: number; totalUsd?: number; budgetUsd?: number };
  /** A process that an agent started. In recorded traces only. */
  process: { pid: number; owner?: string; alive?: boolean; ownerAlive?: boolean };
  /** A file under its real path, where the call named it through a link. */
  file_read: { path: string };
  /** The same of a file that was changed. */
  file_written: { path: string };
  // end: events
}
export type LifecycleEvent = keyof LifecycleFields;

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
  | { type: "lifecycle"; event: LifecycleEvent | (string & {}); [field: string]: unknown }
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
  /** SHA-256, hex, of all of the output without ANSI sequences. */
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
  observeLifecycle(handle: number, at: number, event: LifecycleEvent, fields: string): number;
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
