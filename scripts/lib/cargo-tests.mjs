// Runs the tests of the Rust core and counts them from cargo's own result lines.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { add, emptyCount } from "./count.mjs";
import { root } from "./native.mjs";

// Without the binding: a test binary has no Node to link against.
const ARGS = ["test", "--no-default-features", "--locked"];
const RESULT = /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;/;

/** @param {readonly string[]} only further arguments @returns {Promise<import("./count.mjs").Count>} */
export async function runCargoTests(only = []) {
  const cargo = spawn("cargo", [...ARGS, ...only], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const exit = new Promise((resolve) => {
    cargo.on("error", (error) => resolve(error.message));
    cargo.on("close", resolve);
  });
  const count = emptyCount();
  createInterface({ input: cargo.stdout }).on("line", (line) => {
    // One line a test would bury what went wrong.
    if (!/^test .* \.\.\. ok$/.test(line) && line !== "") console.log(line);
    const [, passed, failed, skipped] = (RESULT.exec(line) ?? []).map(Number);
    if (passed !== undefined) add(count, { passed, failed, skipped });
  });
  const code = await exit;
  if (code !== 0 && count.failed === 0) {
    console.error(`cargo test did not run to its end (${code})`);
    count.failed = 1;
  }
  return count;
}
