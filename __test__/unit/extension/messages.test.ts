// What of Pi's messages reaches the detector, and as whose.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageObserver } from "../../../extension/observe/messages.ts";
import { Turns } from "../../../extension/observe/turns.ts";
import { noteSteer } from "../../../extension/root.ts";
import { event, recorder, text, usage } from "./recorder.ts";

function observer(sessionId = "s") {
  const sink = recorder();
  const messages = new MessageObserver(sink, sessionId, new Turns([]), {
    writing: () => {},
    person: () => {},
  });
  const end = (message: Record<string, unknown>) => messages.end(event({ message }));
  return { sink, messages, end };
}

test("what a person typed is no program's, what an extension sent as a user is", () => {
  const { sink, messages, end } = observer();
  end({ role: "user", content: [text("typed")] });
  messages.input(event({ source: "interactive", text: "typed too" }));
  messages.input(event({ source: "extension", text: "sent" }));
  end({ role: "user", content: "sent" });
  end({ role: "user", content: "sent" });
  end({ role: "custom", customType: "reminder", content: "remember" });
  assert.deepEqual(sink.calls, [
    ["observeUser", "typed", false],
    ["observeUser", "sent", true],
    ["observeUser", "sent", false],
    ["observeUser", "remember", true],
  ]);
});

test("the watchdog's own messages are no input, and its answers to commands are nothing", () => {
  const { sink, end } = observer("steered-session");
  end({ role: "custom", customType: "watchdog-rescue", content: "plan anew" });
  end({ role: "custom", customType: "watchdog-alert", content: "[Watchdog Alert]" });
  end({ role: "custom", customType: "watchdog-answer", content: "status" });
  noteSteer("steered-session", "stop that");
  end({ role: "user", content: "Your supervisor says: stop that" });
  end({ role: "user", content: "stop that" });
  assert.deepEqual(sink.calls, [
    ["observeLifecycle", "steer", '{"text":"plan anew"}'],
    ["observeLifecycle", "notice", ""],
    ["observeLifecycle", "notice", ""],
    ["observeLifecycle", "steer", '{"text":"Your supervisor says: stop that"}'],
    ["observeUser", "stop that", false],
  ]);
});

test("one message is one turn, streamed or not, and its usage comes with it in one signal", () => {
  const { sink, messages, end } = observer();
  sink.answers.observeAssistant = 1;
  sink.answers.observeUsage = 2;
  const assistant = { role: "assistant", content: [{ type: "thinking", thinking: "hm" }, text("a"), text("b")] };
  messages.start(event({ message: assistant }));
  messages.update(event({ assistantMessageEvent: { type: "thinking_delta", delta: "h" } }));
  messages.update(event({ assistantMessageEvent: { type: "text_delta", delta: "a" } }));
  messages.update(event({ assistantMessageEvent: { type: "toolcall_delta", delta: "{" } }));
  end({ ...assistant, stopReason: "toolUse", usage: usage(10, 0.5) });
  end({ ...assistant, stopReason: "error", usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } });
  assert.deepEqual(sink.calls, [
    ["observeChunk", 1, "h"],
    ["observeChunk", 1, "a"],
    ["observeAssistant", 1, "a\nb", "hm", "toolUse"],
    ["observeUsage", 10, 1, 2, 3, 0.5],
    ["observeAssistant", 2, "a\nb", "hm", "error"],
  ]);
  assert.deepEqual(sink.signals, [0, 0, 3, 1]);
});

test("a result's own usage counts", () => {
  const { sink, end } = observer();
  end({ role: "toolResult", content: [text("x")], usage: usage(4, 0) });
  end({ role: "toolResult", content: [text("x")] });
  assert.deepEqual(sink.calls, [["observeUsage", 4, 1, 2, 3, 0]]);
});

test("turns go on from where the session's entries end", () => {
  const entry = (role: string) => ({ type: "message", message: { role } });
  const turns = new Turns([entry("user"), entry("assistant"), { type: "compaction" }, entry("assistant")]);
  assert.equal(turns.current, 2);
  assert.equal(turns.next(), 3);
});

test("of a tool's usage only what its agents have not counted is the caller's", () => {
  const sink = recorder();
  const used = { input: 5, output: 1, cacheRead: 2, cacheWrite: 1, usd: 0.25 };
  const messages = new MessageObserver(sink, "s", new Turns([]), {
    writing: () => {},
    person: () => {},
    counted: (id, details) => (id === "c1" && details === "d" ? used : undefined),
  });
  const end = (toolCallId: string) =>
    messages.end(event({ message: { role: "toolResult", toolCallId, details: "d", usage: usage(7, 1) } }));
  end("c1");
  end("c2");
  assert.deepEqual(sink.calls, [
    ["observeUsage", 2, 0, 0, 2, 0.75],
    ["observeUsage", 7, 1, 2, 3, 1],
  ]);
});
