// The gotgenes backend on Pi's own event bus, against a service that this file plays: what cannot be brought about with
// real children, such as broken records, foreign events and a service that throws.

import assert from "node:assert/strict";
import { AsyncResource } from "node:async_hooks";
import { afterEach, test } from "node:test";
import { createEventBus, type ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { Runtime, WatchedSession } from "../../extension/runtime.ts";
import { connectBackends } from "../../extension/subagents/index.ts";
import type { WatchdogStore } from "../../index.js";

const SLOT = Symbol.for("@gotgenes/pi-subagents:service");
afterEach(() => Reflect.deleteProperty(globalThis, SLOT));

/** Code that runs in no agent's context. */
const outside = new AsyncResource("test:outside");

/** A package with agents that this test moves about. */
function playService() {
  const records = new Map<string, Record<string, unknown>>();
  const steered: string[] = [];
  const service = {
    getRecord: (id: string): unknown => records.get(id),
    listAgents: (): unknown => [...records.values()],
    hasRunning: () => [...records.values()].some((record) => record.status === "running"),
    abort: (id: string) => {
      const record = records.get(id);
      if (record?.status !== "running") return false;
      record.status = "stopped";
      return true;
    },
    steer: async (id: string, message: string) => {
      steered.push(`${id}: ${message}`);
      return records.get(id)?.status === "running";
    },
  };
  const add = (id: string, fields: Record<string, unknown> = {}) => {
    const record = { id, type: "Explore", description: `task of ${id}`, status: "running", toolUses: 0, ...fields };
    records.set(id, record);
    return record as Record<string, unknown>;
  };
  return { service, add, steered, remove: (id: string) => records.delete(id) };
}

/** Connects a main session; the store and the session's UI only write down what they are told. */
function connect() {
  const bus = createEventBus();
  const written: string[] = [];
  const told: string[] = [];
  const handlers = new Set<{ event: string; handle: (event: object) => unknown }>();
  const names = new Map<number, string>();
  const store: Partial<WatchdogStore> = {
    open: (id, _at, info) => {
      names.set(names.size + 1, id);
      written.push(`open ${id} ${info.link} ${info.kind}`);
      return names.size;
    },
    update: (handle, info) => void written.push(`update ${names.get(handle)} ${info.link}`),
    alias: (handle, id) => void written.push(`alias ${names.get(handle)} ${id}`),
    note: (handle, _at, type, summary) => void written.push(`note ${names.get(handle)} ${type} ${summary}`),
    end: (handle, _at, status) => void written.push(`end ${names.get(handle)} ${status}`),
    paused: () => false,
  };
  const session = {
    id: "main",
    rootId: "main",
    backends: [],
    // Nothing of the link is tried here: it listens only for a session that is watched.
    config: { enabled: false },
    ctx: { ui: { notify: (message: string) => told.push(message) } },
  } as unknown as WatchedSession;
  const pi = {
    events: bus,
    on: (event: string, handler: () => unknown) => {
      const entry = { event, handle: handler };
      handlers.add(entry);
      return () => handlers.delete(entry);
    },
  } as unknown as ExtensionAPI;
  const connection = connectBackends({ pi, session, native: { store } } as unknown as Runtime);
  const emit = (channel: string, payload: unknown) => bus.emit(`subagents:${channel}`, payload);
  /** A run as the package makes it: `started`, then, in the same async context, the session. */
  const run = async (id: string, sessionId: string) => {
    emit("started", { id });
    await Promise.resolve();
    emit("child:session-created", { sessionId, parentSessionId: "main" });
  };
  const piEvent = (event: string) => {
    for (const entry of handlers) if (entry.event === event) entry.handle({});
  };
  return { connection, session, emit, run, piEvent, written, told, handlers };
}

test("without the package there is no backend, and its events change nothing", async () => {
  const { session, run, connection, written, told } = connect();
  await run("a1", "s1");
  assert.deepEqual(session.backends, []);
  assert.deepEqual(written, []);
  assert.deepEqual(told, []);
  assert.equal(connection.child("s1"), undefined);
});

test("ids on the shared channels that the service does not know belong to another package", async () => {
  const play = playService();
  Reflect.set(globalThis, SLOT, play.service);
  const { run, emit, written, connection } = connect();
  play.add("a1");
  emit("started", { id: "a1" });
  await run("foreign", "s9");
  assert.deepEqual(written, ["open s9 inferred task", "note s9 subagent_started Explore: task of a1"]);
  assert.equal(connection.child("s9")?.link, "inferred");
  assert.equal(connection.child("s9")?.agentId, undefined);
});

test("payloads and records of any shape cause no exception and no target", async () => {
  const play = playService();
  Reflect.set(globalThis, SLOT, play.service);
  const { emit, written, session, told } = connect();
  play.add("odd", { status: "dreaming" });
  play.add("numbers", { type: 7, description: null, status: 3 });
  for (const payload of [
    undefined,
    null,
    5,
    "x",
    [],
    {},
    { id: 7 },
    { id: "odd" },
    { id: "numbers" },
    { sessionId: 1 },
  ]) {
    for (const channel of [
      "created",
      "started",
      "completed",
      "failed",
      "steered",
      "compacted",
      "child:session-created",
    ])
      emit(channel, payload);
    for (const channel of ["child:spawning", "child:completed", "child:disposed"]) emit(channel, payload);
  }
  assert.deepEqual(written, []);
  assert.deepEqual(told, []);
  assert.deepEqual(session.backends[0]?.list(), []);
});

test("a service that throws is told once and breaks nothing", async () => {
  const play = playService();
  Reflect.set(globalThis, SLOT, play.service);
  const { session, run, told, piEvent } = connect();
  play.add("a1");
  await run("a1", "s1");
  play.service.getRecord = () => {
    throw new Error("gone\u001b[31m\nwrong");
  };
  piEvent("tool_execution_end");
  piEvent("tool_execution_end");
  const delivery = await session.backends[0]?.steer("a1", "stop");
  assert.equal(delivery?.outcome, "unknown_target");
  assert.deepEqual(told, ["watchdog: @gotgenes/pi-subagents: gone wrong"]);
});

test("a service that refuses or throws at a request makes a refusal with the reason", async () => {
  const play = playService();
  Reflect.set(globalThis, SLOT, play.service);
  const { session, run } = connect();
  play.add("a1");
  await run("a1", "s1");
  const [backend] = session.backends;
  play.service.steer = async () => false;
  assert.deepEqual(await backend?.steer("a1", "x"), {
    outcome: "refused",
    reason: "@gotgenes/pi-subagents did not take the message",
  });
  play.service.steer = async () => Promise.reject(new Error("no session"));
  assert.deepEqual(await backend?.steer("a1", "x"), {
    outcome: "refused",
    reason: "@gotgenes/pi-subagents: no session",
  });
  play.service.abort = () => false;
  assert.equal((await backend?.stop("a1"))?.outcome, "refused");
  assert.equal((await backend?.steer("nobody", "x"))?.outcome, "unknown_target");
});

test("what an agent starts itself is a child of that agent, without a link", async () => {
  const play = playService();
  Reflect.set(globalThis, SLOT, play.service);
  const { run, connection } = connect();
  assert.equal(connection.child("nested"), undefined);
  play.add("a1");
  await run("a1", "s1");
  assert.deepEqual(connection.child("nested"), { link: "none", parentId: "s1" });
  assert.equal(connection.child("s1")?.agentId, "a1");
  assert.equal(connection.child("main"), undefined);
});

test("two sessions in one context leave none of them exact, and neither is steered", async () => {
  const play = playService();
  Reflect.set(globalThis, SLOT, play.service);
  const { session, run, emit, connection, written } = connect();
  play.add("a1");
  play.add("a2");
  emit("started", { id: "a1" });
  await run("a2", "s1");
  emit("child:session-created", { sessionId: "s2", parentSessionId: "main" });
  assert.equal(connection.child("s1")?.link, "inferred");
  assert.equal(connection.child("s1")?.agentId, undefined);
  assert.deepEqual(
    outside.runInAsyncScope(() => connection.child("s2")),
    { link: "none", backend: "@gotgenes/pi-subagents" },
  );
  assert.deepEqual(written.slice(-2), ["update s1 inferred", "open s2 none unknown"]);
  for (const id of ["a1", "a2"]) {
    assert.equal((await session.backends[0]?.steer(id, "x"))?.outcome, "refused");
    assert.equal((await session.backends[0]?.stop(id))?.outcome, "refused");
  }
  assert.deepEqual(play.steered, []);
});

test("a record that names the session's file links what no context does, and is exact", async () => {
  const play = playService();
  Reflect.set(globalThis, SLOT, play.service);
  const { run, emit, connection, written } = connect();
  const created = (sessionId: string) =>
    outside.runInAsyncScope(() => emit("child:session-created", { sessionId, parentSessionId: "main" }));
  for (const id of ["a1", "a2", "a3"]) {
    play.add(id, { outputFile: `/tasks/2026-01-01_of-${id}.jsonl` });
    outside.runInAsyncScope(() => emit("started", { id }));
  }
  for (const id of ["a3", "a1", "a2"]) created(`of-${id}`);
  assert.equal(connection.child("of-a3")?.agentId, "a3");
  assert.equal(connection.child("of-a1")?.agentId, "a1");

  // The file is named only when the session is there, and then neither order nor context tells anything.
  const late = play.add("a4");
  const other = play.add("a5");
  for (const id of ["a4", "a5"]) outside.runInAsyncScope(() => emit("started", { id }));
  for (const id of ["s5", "s4"]) created(id);
  assert.equal(connection.child("s4")?.link, "none");
  other.outputFile = "x_s5.jsonl";
  late.outputFile = "x_s4.jsonl";
  assert.equal(connection.child("s4")?.agentId, "a4");
  assert.equal(connection.child("s5")?.agentId, "a5");
  assert.equal(written.filter((line) => line.startsWith("open s5")).length, 1, "its target goes on as it is");

  // Two agents that name one file cannot both be right.
  for (const id of ["a6", "a7"]) play.add(id, { outputFile: "x_s6.jsonl" });
  created("s6");
  assert.equal(connection.child("s6")?.link, "none");
  // What the context says and what the record says are two agents.
  play.add("a8");
  play.add("a9", { outputFile: "x_s9.jsonl" });
  await run("a9", "another");
  created("s9");
  assert.notEqual(connection.child("another")?.link, "exact");
});

test("a service that can resume is asked to, and what became of it is told", async () => {
  const play = playService();
  const answers: unknown[] = [];
  const resume = (id: string): unknown => {
    const answer = answers.shift();
    if (answer === "runs") {
      const record = play.service.getRecord(id) as Record<string, unknown>;
      record.status = "running";
      return new Promise(() => {});
    }
    if (answer instanceof Error) throw answer;
    return answer;
  };
  Reflect.set(globalThis, SLOT, { ...play.service, resume });
  const { session, run, written } = connect();
  const record = play.add("a1");
  await run("a1", "s1");
  const [backend] = session.backends;
  assert.equal(backend?.capabilities.resume, true);
  assert.equal((await backend?.resume?.("nobody", "on"))?.outcome, "unknown_target");
  assert.deepEqual(await backend?.resume?.("a1", "on"), {
    outcome: "refused",
    reason: "the agent has not ended (running)",
  });
  record.status = "completed";
  for (const refusal of [
    false,
    undefined,
    Promise.resolve(undefined),
    Promise.reject(new Error("no")),
    new Error("no"),
  ]) {
    answers.push(refusal);
    assert.equal((await backend?.resume?.("a1", "on"))?.outcome, "refused");
  }
  answers.push(Promise.resolve({ id: "a1" }));
  assert.deepEqual(await backend?.resume?.("a1", "on"), { outcome: "delivered" });
  answers.push("runs");
  assert.deepEqual(await backend?.resume?.("a1", "on"), { outcome: "delivered" });
  assert.match(written.slice(-3).join(), /open s1 exact.*note s1 subagent_started resumed/);
});

test("without a service that can resume there is no such ability", async () => {
  const play = playService();
  Reflect.set(globalThis, SLOT, play.service);
  const { session } = connect();
  play.add("a1", { status: "completed" });
  assert.equal(session.backends[0]?.capabilities.resume, false);
  assert.equal((await session.backends[0]?.resume?.("a1", "on"))?.outcome, "refused");
});

test("a stopped agent ends as stopped, and one with the watchdog's name is a watchdog", async () => {
  const play = playService();
  Reflect.set(globalThis, SLOT, play.service);
  const { run, session, written } = connect();
  play.add("a1", { type: "Watchdog" });
  await run("a1", "s1");
  assert.deepEqual(await session.backends[0]?.stop("a1"), { outcome: "delivered" });
  assert.deepEqual(written, [
    "open s1 exact watchdog",
    "alias s1 a1",
    "note s1 subagent_started Watchdog: task of a1",
    "note s1 subagent_failed stopped after 0 tool uses",
    "end s1 stopped",
  ]);
});

test("an agent that is resumed without an event is seen to run and to end again", async () => {
  const play = playService();
  Reflect.set(globalThis, SLOT, play.service);
  const { run, piEvent, written } = connect();
  const record = play.add("a1");
  await run("a1", "s1");
  Object.assign(record, { status: "completed", result: "done", toolUses: 1 });
  piEvent("tool_execution_end");
  written.length = 0;
  Object.assign(record, { status: "running", result: undefined });
  piEvent("tool_execution_update");
  Object.assign(record, { status: "completed", result: "", toolUses: 3 });
  piEvent("tool_execution_end");
  piEvent("tool_execution_end");
  assert.deepEqual(written, [
    "open s1 exact task",
    "alias s1 a1",
    "note s1 subagent_started resumed: Explore: task of a1",
    "note s1 subagent_failed completed after 3 tool uses, without an answer (a provider error or an abort in the child ends so)",
    "end s1 completed",
  ]);
});

test("when the main session ends, what runs is ended in the store, once, and nothing is heard any more", async () => {
  const play = playService();
  Reflect.set(globalThis, SLOT, play.service);
  const { run, emit, connection, session, written, handlers } = connect();
  play.add("a1");
  await run("a1", "s1");
  const [backend] = session.backends;
  connection.dispose();
  connection.dispose();
  backend?.dispose();
  const length = written.length;
  assert.deepEqual(written.slice(-2), ["note s1 subagent_failed the main session has ended", "end s1 stopped"]);
  emit("completed", { id: "a1" });
  await run("a1", "s2");
  assert.equal(written.length, length);
  assert.deepEqual(session.backends, []);
  assert.equal(handlers.size, 0);
  assert.equal(connection.child("s1"), undefined);
  assert.equal((await backend?.steer("a1", "x"))?.outcome, "refused");
});

test("thousands of agents leave only the latest ended ones behind", async () => {
  const play = playService();
  Reflect.set(globalThis, SLOT, play.service);
  const { run, piEvent, connection } = connect();
  for (let i = 0; i < 2000; i++) {
    const record = play.add(`a${i}`);
    await run(`a${i}`, `s${i}`);
    Object.assign(record, { status: "completed", result: "done" });
    piEvent("tool_execution_end");
    play.remove(`a${i}`);
  }
  const known = Array.from({ length: 2000 }, (_, i) => `s${i}`).filter(
    (id) => connection.child(id)?.agentType !== undefined,
  );
  assert.equal(known.length, 200);
  assert.equal(known.at(-1), "s1999");
});
