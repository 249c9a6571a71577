// Brings node_modules in step with package-lock.json. Node built-ins only, any Node from 18 on.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./native.mjs";
import { suitableNode } from "./node.mjs";

/** An expected failure: the message says what to do. */
export class SetupError extends Error {}

/** @param {(text: string) => void} say @returns {"fresh" | "installed"} */
export function installDependencies(say) {
  let outcome = /** @type {"fresh" | "installed"} */ ("fresh");
  if (!inStep()) {
    // `ci` removes the folder first, which must not happen to one that a running process uses.
    const args = existsSync(join(root, "node_modules")) ? ["install", "--no-save"] : ["ci"];
    say(`[1/3] npm ${args[0]}: installs the development dependencies, a minute or two …`);
    // Errors only: that this Node is older than Pi's, which is dealt with below, would be said for each package.
    if (run(npm(), [...args, "--no-audit", "--no-fund", "--loglevel=error"], root) !== 0) {
      throw new SetupError(
        "npm could not install the dependencies (its messages are above). A network is needed once.",
      );
    }
    outcome = "installed";
  }
  if (suitableNode() === undefined) {
    say("[1/3] brings a Node that Pi runs on …");
    bringNode();
    outcome = "installed";
  }
  return outcome;
}

/** Compares what npm says it installed with the lock file; packages for other platforms are absent, which is right. */
function inStep() {
  const wanted = readPackages(join(root, "package-lock.json"));
  const present = readPackages(join(root, "node_modules", ".package-lock.json"));
  if (wanted === undefined || present === undefined) return false;
  return Object.entries(wanted).every(([path, { version, optional, devOptional, peer }]) => {
    if (path === "") return true;
    const installed = present[path];
    if (installed === undefined) return Boolean(optional || devOptional || peer);
    return installed.version === version && existsSync(join(root, path));
  });
}

/**
 * @typedef {{ version: string, optional?: boolean, devOptional?: boolean, peer?: boolean }} LockEntry
 * @param {string} file
 * @returns {Record<string, LockEntry> | undefined}
 */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** The `node` package fetches its binary in an install script; npm may be told not to run those. */
function bringNode() {
  const folder = join(root, "node_modules", "node");
  if (existsSync(folder)) run(process.execPath, ["installArchSpecificPackage.js"], folder);
  if (suitableNode() !== undefined) return;
  throw new SetupError(`Node 22.19 or newer is needed and could not be brought; this is ${process.version}.`);
}

/** npm as a command line: the one that started us, else the one on the path. @returns {string[]} */
function npm() {
  const cli = process.env.npm_execpath;
  if (cli?.endsWith(".js") && existsSync(cli)) return [process.execPath, cli];
  return ["npm"];
}

/**
 * @param {string | string[]} command
 * @param {string[]} args
 * @param {string} cwd
 */
function run(command, args, cwd) {
  const [file, ...first] = [command].flat();
  const env = { ...process.env, PI_WATCHDOG_SETUP: "1" };
  const shell = process.platform === "win32" && file === "npm";
  const { status, error } = spawnSync(file, [...first, ...args], { cwd, env, shell, stdio: ["ignore", 2, 2] });
  if (error !== undefined) throw new SetupError(`${file} could not be started: ${error.message}`);
  return status;
}
