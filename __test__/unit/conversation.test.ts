// What the debug console says of the messages to a provider and of its answers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { receivedText, sentText } from "../../extension/conversation.ts";

type Messages = Parameters<typeof sentText>[0];
const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] });
const assistant = { role: "assistant", content: [{ type: "text", text: "yes" }] };
const result = { role: "toolResult", toolName: "bash", isError: true, content: [{ type: "text", text: "boom" }] };
const rescue = { role: "custom", customType: "watchdog-rescue", content: "Stop." };
const sent = (...messages: unknown[]): string => sentText(messages as unknown as Messages);

test("what is sent: the messages since the last answer with their roles, and how many of how many", () => {
  assert.equal(sent(user("hello")), "1 new of 1 message\nuser: hello");
  assert.equal(
    sent(user("a"), assistant, result, rescue, user("b")),
    "3 new of 5 messages\ntoolResult bash (error): boom\ncustom watchdog-rescue: Stop.\nuser: b",
  );
  assert.equal(sent(user("a"), assistant), "0 new of 2 messages");
  assert.equal(sent(), "0 new of 0 messages");
});

test("what is received: text, calls as one line each, and never nothing", () => {
  const call = { type: "toolCall", id: "1", name: "bash", arguments: { command: "ls" } };
  assert.equal(receivedText([call]), 'bash {"command":"ls"}');
  assert.equal(receivedText([{ type: "text", text: "I look." }, call, call]).split("\n").length, 3);
  assert.equal(receivedText([{ type: "thinking", thinking: "hm" }]), "hm");
  assert.equal(receivedText([], "529 overloaded"), "error: 529 overloaded");
  const round: Record<string, unknown> = {};
  round.self = round;
  for (const odd of [undefined, null, [], [null], [{ ...call, arguments: round }], [{ type: "toolCall" }]]) {
    assert.notEqual(receivedText(odd).trim(), "");
  }
});

test("a huge message hides no other", () => {
  const text = sent(user("x".repeat(1_000_000)), user("last"));
  assert.ok(text.length < 10_000);
  assert.match(text, /characters more\]\nuser: last$/);
});
