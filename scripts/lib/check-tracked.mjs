// What must not be in the repository: build products, and traces of the machine that someone worked on.

import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { root } from "./native.mjs";

const GENERATED = /(^|\/)(node_modules|target|native|coverage)\/|\.(node|so|dylib|dll|tgz|log)$/;

/** @returns {string[]} */
export function checkTrackedFiles() {
  // A clone may belong to another user than the one who checks it.
  const args = ["-c", "safe.directory=*", "ls-files", "-z"];
  const files = execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
  const traces = machineTraces();
  return files.flatMap((file) => {
    if (GENERATED.test(file)) return [`${file}: a build product`];
    const path = join(root, file);
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return [];
    const content = readFileSync(path);
    if (content.includes(0)) return [`${file}: a binary file`];
    const text = content.toString("utf8");
    const found = traces
      .filter((trace) => text.includes(trace))
      .map((trace) => `${file}: names this machine (${trace})`);
    if (file === "package-lock.json" && text.includes('"resolved"')) found.push(`${file}: holds registry addresses`);
    return found;
  });
}

/** Strings that only this machine would have written. Short ones say nothing: they are words. */
function machineTraces() {
  const traces = [join(root, "/"), join(homedir(), "/"), hostname()];
  // Whatever registry this machine installs from, its address belongs in no file.
  const registry = process.env.npm_config_registry;
  if (registry !== undefined) traces.push(new URL(registry).host);
  return traces.filter((trace) => trace.length >= 6);
}
