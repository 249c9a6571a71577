// What of Pi's tool events reaches the detector.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ToolObserver } from "../../../extension/observe/tools.ts";
import { Turns } from "../../../extension/observe/turns.ts";
import { event, recorder, text } from "./recorder.ts";

function observer() {
  const sink = recorder();
  const turns = new Turns([]);
  turns.next();
  return { sink, turns, tools: new ToolObserver(sink, turns) };
}

const call = (toolCallId: string, toolName: string, args: unknown, more = {}) =>
  event({ toolCallId, toolName, args, input: args, ...more });
const result = (toolCallId: string, toolName: string, output: string, more = {}) =>
  event({ toolCallId, toolName, result: { content: [text(output)] }, isError: false, durationMs: 1, ...more });

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "watchdog-tools-"));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

test("a call and its result carry the turn in which it was asked for", () => {
  const { sink, turns, tools } = observer();
  tools.start(call("c1", "bash", { command: "ls" }));
  turns.next();
  tools.start(call("c1/1", "read", { path: "a" }, { parentToolCallId: "c1" }));
  tools.end(result("c1/1", "read", "one"));
  tools.end(result("c1", "bash", "two"));
  tools.end(result("unseen", "bash", "three"));
  assert.deepEqual(sink.calls, [
    ["observeToolCall", 1, "c1", "bash", '{"command":"ls"}'],
    ["observeToolCall", 1, "c1/1", "read", '{"path":"a"}'],
    ["observeToolResult", 1, "c1/1", "read", "one", false, "", ""],
    ["observeToolResult", 1, "c1", "bash", "two", false, "", ""],
    ["observeToolResult", 2, "unseen", "bash", "three", false, "", ""],
  ]);
});

test("a successful edit names its file by its path in the project, with the content's hash", async (t) => {
  const cwd = folder(t);
  writeFileSync(join(cwd, "a.txt"), "hello");
  const { sink, tools } = observer();
  tools.start(call("c1", "edit", { path: "./a.txt" }));
  await tools.result(event({ toolCallId: "c1", toolName: "edit", input: { path: "./a.txt" }, isError: false }), cwd);
  tools.end(result("c1", "edit", "ok"));
  const hash = createHash("sha1").update("hello").digest("hex");
  assert.equal(sink.calls.at(-1)?.[6], `{"a.txt":"${hash}"}`);
});

test("no file is named where it cannot be told", async (t) => {
  const cwd = folder(t);
  writeFileSync(join(cwd, "large"), Buffer.alloc(2 * 1024 * 1024 + 1));
  const { sink, tools } = observer();
  const edits = [
    { path: "missing" },
    { path: "." },
    { path: "large" },
    { path: 5 },
    { path: "" },
    { path: "nul\0" },
    "no object",
  ];
  for (const input of edits) {
    tools.start(call("c", "write", input));
    await tools.result(event({ toolCallId: "c", toolName: "write", input, isError: false }), cwd);
    tools.end(result("c", "write", "ok"));
  }
  await tools.result(event({ toolCallId: "gone", toolName: "write", input: { path: "a" }, isError: false }), cwd);
  const results = sink.calls.filter(([method]) => method === "observeToolResult");
  assert.deepEqual(
    results.map((call) => call[6]),
    edits.map(() => ""),
  );
});

test("a refused call is told apart from one that failed, by who refused it", () => {
  const { sink, tools } = observer();
  const blockedBy = (output: string, more = {}) => {
    tools.start(call("c", "bash", { command: "ls" }));
    tools.end(result("c", "bash", output, { isError: true, durationMs: undefined, ...more }));
    return sink.calls.at(-1)?.[7];
  };
  assert.equal(blockedBy("not allowed here"), "extension");
  assert.equal(blockedBy("ls: no such file", { durationMs: 3 }), "");
  assert.equal(blockedBy("fine", { isError: false }), "");
  assert.equal(blockedBy("Tool bash not found"), "");
  assert.equal(blockedBy('Validation failed for tool "bash":\n- command: missing'), "");
  assert.equal(blockedBy("Operation aborted"), "");

  tools.start(call("own", "bash", { command: "ls" }));
  sink.answers.refusal = { reason: "it repeats", terminate: false };
  assert.deepEqual(tools.refusal(call("own", "bash", { command: "changed by a guard" })), sink.answers.refusal);
  assert.deepEqual(sink.calls.at(-1), ["refusal", "bash", '{"command":"ls"}']);
  tools.end(result("own", "bash", "it repeats", { isError: true, durationMs: undefined }));
  assert.equal(sink.calls.at(-1)?.[7], "pi-watchdog-supervisor");
});
