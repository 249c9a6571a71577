#!/usr/bin/env node
// Brings a clone into a state in which everything runs: dependencies, a Node that Pi runs on, the addon.
// Does only what is missing or stale. Node built-ins only, any Node from 18 on.

import { pathToFileURL } from "node:url";
import { BuildError, build } from "./build.mjs";
import { installDependencies, SetupError } from "./lib/dependencies.mjs";
import { suitableNode } from "./lib/node.mjs";

/**
 * Says on stderr what takes time as it begins, and how long it took.
 * @param {{ debug?: boolean }} [options] `debug`: an addon that is quick to build will do
 * @returns {Promise<{ node: string, lines: string[] }>} the Node to go on with, and what was done, a line each
 */
export async function setup({ debug = false } = {}) {
  const dependencies = await step(1, "dependencies", () => installDependencies(say));
  const node = await step(2, "a Node that Pi runs on", () => suitableNode());
  if (node === undefined) throw new SetupError("No Node 22.19 or newer was found.");
  const addon = await step(3, "the addon", () => build({ debug }));
  return { node, lines: [`dependencies: ${dependencies}`, `node: ${node}`, `addon: ${addon}`] };
}

const STEPS = 3;
/** A step that takes no longer says nothing. */
const QUICK_MS = 2000;

/** @param {string} text */
const say = (text) => console.error(`setup: ${text}`);

/** @template T @param {number} number @param {string} what @param {() => T | Promise<T>} work @returns {Promise<T>} */
async function step(number, what, work) {
  const begin = Date.now();
  const announce = setTimeout(() => say(`[${number}/${STEPS}] ${what} …`), 200);
  try {
    const result = await work();
    const took = Date.now() - begin;
    if (took >= QUICK_MS) say(`[${number}/${STEPS}] ${what}: done in ${(took / 1000).toFixed(0)} s`);
    return result;
  } finally {
    clearTimeout(announce);
  }
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
    const debug = process.argv.includes("--debug");
    for (const line of (await setup({ debug })).lines) console.log(line);
  });
}
