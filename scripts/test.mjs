// `npm test [-- --rust|--node] [part of a file name…]`: the Rust core's tests, then all of __test__; the last line counts both.
// `npm test -- --rule NAME`: the tests of one rule, by the name of its file. `--release`: on a release build of the addon.
// Runs on a Node that Pi runs on (scripts/run.mjs sees to it).

import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { parseArgs } from "node:util";
import { runCargoTests } from "./lib/cargo-tests.mjs";
import { add, closingLine, emptyCount } from "./lib/count.mjs";
import { root } from "./lib/native.mjs";

const FILE_LIMIT_MS = 300_000;

const { values, positionals } = parseArgs({
  options: { rust: { type: "boolean" }, node: { type: "boolean" }, rule: { type: "string" } },
  allowPositionals: true,
});
const wantsRust = values.rust || (!values.node && positionals.length === 0);
const wantsNode = values.node || !(values.rust || values.rule);

const total = emptyCount();
if (values.rule !== undefined) {
  add(total, await runCargoTests(["--lib", "--", `rules::${values.rule}::`, `lifecycle::${values.rule}::`]));
} else if (wantsRust) add(total, await runCargoTests());
if (wantsNode) add(total, await runNodeTests());
console.log(closingLine(total));
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;

/** @returns {Promise<import("./lib/count.mjs").Count>} */
async function runNodeTests() {
  const files = globSync("__test__/**/*.test.{ts,mjs}", { cwd: root })
    .filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
    .sort()
    .map((file) => join(root, file));
  const count = emptyCount();
  if (files.length === 0) {
    console.error("no test file matches");
    return { ...count, failed: 1 };
  }
  // Tests on real Pi wait more than they compute, but each starts processes of its own.
  const stream = run({ files, concurrency: Math.max(1, availableParallelism()), timeout: FILE_LIMIT_MS });
  stream.on("test:summary", ({ file, counts }) => {
    if (file !== undefined) return;
    add(count, {
      passed: counts.passed,
      failed: counts.tests - counts.passed - counts.skipped - counts.todo,
      skipped: counts.skipped + counts.todo,
    });
  });
  const report = stream.compose(spec);
  report.pipe(process.stdout, { end: false });
  await new Promise((resolve) => report.on("end", resolve));
  return count;
}
