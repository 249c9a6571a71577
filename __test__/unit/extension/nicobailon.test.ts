// What of pi-subagents' files and words is taken, and what is not.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Snapshot, sessionIdOf, Tail } from "../../../extension/subagents/nicobailon/files.ts";
import { backgroundObstacle } from "../../../extension/subagents/nicobailon/version.ts";
import {
  readForeground,
  readParts,
  readStarted,
  readStatus,
  steeringState,
} from "../../../extension/subagents/nicobailon/wire.ts";

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "watchdog-nicobailon-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test("lines are given once, whole, also when they come in parts and within a character", (t) => {
  const path = join(folder(t), "events.jsonl");
  const tail = new Tail(path, 100);
  assert.deepEqual(tail.read(100), []);
  const bytes = Buffer.from("one\ntwö\nthree");
  writeFileSync(path, bytes.subarray(0, 7));
  assert.deepEqual(tail.read(100), ["one"]);
  appendFileSync(path, bytes.subarray(7));
  assert.deepEqual(tail.read(100), ["twö"]);
  appendFileSync(path, "\n");
  assert.deepEqual(tail.read(100), ["three"]);
  assert.deepEqual(tail.read(100), []);
});

test("no more is read than asked for, and a line that is too long costs only itself", (t) => {
  const path = join(folder(t), "events.jsonl");
  writeFileSync(path, `a\n${"x".repeat(50)}\nb\n`);
  const tail = new Tail(path, 20);
  const lines: string[] = [];
  let reads = 0;
  do {
    lines.push(...tail.read(10));
    reads += 1;
  } while (tail.behind);
  assert.deepEqual(lines, ["a", "b"]);
  assert.equal(tail.skipped, 1);
  assert.equal(reads, 6);
});

test("a file that was cut or replaced is read from its beginning", (t) => {
  const path = join(folder(t), "events.jsonl");
  writeFileSync(path, "one\ntwo\n");
  const tail = new Tail(path, 100);
  assert.deepEqual(tail.read(100), ["one", "two"]);
  writeFileSync(path, "new\n");
  assert.deepEqual(tail.read(100), ["new"]);
  writeFileSync(`${path}.next`, "another file\n");
  renameSync(`${path}.next`, path);
  assert.deepEqual(tail.read(100), ["another file"]);
});

test("pipes, links, folders and what is too large or broken are not read", { timeout: 10_000 }, (t) => {
  const path = folder(t);
  const at = (name: string) => join(path, name);
  if (process.platform !== "win32") {
    execFileSync("mkfifo", [at("pipe")]);
    assert.deepEqual(new Tail(at("pipe"), 100).read(100), []);
    writeFileSync(at("real"), '{"type":"session","id":"s"}\n');
    symlinkSync(at("real"), at("link"));
    assert.equal(sessionIdOf(at("link")), undefined);
    assert.equal(sessionIdOf(at("real")), "s");
  }
  assert.equal(new Snapshot(path, 100).read(), undefined);
  writeFileSync(at("large"), JSON.stringify("x".repeat(200)));
  assert.equal(new Snapshot(at("large"), 100).read(), undefined);
  writeFileSync(at("broken"), "{");
  assert.equal(new Snapshot(at("broken"), 100).read(), undefined);
  writeFileSync(at("message"), '{"type":"message","id":"s"}\n');
  assert.equal(sessionIdOf(at("message")), undefined);
});

test("a run is followed only when its id and its folder are what they should be", () => {
  assert.deepEqual(
    readStarted({ id: "r", asyncDir: "/runs/r", agent: "a", pid: 7, nestedRoute: { eventSink: "/n" } }),
    {
      runId: "r",
      asyncDir: "/runs/r",
      agent: "a",
      pid: 7,
      nestedSink: "/n",
    },
  );
  for (const payload of [undefined, 7, "r", [], { id: "r" }, { id: "", asyncDir: "/r" }, { id: "r", asyncDir: "r" }])
    assert.equal(readStarted(payload), undefined);
});

test("the package's words for where a run is become states; other words are no status", () => {
  const states = ["queued", "running", "complete", "failed", "partial", "paused", "stopped", "rejected"];
  assert.deepEqual(
    states.map((state) => readStatus({ state })?.status),
    ["queued", "running", "completed", "error", "partial", "paused", "stopped", "rejected"],
  );
  assert.equal(readStatus({ state: "sleeping" }), undefined);
  const [step] =
    readStatus({ state: "running", steps: [{ agent: 7, sessionFile: "relative", status: "odd" }] })?.steps ?? [];
  assert.deepEqual(step, { index: 0, agent: "", name: "", status: "queued", childId: "", error: "" });
});

test("a steer's state is that of the addressee, not of another agent of the run", () => {
  const status = {
    steering: {
      recent: [
        {
          id: "q",
          targets: [
            { index: 0, state: "failed", reason: "no" },
            { index: 1, state: "delivered" },
          ],
        },
      ],
    },
  };
  assert.equal(steeringState(status, "q", 1).state, "delivered");
  assert.deepEqual(steeringState(status, "q", 0), { state: "failed", reason: "no" });
  assert.equal(steeringState(status, "other", 1).state, "");
  assert.equal(steeringState(undefined, "q", 1).state, "");
});

test("details of other tools, and of calls that start background runs, are no foreground run", () => {
  const results = [{ index: 0, agent: "a", messages: [] }];
  for (const details of [
    undefined,
    "x",
    { mode: "single", results },
    { runId: "r", results },
    { mode: "single", runId: "r" },
  ])
    assert.equal(readForeground(details, false), undefined);
  assert.equal(readForeground({ mode: "single", runId: "r", asyncId: "r", results }, false), undefined);
  assert.equal(readForeground({ mode: "single", runId: "r", results }, false)?.agents[0]?.status, "running");
});

test("an agent that has ended is what its marks say", () => {
  const ended = (marks: Record<string, unknown>) =>
    readForeground({ mode: "single", runId: "r", results: [{ index: 0, agent: "a", ...marks }] }, true)?.agents[0]
      ?.status;
  assert.equal(ended({ exitCode: 0 }), "completed");
  assert.equal(ended({ exitCode: 1 }), "error");
  assert.equal(ended({ exitCode: 0, interrupted: true }), "paused");
  assert.equal(ended({ exitCode: 0, stopped: true }), "stopped");
  assert.equal(ended({ exitCode: 0, detached: true }), "running");
  assert.equal(ended({ exitCode: 0, execution: { status: "partial" } }), "partial");
});

test("what a result's usage is made of is known by run and agent: of the call, of a workflow, of runs waited for", () => {
  const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: 0.5 };
  const spent = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, usd: 0.5 };
  assert.deepEqual(readParts({ runId: "r", mode: "single", results: [{ index: 1, usage }] }), [
    { runId: "r", index: 1, spent },
  ]);
  const workflowChildren = { children: [{ childId: "k", runId: "own" }] };
  const results = [{ index: 0, workflowKey: "k", usage }];
  assert.deepEqual(readParts({ runId: "call", mode: "workflow", workflowChildren, results }), [
    { runId: "own", index: 0, spent },
  ]);
  assert.deepEqual(readParts({ mode: "management", completions: [{ runId: "bg", results: [{ usage }, { usage }] }] }), [
    { runId: "bg", index: 0, spent },
    { runId: "bg", index: 1, spent },
  ]);
  assert.deepEqual(readParts("nothing"), []);
});

test("background runs are said not to start where they do not", () => {
  assert.match(backgroundObstacle("0.67.0", "1.6.0") ?? "", /cannot start on Pi 1\.6\.0.*0\.75/);
  assert.equal(backgroundObstacle("0.67.0", "0.87.1"), undefined);
  assert.equal(backgroundObstacle("0.75.0", "1.6.0"), undefined);
  assert.equal(backgroundObstacle("1.0.0", "1.6.0"), undefined);
});
