// Which Node runs the project: the one that started us when it is new enough for Pi, else the one from node_modules.
// Node built-ins only, any Node from 18 on.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { root } from "./native.mjs";

const FLOOR = [22, 19];
const brought = join(root, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");

/** @param {string} version */
export function newEnough(version) {
  const [major, minor] = version.replace(/^v/, "").split(".").map(Number);
  return major > FLOOR[0] || (major === FLOOR[0] && minor >= FLOOR[1]);
}

/** @returns {string | undefined} path of a Node that is new enough, if there is one */
export function suitableNode() {
  // An install may have replaced the very binary that runs this.
  if (newEnough(process.version) && existsSync(process.execPath)) return process.execPath;
  return works(brought) ? brought : undefined;
}

/** @param {string} path */
function works(path) {
  if (!existsSync(path)) return false;
  const { status, stdout } = spawnSync(path, ["--version"], { encoding: "utf8" });
  return status === 0 && newEnough(stdout.trim());
}

/** The environment for child processes: `node` and the installed commands are found first. @param {string} node */
export function childEnv(node) {
  const path = [dirname(node), join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter);
  return { ...process.env, PATH: path };
}
