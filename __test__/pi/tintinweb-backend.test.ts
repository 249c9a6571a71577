// The tintinweb backend on Pi's own event bus, against a manager that this file plays: what cannot be brought about with
// real children, such as broken records, foreign events and a session that refuses.

import assert from "node:assert/strict";
import { AsyncResource } from "node:async_hooks";
import { afterEach, test } from "node:test";
import { createEventBus, type ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { publishLive } from "../../extension/root.ts";
import type { WatchedSession } from "../../extension/runtime.ts";
import { connectTintinweb } from "../../extension/subagents/tintinweb.ts";
import { defaultConfig, type WatchdogStore } from "../../index.js";

const PACKAGE = "@tintinweb/pi-subagents";
const SLOT = Symbol.for("pi-subagents:manager");
afterEach(() => Reflect.deleteProperty(globalThis, SLOT));

/** Code that runs in no agent's context. */
const outside = new AsyncResource("test:outside");

/** A session as the package shows it; `emit` makes it say something to whoever listens. */
function playSession(sessionId: string) {
  const listeners = new Set<(event: unknown) => void>();
  const steered: string[] = [];
  const session = {
    sessionId,
    messages: [] as unknown[],
    steer: async (message: string) => void steered.push(message),
    subscribe: (listener: (event: unknown) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const emit = (event: unknown) => {
    for (const listener of listeners) listener(event);
  };
  return { session, steered, emit, listeners };
}

/** Connects a main session to a manager whose records this test moves about; the store only writes down. */
function connect() {
  const bus = createEventBus();
  const records = new Map<string, Record<string, unknown>>();
  const written: string[] = [];
  const faults: string[] = [];
  const handlers = new Set<{ event: string; handle: () => unknown }>();
  const ids = new Map<number, string>();
  const write = (what: string, handle: number, ...rest: unknown[]) => {
    written.push([what, ids.get(handle), ...rest].join(" "));
    return 0;
  };
  const store: Partial<WatchdogStore> = {
    open: (id, _at, info) => {
      ids.set(ids.size + 1, id);
      write("open", ids.size, info.link, info.kind);
      return ids.size;
    },
    update: (handle, info) => void write("update", handle, info.link),
    alias: (handle, id) => void write("alias", handle, id),
    note: (handle, _at, type, summary) => void write("note", handle, type, summary),
    end: (handle, _at, status) => void write("end", handle, status),
    observeUser: (handle, _at, text) => write("user", handle, text),
    observeAssistant: (handle, _at, turn, text) => write("assistant", handle, turn, text),
    observeUsage: (handle, _at, input) => write("usage", handle, input),
    observeToolCall: (handle, _at, turn, callId) => write("call", handle, turn, callId),
    observeToolResult: (handle, _at, turn, callId, _tool, output) => write("result", handle, turn, callId, output),
    observeLifecycle: (handle, _at, event) => write("lifecycle", handle, event),
  };
  const session = { id: "main", rootId: "main", backends: [], config: defaultConfig() } as unknown as WatchedSession;
  const pi = {
    events: bus,
    on: (event: string, handle: () => unknown) => {
      const entry = { event, handle };
      handlers.add(entry);
      return () => handlers.delete(entry);
    },
  } as unknown as ExtensionAPI;
  const manager: Record<string, unknown> = { getRecord: (id: string) => records.get(id) };
  Reflect.set(globalThis, SLOT, manager);
  const connection = connectTintinweb({
    pi,
    session,
    store: store as WatchdogStore,
    now: () => 1,
    fault: (message) => faults.push(message),
  });
  const emit = (channel: string, payload: unknown) => bus.emit(`subagents:${channel}`, payload);
  const add = (id: string, fields: Record<string, unknown> = {}) => {
    const record = { id, type: "Explore", description: `task of ${id}`, status: "running", toolUses: 0, ...fields };
    records.set(id, record);
    return record as Record<string, unknown>;
  };
  const piEvent = (event: string) => {
    for (const entry of handlers) if (entry.event === event) entry.handle();
  };
  /** The package's answer to a stop. */
  const answers = (answer: (agentId: string) => unknown) =>
    bus.on("subagents:rpc:stop", (request) => {
      const { requestId, agentId } = request as Record<string, string>;
      const reply = answer(agentId ?? "");
      if (reply !== undefined) bus.emit(`subagents:rpc:stop:reply:${requestId}`, reply);
    });
  return { connection, session, records, add, emit, piEvent, answers, written, faults, handlers, manager, bus };
}

test("payloads and records of any shape cause no exception and no target, and are told once", () => {
  const { emit, add, written, faults, session, connection } = connect();
  add("odd", { status: "dreaming" });
  add("numbers", { type: 7, description: null, status: 3 });
  add("other", { id: "another" });
  add("sessionless", { session: { id: 1 } });
  for (const payload of [undefined, null, 5, "x", [], {}, { id: 7 }, { id: "odd" }, { id: "numbers" }, { id: "other" }])
    for (const channel of ["created", "started", "completed", "failed", "steered", "compacted"]) emit(channel, payload);
  emit("started", { id: "sessionless" });
  assert.deepEqual(written, []);
  assert.deepEqual(faults, [`${PACKAGE} cannot be read: a record of an agent is not as expected`]);
  assert.deepEqual(session.backends[0]?.list(), []);
  const [report] = connection.report();
  assert.equal(report?.state, "unusable");
  assert.match(report?.detail ?? "", /version that this watchdog does not know/);
});

test("ids on the shared channels that the manager does not know belong to another package", async () => {
  const { emit, add, connection, written } = connect();
  add("a1");
  emit("started", { id: "a1" });
  emit("started", { id: "foreign" });
  await Promise.resolve();
  assert.equal(connection.child("s9"), undefined, "not taken for the session of a1");
  assert.deepEqual(written, []);
});

test("a session that starts in an agent's call is that agent's, and the next one in it is a child of it", async () => {
  const { emit, add, connection, written } = connect();
  add("a1");
  emit("started", { id: "a1" });
  await Promise.resolve();
  const link = { agentType: "Explore", description: "task of a1", link: "exact", backend: PACKAGE };
  assert.deepEqual(connection.child("s1"), { agentId: "a1", ...link });
  assert.deepEqual(connection.child("nested"), { link: "none", parentId: "s1" });
  assert.deepEqual(
    outside.runInAsyncScope(() => connection.child("s1")),
    { agentId: "a1", ...link },
  );
  assert.equal(
    outside.runInAsyncScope(() => connection.child("stranger")),
    undefined,
  );
  assert.equal(connection.child("main"), undefined);
  assert.deepEqual(written.slice(0, 2), ["open s1 exact task", "alias s1 a1"]);
});

test("a record that names another session than the call leaves no exact link, and nothing is steered", async () => {
  const { emit, add, connection, session, written } = connect();
  const record = add("a1");
  emit("started", { id: "a1" });
  await Promise.resolve();
  assert.equal(connection.child("s1")?.link, "exact");
  const { session: other, steered } = playSession("s2");
  record.session = other;
  assert.equal(connection.child("s1")?.link, "inferred");
  assert.equal(connection.child("s1")?.agentId, undefined);
  assert.ok(written.includes("update s1 inferred"));
  assert.equal((await session.backends[0]?.steer("a1", "x"))?.outcome, "refused");
  assert.deepEqual(steered, []);
});

test("what becomes of a steer is told as it was", async () => {
  const { emit, add, session } = connect();
  const [backend] = session.backends;
  const record = add("a1", { status: "queued" });
  emit("created", { id: "a1" });
  assert.equal((await backend?.steer("a1", "x"))?.outcome, "refused", "it has no session yet");
  const play = playSession("s1");
  Object.assign(record, { status: "running", session: play.session });
  assert.deepEqual(await backend?.steer("a1", "x"), { outcome: "queued" });
  assert.deepEqual(play.steered, ["x"]);
  play.session.steer = async () => Promise.reject(new Error("no steering now"));
  assert.deepEqual(await backend?.steer("a1", "x"), { outcome: "refused", reason: `${PACKAGE}: no steering now` });
  record.status = "completed";
  assert.equal((await backend?.steer("a1", "x"))?.outcome, "refused");
  assert.equal((await backend?.steer("nobody", "x"))?.outcome, "unknown_target");
});

test("what becomes of a stop is told by the record, and by the answer where the record does not tell", async () => {
  const { emit, add, session, answers, written } = connect();
  const [backend] = session.backends;
  const record = add("a1");
  emit("started", { id: "a1" });
  const refuses = answers(() => ({ success: false, error: "Agent not found" }));
  assert.deepEqual(await backend?.stop("a1"), { outcome: "refused", reason: `${PACKAGE}: Agent not found` });
  const agrees = answers(() => {
    record.status = "stopped";
    return { success: true };
  });
  assert.deepEqual(await backend?.stop("a1"), { outcome: "delivered" }, "another package's refusal came first");
  assert.equal((await backend?.stop("a1"))?.outcome, "refused", "it has ended");
  refuses();
  agrees();
  add("a2");
  answers(() => ({ success: true }));
  assert.deepEqual(await backend?.stop("a2"), { outcome: "queued" });
  assert.deepEqual(written, [], "an agent without a session has no target");
});

test("a stop that nobody answers is unknown, not done", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { add, session } = connect();
  add("a1");
  const stopped = session.backends[0]?.stop("a1");
  t.mock.timers.tick(60_000);
  assert.equal((await stopped)?.outcome, "unknown");
});

test("a session without the extension is observed from outside, and no message of it counts twice", () => {
  const { emit, add, piEvent, written } = connect();
  const play = playSession("s1");
  const said = { role: "user", content: "do it", timestamp: 1 };
  const call = { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls" } };
  const asked = { role: "assistant", content: [call], usage: { input: 5 }, stopReason: "toolUse", timestamp: 2 };
  play.session.messages.push(said, asked);
  add("a1", { session: play.session });
  emit("started", { id: "a1" });
  piEvent("tool_execution_update");
  const observed = () => written.filter((line) => !/^(open|alias|note|lifecycle)/.test(line));
  assert.deepEqual(observed(), ["user s1 do it", "assistant s1 1 ", "usage s1 5", "call s1 1 c1"]);

  // On their way when the messages were read.
  play.emit({ type: "message_end", message: { ...said } });
  play.emit({ type: "message_end", message: { ...asked } });
  play.emit({ type: "tool_execution_start", toolCallId: "c1", toolName: "bash", args: {} });
  assert.equal(observed().length, 4);
  const result = { content: [{ type: "text", text: "a b" }] };
  play.emit({ type: "tool_execution_end", toolCallId: "c1", toolName: "bash", result, isError: false, durationMs: 3 });
  const end = { role: "assistant", content: [{ type: "text", text: "done" }], stopReason: "stop", timestamp: 3 };
  play.emit({ type: "message_start", message: end });
  play.emit({ type: "message_end", message: end });
  assert.deepEqual(observed().slice(4), ["result s1 1 c1 a b", "assistant s1 2 done"]);
  for (const event of [undefined, null, 7, {}, { type: "message_end" }, { type: "constructor" }]) play.emit(event);
});

test("where an instance of the extension comes up before the run, nothing is observed from outside", () => {
  const { emit, add, piEvent, written } = connect();
  const [inside, without] = [playSession("s1"), playSession("s2")];
  add("a1", { session: inside.session });
  add("a2", { session: without.session });
  emit("started", { id: "a1" });
  emit("started", { id: "a2" });
  piEvent("tool_execution_update");
  const live = { id: "s1", rootId: "main", file: undefined, steer: () => true, refresh() {} };
  const takeBack = publishLive(live, () => {});
  const said = { role: "user", content: "do it", timestamp: 1 };
  for (const { emit: tell } of [inside, without]) {
    // An extension may say something before the run, when another is still loading.
    tell({ type: "message_end", message: { role: "custom", customType: "note", content: "hello", timestamp: 0 } });
    tell({ type: "agent_start" });
    tell({ type: "message_end", message: said });
  }
  takeBack();
  assert.deepEqual([inside.listeners.size, without.listeners.size], [0, 1]);
  assert.deepEqual(
    written.filter((line) => line.startsWith("user")),
    ["user s2 do it"],
  );
});

test("listening from outside ends with the main session, and when the package has let the agent go", () => {
  const { emit, add, piEvent, records, connection, handlers } = connect();
  const [one, two] = [playSession("s1"), playSession("s2")];
  const record = add("a1", { session: one.session });
  add("a2", { session: two.session });
  emit("started", { id: "a1" });
  emit("started", { id: "a2" });
  piEvent("tool_execution_update");
  assert.deepEqual([one.listeners.size, two.listeners.size], [1, 1]);
  record.status = "completed";
  piEvent("tool_execution_end");
  records.delete("a1");
  piEvent("tool_execution_end");
  assert.deepEqual([one.listeners.size, two.listeners.size], [0, 1]);
  connection.dispose();
  connection.dispose();
  assert.equal(two.listeners.size, 0);
  assert.equal(handlers.size, 0);
});

test("when the main session ends, what runs is ended in the store, once, and nothing is heard any more", async () => {
  const { emit, add, connection, session, written } = connect();
  add("a1", { session: playSession("s1").session });
  emit("started", { id: "a1" });
  const [backend] = session.backends;
  connection.dispose();
  connection.dispose();
  assert.deepEqual(written.slice(-2), ["note s1 subagent_failed the main session has ended", "end s1 stopped"]);
  const { length } = written;
  emit("completed", { id: "a1" });
  emit("started", { id: "a1" });
  assert.equal(written.length, length);
  assert.deepEqual(session.backends, []);
  assert.equal(connection.child("s1"), undefined);
  assert.equal((await backend?.steer("a1", "x"))?.outcome, "refused");
});

test("a manager that throws is told of and breaks nothing", async () => {
  const { emit, add, session, manager, faults, piEvent } = connect();
  add("a1", { session: playSession("s1").session });
  emit("started", { id: "a1" });
  manager.getRecord = () => {
    throw new Error("gone");
  };
  piEvent("tool_execution_end");
  assert.equal((await session.backends[0]?.steer("a1", "x"))?.outcome, "unknown_target");
  assert.ok(faults.every((message) => message === `${PACKAGE}: gone`) && faults.length > 0);
});

test("thousands of agents leave only the latest ended ones behind, and no listener", () => {
  const { emit, add, piEvent, records, session } = connect();
  const plays = Array.from({ length: 1000 }, (_, i) => playSession(`s${i}`));
  for (const [i, play] of plays.entries()) {
    const record = add(`a${i}`, { session: play.session });
    emit("started", { id: `a${i}` });
    piEvent("tool_execution_update");
    Object.assign(record, { status: "completed", result: "done" });
    piEvent("tool_execution_end");
    records.delete(`a${i}`);
  }
  piEvent("tool_execution_end");
  assert.ok((session.backends[0]?.list().length ?? 1000) <= 200);
  assert.equal(plays.filter((play) => play.listeners.size > 0).length, 0);
});
