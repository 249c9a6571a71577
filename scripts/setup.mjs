#!/usr/bin/env node
// Brings a clone into a state in which everything runs: dependencies, a Node that Pi runs on, the addon.
// Does only what is missing or stale. Node built-ins only, any Node from 18 on.

import { pathToFileURL } from "node:url";
import { BuildError, build } from "./build.mjs";
import { installDependencies, SetupError } from "./lib/dependencies.mjs";
import { suitableNode } from "./lib/node.mjs";

/** @returns {Promise<{ node: string, lines: string[] }>} the Node to go on with, and what was done, a line each */
export async function setup() {
  const dependencies = installDependencies();
  const node = suitableNode();
  if (node === undefined) throw new SetupError("No Node 22.19 or newer was found.");
  const addon = await build();
  return { node, lines: [`dependencies: ${dependencies}`, `node: ${node}`, `addon: ${addon}`] };
}

/** Runs `task`; an expected failure becomes one line and exit code 1. @param {() => Promise<void>} task */
export async function reportFailure(task) {
  try {
    await task();
  } catch (error) {
    if (!(error instanceof SetupError || error instanceof BuildError)) throw error;
    console.error(`setup: ${error.message}`);
    process.exitCode = 1;
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await reportFailure(async () => {
    for (const line of (await setup()).lines) console.log(line);
  });
}
