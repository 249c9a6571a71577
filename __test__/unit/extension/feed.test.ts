// What of finished messages, from an array or a session file, reaches a target that nobody else observes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Feed } from "../../../extension/subagents/feed.ts";
import { defaultConfig, Signal, store } from "../../../index.js";
import { recorder, text, usage } from "./recorder.ts";

const call = (id: string, command: string) => ({ type: "toolCall", id, name: "bash", arguments: { command } });
const asks = (...calls: unknown[]) => ({ role: "assistant", content: calls, stopReason: "toolUse" });
const result = (toolCallId: string, output: string, isError = false) => ({
  role: "toolResult",
  toolCallId,
  toolName: "bash",
  content: [text(output)],
  isError,
});

function feed(options: { now?: () => number; steered?: (text: string) => boolean } = {}) {
  const sink = recorder();
  return { sink, feed: new Feed(sink, { now: () => 1, ...options }) };
}

test("a session is told as it was: what it was asked, what it answered, called and got back", () => {
  const { sink, feed: fed } = feed();
  fed.list([
    { role: "system", content: "You are an agent." },
    { role: "user", content: "go" },
    { ...asks({ type: "thinking", thinking: "hm" }, text("looking"), call("c1", "ls")), usage: usage(5, 0.5) },
    { ...result("c1", "a"), usage: usage(7, 0.7) },
    { role: "assistant", content: [text("done")], stopReason: "stop" },
  ]);
  fed.settled();
  assert.deepEqual(sink.calls, [
    ["observeLifecycle", "agent_start", ""],
    ["observeUser", "go", false],
    ["observeAssistant", 1, "looking", "hm", "toolUse"],
    ["observeUsage", 5, 1, 2, 3, 0.5],
    ["observeToolCall", 1, "c1", "bash", '{"command":"ls"}'],
    ["observeUsage", 7, 1, 2, 3, 0.7],
    ["observeToolResult", 1, "c1", "bash", "a", false, "", ""],
    ["observeAssistant", 2, "done", "", "stop"],
    ["observeLifecycle", "agent_settled", ""],
  ]);
});

test("of a list that grows only what is new is taken, and a shorter one gives nothing", () => {
  const { sink, feed: fed } = feed();
  const messages: unknown[] = [{ role: "user", content: "go" }, asks(call("c1", "ls"))];
  assert.equal(fed.list(messages), 2);
  messages.push(result("c1", "a"));
  assert.equal(fed.list([...messages]), 1);
  assert.equal(fed.list([...messages]), 0);
  assert.equal(fed.list(messages.slice(0, 1)), 0);
  assert.equal(sink.calls.filter(([method]) => method === "observeToolResult").length, 1);
});

test("an entry of a session file counts once, also when the file is read again", () => {
  const { sink, feed: fed } = feed({ now: () => 99_000 });
  const entry = (id: string, fields: Record<string, unknown>) => ({ id, timestamp: "1970-01-01T00:00:09Z", ...fields });
  const entries = [
    { type: "session", version: 3, id: "s", timestamp: "1970-01-01T00:00:08Z", cwd: "/" },
    entry("a", { type: "message", message: { role: "user", content: "go" } }),
    entry("b", { type: "custom_message", customType: "reminder", content: "remember" }),
    entry("c", { type: "compaction", summary: "…", tokensBefore: 500, usage: usage(1, 0.1) }),
    entry("d", { type: "usage", kind: "cache_warm", usage: usage(2, 0.2) }),
    entry("e", { type: "label", label: "here" }),
  ];
  for (const line of [...entries, ...entries]) fed.entry(line);
  assert.deepEqual(sink.calls, [
    ["observeLifecycle", "agent_start", ""],
    ["observeUser", "go", false],
    ["observeUser", "remember", true],
    ["observeLifecycle", "compaction_end", '{"tokensBefore":500}'],
    ["observeUsage", 1, 1, 2, 3, 0.1],
    ["observeUsage", 2, 1, 2, 3, 0.2],
  ]);
  assert.equal(fed.unreadable, 0);
});

test("calls of one message are one turn, whatever the order of their results", () => {
  const { sink, feed: fed } = feed();
  fed.list([
    asks(call("c1", "ls"), call("c2", "pwd")),
    result("c2", "/"),
    asks(call("c3", "id")),
    result("c1", "a"),
    result("c3", "me"),
  ]);
  const turns = sink.calls.filter(([method]) => method === "observeToolResult").map(([, turn, id]) => [turn, id]);
  assert.deepEqual(turns, [
    [1, "c2"],
    [1, "c1"],
    [2, "c3"],
  ]);
});

test("a request that was made again after a failure is a retry, and a new task is none", () => {
  const { sink, feed: fed } = feed();
  const failed = { role: "assistant", content: [], stopReason: "error", errorMessage: "529 overloaded" };
  const fine = { role: "assistant", content: [text("ok")], stopReason: "stop" };
  fed.list([{ role: "user", content: "go" }, failed, failed, fine, failed, { role: "user", content: "again" }, fine]);
  const retries = sink.calls.filter(([, event]) => String(event).startsWith("auto_retry"));
  assert.deepEqual(retries, [
    ["observeLifecycle", "auto_retry_start", '{"attempt":1,"errorMessage":"529 overloaded"}'],
    ["observeLifecycle", "auto_retry_start", '{"attempt":2,"errorMessage":"529 overloaded"}'],
  ]);
});

test("the watchdog's own messages are interventions and no input", () => {
  const { sink, feed: fed } = feed({ steered: (told) => told.includes("plan anew") });
  fed.list([
    { role: "user", content: "Your supervisor says: plan anew" },
    { role: "custom", customType: "watchdog-rescue", content: "stop that" },
    { role: "custom", customType: "watchdog-alert", content: "[Watchdog Alert]" },
  ]);
  assert.deepEqual(sink.calls, [
    ["observeLifecycle", "agent_start", ""],
    ["observeLifecycle", "steer", '{"text":"Your supervisor says: plan anew"}'],
    ["observeLifecycle", "steer", '{"text":"stop that"}'],
  ]);
});

test("times neither run backwards nor ahead of the clock", () => {
  const times: number[] = [];
  const sink = recorder();
  const timed = new Proxy(sink.store, {
    get:
      (_target, method) =>
      (_handle: number, at: number): number => {
        if (method === "observeUser") times.push(at);
        return 0;
      },
  });
  const fed = new Feed({ ...sink, store: timed }, { now: () => 1000 });
  for (const at of [500, 400, 9000, Number.NaN]) fed.message({ role: "user", content: "go" }, "", at);
  assert.deepEqual(times, [500, 500, 1000, 1000]);
});

test("what is no message costs nothing but a count", () => {
  const { sink, feed: fed } = feed();
  const trap = {
    get role(): string {
      throw new Error("a getter");
    },
  };
  assert.equal(fed.list([null, 7, "text", {}, { role: 3 }, trap]), 0);
  assert.equal(fed.list("no list"), 0);
  assert.equal(fed.entry("no entry"), false);
  assert.equal(fed.entry({ type: "message", id: "x", message: null }), false);
  assert.equal(fed.unreadable, 8);
  assert.deepEqual(sink.calls, []);
  fed.list([
    null,
    7,
    "text",
    {},
    {},
    {},
    {
      role: "assistant",
      content: [null, { type: "toolCall" }],
      usage: { input: -5, output: Number.NaN, cost: "much" },
    },
  ]);
  assert.deepEqual(sink.calls.slice(1), [
    ["observeAssistant", 1, "", "", ""],
    ["observeToolCall", 1, "", "", "{}"],
  ]);
});

test("a loop in fed messages is found in the store like any other, with its cost", () => {
  const handle = store.open("fed-session", 0, { name: "fed", kind: "task", rootId: "root" }, defaultConfig());
  let bits = 0;
  const fed = new Feed({ store, handle, signal: (more) => (bits |= more) }, { now: () => 5000 });
  const messages: unknown[] = [{ role: "user", content: "find it" }];
  for (const id of ["c1", "c2", "c3", "c4"])
    messages.push({ ...asks(call(id, "rg TOKEN")), usage: usage(10, 0.25) }, result(id, "same"));
  fed.list(messages);
  assert.equal(bits & Signal.NOTICE, Signal.NOTICE);
  const notice = store.takeNotice(handle, 5000);
  assert.equal(notice?.kind, "stuck");
  assert.equal(notice?.lastCommand, "rg TOKEN");
  const target = store.target(handle);
  assert.equal(target?.likelyStuck, true);
  assert.deepEqual(target?.usage, { input: 40, output: 4, cacheRead: 8, cacheWrite: 12, usd: 1 });
  store.end(handle, 6000, "completed");
});
