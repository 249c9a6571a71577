// Money in real Pi: what a tree used is what Pi's own session entries say, to the cent, and the limit is told of before
// the next request. Nothing is stopped.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Family, Gates } from "../support/gotgenes/family.ts";
import { Lab, poll } from "../support/pi.ts";
import { call, told, watchdogTexts } from "../support/scripts.ts";
import { TINTINWEB } from "../support/tintinweb/kit.ts";

const MATTERS = fileURLToPath(new URL("../support/matters.ts", import.meta.url));
const PROBE = fileURLToPath(new URL("../support/tintinweb/probe.ts", import.meta.url));

/** What Pi itself wrote down, of every session below the folder: messages, and results that say what they used. */
function saved(agentDir: string): { usd: number; sessions: number } {
  const folder = join(agentDir, "sessions");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
  let usd = 0;
  for (const name of names) {
    for (const line of readFileSync(join(folder, name), "utf8").split("\n").filter(Boolean)) {
      usd += JSON.parse(line).message?.usage?.cost?.total ?? 0;
    }
  }
  return { usd, sessions: names.length };
}

/** An agent type whose sessions are saved. */
const SAVED = "---\ndescription: saved\npersist_session: true\n---\nDo the task.";

test("main, child, agent of the child, a tool's own model and cache reads are summed to what Pi wrote down", async (t) => {
  const gates = new Gates();
  const usage = { input: 12_345, output: 678, cacheRead: 98_765, cacheWrite: 4_321 };
  const family = await Family.open(t, {
    kit: TINTINWEB,
    saved: true,
    files: {
      ".pi/subagents.json": JSON.stringify({ defaultJoinMode: "async" }),
      ".pi/agents/Explore.md": SAVED,
      ".pi/agents/general-purpose.md": SAVED,
    },
    settings: { extensions: [PROBE] },
    extensions: [MATTERS],
    config: { costLimitUsd: 0.5 },
    children: {
      a: async ({ turn }) => {
        if (turn === 0) return { toolCalls: [call("nest", { prompt: "TASK b", description: "job of b" })], usage };
        await gates.pass("a-end");
        return { text: "a is done", usage };
      },
      b: async ({ turn }) => {
        if (turn === 0) return { toolCalls: [call("bash", { command: "echo b" })], usage };
        await gates.pass("b-end");
        return { text: "b is done", usage };
      },
    },
  });
  await family.call("ask_a_model");
  const a = await family.spawn("a");
  await family.asks("b", 1);
  gates.open("b-end", "a-end");
  await family.ended(a);
  // The main agent is not told of the end of an agent's agent.
  const ended = async () => {
    const targets = await family.targets();
    return targets.get("job of b").status === "completed" ? targets : undefined;
  };
  const targets = await poll(ended, () => "the end of b");
  assert.equal(targets.get("job of b").parentId, targets.get("job of a").id);
  await poll(
    async () => (await family.pi.send({ type: "get_state" })).isStreaming === false || undefined,
    () => "that Pi rests",
  );
  const [, together] = /Together: [^\n]*?\$(\d+\.\d+)/.exec(await family.command("/watchdog status")) ?? [];
  await family.pi.close();
  const { usd, sessions } = saved(family.lab.home.agentDir);
  assert.equal(sessions, 3, "the main session, its child and the child's child");
  assert.equal(together, usd.toFixed(2));
  assert.ok(usd > 0.5);
  assert.match(told(family.pi), /\$\d\.\d\d was used, the limit is \$0\.50 \([^)]*"job of [ab]" \$0/);
});

test("the limit is told of before the next request, to the agent and the user, and nothing is stopped", async (t) => {
  const usage = { input: 100_000, output: 10_000 };
  const lab = await Lab.open(t, {
    config: { costLimitUsd: 1 },
    script: ({ turn }) =>
      turn < 4
        ? { toolCalls: [call("bash", { command: `echo ${turn}` })], usage }
        : { text: "done", usage: { input: 1, output: 1 } },
  });
  const pi = await lab.rpc();
  await pi.prompt("go");
  const costs = lab.server.requests.map((request) =>
    request.newUserTexts.some((text) => text.includes("the limit is $1.00")),
  );
  // 45 cents a request: half of the limit after the second one, all of it after the third.
  assert.deepEqual(costs, [false, false, false, true, false]);
  assert.match(told(pi), /\$1\.35 was used, the limit is \$1\.00/);
  assert.match(told(pi), /\$0\.90 of \$1\.00 was used/);
  const [alert = ""] = watchdogTexts(pi.records);
  assert.match(alert, /Status: over its cost limit/);
  assert.match(alert, /ask whether to go on/);
  assert.equal(lab.server.requests.length, 5, "the agent decides");
  await pi.close();
});
