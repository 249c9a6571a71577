// The command line: what can be asked for, and how it is read. Reads no file and prints nothing.

import { homedir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

export const HELP = `pi-watchdog: finds where a coding agent was stuck

Usage:
  pi-watchdog replay [options] FILE…
  pi-watchdog scan [options] [FOLDER]

replay runs Pi session files (.jsonl) and traces through the detector that watches live sessions, without a model and
without a network, and says what was found, when, why, and what the loop cost. Pi keeps its session files under
~/.pi/agent/sessions.

scan replays all session files below a folder (Pi's own when none is named) and sums up: incidents by rule, what they
cost, and the sessions that they cost most.

Options:
  --json            one JSON document for programs
  --config FILE     settings to replay with, as in watchdog-supervisor.json
  --fail-on-stuck   exit code 3 when an agent was stuck
  --cases           replay: the files hold labelled cases; one JSON line of detections a case
  --since WHEN      scan: only what happened since then: 2026-03-01, 2026-03-01T18:00, 90m, 24h, 7d or 4w
  --top N           scan: sessions listed as the costliest ones (10)
  --help, -h        this text
  --version, -v     the version

Exit codes:
  0  every file was read
  1  a file could not be read; the others were
  2  the command line is wrong
  3  with --fail-on-stuck: an agent was stuck

The formats are described in docs/trace.md, the output in docs/replay.md and docs/scan.md.
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
 * @param {readonly string[]} argv
 * @param {{ now: number, env: NodeJS.ProcessEnv }} world
 * @returns {Replay | Scan | { command: "help" | "version" }}
 */
export function parseCommandLine(argv, world) {
  const { values, positionals } = parsed(argv);
  if (values.help) return { command: "help" };
  if (values.version) return { command: "version" };
  const [command, ...paths] = positionals;
  if (command === undefined) throw new UsageError("say what to do: pi-watchdog replay FILE… or pi-watchdog scan");
  if (command === "replay") return replay(values, paths);
  if (command === "scan") return scan(values, paths, world);
  throw new UsageError(`there is no command "${command}"; the commands are: replay, scan`);
}

/** @typedef {ReturnType<typeof parsed>["values"]} Values */

/**
 * @param {Values} values
 * @param {string[]} files
 * @returns {Replay}
 */
function replay(values, files) {
  refuse(values, "replay", ["since", "top"]);
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
  refuse(values, "scan", ["cases"]);
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
    top: values.top === undefined ? 10 : wholeNumber(values.top),
  };
}

/**
 * Options of the other command.
 * @param {Values} values
 * @param {string} command
 * @param {("since" | "top" | "cases")[]} names
 */
function refuse(values, command, names) {
  const name = names.find((name) => values[name] !== undefined);
  if (name !== undefined) throw new UsageError(`--${name} means nothing to ${command}`);
}

/** Where Pi keeps its sessions, by Pi's own rules for its folder. @param {NodeJS.ProcessEnv} env */
function sessionsFolder({ PI_CODING_AGENT_DIR: named }) {
  const agent = named ? named.replace(/^~(?=$|[/\\])/, homedir()) : join(homedir(), ".pi", "agent");
  return join(agent, "sessions");
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

/** @param {string} text */
function wholeNumber(text) {
  if (!/^\d{1,6}$/.test(text)) throw new UsageError(`--top takes a whole number, not "${text}"`);
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
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "v" },
      },
    });
  } catch (error) {
    // What follows the first sentence advises on positional arguments that begin with a dash.
    throw new UsageError(error instanceof Error ? error.message.split(". ")[0] : String(error));
  }
}
