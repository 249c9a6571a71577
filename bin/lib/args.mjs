// The command line: what can be asked for, and how it is read. Reads no file and prints nothing.

import { parseArgs } from "node:util";

export const HELP = `pi-watchdog: finds where a coding agent was stuck

Usage:
  pi-watchdog replay [options] FILE…

Replays Pi session files (.jsonl) and traces through the detector that watches live sessions, without a model and
without a network, and says what was found, when, why, and what the loop cost. Pi keeps its session files under
~/.pi/agent/sessions.

Options:
  --json            one JSON document for programs
  --cases           the files hold labelled cases; one JSON line of detections a case
  --config FILE     settings to replay with, as in watchdog-supervisor.json
  --fail-on-stuck   exit code 3 when an agent was stuck
  --help, -h        this text
  --version, -v     the version

Exit codes:
  0  every file was read
  1  a file could not be read; the others were
  2  the command line is wrong
  3  with --fail-on-stuck: an agent was stuck

The formats are described in docs/trace.md, the output in docs/replay.md.
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
 * @param {readonly string[]} argv
 * @returns {Replay | { command: "help" | "version" }}
 */
export function parseCommandLine(argv) {
  const { values, positionals } = parsed(argv);
  if (values.help) return { command: "help" };
  if (values.version) return { command: "version" };
  const [command, ...files] = positionals;
  if (command === undefined) throw new UsageError("say what to do: pi-watchdog replay FILE…");
  if (command !== "replay") throw new UsageError(`there is no command "${command}"; the command is: replay`);
  if (files.length === 0) throw new UsageError("name the files to replay: pi-watchdog replay FILE…");
  if (files.includes("-")) throw new UsageError("standard input cannot be read twice; save it to a file and name that");
  if (values.json && values.cases) throw new UsageError("--json and --cases are two output formats; choose one");
  const output = values.json ? "json" : values.cases ? "cases" : "people";
  return { command, files, output, config: values.config, failOnStuck: values["fail-on-stuck"] ?? false };
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
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "v" },
      },
    });
  } catch (error) {
    // What follows the first sentence advises on positional arguments that begin with a dash.
    throw new UsageError(error instanceof Error ? error.message.split(". ")[0] : String(error));
  }
}
