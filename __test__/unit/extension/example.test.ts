// Agents of a tool call as its details tell of them: what cannot be brought about with Pi's own example.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { WatchedSession } from "../../../extension/runtime.ts";
import type { SubagentBackend } from "../../../extension/subagents/backend.ts";
import { connectExample } from "../../../extension/subagents/example.ts";
import { readResults } from "../../../extension/subagents/example-details.ts";
import { defaultConfig, store } from "../../../index.js";
import { text, usage } from "./recorder.ts";

let mains = 0;

function connect() {
  const id = `example-main-${++mains}`;
  const handlers = new Map<string, (event: unknown) => void>();
  const faults: string[] = [];
  let clock = 1000;
  const session = { id, rootId: id, backends: [], config: defaultConfig() } as unknown as WatchedSession;
  const pi = {
    on: (event: string, handle: (event: unknown) => void) => {
      handlers.set(event, handle);
      return () => handlers.delete(event);
    },
  } as unknown as ExtensionAPI;
  const connection = connectExample({
    pi,
    session,
    store,
    now: () => ++clock,
    fault: (message) => faults.push(message),
  });
  const emit = (event: string, toolCallId: string, details: unknown, more = {}) =>
    handlers.get(event)?.({ toolCallId, partialResult: { details }, result: { details, content: [] }, ...more });
  return {
    connection,
    session,
    faults,
    handlers,
    begin: (call: string) => emit("tool_execution_start", call, undefined),
    update: (call: string, details: unknown) => emit("tool_execution_update", call, details),
    end: (call: string, details: unknown, isError = false) => emit("tool_execution_end", call, details, { isError }),
    targets: () =>
      store
        .targets(id, true)
        .map(({ name, status, usage: { input } }) => `${name} ${status} ${input}`)
        .sort(),
    /** A process reports itself. */
    link(startedAt = clock) {
      const record = {
        agentId: "p",
        sessionId: "p",
        link: "exact",
        type: "",
        description: "",
        status: "running",
        startedAt,
      };
      session.backends.push({ name: "process (link)", list: () => [record] } as unknown as SubagentBackend);
    },
  };
}

const says = (input: number) => ({
  role: "assistant",
  content: [text("x")],
  stopReason: "stop",
  usage: usage(input, 1),
});
const result = (task: string, messages: unknown[], more = {}) => ({ agent: "scout", task, messages, ...more });
const single = (entry: unknown) => ({ mode: "single", results: [entry] });

test("a target that turns out to be the double of a child that reports itself is taken back, with its cost", () => {
  const { begin, update, end, link, targets, connection } = connect();
  begin("c1");
  update("c1", single(result("look", [says(5)], { status: "running" })));
  assert.deepEqual(targets(), ["look running 5"]);
  link();
  update("c1", single(result("look", [says(5), says(6)], { status: "running" })));
  assert.deepEqual(targets(), []);
  end("c1", single(result("look", [says(5), says(6), says(7)], { status: "completed" })));
  assert.deepEqual(targets(), []);
  connection.dispose();
});

test("a child that reported itself before the call began is another call's", () => {
  const { begin, update, link, targets, connection } = connect();
  link();
  begin("c1");
  update("c1", single(result("look", [says(5)], { status: "running" })));
  assert.deepEqual(targets(), ["look running 5"]);
  connection.dispose();
  assert.deepEqual(targets(), ["look stopped 5"]);
});

test("a call whose id comes again, as some providers make them, has agents of its own", () => {
  const { begin, end, targets, connection } = connect();
  for (const input of [5, 6]) {
    begin("call_0");
    end("call_0", single(result("look", [says(input)], { status: "completed" })));
  }
  assert.deepEqual(targets(), ["look completed 5", "look completed 6"]);
  connection.dispose();
});

test("where no messages are told the sum is, and a call that says nothing more ends its agents", () => {
  const { begin, update, end, targets, connection } = connect();
  begin("c1");
  end("c1", single(result("quiet", [], { exitCode: 0, usage: { input: 9, output: 1, cost: 2 } })));
  begin("c2");
  update("c2", single(result("lost", [says(1)], { exitCode: 0 })));
  end("c2", undefined, true);
  assert.deepEqual(targets(), ["lost error 1", "quiet completed 9"]);
  connection.dispose();
});

test("details of other packages, and of any shape, are nobody's agents", () => {
  const { begin, update, end, targets, faults, session, handlers, connection } = connect();
  const entry = result("look", [says(5)]);
  for (const details of [
    undefined,
    null,
    "text",
    { mode: "single" },
    { mode: "single", results: "many" },
    { mode: "odd", results: [entry] },
    { mode: "single", results: [null] },
    { mode: "single", results: [{ agent: "scout" }] },
    { mode: "single", results: [entry], runId: "r" },
    { mode: "parallel", results: [entry], progress: [] },
  ]) {
    begin("c");
    update("c", details);
    end("c", details);
  }
  assert.deepEqual(targets(), []);
  assert.deepEqual(session.backends, []);
  assert.deepEqual(connection.report(), []);
  begin("c");
  update("c", {
    get mode() {
      throw new Error("a getter");
    },
  });
  assert.match(faults.join(), /a getter/);
  connection.dispose();
  connection.dispose();
  assert.equal(handlers.size, 0);
});

test("the state of an agent is the package's, or what its exit tells when the call has ended", () => {
  const state = (entry: Record<string, unknown>, ended: boolean) =>
    readResults(single(result("t", [], entry)), ended)?.[0]?.status;
  assert.equal(state({ status: "pending" }, false), "queued");
  assert.equal(state({ status: "failed", exitCode: 1 }, false), "error");
  assert.equal(state({ status: "running" }, true), "stopped");
  // Before Pi 1 an agent of a parallel call has -1 until it starts and 0 while it runs.
  assert.equal(state({ exitCode: -1 }, false), "running");
  assert.equal(state({ exitCode: 0, stopReason: "stop" }, false), "running");
  assert.equal(state({ exitCode: 0, stopReason: "stop" }, true), "completed");
  assert.equal(state({ exitCode: 0, stopReason: "error" }, true), "error");
  assert.equal(state({ exitCode: 143, stopReason: "aborted" }, true), "aborted");
  const chain = { mode: "chain", results: [result("a", [], { exitCode: 0 }), result("b", [], { exitCode: 0 })] };
  assert.deepEqual(
    readResults(chain, false)?.map(({ status }) => status),
    ["completed", "running"],
  );
});
