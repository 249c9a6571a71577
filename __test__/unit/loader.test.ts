// One addon per process, whatever the number of copies, threads and reloads; and clear words when there is none.
// Each test runs in a process of its own, because what is loaded into a process stays.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("../..", import.meta.url));
const { version } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));

let scratch: string;
before(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "pi-watchdog-loader-")));
});
after(() => rmSync(scratch, { recursive: true, force: true }));

/** A copy of the library at a path of its own, its addon included. */
function copy(name: string, packageVersion = version): string {
  const folder = join(scratch, name);
  mkdirSync(folder, { recursive: true });
  for (const path of ["index.js", "loader.js", "shared", "native"])
    cpSync(join(project, path), join(folder, path), { recursive: true });
  const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, version: packageVersion }));
  return folder;
}

/** Runs a module in a fresh process; `answer` is what it passes to `answer()`. */
function run(body: string): unknown {
  const helpers = `
    import { Worker } from "node:worker_threads";
    import { readFileSync } from "node:fs";
    const answer = (value) => console.log(JSON.stringify(value));
    const failure = (action) => { try { action(); return "no error"; } catch (error) { return error.message; } };
    const inWorker = (source) => new Promise((resolve, reject) => {
      const worker = new Worker("import('node:worker_threads').then(async ({ parentPort }) => {" + source + "})", { eval: true });
      worker.on("message", (value) => resolve({ value, worker }));
      worker.on("error", reject);
    });
  `;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", `${helpers}\n${body}`], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  return JSON.parse(output);
}

const loader = (folder: string) => JSON.stringify(join(folder, "loader.js"));
const library = (folder: string) => JSON.stringify(join(folder, "index.js"));

const OPEN = `(store, config, id) => store.open(id, 1, { name: id }, config)`;
const IDS = `(store) => store.targets(undefined, true).map(({ id }) => id).sort()`;

describe("loader", () => {
  it("gives two copies of the package one store", () => {
    const [first, second] = [copy("one"), copy("two")];
    const ids = run(`
      const a = await import(${library(first)});
      const b = await import(${library(second)});
      (${OPEN})(a.store, a.defaultConfig(), "from-a");
      (${OPEN})(b.store, b.defaultConfig(), "from-b");
      answer([(${IDS})(a.store), (${IDS})(b.store)]);
    `);
    assert.deepEqual(ids, [
      ["from-a", "from-b"],
      ["from-a", "from-b"],
    ]);
  });

  it("gives a worker thread with another copy the store of the main thread", () => {
    const [first, second] = [copy("main"), copy("worker")];
    const ids = run(`
      const a = await import(${library(first)});
      (${OPEN})(a.store, a.defaultConfig(), "from-main");
      const { worker } = await inWorker(${JSON.stringify(`
        const b = await import(${library(second)});
        (${OPEN})(b.store, b.defaultConfig(), "from-worker");
        parentPort.postMessage("ready");
      `)});
      await worker.terminate();
      answer((${IDS})(a.store));
    `);
    assert.deepEqual(ids, ["from-main", "from-worker"]);
  });

  it("finds the store that a worker thread opened before the main thread did", {
    skip: process.platform !== "linux",
  }, () => {
    const [first, second] = [copy("late-main"), copy("early-worker")];
    const ids = run(`
      const { worker } = await inWorker(${JSON.stringify(`
        const b = await import(${library(second)});
        (${OPEN})(b.store, b.defaultConfig(), "from-worker");
        parentPort.postMessage("ready");
        setInterval(() => {}, 1000);
      `)});
      const a = await import(${library(first)});
      answer((${IDS})(a.store));
      await worker.terminate();
    `);
    assert.deepEqual(ids, ["from-worker"]);
  });

  it("keeps the store when the module is loaded again, also after the file was replaced", () => {
    const folder = copy("reloaded");
    const [image] = readdirSync(join(folder, "native")).filter((name) => name.endsWith(".node"));
    const path = JSON.stringify(join(folder, "native", image ?? ""));
    const ids = run(`
      import { copyFileSync, renameSync } from "node:fs";
      const a = await import(${library(folder)});
      (${OPEN})(a.store, a.defaultConfig(), "before");
      copyFileSync(${path}, ${path} + ".new");
      renameSync(${path} + ".new", ${path});
      const b = await import(${library(folder)} + "?again");
      answer((${IDS})(b.store));
    `);
    assert.deepEqual(ids, ["before"]);
  });

  it("warns when the process holds another compatible version", () => {
    const [first, second] = [copy("old"), copy("newer", version.replace(/\d+$/, "99"))];
    const [info, newer] = run(`
      const a = await import(${loader(first)});
      const b = await import(${loader(second)});
      a.loadBinding();
      answer([a.bindingInfo(), b.bindingInfo()]);
    `) as { version: string; warning?: string }[];
    assert.equal(info?.warning, undefined);
    assert.equal(newer?.version, version);
    assert.match(newer?.warning ?? "", /\.99 runs on the addon .*Restart Pi/);
  });

  it("refuses an image of another major version and asks for a restart", () => {
    const folder = copy("major", "99.0.0");
    const message = run(`
      const { loadBinding } = await import(${loader(folder)});
      answer(failure(loadBinding));
    `);
    assert.match(String(message), /is of version .*, and this is .* 99\.0\.0\. .*restart Pi\. Run `npm run/);
  });

  it("says what to run when the addon is missing", () => {
    const folder = copy("missing");
    rmSync(join(folder, "native"), { recursive: true });
    const body = `const { loadBinding } = await import(${loader(folder)}); answer(failure(loadBinding));`;
    const installed = String(run(body));
    assert.ok(installed.includes(`Run \`npm run build\` in ${folder}`), installed);
    writeFileSync(join(folder, "package-lock.json"), "{}");
    const clone = String(run(body));
    assert.ok(clone.includes(`Run \`npm run setup\` in ${folder}`), clone);
    // Pi keeps packages from git as clones, which nobody works in.
    const kept = copy(join("home", ".pi", "agent", "git", "example.org", "missing"));
    rmSync(join(kept, "native"), { recursive: true });
    writeFileSync(join(kept, "package-lock.json"), "{}");
    const advice = String(run(`const { loadBinding } = await import(${loader(kept)}); answer(failure(loadBinding));`));
    assert.ok(advice.includes(`Run \`npm run build\` in ${kept}`), advice);
  });

  it("says what to run when the addon cannot be loaded", () => {
    const folder = copy("broken");
    const [image] = readdirSync(join(folder, "native")).filter((name) => name.endsWith(".node"));
    writeFileSync(join(folder, "native", image ?? ""), "no library");
    const message = String(
      run(`const { loadBinding } = await import(${loader(folder)}); answer(failure(loadBinding));`),
    );
    assert.match(message, /cannot be loaded \(.+\)\. Run `npm run build`/s);
  });

  it("does not load an addon that is cut off, which would end the process", {
    skip: process.platform !== "linux",
  }, () => {
    const folder = copy("cut-off");
    const [image = ""] = readdirSync(join(folder, "native")).filter((name) => name.endsWith(".node"));
    const whole = readFileSync(join(folder, "native", image));
    for (const length of [0, 40, 100_000, whole.length - 1]) {
      writeFileSync(join(folder, "native", image), whole.subarray(0, length));
      const message = run(`const { loadBinding } = await import(${loader(folder)}); answer(failure(loadBinding));`);
      assert.match(String(message), /cannot be loaded \(.+\)\. Run `npm run build`/s, `${length} bytes`);
    }
  });
});
