// `npm check`: everything that can be judged without running the product. One line a step; what a failed step printed
// comes before its line. Runs on a Node that Pi runs on (scripts/run.mjs sees to it).

import { spawn } from "node:child_process";
import { join } from "node:path";
import { checkCircles } from "./lib/check-circles.mjs";
import { checkCommits } from "./lib/check-commits.mjs";
import { checkDeclarations } from "./lib/check-declarations.mjs";
import { checkExamples } from "./lib/check-examples.mjs";
import { checkTrackedFiles } from "./lib/check-tracked.mjs";
import { closingLine, emptyCount } from "./lib/count.mjs";
import { root } from "./lib/native.mjs";
import { rustFiles } from "./lib/rust-files.mjs";

/**
 * A step throws, or returns the lines that say what is wrong.
 * @type {[name: string, step: () => Promise<string[]> | string[]][]}
 */
const STEPS = [
  ["tracked files", checkTrackedFiles],
  ["titles of commits", checkCommits],
  ["no circle of files", checkCircles],
  ["rustfmt", () => command("rustfmt", "--check", "--edition", "2024", ...rustFiles())],
  ["generated files in step", () => command(process.execPath, join(root, "scripts", "generate.mjs"), "--check")],
  ["biome", () => command("biome", "check", "--error-on-warnings")],
  ["tsc", () => command("tsc", "-p", "tsconfig.json")],
  ["index.d.ts in step", checkDeclarations],
  ["examples compile", checkExamples],
  ["clippy, core", () => clippy("--all-targets", "--no-default-features")],
  ["clippy, addon", () => clippy("--lib")],
];

const count = emptyCount();
for (const [name, step] of STEPS) {
  const start = performance.now();
  const problems = await attempt(step);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  for (const problem of problems) console.log(problem);
  console.log(`${problems.length === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  if (problems.length === 0) count.passed += 1;
  else count.failed += 1;
}
console.log(closingLine(count));
process.exitCode = count.failed > 0 ? 1 : 0;

/** @param {() => Promise<string[]> | string[]} step */
async function attempt(step) {
  try {
    return await step();
  } catch (error) {
    return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  }
}

/**
 * The binding registers its functions in the library alone: in a test build they would look unused.
 * @param {string[]} options
 */
function clippy(...options) {
  return command("cargo", "clippy", "--locked", "--quiet", ...options, "--", "-D", "warnings");
}

/**
 * @param {string} file
 * @param {string[]} args
 * @returns {Promise<string[]>}
 */
function command(file, ...args) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    child.on("error", (error) => resolve([`${file}: ${error.message}`]));
    child.on("close", (code) => resolve(code === 0 ? [] : [output.trimEnd(), `${file} ended with exit code ${code}`]));
  });
}
