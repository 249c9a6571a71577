// What the system proves of processes: who is at the other end of a socket, who started whom, and an end that reaches the
// process that is meant and no other.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { defaultConfig, history, processes, store } from "../../index.js";
import { adopt } from "../support/cleanup.ts";

const linux = { skip: process.platform === "linux" ? false : "the proof is Linux's" };

function started(t: TestContext, command: string, ...args: string[]): ChildProcess & { pid: number } {
  const child = spawn(command, args, { stdio: "ignore" });
  adopt(child);
  t.after(() => child.kill("SIGKILL"));
  return child as ChildProcess & { pid: number };
}

const descriptor = (socket: Socket): number => (socket as unknown as { _handle: { fd: number } })._handle.fd;

test("the other end of a socket is the process that connected, whatever it says", linux, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "peer-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "s");
  const server = createServer();
  server.listen(path);
  t.after(() => server.close());
  const child = started(
    t,
    process.execPath,
    "-e",
    `require("node:net").connect(${JSON.stringify(path)}); setInterval(() => {}, 1000)`,
  );
  const [socket] = (await once(server, "connection")) as [Socket];
  t.after(() => socket.destroy());
  const peer = processes.peer(descriptor(socket));
  assert.deepEqual([peer?.pid, peer?.start], [child.pid, processes.start(child.pid)]);
  const line = processes.ancestry(child.pid);
  assert.deepEqual([line[0]?.pid, line[1]?.pid], [child.pid, process.pid]);
  assert.match(line[0]?.command ?? "", /node.* -e require/);
  assert.equal(processes.peer(-1), null);
  assert.equal(processes.peer(1_000_000), null);
});

test("an end reaches a process by its start, and a later one with its id never", linux, async (t) => {
  const child = started(t, "sleep", "60");
  const gone = once(child, "exit");
  const start = processes.start(child.pid) ?? assert.fail();
  for (const wrong of ["", "1", `${start}0`]) assert.equal(processes.end(child.pid, wrong), false);
  assert.equal(processes.end(process.pid, processes.start(process.pid) ?? ""), false, "never this process");
  for (const pid of [0, 1, 4_000_000_000]) assert.equal(processes.end(pid, "1"), false);
  assert.equal(child.exitCode ?? child.signalCode, null);
  assert.equal(processes.end(child.pid, start), true);
  assert.deepEqual(await gone, [null, "SIGTERM"]);
  assert.equal(processes.end(child.pid, start), false);
  assert.deepEqual([processes.start(child.pid), processes.ancestry(child.pid)], [null, []]);
});

test("the history keeps a process of a session only when it is proven", linux, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "proof-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const child = started(t, "sleep", "60");
  const start = processes.start(child.pid) ?? "";
  const file = join(folder, "history.sqlite");
  await history.open(file, { maxDays: 1, maxMb: 10 });
  t.after(() => history.close(2000));
  const parent = { rootId: "proof-main" };
  const config = { ...defaultConfig(), history: true };
  store.open("proof-right", 1, { ...parent, pid: child.pid, pidStart: start }, config);
  store.open("proof-recycled", 1, { ...parent, pid: child.pid, pidStart: "1" }, config);
  store.open("proof-below", 1, { ...parent, pid: child.pid }, config);
  store.open("proof-foreign", 1, { ...parent, pid: process.ppid }, config);
  assert.ok(history.flush(5000));
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare("SELECT session_id AS id, pid FROM runs WHERE session_id LIKE 'proof-%'").all();
  database.close();
  const pids = Object.fromEntries(rows.map(({ id, pid }) => [id, pid]));
  assert.deepEqual(pids, {
    "proof-right": child.pid,
    "proof-below": child.pid,
    "proof-recycled": process.pid,
    "proof-foreign": process.pid,
  });
});
