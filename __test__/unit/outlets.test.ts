// Findings for other programs: real listeners, real processes, real files, and what hostile ones cannot do.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createEventBus } from "@earendil-works/pi-coding-agent";
import { busOutlet } from "../../extension/outlets/bus.ts";
import { cleaned, commandOutlet } from "../../extension/outlets/command.ts";
import { createOutlets } from "../../extension/outlets/index.ts";
import { logOutlet } from "../../extension/outlets/log.ts";
import type { Report } from "../../extension/outlets/report.ts";

const report = (over: Partial<Report> = {}): Report => ({
  state: "finding",
  matter: "target-1/loop",
  target: { id: "target-1", name: "Explore", kind: "task" },
  severity: "warning",
  rule: "repeated_command",
  summary: "same command repeated 3 times",
  evidence: ["same command repeated 3 times"],
  at: 1000,
  ...over,
});

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "outlets-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const lines = (path: string): Report[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Report);

const node = (script: string): string[] => [process.execPath, "-e", script];
const STDIN = "let s='';process.stdin.on('data',d=>s+=d).on('end',()=>done(s));";
/** Appends what it is given to a file. */
const appending = (file: string): string[] =>
  node(`const done=(s)=>require('fs').appendFileSync(${JSON.stringify(file)},s);${STDIN}`);

test("each state is one event on its own channel, and a listener can change neither the report nor the next listener", () => {
  const bus = createEventBus();
  const heard: unknown[] = [];
  const original = report({
    summary: "a\u001b[2Jb\u202e\nc",
    evidence: Array.from({ length: 50 }, () => "x".repeat(5000)),
  });
  bus.on("pi-watchdog:finding", (data) => {
    (data as Report).target.name = "changed";
  });
  bus.on("pi-watchdog:finding", (data) => heard.push(data));
  bus.on("pi-watchdog:over", (data) => heard.push(data));
  const quiet = console.error;
  console.error = () => {};
  try {
    const outlet = busOutlet(bus);
    outlet(original);
    outlet(report({ state: "over" }));
    outlet(report({ state: "rescue" }));
  } finally {
    console.error = quiet;
  }
  assert.deepEqual(
    heard.map((one) => (one as Report).state),
    ["finding", "over"],
  );
  const first = heard[0] as Report;
  assert.equal(first.target.name, "Explore");
  assert.equal(original.target.name, "Explore");
  assert.doesNotMatch(first.summary, /[\u001b\u202e\n]/);
  assert.equal(first.evidence.length, 10);
  assert.ok(JSON.stringify(first).length < 4000);
});

test("a bus that throws changes nothing for the other outlets", (t) => {
  const file = join(folder(t), "findings.jsonl");
  const emit = (): void => {
    throw new Error("hostile");
  };
  const { outlet, close } = createOutlets({ events: { emit }, findingsLog: file, fail: assert.fail });
  outlet(report());
  outlet(report({ state: "over" }));
  close();
  assert.deepEqual(
    lines(file).map(({ state }) => state),
    ["finding", "over"],
  );
});

test("the command gets the report on its standard input, arguments as they are, and a cleaned environment", async (t) => {
  const dir = folder(t);
  const file = join(dir, "out");
  const script = `const done=(s)=>require('fs').writeFileSync(${JSON.stringify(file)},JSON.stringify({s,args:process.argv.slice(1),env:process.env,cwd:process.cwd()}));${STDIN}`;
  const hostile = ["$(touch pwned)", "; touch pwned", "a b"];
  const env = { PATH: `.:${process.env.PATH}:bin`, HOME: dir, LANG: "C", API_KEY: "secret", NODE_OPTIONS: "--bad" };
  const command = commandOutlet({ command: [...node(script), ...hostile], env, fail: assert.fail });
  command.outlet(report({ cost: 0.5 }));
  await command.idle();
  const got = JSON.parse(readFileSync(file, "utf8"));
  assert.deepEqual(JSON.parse(got.s), report({ cost: 0.5 }));
  assert.deepEqual(got.args, hostile);
  assert.deepEqual(Object.keys(got.env).sort(), ["HOME", "LANG", "PATH"]);
  assert.ok(got.env.PATH.split(":").every((entry: string) => entry.startsWith("/")));
  assert.equal(existsSync(join(got.cwd, "pwned")), false);
  assert.deepEqual(cleaned({ AWS_SECRET_ACCESS_KEY: "x", LD_PRELOAD: "y" }), {});
});

test("one command runs at a time; what comes meanwhile is the latest state of each matter, and at most 32 matters", async (t) => {
  const file = join(folder(t), "out");
  const command = commandOutlet({ command: appending(file), fail: assert.fail, limitMs: 60_000 });
  command.outlet(report({ matter: "first" }));
  for (let i = 0; i < 20; i++) command.outlet(report({ matter: "worse", severity: i < 19 ? "warning" : "critical" }));
  command.outlet(report({ matter: "ended" }));
  command.outlet(report({ matter: "ended", state: "over" }));
  await command.idle();
  assert.deepEqual(
    lines(file).map(({ matter, state, severity }) => [matter, state, severity]),
    [
      ["first", "finding", "warning"],
      ["worse", "finding", "critical"],
      ["ended", "over", "warning"],
    ],
  );
});

test("a flood of matters keeps the gravest", async (t) => {
  const dir = folder(t);
  const file = join(dir, "out");
  // Holds until the whole flood has come, so that all of it has to wait.
  const command = commandOutlet({ command: appending(file), fail: assert.fail, limitMs: 60_000 });
  command.outlet(report({ matter: "running" }));
  command.outlet(report({ matter: "grave", severity: "critical" }));
  for (let i = 0; i < 1000; i++) command.outlet(report({ matter: `m${i}` }));
  await command.idle();
  const matters = lines(file).map(({ matter }) => matter);
  assert.equal(matters.length, 33);
  assert.ok(matters.includes("grave") && matters.includes("m999") && !matters.includes("m0"));
});

const alive = (pid: number): boolean => {
  try {
    // A process that has ended and waits for its parent is no running one.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

async function until(holds: () => boolean, what: string): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail(what);
}

test("a command that hangs is ended with what it started, and the next one runs", {
  skip: process.platform !== "linux",
}, async (t) => {
  const dir = folder(t);
  const pids = join(dir, "pids");
  const failures: string[] = [];
  const script = `const c=require('child_process').spawn('sleep',['1000']);require('fs').appendFileSync(${JSON.stringify(pids)},process.pid+' '+c.pid+'\\n');setInterval(()=>{},1e6)`;
  const command = commandOutlet({ command: node(script), fail: (text) => failures.push(text), limitMs: 3000 });
  command.outlet(report());
  command.outlet(report({ matter: "second" }));
  await command.idle();
  const started = readFileSync(pids, "utf8").trim().split("\n");
  assert.equal(started.length, 2);
  for (const pid of started.flatMap((line) => line.split(" ").map(Number))) {
    await until(() => !alive(pid), `${pid} still runs`);
  }
  assert.equal(failures.length, 1, "two failures are one line");
  assert.match(failures[0] ?? "", /^notifyCommand failed: it ran for more than 3 s and was ended/);
});

test("a command that floods its output, ends without reading, fails or is missing is one line, and nothing throws", async () => {
  const flood = "for(let i=0;i<2000;i++)process.stdout.write('x'.repeat(10000));";
  const cases: [string[], RegExp | undefined][] = [
    [node(flood), undefined],
    [node("process.stdin.destroy()"), undefined],
    [node("process.exit(3)"), /exit code 3/],
    [["/nowhere/no-such-program"], /ENOENT/],
    [["nul\u0000byte"], /null bytes/],
    [[""], /./],
  ];
  for (const [argv, says] of cases) {
    const failures: string[] = [];
    const command = commandOutlet({ command: argv, fail: (text) => failures.push(text), limitMs: 60_000 });
    for (let i = 0; i < 3; i++) command.outlet(report({ matter: `m${i}` }));
    await command.idle();
    assert.equal(failures.length, says === undefined ? 0 : 1, JSON.stringify([argv, failures]));
    if (says !== undefined) assert.match(failures[0] ?? "", says);
  }
  const throwing = commandOutlet({ command: node("process.exit(1)"), fail: () => assert.fail("thrown by fail") });
  throwing.outlet(report());
  await throwing.idle();
});

test("a closed command outlet ends what runs and starts nothing more", {
  skip: process.platform !== "linux",
}, async (t) => {
  const pids = join(folder(t), "pids");
  const script = `require('fs').appendFileSync(${JSON.stringify(pids)},process.pid+'\\n');setInterval(()=>{},1e6)`;
  const command = commandOutlet({ command: node(script), fail: assert.fail, limitMs: 60_000 });
  command.outlet(report());
  await until(() => existsSync(pids) && readFileSync(pids, "utf8").endsWith("\n"), "the command starts");
  command.outlet(report({ matter: "waits" }));
  const idle = command.idle();
  command.close();
  await idle;
  command.outlet(report({ matter: "later" }));
  await command.idle();
  assert.equal(readFileSync(pids, "utf8").trim().split("\n").length, 1);
  assert.equal(alive(Number(readFileSync(pids, "utf8"))), false);
});

test("Pi's end does not wait for a command, and does not leave it behind", {
  skip: process.platform !== "linux",
}, async (t) => {
  const dir = folder(t);
  const pids = join(dir, "pids");
  const inner = `require('fs').writeFileSync(${JSON.stringify(pids)},process.pid+'\\n');setInterval(()=>{},1e6)`;
  const outer = `
    import { existsSync } from "node:fs";
    import { commandOutlet } from ${JSON.stringify(new URL("../../extension/outlets/command.ts", import.meta.url).href)};
    const command = commandOutlet({ command: ${JSON.stringify(node(inner))}, fail() {}, limitMs: 600000 });
    command.outlet(${JSON.stringify(report())});
    while (!existsSync(${JSON.stringify(pids)})) await new Promise((r) => setTimeout(r, 20));
  `;
  execFileSync(process.execPath, ["--input-type=module", "-e", outer], { timeout: 60_000 });
  const pid = Number(readFileSync(pids, "utf8"));
  await until(() => !alive(pid), `${pid} still runs`);
});

test("the log has one line for each state, for the user only, also in a file that others could read", (t) => {
  const dir = folder(t);
  const file = join(dir, "deep", "findings.jsonl");
  const log = logOutlet({ path: file, fail: assert.fail });
  log(report());
  log(report({ state: "rescue" }));
  log(report({ state: "over", cost: Number.NaN }));
  assert.deepEqual(
    lines(file).map(({ state }) => state),
    ["finding", "rescue", "over"],
  );
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const open = join(dir, "open");
  writeFileSync(open, "", { mode: 0o644 });
  logOutlet({ path: open, fail: assert.fail })(report());
  assert.equal(statSync(open).mode & 0o777, 0o600);
});

test("the log never exceeds its limit and keeps one older file; no line is lost or torn in between", (t) => {
  const file = join(folder(t), "findings.jsonl");
  const maxBytes = 2000;
  const log = logOutlet({ path: file, maxBytes, fail: assert.fail });
  const all = new Set<string>();
  for (let i = 0; i < 200; i++) {
    log(report({ matter: `m${i}`, summary: "x".repeat(i % 150) }));
    assert.ok(statSync(file).size <= maxBytes);
    for (const path of [file, `${file}.1`]) {
      if (!existsSync(path)) continue;
      assert.equal(statSync(path).mode & 0o777, 0o600);
      for (const { matter } of lines(path)) all.add(matter);
    }
  }
  assert.equal(all.size, 200);
  assert.ok(statSync(`${file}.1`).size <= maxBytes);
});

test("links, pipes, folders and relative paths are refused: one line, nothing is written, nothing waits", (t) => {
  const dir = folder(t);
  const target = join(dir, "target");
  writeFileSync(target, "mine\n", { mode: 0o644 });
  const at = (name: string): string => join(dir, name);
  symlinkSync(target, at("symlink"));
  symlinkSync(at("nothing-there"), at("dangling"));
  linkSync(target, at("hardlink"));
  execFileSync("mkfifo", [at("pipe")]);
  for (const path of [at("symlink"), at("dangling"), at("hardlink"), at("pipe"), dir, "relative.jsonl", "/dev/null"]) {
    const failures: string[] = [];
    const log = logOutlet({ path, fail: (text) => failures.push(text) });
    for (let i = 0; i < 3; i++) log(report());
    assert.equal(failures.length, 1, path);
    assert.match(failures[0] ?? "", /^findingsLog cannot be written: /);
  }
  assert.equal(readFileSync(target, "utf8"), "mine\n");
  assert.equal(statSync(target).mode & 0o777, 0o644);
  assert.equal(existsSync(at("nothing-there")), false);
  assert.equal(existsSync("relative.jsonl"), false);
});
