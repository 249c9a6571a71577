// What each command does, from parsed arguments to an exit code. Detection is the library's.

import { constants, existsSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { styleText } from "node:util";
import { packageVersion } from "../../loader.js";
import { HELP, parseCommandLine, UsageError } from "./args.mjs";
import { historyText, sessionsText } from "./history.mjs";
import { Interrupted, interruptible } from "./interrupt.mjs";
import { reportText } from "./people.mjs";
import { plain } from "./plain.mjs";
import { progressBar } from "./progress.mjs";
import { summaryText } from "./summary.mjs";

/**
 * @typedef {import("../../index.js").ReplayReport} Report
 * @typedef {{ stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream }} Streams
 */

const UNREADABLE = 1;
const USAGE = 2;
const STUCK = 3;

/**
 * @param {readonly string[]} argv
 * @param {Streams} streams
 * @returns {Promise<number>} the exit code
 */
export async function main(argv, streams) {
  /** @param {string} message */
  const complain = (message) => streams.stderr.write(`pi-watchdog: ${message}\n`);
  try {
    const request = parseCommandLine(argv, { now: Date.now(), env: process.env });
    if (request.command === "replay") return await replay(request, streams, complain);
    if (request.command === "scan") return await scan(request, streams, complain);
    if (request.command === "history") return await history(request, streams);
    streams.stdout.write(request.command === "help" ? HELP : `${packageVersion}\n`);
    return 0;
  } catch (error) {
    complain(message(error));
    if (error instanceof Interrupted) return error.exitCode;
    if (!(error instanceof UsageError)) return UNREADABLE;
    streams.stderr.write("pi-watchdog --help lists what can be done\n");
    return USAGE;
  }
}

/**
 * @param {import("./args.mjs").Replay} request
 * @param {Streams} streams
 * @param {(message: string) => void} complain
 */
async function replay({ files, output, config: configFile, failOnStuck }, { stdout }, complain) {
  // Here and not at the top: help and version must work where the addon is missing.
  const library = await import("../../index.js");
  const config = configFile === undefined ? undefined : await readConfig(library, configFile, complain);
  /** @type {import("./people.mjs").Paint} */
  const paint = (format, text) => styleText(format, text, { stream: stdout });
  const results = [];
  let unreadable = false;
  let stuck = false;
  for (const file of files) {
    try {
      if (output === "cases") {
        const cases = await interruptible((signal) => library.replayCases(file, { config, signal }));
        stuck ||= cases.results.some(({ detections }) => detections.some(isStuck));
        for (const { line, message } of cases.warnings) complain(`${plain(file)}: line ${line}: ${plain(message)}`);
        for (const result of cases.results) stdout.write(`${JSON.stringify(result)}\n`);
        continue;
      }
      const report = await interruptible((signal) => library.replayFile(file, { config, signal }));
      stuck ||= report.findings.some(isStuck);
      if (output === "json") results.push(report);
      else stdout.write(`${results.push(report) > 1 ? "\n" : ""}${reportText(report, paint)}`);
    } catch (error) {
      if (error instanceof Interrupted) throw error;
      unreadable = true;
      if (output === "json") results.push({ file, error: message(error) });
      complain(`${plain(file)}: ${message(error)}`);
    }
  }
  if (output === "json") stdout.write(`${JSON.stringify({ version: packageVersion, files: results }, null, 2)}\n`);
  if (unreadable) return UNREADABLE;
  return failOnStuck && stuck ? STUCK : 0;
}

/**
 * @param {import("./args.mjs").Scan} request
 * @param {Streams} streams
 * @param {(message: string) => void} complain
 */
async function scan({ folder, isDefault, output, config: configFile, failOnStuck, since, top }, streams, complain) {
  const library = await import("../../index.js");
  const config = configFile === undefined ? undefined : await readConfig(library, configFile, complain);
  const bar = progressBar(streams.stderr);
  const options = { config, since, costliest: top, ...(bar === undefined ? {} : { onProgress: bar.draw }) };
  const report = await interruptible((signal) => library.scanFolder(folder, { ...options, signal }))
    .catch((error) => {
      if (error instanceof Interrupted) throw error;
      const advice = isDefault ? " (Pi keeps its sessions there; name another folder: pi-watchdog scan FOLDER)" : "";
      throw new Error(`${plain(folder)}: ${message(error)}${advice}`);
    })
    .finally(() => bar?.clear());
  if (output === "json") {
    const when = since === undefined ? {} : { since: new Date(since).toISOString() };
    streams.stdout.write(`${JSON.stringify({ version: packageVersion, ...when, ...report }, null, 2)}\n`);
  } else {
    streams.stdout.write(
      summaryText(report, since, (format, text) => styleText(format, text, { stream: streams.stdout })),
    );
    for (const warning of report.warnings) complain(`${plain(warning.file, 500)}: ${plain(warning.message)}`);
    const more = report.warningCount - report.warnings.length;
    if (more > 0) complain(`… and ${more} more warnings`);
  }
  if (report.unreadable > 0) return UNREADABLE;
  return failOnStuck && report.stuckSessions > 0 ? STUCK : 0;
}

/**
 * @param {import("./args.mjs").History} request
 * @param {Streams} streams
 */
async function history({ path, filter, output, sessions }, { stdout }) {
  const library = await import("../../index.js");
  const report = await library.readHistory(path, filter).catch((error) => {
    const advice = existsSync(path)
      ? ""
      : "; Pi begins one when it runs with the watchdog, in another folder with --agent-dir";
    throw new Error(`${message(error)}${advice}`);
  });
  if (output === "json") {
    stdout.write(`${JSON.stringify({ version: packageVersion, path, ...report }, null, 2)}\n`);
    return 0;
  }
  /** @type {import("./people.mjs").Paint} */
  const paint = (format, text) => styleText(format, text, { stream: stdout });
  stdout.write(sessions ? sessionsText(report, paint) : historyText(report, paint));
  return 0;
}

/** @param {{ severity: string, rule: string }} finding */
function isStuck({ severity, rule }) {
  return severity !== "info" && !rule.startsWith("intervention:");
}

/**
 * @param {typeof import("../../index.js")} library
 * @param {string} file
 * @param {(message: string) => void} complain
 */
async function readConfig({ resolveConfig }, file, complain) {
  const text = await readRegularFile(file).catch((error) => {
    throw new Error(`${plain(file)}: the settings cannot be read (${message(error)}); check the path`);
  });
  const { config, warnings } = resolveConfig([{ source: "global", name: file, text }]);
  for (const warning of warnings) complain(plain(warning.message));
  return config;
}

/** A pipe is refused: it would wait for its writer. @param {string} file */
async function readRegularFile(file) {
  const refuse = (/** @type {import("node:fs").Stats} */ stats) => {
    if (!stats.isFile()) throw new Error("this is not a regular file");
  };
  refuse(await stat(file));
  // The path may name something else by now.
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    refuse(await handle.stat());
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/** @param {unknown} error */
function message(error) {
  return plain(error instanceof Error ? error.message : String(error), 1000);
}
