// Interventions that are remarks to the user, in real Pi: a plan that stands still, polls, a message that goes round, a
// service that is down. They cost the model nothing.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Lab, type Reply } from "../support/pi.ts";
import { bash, call, steps, told } from "../support/scripts.ts";

const MATTERS = fileURLToPath(new URL("../support/matters.ts", import.meta.url));

const plan = (status: string): Reply => ({
  toolCalls: [call("todo_write", { todos: [{ content: "the flag", status }] })],
});
const work = (count: number): Reply[] => Array.from({ length: count }, (_, n) => bash(`echo step ${n}`));

test("work that goes on while the plan stands still is remarked on once, and not when the plan is done", async (t) => {
  const prompts: Record<string, readonly Reply[]> = {
    begin: [plan("in_progress"), ...work(8)],
    finish: [plan("completed"), ...work(8)],
  };
  const lab = await Lab.open(t, {
    extensions: [MATTERS],
    config: { planLagTurns: 3 },
    script: ({ messages }) => {
      const at = messages.findLastIndex(({ role, text }) => role === "user" && text in prompts);
      const turn = messages.slice(at).filter(({ role }) => role === "assistant").length;
      return prompts[messages[at]?.text ?? ""]?.[turn] ?? { text: "That is all." };
    },
  });
  const pi = await lab.rpc();
  await pi.prompt("begin");
  await pi.waitFor(() => /Watchdog: main: 3 turns of work, and the plan was not updated/.test(told(pi)), "the remark");
  await pi.prompt("finish");
  assert.equal(told(pi).match(/the plan was not updated/g)?.length, 1);
  assert.doesNotMatch(JSON.stringify(lab.server.requests.map(({ messages }) => messages)), /plan was not updated/);
  await pi.close();
});

const REMARKS: Record<string, [Reply[], RegExp]> = {
  "a service that is down": [
    Array.from({ length: 4 }, (_, n) => bash(`echo "HTTP/1.1 503 Service Unavailable (try ${n})"; exit 22`)),
    /Watchdog: main: [^\n]*(provider|outage|503)/i,
  ],
  "polls that come to nothing": [
    Array.from({ length: 12 }, () => bash("sleep 0; echo pending")),
    /Watchdog: main: [^\n]*(poll|asked|wait)/i,
  ],
  "refusals that are not taken for an answer": [
    Array.from({ length: 4 }, (_, n) => bash(`echo "The user denied permission to run step ${n}"; exit 1`)),
    /Watchdog: main: bash was refused \d+ times and asked for again/,
  ],
  "a message that goes round": [
    [{ text: "Let me think about it. ".repeat(80) }],
    /Watchdog: main: the message goes round/,
  ],
};

for (const [what, [replies, remark]] of Object.entries(REMARKS)) {
  test(`${what}: the user is told`, async (t) => {
    const lab = await Lab.open(t, { script: steps(replies) });
    const pi = await lab.rpc();
    await pi.prompt("begin");
    await pi.waitFor(() => remark.test(told(pi)), `${what}; told: ${told(pi)}`);
    await pi.close();
  });
}

test("a context that is compacted again and again with nothing new in between: the user is told", async (t) => {
  const full = { input: 195_000, output: 10 };
  const lab = await Lab.open(t, {
    settings: { compaction: { enabled: true, reserveTokens: 16_384, keepRecentTokens: 1 } },
    config: { costLimitUsd: 0 },
    script: ({ tools, index }) => {
      // Only requests for a summary offer no tools.
      if (tools.length === 0) return { text: "A summary." };
      return index < 14 ? { ...bash("echo the same"), usage: full } : { text: "That is all." };
    },
  });
  const pi = await lab.rpc();
  await pi.prompt("begin");
  await pi.waitFor(() => /Watchdog: main: 2 compactions with nothing new between them/.test(told(pi)), "the remark");
  await pi.close();
});
