#!/usr/bin/env node
// `node scripts/run.mjs TASK [args]`: sets the clone up, then runs the task on a Node that Pi runs on.
// Node built-ins only, any Node from 18 on: it is what npm starts before anything is installed.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "./lib/native.mjs";
import { childEnv } from "./lib/node.mjs";
import { reportFailure, setup } from "./setup.mjs";

/** Tasks for which an addon that is quick to build will do, unless they are called with --release. */
const ON_DEBUG = new Set(["test", "check", "generate", "fmt", "eval"]);

/** @type {Record<string, string[]>} */
const TASKS = {
  test: ["scripts/test.mjs"],
  generate: ["scripts/generate.mjs"],
  fmt: ["scripts/fmt.mjs"],
  check: ["scripts/check.mjs"],
  bench: ["bench/run.ts"],
  demo: ["demo/run.ts"],
  eval: ["scripts/eval.mjs"],
};

const [task, ...given] = process.argv.slice(2);
const args = given.filter((word) => word !== "--release");
const command = TASKS[task ?? ""];
if (command === undefined) {
  console.error(`usage: node scripts/run.mjs ${Object.keys(TASKS).join("|")} [args]`);
  process.exit(2);
}

await reportFailure(async () => {
  const { node } = await setup({ debug: ON_DEBUG.has(task ?? "") && args.length === given.length });
  const [script, ...fixed] = command;
  const child = spawn(node, [join(root, script), ...fixed, ...args], {
    cwd: root,
    env: childEnv(node),
    stdio: "inherit",
  });
  for (const signal of /** @type {NodeJS.Signals[]} */ (["SIGINT", "SIGTERM"])) {
    process.on(signal, () => child.kill(signal));
  }
  process.exitCode = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
});
