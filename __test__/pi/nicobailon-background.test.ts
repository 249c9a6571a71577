// Background runs of the npm package pi-subagents on real Pi: each is a process of its own. What the watchdog does to an
// agent is read from the agent's own model requests. The installed version starts such runs only on Pi before 1.0.

import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test as anyTest, type TestContext } from "node:test";
import { type Child, Gates } from "../support/gotgenes/family.ts";
import { isBefore1, Nicobailon, type NicobailonOptions, PI_0 } from "../support/nicobailon/family.ts";
import { poll } from "../support/pi.ts";
import { bash, call, RESCUE, rescued, rescues } from "../support/scripts.ts";

process.env.PI_UNDER_TEST ??= PI_0;
const skip = isBefore1() ? false : "the installed pi-subagents starts no background run on this Pi";
const test = (name: string, run: (t: TestContext) => Promise<void>) => anyTest(name, { skip }, run);

const files = { "src.txt": "TOKEN\n" };
const GREP = "grep -n TOKEN src.txt";

/** Does the same again and again: until it is rescued, or `bound` times. */
const looping =
  (bound: number): Child =>
  (request) =>
    rescued(request) || request.turn >= bound ? { text: "I stop here." } : bash(GREP);

/** Two different steps, each when the test opens its gate; then an answer. */
const working =
  (name: string, gates: Gates): Child =>
  async ({ turn }) => {
    if (turn < 2) {
      await gates.pass(`${name}${turn}`);
      return bash(`echo ${name} step ${turn}`);
    }
    await gates.pass(`${name}-end`);
    return { text: `${name} is done` };
  };

const open = (t: TestContext, options: NicobailonOptions) =>
  Nicobailon.open(t, { files, ...options, config: { rescueMessage: RESCUE, ...(options.config as object) } });

/** The target of an agent, once it fits. */
const target = (family: Nicobailon, child: string, fits: (target: Record<string, unknown>) => boolean = () => true) =>
  poll(
    async () => {
      const found = (await family.targets()).get(family.nameOf(child));
      return found !== undefined && fits(found) ? found : undefined;
    },
    () => `the target of ${child}`,
  );

/** The package has a message for a run, which arrives when the model's answer does. */
const noted = (run: Awaited<ReturnType<Nicobailon["spawn"]>>, message: string) =>
  poll(
    () => (readFileSync(join(run.asyncDir, "status.json"), "utf8").includes(message) ? true : undefined),
    () => "the package's note of the message",
  );

const endsInOrder = async ({ pi }: Nicobailon) => {
  assert.deepEqual(await pi.close(), { code: 0, signal: null });
  assert.doesNotMatch(pi.stderr, /stale|Event handler error|panick/);
};

test("of two runs at once the looping one is named in the main session, and the other completes untouched", async (t) => {
  const gates = new Gates();
  const family = await open(t, { children: { a: working("a", gates), b: looping(6) } });
  const a = await family.spawn("a");
  await family.asks("a");
  const b = await family.spawn("b");
  const alert = await family.alert("TASK b");
  assert.ok(alert.includes(GREP), alert);
  assert.equal((await family.said("subagent:async-complete", b.id)).state, "complete");
  gates.open("a0", "a1", "a-end");
  assert.equal((await family.said("subagent:async-complete", a.id)).state, "complete");

  const ended = (entry: Record<string, unknown>) => entry.status === "completed";
  for (const [child, run, calls] of [
    ["a", a, 2],
    ["b", b, 6],
  ] as const) {
    const found = await target(family, child, ended);
    assert.equal(found.link, "exact");
    assert.equal(found.agentType, "plain");
    assert.ok(found.aliases.includes(run.id));
    assert.equal(found.toolCallCount, calls);
    // Each model request of the test server, and nothing twice.
    assert.equal(found.usage.input, family.requestsOf(child).length * 100);
    assert.equal(found.usage.output, family.requestsOf(child).length * 10);
  }
  assert.ok(
    family.alerts().every((text) => text.includes("TASK b")),
    "no other is named",
  );
  const inspected = await family.command(`/watchdog inspect ${b.id}`);
  assert.ok(inspected.includes(GREP), inspected);
  await endsInOrder(family);
});

test("a steer arrives in the right agent's next request, and is told as the package tells it", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    config: { alertMode: "both" },
    children: { a: working("a", gates), b: working("b", gates) },
  });
  const a = await family.spawn("a");
  const b = await family.spawn("b");
  await family.asks("a");
  await family.asks("b");
  gates.open("a0", "b0");
  await family.asks("a", 1);
  await family.asks("b", 1);
  const { id } = await target(family, "b");
  // The model holds the agent's answer back: the message waits for it.
  const steer = { targetId: b.id, message: "LOOK ELSEWHERE", dryRun: false };
  const held = await family.call("watchdog_steer_subagent", steer);
  assert.equal(held.data.outcome, "queued", held.text);
  gates.open("a1", "b1");
  assert.match((await family.asks("b", 2)).newUserTexts.join("\n"), /LOOK ELSEWHERE/);
  assert.doesNotMatch(JSON.stringify((await family.asks("a", 2)).messages), /LOOK ELSEWHERE/);

  const again = await family.begin("watchdog_steer_subagent", { ...steer, message: "AND LISTEN" });
  await noted(b, "AND LISTEN");
  gates.open("b-end");
  const read = await family.end(again);
  assert.equal(read.data.outcome, "delivered", read.text);
  assert.match((await family.asks("b", 3)).newUserTexts.join("\n"), /AND LISTEN/);
  await family.said("subagent:async-complete", b.id);
  await target(family, "b", (entry) => entry.status === "completed");
  const late = await family.call("watchdog_steer_subagent", { ...steer, targetId: id });
  assert.match(late.text, /has ended \(completed\)/);
  gates.open("a-end");
  await family.said("subagent:async-complete", a.id);
  await endsInOrder(family);
});

test("with both, the looping agent gets the rescue and reads it", async (t) => {
  const family = await open(t, { config: { alertMode: "both" }, children: { b: looping(400) } });
  const b = await family.spawn("b");
  await family.said("subagent:async-complete", b.id);
  // The agent is fast: what it did again before the message came may have been told as well.
  assert.ok(rescues(family.requestsOf("b").at(-1)) >= 1);
  await family.alert("TASK b");
  assert.match(await family.command(`/watchdog inspect ${b.id}`), /subagent_steered/);
  await endsInOrder(family);
});

test("agents that load the extension report for themselves: each counts once, and is known by its run", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    agent: "delegate",
    config: { alertMode: "both" },
    children: { a: working("a", gates), b: looping(400) },
  });
  const a = await family.spawn("a");
  gates.open("a0");
  await family.asks("a", 1);
  const b = await family.spawn("b");
  assert.equal((await family.said("subagent:async-complete", b.id)).state, "complete");
  // The process of the agent tells, which knows it by its session.
  const alert = await family.alert(GREP);
  assert.ok(alert.includes((await target(family, "b")).id), alert);
  assert.ok(rescues(family.requestsOf("b").at(-1)) >= 1);
  const answer = await family.command(`/watchdog stop ${a.id}`);
  assert.match(answer, /stop/i);
  assert.equal((await family.said("subagent:async-complete", a.id)).state, "stopped");
  gates.open("a1", "a-end");
  for (const [child, run, status] of [
    ["a", a, "stopped"],
    ["b", b, "completed"],
  ] as const) {
    const found = await target(family, child, (entry) => entry.endedAt !== undefined && entry.status === status);
    assert.equal(found.link, "exact");
    assert.ok(found.aliases.includes(run.id), JSON.stringify(found));
    const answered = family.requestsOf(child).length - (child === "a" ? 1 : 0);
    assert.equal(found.usage.input, answered * 100);
    assert.equal(found.toolCallCount, child === "a" ? 1 : family.requestsOf("b").length - 1);
  }
  assert.equal([...(await family.targets()).values()].length, 3, "no target is there twice");
  await endsInOrder(family);
});

test("stop ends the run as the package calls it, and leaves the other alone", async (t) => {
  const gates = new Gates();
  const family = await open(t, { children: { a: working("a", gates), b: working("b", gates) } });
  const a = await family.spawn("a");
  const b = await family.spawn("b");
  await family.asks("a");
  gates.open("b0");
  await family.asks("b", 1);
  await target(family, "b");
  const answer = await family.command(`/watchdog stop ${b.id}`);
  assert.match(answer, /stop/i);
  assert.equal((await family.said("subagent:async-complete", b.id)).state, "stopped");
  assert.equal((await target(family, "b", (entry) => entry.endedAt !== undefined)).status, "stopped");
  gates.open("a0", "a1", "a-end");
  assert.equal((await family.said("subagent:async-complete", a.id)).state, "complete");
  assert.equal((await target(family, "a", (entry) => entry.endedAt !== undefined)).status, "completed");
  await endsInOrder(family);
});

test("an interrupted run is paused, and a revived one goes on in the same target under its new run id", async (t) => {
  const gates = new Gates();
  const family = await open(t, { children: { a: working("a", gates) } });
  const a = await family.spawn("a");
  gates.open("a0");
  await family.asks("a", 1);
  const before = await target(family, "a");
  await family.ask("interrupt", { runId: a.id });
  assert.equal((await family.said("subagent:async-complete", a.id)).state, "paused");
  const paused = await target(family, "a", (entry) => entry.endedAt !== undefined);
  assert.equal(paused.status, "paused");

  gates.open("a1", "a-end");
  await family.said("subagent:process-terminal", a.id);
  const answer = await family.ask("resume", { runId: a.id, message: "go on" });
  assert.equal(answer.success, true, JSON.stringify(answer));
  const revivedId = answer.data.details.asyncId;
  await family.said("subagent:async-complete", revivedId);
  const { data } = await poll(
    async () => {
      const events = await family.call("watchdog_read_events", { targetId: revivedId, limit: 100 });
      return events.isError || !JSON.stringify(events.data).includes("subagent_completed") ? undefined : events;
    },
    () => "the revived run's events",
  );
  const revived = [...(await family.targets()).values()].find((entry) => entry.id === before.id);
  assert.ok(revived.aliases.includes(a.id) && revived.aliases.includes(revivedId), JSON.stringify(revived.aliases));
  assert.ok(JSON.stringify(data.events).includes("echo a step 0"), "what it did before is there");
  await poll(
    async () => ((await family.targets()).get(revived.name)?.status === "completed" ? true : undefined),
    () => "the revived run's end",
  );
  await endsInOrder(family);
});

test("an agent of an agent hangs under it, is found when it loops, and counts for both", async (t) => {
  const agent = (name: string, more: string) =>
    `---\nname: ${name}\ndescription: d\ntools: read, bash${more}\nextensions:\n---\n\nDo what you are told.\n`;
  const gates = new Gates();
  const family = await open(t, {
    files: {
      ...files,
      ".pi/agents/plain.md": agent("plain", ", subagent\nallowNestedSubagents: true"),
      ".pi/agents/leaf.md": agent("leaf", ""),
    },
    children: {
      a: async ({ turn }) => {
        if (turn === 0) return { toolCalls: [call("subagent", { agent: "leaf", task: "TASK b", async: true })] };
        await gates.pass("a");
        return { text: "a is done" };
      },
      b: looping(5),
    },
  });
  const a = await family.spawn("a");
  await family.alert("leaf: TASK b");
  gates.open("a");
  await family.said("subagent:async-complete", a.id);
  const boss = await target(family, "a", (entry) => entry.endedAt !== undefined);
  const leaf = await poll(
    async () => {
      const found = (await family.targets()).get("leaf: TASK b");
      return found?.endedAt === undefined ? undefined : found;
    },
    () => "the end of the agent's agent",
  );
  assert.equal(leaf.parentId, boss.id);
  assert.equal(leaf.status, "completed");
  assert.equal(leaf.usage.input, family.requestsOf("b").length * 100);
  assert.equal(boss.usage.input, family.requestsOf("a").length * 100);
  await endsInOrder(family);
});

test("a call that waits for background agents shows each once, and what they used is theirs alone", async (t) => {
  const family = await open(t, { children: { a: looping(2), b: looping(6) } });
  const agents = ["a", "b"].map((name) => ({ key: name, ...family.task(name) }));
  const script = `return runs.all(${JSON.stringify(agents)})`;
  const { text } = await family.call("subagent", { workflowScript: script, async: false });
  assert.match(text, /completed/i);
  for (const child of ["a", "b"]) {
    const found = await target(family, child, (entry) => entry.endedAt !== undefined);
    assert.equal(found.status, "completed");
    assert.equal(found.usage.input, family.requestsOf(child).length * 100);
  }
  const targets = await family.targets();
  assert.equal(targets.size, 3);
  const own = family.lab.server.requests.length - family.requestsOf("a").length - family.requestsOf("b").length;
  assert.ok(targets.get("main").usage.input <= own * 100, "only what the main agent asked itself");
  await endsInOrder(family);
});

test("a killed process ends its target as the package says, and with the reason", async (t) => {
  const gates = new Gates();
  const family = await open(t, { children: { a: working("a", gates), b: working("b", gates) } });
  const a = await family.spawn("a");
  const b = await family.spawn("b");
  gates.open("a0", "b0");
  await family.asks("a", 1);
  await family.asks("b", 1);
  await target(family, "a");
  process.kill(a.pid, "SIGKILL");
  const killed = await target(family, "a", (entry) => entry.endedAt !== undefined);
  assert.ok(["error", "stopped"].includes(killed.status), killed.status);
  assert.match(await family.command(`/watchdog inspect ${a.id}`), /subagent_failed/);
  gates.open("b1", "b-end");
  await family.said("subagent:async-complete", b.id);
  assert.equal((await target(family, "b", (entry) => entry.endedAt !== undefined)).status, "completed");
  await endsInOrder(family);
});

test("broken and foreign files in the run's folder harm nothing, and the run is still followed", async (t) => {
  const gates = new Gates();
  const family = await open(t, { children: { a: working("a", gates) } });
  const a = await family.spawn("a");
  gates.open("a0");
  await family.asks("a", 1);
  const events = join(a.asyncDir, "events.jsonl");
  appendFileSync(events, `{broken\n[]\n"text"\nnull\n${JSON.stringify({ type: "message_end", message: 7 })}\n`);
  const foreign = { subagentSource: "child", subagentRunId: "another", subagentStepIndex: 0, type: "message_end" };
  const message = { role: "assistant", content: [], usage: { input: 9e9, cost: { total: 9e9 } } };
  appendFileSync(events, `${JSON.stringify({ ...foreign, message })}\n${"x".repeat(5 * 1024 * 1024)}\n`);
  writeFileSync(join(a.asyncDir, "control", "something.json"), "{");
  gates.open("a1", "a-end");
  await family.said("subagent:async-complete", a.id);
  const found = await target(family, "a", (entry) => entry.endedAt !== undefined);
  assert.equal(found.status, "completed");
  assert.equal(found.toolCallCount, 2);
  assert.equal(found.usage.input, family.requestsOf("a").length * 100);
  await endsInOrder(family);
});

test("a run in a folder of pipes, links and garbage costs nothing but its own sight", async (t) => {
  const family = await open(t, { children: { b: looping(6) } });
  const folder = join(family.lab.home.root, "strange");
  mkdirSync(join(folder, "status.json"), { recursive: true });
  writeFileSync(join(folder, "secret"), `${JSON.stringify({ type: "session", version: 3, id: "x" })}\n`);
  symlinkSync(join(folder, "secret"), join(folder, "events.jsonl"));
  await family.call("bash", { command: `mkfifo ${join(folder, "pipe")}` });
  await family.emit("subagent:async-started", { id: "strange-run", asyncDir: folder, agent: "odd" });
  await family.emit("subagent:async-started", { id: 7, asyncDir: "relative" });
  assert.match(await family.command("/watchdog status"), /pi-subagents.*another shape/);
  await family.emit("subagent:async-complete", { id: "unknown-run", state: "complete", results: 7 });
  await family.emit("subagent:process-terminal", "nothing");
  const b = await family.spawn("b");
  await family.alert("TASK b");
  await family.said("subagent:async-complete", b.id);
  await endsInOrder(family);
});

test("the main session's exit leaves nothing of the watchdog behind, and its runs go on", async (t) => {
  const gates = new Gates();
  const family = await open(t, { children: { a: working("a", gates) } });
  const a = await family.spawn("a");
  gates.open("a0");
  await family.asks("a", 1);
  await target(family, "a");
  await endsInOrder(family);
  gates.open("a1", "a-end");
  await poll(
    () => (existsSync(join(a.asyncDir, "process-terminal-candidate.json")) && !alive(a.pid) ? true : undefined),
    () => "the run's end by itself",
  );
  rmSync(a.asyncDir, { recursive: true, force: true });
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("the call that the watchdog names works in the package's own tool", async (t) => {
  const gates = new Gates();
  const family = await open(t, { children: { a: working("a", gates), b: working("b", gates) } });
  const [a, b] = [await family.spawn("a"), await family.spawn("b")];
  await family.asks("a");
  await family.asks("b");
  gates.open("a0", "b0");
  await family.asks("b", 1);
  const { agent } = await target(family, "b", ({ agent }) => agent !== undefined);
  assert.equal(agent.agentId, b.id);
  const steering = family.callAsNamed(agent.steer, "LOOK ELSEWHERE");
  await noted(b, "LOOK ELSEWHERE");
  gates.open("a1", "b1");
  assert.match((await family.asks("b", 2)).newUserTexts.join("\n"), /LOOK ELSEWHERE/);
  assert.equal((await steering).isError, false);
  assert.doesNotMatch(JSON.stringify((await family.asks("a", 2)).messages), /LOOK ELSEWHERE/);
  gates.open("a-end", "b-end");
  for (const { id } of [a, b]) await family.said("subagent:async-complete", id);
  await endsInOrder(family);
});
