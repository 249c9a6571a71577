// The stand-in for @gotgenes/pi-subagents on real Pi, without the watchdog: that it does what the real package was
// observed to do. The watchdog's tests are only worth as much as this.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ProbeLine } from "../support/gotgenes/probe.ts";
import { Lab, type LabOptions, REPOSITORY, type Script } from "../support/pi.ts";

const STAND_IN = join(REPOSITORY, "__test__/support/gotgenes");

async function open(t: TestContext, script: Script, options: Partial<LabOptions> = {}) {
  const lab = await Lab.open(t, {
    script,
    watchdog: "none",
    packages: [STAND_IN],
    settings: { extensions: [join(STAND_IN, "probe.ts")] },
    ...options,
    env: { SUBAGENT_PROBE: "probe.jsonl", ...options.env },
  });
  const probe = (): ProbeLine[] =>
    readFileSync(join(lab.home.cwd, "probe.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as ProbeLine);
  return { lab, probe };
}

test("a background child gives the events in the observed order, its record still runs when it settles", async (t) => {
  const { lab, probe } = await open(t, (request) => {
    if (request.prompt.includes("TASK")) return { text: "42 lines" };
    if (request.turn === 0)
      return {
        toolCalls: [
          {
            name: "subagent",
            args: { subagent_type: "Explore", prompt: "TASK count", description: "count", run_in_background: true },
          },
        ],
      };
    if (request.turn === 1) return { text: "waiting" };
    return { text: "done" };
  });
  const pi = await lab.rpc({ args: ["--no-session"] });
  await pi.prompt("go");
  await pi.waitFor((record) => JSON.stringify(record).includes("42 lines"), "the notice of the child's end");
  await lab.server.request((request) => request.turn === 2, "main's next turn");

  const lines = probe();
  const main = lines.find((line) => line.what === "session_start")?.sessionId;
  const order = lines
    .slice(lines.findIndex((line) => line.what === "subagents:created"))
    .filter((line) => line.what.startsWith("subagents:") || line.what === "factory" || line.sessionId !== main)
    .map((line) => line.what);
  assert.deepEqual(order, [
    "subagents:created",
    "subagents:started",
    "subagents:child:spawning",
    "factory",
    "subagents:child:session-created",
    "session_start",
    "agent_start",
    "agent_settled",
    "subagents:child:completed",
    "subagents:completed",
  ]);
  const at = (what: string) => lines.find((line) => line.what === what);
  const id = String(at("subagents:created")?.payload?.id);
  assert.deepEqual(at("subagents:started")?.slotAgents, [`${id}:running`]);
  assert.deepEqual(
    at("subagents:child:session-created")?.slotAgents,
    [],
    "the child's own empty service is in the slot",
  );
  const settled = lines.find((line) => line.what === "agent_settled" && line.sessionId !== main);
  assert.deepEqual(settled?.mainAgents, [`${id}:running`]);
  assert.deepEqual(at("subagents:completed")?.mainAgents, [`${id}:completed`]);
  assert.equal(at("subagents:completed")?.payload?.status, "completed");
  assert.equal(at("subagents:completed")?.payload?.result, "42 lines");
  assert.equal(at("subagents:child:session-created")?.payload?.parentSessionId, main);
});

test("three children run at once and end out of order; a foreground child gives no created and no completed", async (t) => {
  const gates = new Map<string, () => void>();
  const gate = (name: string) => new Promise<void>((resolve) => gates.set(name, resolve));
  const spawn = (name: string, background: boolean) => ({
    name: "subagent",
    args: { subagent_type: "Explore", prompt: `TASK-${name}`, description: name, run_in_background: background },
  });
  const { lab, probe } = await open(t, async (request) => {
    const child = /TASK-(\w+)/.exec(request.prompt)?.[1];
    if (child !== undefined) {
      await gate(child);
      return { text: `result of ${child}` };
    }
    if (request.turn === 0) return { toolCalls: [spawn("a", true), spawn("b", true), spawn("c", false)] };
    return { text: "ok" };
  });
  const pi = await lab.rpc({ args: ["--no-session"] });
  const run = pi.prompt("go");
  for (const name of ["a", "b", "c"]) await lab.server.request((request) => request.prompt === `TASK-${name}`, name);
  for (const name of ["c", "a", "b"]) {
    const from = pi.records.length;
    gates.get(name)?.();
    await pi.waitFor((record) => JSON.stringify(record).includes(`result of ${name}`), `end of ${name}`, { from });
  }
  await run;
  const lines = probe();
  const named = (what: string) => lines.filter((line) => line.what === what).map((line) => line.payload?.description);
  assert.deepEqual(named("subagents:created"), ["a", "b"]);
  assert.deepEqual(named("subagents:started"), ["a", "b", "c"]);
  assert.deepEqual(named("subagents:completed"), ["a", "b"]);
  assert.equal(lines.filter((line) => line.what === "subagents:child:completed").length, 3);
  assert.equal(lines.filter((line) => line.what === "session_shutdown").length, 0);
});

test("a provider error in a child ends as completed with an empty result", async (t) => {
  const { lab, probe } = await open(t, (request) => {
    if (request.prompt.includes("TASK-bad")) return { error: { status: 400, message: "bad request" } };
    if (request.turn === 0)
      return {
        toolCalls: [{ name: "subagent", args: { subagent_type: "X", prompt: "TASK-bad", run_in_background: true } }],
      };
    return { text: "ok" };
  });
  const pi = await lab.rpc({ args: ["--no-session"] });
  await pi.prompt("go");
  await pi.waitFor((record) => JSON.stringify(record).includes("No output."), "the notice of the child's end");
  const end = probe().find((line) => line.what === "subagents:completed")?.payload;
  assert.equal(end?.status, "completed");
  assert.equal(end?.result, "");
});
