// Foreground runs of the npm package pi-subagents on real Pi: their agents are sessions of Pi's process that load no
// installed extension, so all that is seen of them is what the package writes down and shows.

import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Child, Gates } from "../support/gotgenes/family.ts";
import { Nicobailon, type NicobailonOptions } from "../support/nicobailon/family.ts";
import { poll, REPOSITORY } from "../support/pi.ts";
import { bash, RESCUE, rescued, rescues } from "../support/scripts.ts";

const files = { "src.txt": "TOKEN\n" };
const GREP = "grep -n TOKEN src.txt";

const looping =
  (bound: number): Child =>
  (request) =>
    rescued(request) || request.turn >= bound ? { text: "I stop here." } : bash(GREP);

const open = (t: TestContext, options: NicobailonOptions) =>
  Nicobailon.open(t, { files, ...options, config: { rescueMessage: RESCUE, ...(options.config as object) } });

const endsInOrder = async ({ pi }: Nicobailon) => {
  assert.deepEqual(await pi.close(), { code: 0, signal: null });
  assert.doesNotMatch(pi.stderr, /stale|Event handler error|panick/);
};

/** What the main session and its agents used, by the targets. */
async function totals(family: Nicobailon) {
  const targets = [...(await family.targets()).values()];
  const sum = (part: string) => targets.reduce((total, { usage }) => total + usage[part], 0);
  return { input: sum("input"), cacheRead: sum("cacheRead"), usd: sum("usd") };
}

test("of two agents at once the looping one is named while their call runs, and the other completes", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    children: {
      a: async ({ turn }) => {
        if (turn === 0) return bash("echo a step");
        await gates.pass("a");
        return { text: "a is done", usage: { input: 70, output: 7, cacheRead: 1000 } };
      },
      b: looping(6),
    },
  });
  const id = await family.begin("subagent", family.together("a", "b"));
  // The message itself comes after the call, which is still open.
  await family.notified("TASK b");
  gates.open("a");
  const { text, isError } = await family.end(id);
  assert.equal(isError, false, text);
  const alert = await family.alert("TASK b");
  assert.ok(alert.includes(GREP), alert);

  const targets = await family.targets();
  for (const [child, calls] of [
    ["a", 1],
    ["b", 6],
  ] as const) {
    const found = targets.get(family.nameOf(child));
    assert.equal(found.status, "completed");
    assert.equal(found.link, "exact");
    assert.equal(found.toolCallCount, calls);
    assert.equal(rescues(family.requestsOf(child).at(-1)), 0);
  }
  assert.equal(targets.get(family.nameOf("a")).usage.cacheRead, 1000);
  assert.equal(targets.get("main").usage.cacheRead, 0, "what its agents used is not the main agent's as well");
  assert.ok(
    family.alerts().every((told) => told.includes("TASK b")),
    "no other is named",
  );
  await endsInOrder(family);
});

test("what agents use is counted once, in their own targets, cache reads included", async (t) => {
  const family = await open(t, {
    children: { a: ({ turn }) => ({ ...(turn === 0 ? bash("echo a") : { text: "done" }), usage: USED }) },
  });
  await family.call("subagent", { ...family.task("a"), async: false });
  const found = (await family.targets()).get(family.nameOf("a"));
  assert.deepEqual(found.usage, { input: 14, output: 6, cacheRead: 2000, cacheWrite: 0, usd: found.usage.usd });
  const sum = await totals(family);
  const answered = family.lab.server.requests.length - 2;
  // The call of the tool that lists the targets is still open: its own request is counted, the next is to come.
  assert.equal(sum.input, 14 + 100 * answered);
  assert.equal(sum.cacheRead, 2000);
  await endsInOrder(family);
});

const USED = { input: 7, output: 3, cacheRead: 1000 };

for (const [what, saved, call] of [
  ["without artifacts only results are seen", true, { artifacts: false }],
  ["a main session that keeps no file", false, {}],
] as const) {
  test(`${what}: the agent has a target, its usage and its end`, async (t) => {
    const gates = new Gates();
    const family = await open(t, {
      saved,
      children: {
        a: async (request) => {
          if (request.turn === 4) await gates.pass("a");
          return { ...(request.turn < 4 ? bash(GREP) : { text: "done" }), usage: USED };
        },
      },
    });
    const id = await family.begin("subagent", { ...family.task("a"), async: false, ...call });
    if (!saved) await family.notified("TASK a");
    gates.open("a");
    await family.end(id);
    const found = (await family.targets()).get(family.nameOf("a"));
    assert.equal(found.status, "completed");
    assert.equal(found.usage.input, 35);
    assert.equal(found.usage.cacheRead, 5000);
    await endsInOrder(family);
  });
}

test("a foreground agent cannot be steered, an interrupt ends it as paused, and both are told as they are", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    config: { alertMode: "both" },
    children: {
      a: async ({ turn }) => {
        if (turn > 0) await gates.pass("never");
        return turn === 0 ? bash("echo a") : { text: "done" };
      },
    },
  });
  const id = await family.begin("subagent", { ...family.task("a"), async: false });
  await family.asks("a", 1);
  const runId = await poll(
    async () => {
      const status = await family.command("/watchdog status");
      return /\[([0-9a-f-]{36})\]/.exec(status.split("\n").find((line) => line.includes("TASK a")) ?? "")?.[1];
    },
    () => "the agent in the status",
  );
  assert.match(await family.command(`/watchdog steer ${runId} PSST`), /takes no messages/);
  const stopped = await family.command(`/watchdog stop ${runId}`);
  assert.match(stopped, /stop/i);
  await family.end(id);
  assert.equal((await family.targets()).get(family.nameOf("a")).status, "paused");
  assert.doesNotMatch(JSON.stringify(family.requestsOf("a")), /PSST/);
  await endsInOrder(family);
});

test("an agent that is given the extension is observed by it, once, and can be steered", async (t) => {
  const extension = join(REPOSITORY, "extension/index.ts");
  const plain = `---\nname: plain\ndescription: d\ntools: read, bash\nsubagentOnlyExtensions: ${extension}\n---\n\nGo.\n`;
  const family = await open(t, {
    config: { alertMode: "both" },
    files: { ...files, ".pi/agents/plain.md": plain },
    children: { b: looping(12) },
  });
  await family.call("subagent", { ...family.task("b"), async: false });
  await family.alert("TASK b");
  const found = (await family.targets()).get(family.nameOf("b"));
  assert.equal(found.link, "exact");
  assert.equal(found.status, "completed");
  assert.equal(found.toolCallCount, family.requestsOf("b").length - 1);
  assert.equal(found.usage.input, family.requestsOf("b").length * 100);
  assert.equal(rescues(family.requestsOf("b").at(-1)), 1);
  await endsInOrder(family);
});

test("a background run that cannot start on this Pi is told in the status, and the rest works", async (t) => {
  const family = await open(t, { children: { b: looping(6) } });
  const { text } = await family.call("subagent", { ...family.task("b"), async: true });
  assert.match(text, /Failed to start async run/);
  assert.match(
    await family.command("/watchdog status"),
    /background runs of pi-subagents 0\.67\.0 cannot start on Pi 1\./,
  );
  await family.call("subagent", { ...family.task("b"), async: false });
  await family.alert("TASK b");
  await endsInOrder(family);
});

test("without the package it is reported as absent, and a foreign tool's details are not taken for its", async (t) => {
  const family = await open(t, { children: {}, packages: [] });
  await family.emit("subagents:rpc:v1:ready", { methods: "none" });
  await family.emit("subagent:foreground-complete", { runId: 7 });
  await family.call("bash", { command: "echo hello" });
  assert.deepEqual([...(await family.targets()).keys()], ["main"]);
  await endsInOrder(family);
});
