// What becomes of children, in real Pi: one that outlives the user's stop, one nested too deep, one with its parent's
// task, one that is "completed" without a result, one past its age with and without the power to end it.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Child, Family, type FamilyOptions, Gates } from "../support/gotgenes/family.ts";
import { bash, call, told } from "../support/scripts.ts";
import { TINTINWEB } from "../support/tintinweb/kit.ts";

const PROBE = fileURLToPath(new URL("../support/tintinweb/probe.ts", import.meta.url));
const files = { ".pi/subagents.json": JSON.stringify({ defaultJoinMode: "async" }) };
const hanging: Child = () => ({ text: "so far", hang: true });

const open = (t: TestContext, options: FamilyOptions) =>
  Family.open(t, { kit: TINTINWEB, files, settings: { extensions: [PROBE] }, ...options });

test("a background child that goes on after the user stopped the main agent is told of", async (t) => {
  const gates = new Gates();
  let over = false;
  const family = await open(t, {
    children: {
      a: async ({ turn }) => {
        await gates.pass("a0");
        return over || turn > 60 ? { text: "a is done" } : bash(`sleep 0.2; echo step ${turn}`);
      },
    },
  });
  const a = await family.spawn("a");
  await family.asks("a");
  await family.begin("bash", { command: "sleep 600" });
  await family.pi.waitFor(
    ({ type, args }) => type === "tool_execution_start" && args?.command === "sleep 600",
    "the main agent's call",
  );
  await family.pi.send({ type: "abort" });
  gates.open("a0");
  const alert = await family.alert("after the user stopped the agent that started it");
  over = true;
  assert.match(alert, /Target: "job of a"/);
  assert.match(alert, /Status: left without an owner/);
  await family.ended(a);
  assert.equal((await family.targets()).get("job of a").status, "completed", "it was told of, not ended");
  await family.pi.close();
});

test("a foreground child that ends with the user's stop is no orphan", async (t) => {
  const family = await open(t, {
    config: { idleTimeoutSec: 1 },
    children: { a: ({ turn }) => bash(`echo ${turn}; sleep 600`), b: hanging },
  });
  await family.begin("Agent", family.task("a"));
  await family.asks("a");
  await family.pi.send({ type: "abort" });
  await family.spawn("b");
  await family.alert("job of b");
  assert.doesNotMatch(told(family.pi), /job of a/);
  await family.pi.close();
});

test("an agent of an agent below the limit of nesting is told of, with both numbers", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    config: { maxSpawnDepth: 1 },
    children: {
      a: async ({ turn }) => {
        if (turn === 0) return { toolCalls: [call("nest", { prompt: "TASK b", description: "job of b" })] };
        await gates.pass("a-end");
        return { text: "a is done" };
      },
      b: hanging,
    },
  });
  await family.spawn("a");
  const alert = await family.alert("it is 2 levels below the main session; the limit is 1");
  assert.match(alert, /Target: "job of b"/);
  assert.match(alert, /Status: nested too deep/);
  gates.open("a-end");
  await family.pi.close();
});

test("an agent that is given the very task of the one above it is told of", async (t) => {
  let runs = 0;
  const family = await open(t, {
    children: {
      a: ({ turn }) => {
        runs += turn === 0 ? 1 : 0;
        if (turn > 0 || runs > 1) return { text: "so far", hang: true };
        return { toolCalls: [call("nest", { prompt: "TASK a", description: "the same again" })] };
      },
    },
  });
  await family.spawn("a", { subagent_type: "general-purpose" });
  const alert = await family.alert("it was given the very task of");
  assert.match(alert, /Target: "the same again"/);
  assert.match(alert, /the very task of "job of a", which is above it/);
  await family.pi.close();
});

for (const [what, reply, reason] of [
  [
    "whose provider failed",
    { error: { status: 400, message: "no such model" } },
    "it is said to be completed, and its last request had failed: its result is worth nothing",
  ],
  ["whose last answer is empty", { text: "" }, "the run ended with an empty answer"],
] as const) {
  test(`a child that is "completed" and ${what} is told of once`, async (t) => {
    const family = await Family.open(t, {
      children: { a: ({ turn }) => (turn === 0 ? bash("echo a") : reply) },
    });
    await family.ended(await family.spawn("a"));
    assert.equal(await family.notified("job of a"), `Watchdog: job of a: ${reason}`);
    assert.equal((await family.targets()).get("job of a").status, "completed");
    assert.equal(told(family.pi).match(/Watchdog: job of a/g)?.length, 1);
    await family.pi.close();
  });
}

for (const autoKill of [false, true]) {
  const what = autoKill ? "stopped by its package and told of where the user allowed it" : "told of and left alone";
  test(`a child past its age that is silent is ${what}`, async (t) => {
    const family = await open(t, {
      config: { autoKill, autoKillAfterSec: 1, staleAfterSec: 0, idleTimeoutSec: 1 },
      children: { a: hanging },
    });
    const a = await family.spawn("a");
    const alert = await family.alert("past its limit of 1 s, and is silent");
    assert.match(alert, /Target: "job of a"/);
    assert.match(alert, autoKill ? /Status: ended \(stopped\)/ : /Status: past its time limit/);
    if (autoKill) {
      assert.match(alert, /; it was stopped/);
      assert.match(await family.ended(a), /<status>Stopped<\/status>/);
    }
    assert.doesNotMatch(autoKill ? "" : alert, /stopped/);
    assert.equal((await family.targets()).get("job of a").status, autoKill ? "stopped" : "running");
    await family.pi.close();
  });
}

test("a child past its age that is at work is remarked on, and never stopped", async (t) => {
  let over = false;
  const family = await open(t, {
    config: { autoKill: true, autoKillAfterSec: 1, staleAfterSec: 0 },
    children: { a: ({ turn }) => (over || turn > 60 ? { text: "a is done" } : bash(`sleep 0.2; echo step ${turn}`)) },
  });
  const a = await family.spawn("a");
  const notice = await family.notified("past its limit of 1 s, and is at work");
  over = true;
  assert.match(notice, /job of a/);
  await family.ended(a);
  assert.equal((await family.targets()).get("job of a").status, "completed");
  await family.pi.close();
});
