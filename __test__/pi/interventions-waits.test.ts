// Waits that never end, in real Pi: for a child that is gone, of an idle parent that nobody tells, for an answer to a
// question that nobody sees. A wait counts after the time of silence that the user has set, here two seconds.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Family } from "../support/gotgenes/family.ts";
import { LinkLab } from "../support/link/lab.ts";
import { call, told } from "../support/scripts.ts";

const MATTERS = fileURLToPath(new URL("../support/matters.ts", import.meta.url));

test("a main agent that waits for the result of a child that is gone is told of to the user while it waits", async (t) => {
  const family = await Family.open(t, {
    config: { idleTimeoutSec: 2 },
    quirks: "unreturned",
    children: { a: () => ({ text: "a is done" }) },
  });
  const a = await family.spawn("a");
  await family.asks("a");
  await family.begin("get_subagent_result", { agent_id: a, wait: true });
  await family.pi.waitFor(
    ({ type, toolName }) => type === "tool_execution_start" && toolName === "get_subagent_result",
    "the wait",
  );
  await family.command(`/stand-in-dispose ${a}`);
  assert.match(await family.notified("waits for"), /"main" waits for "job of a", which has ended/);
  // The package's wait hears no abort; the end of the session ends it.
  assert.deepEqual(await family.pi.close(), { code: 0, signal: null });
});

test("an idle main agent that nobody told of its last child's end is woken to it by an alert", async (t) => {
  const family = await Family.open(t, {
    config: { idleTimeoutSec: 2 },
    quirks: "untold",
    children: {
      a: async () => {
        await family.pi.waitFor(({ type }) => type === "agent_settled", "the main agent's rest");
        return { text: "a is done" };
      },
    },
  });
  await family.spawn("a");
  const alert = await family.alert('it waits, and does not know that "job of a" has ended');
  assert.match(alert, /Target: "main"/);
  await family.pi.close();
});

test("a main agent that was told of its child's end is in no deadlock", async (t) => {
  const family = await Family.open(t, {
    config: { idleTimeoutSec: 1 },
    children: {
      a: async () => {
        await family.pi.waitFor(({ type }) => type === "agent_settled", "the main agent's rest");
        return { text: "a is done" };
      },
      b: () => ({ text: "so far", hang: true }),
    },
  });
  const a = await family.spawn("a");
  await family.ended(a);
  // The clock went on: another child's silence is found after it.
  await family.spawn("b");
  await family.alert("job of b");
  assert.doesNotMatch(told(family.pi), /job of a/);
  await family.pi.close();
});

test("a question of a child process that nobody sees is told of in the main session", async (t) => {
  const family = await LinkLab.open(t, {
    config: { idleTimeoutSec: 1 },
    settings: { extensions: [MATTERS] },
    children: {
      a: ({ turn }) =>
        turn === 0 ? { toolCalls: [call("ask_user", { question: "May I?" })] } : { text: "I may not." },
    },
  });
  const prompt = JSON.stringify({ type: "prompt", message: "TASK a" });
  const pi = family.command("a", "--mode rpc").replace("'TASK a'", "");
  await family.run(`( echo '${prompt}'; exec sleep 600 ) | ${pi}`);
  await family.pi.waitFor(() => /asked a question that nobody sees/.test(told(family.pi)), "the unseen question");
  await family.pi.send({ type: "abort" });
  await family.pi.close();
});
