// `node scripts/mutants.mjs [options] <file or folder>…`: changes the TypeScript there, one place at a time, in a copy of the
// tree, and runs the unit tests that reach the changed file. A change that no test notices is printed. Not part of CI.
//
//   --sample N    so many changes, chosen by the seed (default 50; 0: all)
//   --seed N      (default 1)
//   --skip TEXT   tests whose names fit the pattern are left out (slow ones)
//   --only TEXT   test files whose paths contain it

import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { mutated, mutationsOf, shuffled } from "./lib/mutations.mjs";
import { root } from "./lib/native.mjs";

/** A mutant may hang: so much longer than the untouched tests it may run, and so much at least; ms. */
const PATIENCE = 3;
const PATIENCE_MS = 5000;
/** What the tests wait at most for something that does not come; they wait a minute otherwise. */
const WAIT_MS = 15_000;

const { values, positionals } = parseArgs({
  options: {
    sample: { type: "string", default: "50" },
    seed: { type: "string", default: "1" },
    skip: { type: "string" },
    only: { type: "string" },
  },
  allowPositionals: true,
});

const copy = mkdtempSync(join(tmpdir(), "mutants-"));
process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.on(signal, () => process.exit(1));
makeCopy();

const files = sources(positionals.length > 0 ? positionals : ["extension/link"]);
const reaching = reach();
const all = files.flatMap((file) =>
  mutationsOf(readFileSync(join(copy, file), "utf8")).map((mutation) => ({ file, mutation })),
);
const sample = Number(values.sample) || all.length;
const chosen = shuffled(all, Number(values.seed)).slice(0, sample);
/** How long a test file takes as it is. @type {Map<string, number>} */
const times = new Map();
await measure();

/** @type {Map<string, { killed: number, survived: string[] }>} */
const results = new Map(files.map((file) => [file, { killed: 0, survived: [] }]));
let number = 0;
for (const { file, mutation } of chosen) {
  number += 1;
  const killer = await killed(file, mutation);
  const place = `${file}:${mutation.line}  ${mutation.kind}: ${short(mutation.from)} → ${short(mutation.to)}`;
  console.log(
    `${number}/${chosen.length} ${killer === undefined ? "SURVIVED" : "killed"} ${place}${killer === undefined ? "" : `  (${killer})`}`,
  );
  const result = results.get(file);
  if (killer === undefined) result?.survived.push(place);
  else if (result) result.killed += 1;
}
report();

/** What is tracked or new, the addon, and a link to what is installed. */
function makeCopy() {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
    cwd: root,
    encoding: "utf8",
  });
  for (const file of listed.split("\0").filter((name) => name !== "" && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  cpSync(join(root, "native"), join(copy, "native"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"), "dir");
}

/** @param {string[]} places */
function sources(places) {
  const found = places.flatMap((place) => {
    const path = relative(root, resolve(root, place));
    return statSync(join(root, path)).isDirectory() ? globSync(`${path}/**/*.ts`, { cwd: root }) : [path];
  });
  return [...new Set(found)].sort();
}

/** The unit tests that load a file, those first that name it themselves. */
function reach() {
  const tests = globSync("__test__/unit/**/*.test.ts", { cwd: root }).filter((file) =>
    file.includes(values.only ?? ""),
  );
  const loads = tests.map((test) => {
    const seen = new Map([[test, 0]]);
    for (const [file, depth] of seen) {
      const text = readFileSync(join(copy, file), "utf8");
      for (const [, name = ""] of text.matchAll(/(?:from |import\(|new URL\()"(\.{1,2}\/[^"]+|[\w-]+\.ts)"/g)) {
        const path = relative(root, resolve(root, dirname(file), name));
        if (!seen.has(path) && path.endsWith(".ts") && existsSync(join(root, path))) seen.set(path, depth + 1);
      }
    }
    return { test, seen };
  });
  return (/** @type {string} */ file) =>
    loads
      .flatMap(({ test, seen }) => (seen.has(file) ? [{ test, depth: seen.get(file) ?? 0 }] : []))
      .sort((one, other) => (times.get(one.test) ?? 0) * one.depth - (times.get(other.test) ?? 0) * other.depth)
      .map(({ test }) => test);
}

/** Tests that fail as it is show nothing. */
async function measure() {
  const needed = new Set(chosen.flatMap(({ file }) => reaching(file)));
  for (const test of [...needed].sort()) {
    const began = performance.now();
    const outcome = await run(test, 300_000);
    times.set(test, performance.now() - began);
    if (outcome !== "passed") {
      console.error(`${test} ${outcome} without any change: nothing can be measured`);
      process.exit(1);
    }
  }
  console.log(
    `${all.length} changes in ${files.length} files, ${chosen.length} of them tried; ${needed.size} test files`,
  );
}

/** @param {string} file @param {import("./lib/mutations.mjs").Mutation} mutation */
async function killed(file, mutation) {
  const source = readFileSync(join(copy, file), "utf8");
  writeFileSync(join(copy, file), mutated(source, mutation));
  try {
    for (const test of reaching(file)) {
      const outcome = await run(test, Math.max(PATIENCE_MS, PATIENCE * (times.get(test) ?? 0)));
      if (outcome !== "passed") return `${test}: ${outcome}`;
    }
    return undefined;
  } finally {
    writeFileSync(join(copy, file), source);
  }
}

/** Until the first test fails. @param {string} test @param {number} most @returns {Promise<"passed" | "failed" | "too slow">} */
function run(test, most) {
  const skip = values.skip === undefined ? [] : [`--test-skip-pattern=${values.skip}`];
  const args = ["--no-warnings", "--test", "--test-reporter=tap", ...skip, join(copy, test)];
  const env = { ...process.env, TEST_DEADLINE_MS: String(WAIT_MS) };
  const child = spawn(process.execPath, args, { cwd: copy, env, stdio: ["ignore", "pipe", "ignore"], detached: true });
  return new Promise((done) => {
    let failed = false;
    let late = false;
    const end = () => {
      // With what the tests have started.
      try {
        process.kill(-(/** @type {number} */ (child.pid)), "SIGKILL");
      } catch {
        // It has ended.
      }
    };
    const timer = setTimeout(() => {
      late = true;
      end();
    }, most);
    child.stdout.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      if (!/^\s*not ok /m.test(text)) return;
      failed = true;
      end();
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      end();
      done(late ? "too slow" : failed || code !== 0 ? "failed" : "passed");
    });
  });
}

/** @param {string} text */
function short(text) {
  const line = text.replace(/\s+/g, " ");
  return line.length > 60 ? `${line.slice(0, 57)}...` : line;
}

function report() {
  let [dead, left] = [0, 0];
  console.log("");
  for (const [file, { killed: count, survived }] of results) {
    if (count + survived.length === 0) continue;
    dead += count;
    left += survived.length;
    console.log(`${file}: ${count} killed, ${survived.length} survived`);
    for (const place of survived) console.log(`  ${place}`);
  }
  console.log(`${dead} killed, ${left} survived (${((100 * dead) / Math.max(1, dead + left)).toFixed(1)} % killed)`);
}
