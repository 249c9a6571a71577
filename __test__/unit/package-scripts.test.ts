// The scripts that others rely on: the closing line, the reading of index.d.ts, and what may not be tracked.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { closingLine } from "../../scripts/lib/count.mjs";
import { declaredFunctions, declaredMembers, declaredValues, parameterNames } from "../../scripts/lib/declarations.mjs";
import { newEnough } from "../../scripts/lib/node.mjs";

const project = fileURLToPath(new URL("../..", import.meta.url));

describe("closing line", () => {
  it("names skipped tests only when there are some", () => {
    assert.equal(closingLine({ passed: 12, failed: 0, skipped: 0 }), "12 passed, 0 failed");
    assert.equal(closingLine({ passed: 12, failed: 1, skipped: 3 }), "12 passed, 1 failed, 3 skipped");
  });
});

describe("Node versions", () => {
  it("are compared as numbers", () => {
    assert.deepEqual(["v22.19.0", "22.20.1", "v24.0.0", "v100.1.0"].map(newEnough), [true, true, true, true]);
    assert.deepEqual(["v22.18.9", "v20.20.2", "v9.30.0"].map(newEnough), [false, false, false]);
  });
});

describe("reading index.d.ts", () => {
  it("finds values and leaves types out", () => {
    const values = declaredValues();
    for (const name of ["Detector", "store", "Signal", "shouldAlert"]) assert.ok(values.includes(name), name);
    for (const name of ["WatchdogEvent", "StuckAnalysis", "EvidenceType"]) assert.ok(!values.includes(name), name);
  });

  it("finds parameters of functions and of members, also over several lines", () => {
    const detectStuck = declaredFunctions().find(({ name }) => name === "detectStuck");
    assert.deepEqual(detectStuck?.parameters, ["events", "config", "now", "sinceAt"]);
    const { methods, properties } = declaredMembers("WatchdogStore");
    const result = methods.find(({ name }) => name === "observeToolResult");
    assert.equal(result?.parameters.join(), "handle,at,turn,callId,tool,output,isError,files,blockedBy");
    assert.ok(properties.includes("version"));
    assert.ok(!properties.includes("open"), "a method is no property");
  });

  it("sees through types with commas of their own", () => {
    assert.deepEqual(parameterNames("a: { x: number, y: string }, b?: Map<string, number>, c: [number, number]"), [
      "a",
      "b",
      "c",
    ]);
    assert.deepEqual(parameterNames(""), []);
  });
});

describe("tracked files", () => {
  it("may not be build products, binaries or traces of a machine", () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "pi-watchdog-tracked-")));
    try {
      for (const path of ["scripts", "loader.js", "package.json"]) {
        cpSync(join(project, path), join(root, path), { recursive: true });
      }
      const file = (path: string, content: string | Buffer) => {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), content);
      };
      file("native/addon.node", "binary");
      file("picture.bin", Buffer.from([1, 0, 2]));
      file("notes.md", `see ${join(homedir(), "work", "notes")}`);
      file("here.md", `see ${join(root, "here.md")}`);
      file("package-lock.json", '{ "resolved": "https://registry.example/x.tgz" }');
      file("good.md", "see /tmp/x and https://rustup.rs");
      const git = (...args: string[]) => execFileSync("git", args, { cwd: root, stdio: ["ignore", "pipe", "ignore"] });
      git("init");
      git("add", "--force", ".");
      const script = `
        import { checkTrackedFiles } from ${JSON.stringify(join(root, "scripts/lib/check-tracked.mjs"))};
        console.log(JSON.stringify(checkTrackedFiles()));
      `;
      const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
      const problems: string[] = JSON.parse(output);
      assert.deepEqual(problems.map((problem) => problem.split(":", 1)[0]).sort(), [
        "here.md",
        "native/addon.node",
        "notes.md",
        "package-lock.json",
        "picture.bin",
      ]);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});
