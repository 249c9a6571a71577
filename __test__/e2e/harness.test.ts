// The test support itself, on Pi without the watchdog: what the scripted model says and is sent must get through
// every provider shape and every mode unchanged, or no other test on real Pi means anything.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { APIS, type Api, Lab, type Script, tmuxMissing } from "../support/pi.ts";

/** Replaces `bash` by a tool that ends when the file `go` is there. */
const HELD_BASH = fileURLToPath(new URL("../support/held-bash.ts", import.meta.url));

const greet: Script = (request) =>
  request.turn === 0
    ? {
        thinking: "Which one ☃?",
        text: "Let me look → now.",
        toolCalls: [
          { name: "bash", args: { command: "echo 'grüß'" } },
          { name: "no_such_tool", args: { deep: { list: [1, "two"] } } },
        ],
        usage: { input: 1000, output: 50, cacheRead: 400 },
      }
    : { text: request.toolResults.map((result) => result.text.trim()).join(" / ") };

for (const api of APIS) {
  test(`${api}: thinking, text, calls, results and usage get through`, async (t) => {
    const lab = await Lab.open(t, { watchdog: "none", script: greet });
    const pi = await lab.rpc({ api });
    await pi.prompt("hello there");

    const [first, last] = pi.messages().filter((message) => message.role === "assistant");
    assert.deepEqual(
      first.content.map((block: { type: string }) => block.type),
      ["thinking", "text", "toolCall", "toolCall"],
    );
    assert.equal(first.content[0].thinking, "Which one ☃?");
    assert.equal(first.content[1].text, "Let me look → now.");
    assert.deepEqual(first.content[3].arguments, { deep: { list: [1, "two"] } });
    assert.equal(first.stopReason, "toolUse");
    assert.deepEqual([first.usage.input, first.usage.output, first.usage.cacheRead], [1000, 50, 400]);
    assert.ok(first.usage.cost.total > 0);
    assert.equal(last.content[0].text, "grüß / Tool no_such_tool not found");

    assert.equal(lab.server.requests.length, 2);
    const [opening, second] = lab.server.requests;
    assert.equal(opening?.prompt, "hello there");
    assert.equal(opening?.turn, 0);
    assert.match(opening?.system ?? "", /coding assistant/);
    assert.deepEqual(opening?.tools, ["read", "bash", "edit", "write"]);
    assert.equal(second?.turn, 1);
    assert.equal(second?.prompt, "hello there");
    const answer = second?.messages.find((message) => message.role === "assistant");
    assert.equal(answer?.text.includes("Let me look → now."), true);
    assert.deepEqual(
      answer?.toolCalls.map((call) => [call.name, call.args]),
      [
        ["bash", { command: "echo 'grüß'" }],
        ["no_such_tool", { deep: { list: [1, "two"] } }],
      ],
    );
    assert.deepEqual(
      second?.toolResults.map((result) => result.text.trim()),
      ["grüß", "Tool no_such_tool not found"],
    );
  });

  test(`${api}: a message steered in while a tool runs is in the next request`, async (t) => {
    const script: Script = ({ turn }) =>
      turn === 0 ? { toolCalls: [{ name: "bash", args: { command: "cat" } }] } : { text: "ok" };
    const lab = await Lab.open(t, { watchdog: "none", script, extensions: [HELD_BASH] });
    const pi = await lab.rpc({ api });
    await pi.send({ type: "prompt", message: "start" });
    await pi.waitFor((record) => record.type === "tool_execution_start", "the tool");
    await pi.send({ type: "steer", message: "another way, please" });
    lab.home.writeFile("go", "");
    await pi.waitFor((record) => record.type === "agent_settled", "the end");
    assert.deepEqual(lab.server.requests[1]?.newUserTexts, ["another way, please"]);
  });

  test(`${api}: a failure of the provider is an error message with its text`, async (t) => {
    const lab = await Lab.open(t, {
      watchdog: "none",
      script: () => ({ error: { status: 400, message: "the model is out" } }),
    });
    const pi = await lab.rpc({ api });
    await pi.prompt("hello");
    const message = pi.messages().findLast(({ role }) => role === "assistant");
    assert.equal(message.stopReason, "error");
    assert.match(message.errorMessage, /the model is out/);
  });
}

test("a stream that hangs ends with Pi, which ends in order", async (t) => {
  const lab = await Lab.open(t, { watchdog: "none", script: () => ({ text: "and so on", hang: true }) });
  const pi = await lab.rpc();
  await pi.send({ type: "prompt", message: "start" });
  await pi.waitFor((record) => record.type === "message_update", "the first words");
  assert.deepEqual(await pi.close(), { code: 0, signal: null });
});

test("json and print mode run to their end", async (t) => {
  const lab = await Lab.open(t, { watchdog: "none", script: greet });
  const json = await lab.run({ mode: "json", prompts: ["hello"] });
  assert.equal(json.code, 0);
  assert.equal(json.records[0]?.type, "session");
  assert.equal(json.records.at(-1)?.type, "agent_settled");
  const print = await lab.run({ mode: "print", prompts: ["hello"] });
  assert.equal(print.code, 0);
  assert.equal(print.stdout, "grüß / Tool no_such_tool not found\n");
});

test("the terminal shows a run", { skip: tmuxMissing }, async (t) => {
  const lab = await Lab.open(t, { watchdog: "none", script: greet });
  const tui = await lab.tui({ width: 80, height: 30 });
  await tui.waitFor(/scripted-1/);
  await tui.type("hello");
  await tui.press("Enter");
  const screen = await tui.waitFor(/grüß \/ Tool no_such_tool not found/);
  assert.match(screen, /\$ echo 'grüß'/);
  assert.equal(await tui.exitCode(), undefined);
});

test("a home takes in nothing of the user's and leaves nothing behind", async (t) => {
  let root = "";
  await t.test("inner", async (inner) => {
    const lab = await Lab.open(inner, { watchdog: "none", script: greet });
    root = lab.home.root;
    assert.ok(existsSync(root));
    const pi = await lab.rpc({ api: APIS[3] as Api });
    const { models } = await pi.send({ type: "get_available_models" });
    assert.deepEqual(
      models.map((model: { provider: string }) => model.provider),
      APIS.map((api) => `local-${api}`),
    );
  });
  assert.equal(existsSync(root), false);
});

test("a script that throws fails the test that runs it", async () => {
  const cleanups: (() => unknown)[] = [];
  const lab = await Lab.open(
    { after: (cleanup) => cleanups.push(cleanup) },
    {
      watchdog: "none",
      script: () => {
        throw new Error("unexpected turn");
      },
    },
  );
  const pi = await lab.rpc();
  await pi.prompt("hello");
  await assert.rejects(async () => {
    for (const cleanup of cleanups) await cleanup();
  }, /the model script failed: unexpected turn/);
});
