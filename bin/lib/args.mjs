// The command line: what can be asked for, and how it is read. Reads no file and prints nothing.

import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

export const HELP = `pi-watchdog: finds where a coding agent was stuck

Usage:
  pi-watchdog replay [options] FILE…
  pi-watchdog scan [options] [FOLDER]
  pi-watchdog history [options]

replay runs Pi session files (.jsonl) and traces through the detector that watches live sessions, without a model and
without a network, and says what was found, when, why, and what the loop cost. Pi keeps its session files under
~/.pi/agent/sessions.

scan replays all session files below a folder (Pi's own when none is named) and sums up: incidents by rule, what they
cost, and the sessions that they cost most.

history lists what the watchdog told in Pi, newest first, from the database that it keeps in Pi's folder; also while Pi
runs.

Options:
  --json            one JSON document for programs
  --config FILE     replay, scan: settings to replay with, as in watchdog-supervisor.json
  --fail-on-stuck   replay, scan: exit code 3 when an agent was stuck
  --cases           replay: the files hold labelled cases; one JSON line of detections a case
  --since WHEN      scan, history: only since then: 2026-03-01, 2026-03-01T18:00, 90m, 24h, 7d or 4w
  --top N           scan: sessions listed as the costliest ones (10)
  --session ID      history: of sessions whose id begins so, and of their sub-agents
  --rule NAME       history: of this rule, or of this kind of intervention
  --severity LEVEL  history: info, warning or critical, and what is graver
  --project FOLDER  history: of sessions in this folder
  --open            history: only incidents that are not over
  --limit N         history: incidents, or sessions, at most (50)
  --sessions        history: the sessions and what they used, instead of incidents
  --agent-dir DIR   history: Pi's folder, if it is not the usual one
  --help, -h        this text
  --version, -v     the version

Exit codes:
  0  every file was read
  1  a file could not be read (replay and scan: the others were)
  2  the command line is wrong
  3  with --fail-on-stuck: an agent was stuck
  130, 143  ended by Ctrl-C, or by SIGTERM

The formats are described in docs/trace.md, the output in docs/replay.md, docs/scan.md and docs/history.md.
`;

/** The command line is wrong; the message says how. */
export class UsageError extends Error {}

/**
 * @typedef {object} Replay
 * @property {"replay"} command
 * @property {string[]} files
 * @property {"people" | "json" | "cases"} output
 * @property {string | undefined} config
 * @property {boolean} failOnStuck
 */

/**
 * @typedef {object} Scan
 * @property {"scan"} command
 * @property {string} folder
 * @property {boolean} isDefault no folder was named
 * @property {"people" | "json"} output
 * @property {string | undefined} config
 * @property {boolean} failOnStuck
 * @property {number | undefined} since ms
 * @property {number} top
 */

/**
 * @typedef {object} History
 * @property {"history"} command
 * @property {string} path of the database
 * @property {import("../../index.js").HistoryFilter} filter
 * @property {"people" | "json"} output
 * @property {boolean} sessions
 */

/**
 * @param {readonly string[]} argv
 * @param {{ now: number, env: NodeJS.ProcessEnv }} world
 * @returns {Replay | Scan | History | { command: "help" | "version" }}
 */
export function parseCommandLine(argv, world) {
  const { values, positionals } = parsed(argv);
  if (values.help) return { command: "help" };
  if (values.version) return { command: "version" };
  const [command, ...paths] = positionals;
  if (command === undefined)
    throw new UsageError("say what to do: pi-watchdog replay FILE…, pi-watchdog scan or pi-watchdog history");
  if (command === "replay") return replay(values, paths);
  if (command === "scan") return scan(values, paths, world);
  if (command === "history") return history(values, paths, world);
  throw new UsageError(`there is no command "${command}"; the commands are: replay, scan, history`);
}

/** @typedef {ReturnType<typeof parsed>["values"]} Values */

/**
 * @param {Values} values
 * @param {string[]} files
 * @returns {Replay}
 */
function replay(values, files) {
  refuse(values, "replay", ["since", "top", ...HISTORY_ONLY]);
  if (files.length === 0) throw new UsageError("name the files to replay: pi-watchdog replay FILE…");
  if (files.includes("-")) throw new UsageError("standard input cannot be read twice; save it to a file and name that");
  if (values.json && values.cases) throw new UsageError("--json and --cases are two output formats; choose one");
  const output = values.json ? "json" : values.cases ? "cases" : "people";
  return { command: "replay", files, output, config: values.config, failOnStuck: values["fail-on-stuck"] ?? false };
}

/**
 * @param {Values} values
 * @param {string[]} folders
 * @param {{ now: number, env: NodeJS.ProcessEnv }} world
 * @returns {Scan}
 */
function scan(values, folders, { now, env }) {
  refuse(values, "scan", ["cases", ...HISTORY_ONLY]);
  if (folders.length > 1) throw new UsageError("scan takes one folder; what is below it is scanned with it");
  const [folder = sessionsFolder(env)] = folders;
  return {
    command: "scan",
    folder,
    isDefault: folders.length === 0,
    output: values.json ? "json" : "people",
    config: values.config,
    failOnStuck: values["fail-on-stuck"] ?? false,
    since: values.since === undefined ? undefined : moment(values.since, now),
    top: values.top === undefined ? 10 : wholeNumber(values.top, "top"),
  };
}

/** @type {(keyof Values)[]} */
const HISTORY_ONLY = ["session", "rule", "severity", "project", "open", "limit", "sessions", "agent-dir"];
const SEVERITIES = /** @type {const} */ (["info", "warning", "critical"]);

/**
 * @param {Values} values
 * @param {string[]} more
 * @param {{ now: number, env: NodeJS.ProcessEnv }} world
 * @returns {History}
 */
function history(values, more, { now, env }) {
  refuse(values, "history", ["cases", "top", "config", "fail-on-stuck"]);
  if (more.length > 0) throw new UsageError(`history takes no file, only options; "${more[0]}" is none`);
  const severity = SEVERITIES.find((known) => known === values.severity);
  if (values.severity !== undefined && severity === undefined)
    throw new UsageError(`--severity takes ${SEVERITIES.join(", ")}, not "${values.severity}"`);
  const { session, rule, project, open } = values;
  return {
    command: "history",
    path: join(agentFolder(env, values["agent-dir"]), "watchdog-supervisor", "state.db"),
    filter: {
      ...(values.since === undefined ? {} : { since: moment(values.since, now) }),
      ...(session === undefined ? {} : { session }),
      ...(rule === undefined ? {} : { rule }),
      ...(severity === undefined ? {} : { severity }),
      ...(project === undefined ? {} : { project: resolve(project) }),
      ...(open === undefined ? {} : { open }),
      ...(values.limit === undefined ? {} : { limit: wholeNumber(values.limit, "limit") }),
    },
    output: values.json ? "json" : "people",
    sessions: values.sessions ?? false,
  };
}

/**
 * Options of another command.
 * @param {Values} values
 * @param {string} command
 * @param {(keyof Values)[]} names
 */
function refuse(values, command, names) {
  const name = names.find((name) => values[name] !== undefined);
  if (name !== undefined) throw new UsageError(`--${name} means nothing to ${command}`);
}

/** Where Pi keeps its sessions, by Pi's own rules for its folder. @param {NodeJS.ProcessEnv} env */
function sessionsFolder(env) {
  return join(agentFolder(env), "sessions");
}

/** @param {NodeJS.ProcessEnv} env @param {string} [named] */
function agentFolder(env, named = env.PI_CODING_AGENT_DIR) {
  return named ? named.replace(/^~(?=$|[/\\])/, homedir()) : join(homedir(), ".pi", "agent");
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const WRONG_MOMENT = "--since takes a date (2026-03-01, 2026-03-01T18:00) or a time back from now (90m, 24h, 7d, 4w)";

/**
 * Dates without a time are local midnight.
 * @param {string} when
 * @param {number} now
 */
function moment(when, now) {
  const back = /^(\d+)([mhdw])$/.exec(when);
  if (back) return now - Number(back[1]) * UNITS[/** @type {keyof typeof UNITS} */ (back[2])];
  if (!/^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/.test(when)) {
    throw new UsageError(WRONG_MOMENT);
  }
  // A day alone would be midnight in Greenwich.
  const at = Date.parse(when.length === 10 ? `${when}T00:00` : when);
  if (Number.isNaN(at)) throw new UsageError(WRONG_MOMENT);
  return at;
}

/** @param {string} text @param {string} option */
function wholeNumber(text, option) {
  if (!/^\d{1,6}$/.test(text)) throw new UsageError(`--${option} takes a whole number, not "${text}"`);
  return Number(text);
}

/** @param {readonly string[]} argv */
function parsed(argv) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        json: { type: "boolean" },
        cases: { type: "boolean" },
        config: { type: "string" },
        "fail-on-stuck": { type: "boolean" },
        since: { type: "string" },
        top: { type: "string" },
        session: { type: "string" },
        rule: { type: "string" },
        severity: { type: "string" },
        project: { type: "string" },
        open: { type: "boolean" },
        limit: { type: "string" },
        sessions: { type: "boolean" },
        "agent-dir": { type: "string" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "v" },
      },
    });
  } catch (error) {
    // What follows the first sentence advises on positional arguments that begin with a dash.
    throw new UsageError(error instanceof Error ? error.message.split(". ")[0] : String(error));
  }
}
