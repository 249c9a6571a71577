// The npm package @tintinweb/pi-subagents on real Pi: children are real sessions in Pi's process that load the watchdog
// as a user's would. What the watchdog does to a child is read from the child's own model requests.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Child, Family, type FamilyOptions, Gates, STAND_IN } from "../support/gotgenes/family.ts";
import { poll, REPOSITORY } from "../support/pi.ts";
import { bash, call, RESCUE, rescued, rescues, watchdogTexts } from "../support/scripts.ts";
import { TINTINWEB } from "../support/tintinweb/kit.ts";

const PACKAGE = "@tintinweb/pi-subagents";
const PROBE = fileURLToPath(new URL("../support/tintinweb/probe.ts", import.meta.url));
const ODD_TOOLS = fileURLToPath(new URL("../support/odd-tools.ts", import.meta.url));
const CHANGED = fileURLToPath(new URL("../support/tintinweb/changed.ts", import.meta.url));
const files = {
  "src.txt": "TOKEN\n",
  // Else the ends of agents that started together are told together, 30 s late.
  ".pi/subagents.json": JSON.stringify({ defaultJoinMode: "async" }),
};
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

const open = (t: TestContext, options: FamilyOptions) =>
  Family.open(t, {
    files,
    kit: TINTINWEB,
    settings: { extensions: [PROBE] },
    ...options,
    config: { rescueMessage: RESCUE, ...(options.config as object) },
  });

const endsInOrder = async ({ pi }: Family) => {
  assert.deepEqual(await pi.close(), { code: 0, signal: null });
  assert.doesNotMatch(pi.stderr, /stale|Event handler error|panick/);
};

test("of two children at once the looping one is named, main_only sends it nothing, and the other completes", async (t) => {
  const gates = new Gates();
  const family = await open(t, { children: { a: working("a", gates), b: looping(6) } });
  const a = await family.spawn("a");
  await family.asks("a");
  const b = await family.spawn("b");
  await family.ended(b);
  gates.open("a0", "a1", "a-end");
  await family.ended(a);

  const alert = await family.alert("job of b");
  const targets = await family.targets();
  assert.ok(alert.includes(`Target: "job of b" (`) && alert.includes(targets.get("job of b").id), alert);
  assert.ok(alert.includes(GREP), alert);
  assert.ok(
    family.alerts().every((text) => text.includes("job of b")),
    "no other child is named",
  );
  for (const [child, id] of [
    ["a", a],
    ["b", b],
  ]) {
    const target = targets.get(`job of ${child}`);
    assert.equal(target.status, "completed");
    assert.equal(target.link, "exact");
    assert.deepEqual(target.aliases, [id]);
    assert.equal(target.agentType, "Explore");
    assert.equal(target.backend, PACKAGE);
    assert.equal(rescues(family.requestsOf(child ?? "").at(-1)), 0);
  }
  const inspected = await family.command(`/watchdog inspect ${b}`);
  assert.match(inspected, /subagent_created[^\n]*Explore: job of b\n[^\n]*subagent_started/);
  assert.match(inspected, /subagent_completed[^\n]*completed after 6 tool uses/);
  assert.ok(!(await family.command(`/watchdog inspect ${a}`)).includes(GREP));
  assert.ok((await family.command("/watchdog status")).includes(PACKAGE));
  await endsInOrder(family);
});

test("with both, the rescue is in the looping child's next model request, once, and in no other's", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    config: { alertMode: "both" },
    children: { a: working("a", gates), b: looping(12) },
  });
  const a = await family.spawn("a");
  gates.open("a0");
  await family.asks("a", 1);
  const b = await family.spawn("b");
  assert.match(await family.ended(b), /I stop here/);
  gates.open("a1", "a-end");
  await family.ended(a);

  assert.deepEqual(family.requestsOf("b").map(rescues), [0, 0, 0, 1], "after the third equal result");
  assert.equal(rescues(family.requestsOf("a").at(-1)), 0);
  await family.alert("job of b");
  assert.match(await family.command(`/watchdog inspect ${b}`), /subagent_steered/);
  await endsInOrder(family);
});

test("steering by the tool reaches exactly the named agent, by agent id or session id", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    config: { alertMode: "both" },
    children: { a: working("a", gates), b: working("b", gates) },
  });
  const a = await family.spawn("a");
  const b = await family.spawn("b");
  await family.asks("a");
  await family.asks("b");
  const bySession = (await family.targets()).get("job of b").id;

  const one = await family.call("watchdog_steer_subagent", { targetId: a, message: "ONE", dryRun: false });
  assert.equal(one.data.outcome, "queued", one.text);
  const two = await family.call("watchdog_steer_subagent", { targetId: bySession, message: "TWO", dryRun: false });
  assert.equal(two.data.outcome, "queued", two.text);
  gates.open("b0", "a0");
  assert.deepEqual((await family.asks("a", 1)).newUserTexts, ["ONE"]);
  assert.deepEqual((await family.asks("b", 1)).newUserTexts, ["TWO"]);

  gates.open("a1", "a-end", "b1", "b-end");
  await family.ended(a);
  await family.ended(b);
  const late = await family.call("watchdog_steer_subagent", { targetId: a, message: "LATE", dryRun: false });
  assert.match(late.text, /has ended \(completed\)/);
  await endsInOrder(family);
});

test("stop ends the named child as the package's own `stopped`, and the other is untouched", async (t) => {
  const gates = new Gates();
  const family = await open(t, { children: { a: working("a", gates), b: () => bash(`${GREP}; sleep 600`) } });
  const a = await family.spawn("a");
  const b = await family.spawn("b");
  await family.asks("a");
  await family.asks("b");
  const target = (await family.targets()).get("job of b");

  assert.match(await family.command(`/watchdog stop ${b}`), /job of b[^\n]* has been stopped\. Its state: stopped/);
  assert.match(await family.ended(b), /<status>Stopped<\/status>/);
  gates.open("a0", "a1", "a-end");
  assert.match(await family.ended(a), /a is done/);
  const after = await family.targets();
  assert.equal(after.get("job of b").status, "stopped");
  assert.equal(after.get("job of a").status, "completed");
  assert.match(await family.command(`/watchdog inspect ${b}`), /subagent_failed[^\n]*stopped after/);
  assert.match(await family.command(`/watchdog stop ${target.id}`), /has ended/);
  await endsInOrder(family);
});

test("a child whose provider fails ends as the package's `error`, with the reason", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    children: { a: () => ({ error: { status: 400, message: "no such model" } }), b: working("b", gates) },
  });
  const b = await family.spawn("b");
  const a = await family.spawn("a");
  await family.ended(a);
  gates.open("b0", "b1", "b-end");
  await family.ended(b);
  const targets = await family.targets();
  assert.equal(targets.get("job of a").status, "error");
  assert.equal(targets.get("job of b").status, "completed");
  assert.match(await family.command(`/watchdog inspect ${a}`), /subagent_failed[^\n]*no such model/);
  await endsInOrder(family);
});

test("a foreground child that loops is found while its call runs, and a resumed one is watched again", async (t) => {
  const family = await open(t, {
    children: {
      a: (request) => {
        const resumed = request.messages.some(({ text }) => text === "again");
        const turn = resumed ? request.turn - 2 : request.turn;
        if (!resumed && turn === 0) return bash("echo first");
        return resumed && turn < 4 ? bash(GREP) : { text: "done" };
      },
    },
  });
  await family.call("Agent", family.task("a"));
  const target = (await family.targets()).get("job of a");
  const [id] = target.aliases;
  assert.equal(target.status, "completed");
  assert.deepEqual(family.alerts(), []);

  await family.call("Agent", { ...family.task("a"), prompt: "again", resume: id });
  const alert = await family.alert("job of a");
  assert.ok(alert.includes(GREP), alert);
  const resumed = (await family.targets()).get("job of a");
  assert.equal(resumed.id, target.id);
  assert.equal(resumed.status, "completed");
  assert.equal(resumed.toolCallCount, 5);
  assert.match(await family.command(`/watchdog inspect ${id}`), /subagent_started[^\n]*resumed/);
  await endsInOrder(family);
});

test("the package's own states are told: out of turns, told to wrap up, aborted by the user with its call", async (t) => {
  const family = await open(t, {
    children: {
      a: ({ turn }) => bash(`echo ${turn}`),
      b: ({ turn }) => (turn < 2 ? bash(`echo ${turn}`) : { text: "wrapped up" }),
      c: () => ({ text: "so far", hang: true }),
    },
  });
  const a = await family.spawn("a", { max_turns: 1 });
  const b = await family.spawn("b", { max_turns: 1 });
  await family.ended(a);
  await family.ended(b);
  const aborted = family.call("Agent", family.task("c"));
  await family.asks("c");
  await family.pi.send({ type: "abort" });
  await aborted;
  const targets = await family.targets();
  assert.deepEqual(
    ["a", "b", "c"].map((child) => targets.get(`job of ${child}`).status),
    ["aborted", "steered", "stopped"],
  );
  assert.match(await family.command(`/watchdog inspect ${a}`), /subagent_failed[^\n]*its turn limit was reached/);
  await endsInOrder(family);
});

test("a child in a worktree of its own, where the extension is loaded anew, is known and reached", async (t) => {
  const family = await open(t, { config: { alertMode: "both" }, children: { a: looping(12) } });
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: family.lab.home.cwd });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "one");
  const a = await family.spawn("a", { isolation: "worktree" });
  await family.ended(a);
  const target = (await family.targets()).get("job of a");
  assert.deepEqual([target.link, target.status, target.toolCallCount], ["exact", "completed", 3]);
  assert.deepEqual(family.requestsOf("a").map(rescues), [0, 0, 0, 1]);
  await endsInOrder(family);
});

test("after /reload in mid-run the old child has ended and the next one is linked", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    extensions: [ODD_TOOLS],
    children: { a: () => ({ text: "so far", hang: true }), b: working("b", gates) },
  });
  await family.spawn("a");
  await family.asks("a");
  await family.pi.prompt("/test-reload");
  const b = await family.spawn("b");
  gates.open("b0", "b1", "b-end");
  await family.ended(b);
  const targets = await family.targets();
  assert.equal(targets.get("job of a").status, "stopped");
  assert.equal(targets.get("job of b").link, "exact");
  assert.equal(targets.get("job of b").status, "completed");
  await endsInOrder(family);
});

test("an agent that waits in the package's queue is linked when its turn comes", async (t) => {
  const gates = new Gates();
  const names = ["a", "b", "c", "d", "e"];
  const family = await open(t, {
    children: Object.fromEntries(names.map((name) => [name, working(name, gates)])),
  });
  const ids: string[] = [];
  for (const name of names) ids.push(await family.spawn(name));
  for (const name of names) gates.open(`${name}0`, `${name}1`, `${name}-end`);
  for (const id of ids) await family.ended(id);
  const targets = await family.targets();
  for (const [index, name] of names.entries()) {
    assert.equal(targets.get(`job of ${name}`).link, "exact");
    assert.deepEqual(targets.get(`job of ${name}`).aliases, [ids[index]]);
    assert.equal(targets.get(`job of ${name}`).toolCallCount, 2);
  }
  await endsInOrder(family);
});

/** Starts an agent itself, waits for the test, and answers. */
const nesting =
  (name: string, nested: string, gates: Gates): Child =>
  async ({ turn }) => {
    if (turn === 0) return { toolCalls: [call("nest", { prompt: `TASK ${nested}`, description: `job of ${nested}` })] };
    await gates.pass(`${name}-end`);
    return { text: `${name} is done` };
  };

test("an agent that an agent started hangs under it; its loop is told in the main session, and it is reached", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    config: { alertMode: "both" },
    children: {
      a: nesting("a", "b", gates),
      b: looping(12),
      c: nesting("c", "d", gates),
      d: working("d", gates),
    },
  });
  const a = await family.spawn("a");
  const c = await family.spawn("c");
  const alert = await family.alert("job of b");
  await family.asks("d");
  const targets = await family.targets();
  for (const [parent, nested] of [
    ["a", "b"],
    ["c", "d"],
  ]) {
    const target = targets.get(`job of ${nested}`);
    assert.equal(target.parentId, targets.get(`job of ${parent}`).id);
    assert.equal(target.link, "exact");
    assert.equal(target.agentType, "general-purpose");
    assert.equal(target.backend, PACKAGE);
  }
  assert.ok(alert.includes(targets.get("job of b").id), alert);
  const told = await family.call("watchdog_steer_subagent", {
    targetId: targets.get("job of d").id,
    message: "FOR D",
    dryRun: false,
  });
  assert.equal(told.data.outcome, "queued", told.text);
  gates.open("d0");
  assert.deepEqual((await family.asks("d", 1)).newUserTexts, ["FOR D"]);
  assert.match(await family.command(`/watchdog stop ${targets.get("job of d").id}`), /has been stopped/);

  // The main agent is not told of these ends.
  const ended = async () => {
    const after = await family.targets();
    const statuses = ["b", "d"].map((child) => after.get(`job of ${child}`).status);
    return statuses.some((status) => status === "running" || status === "idle") ? undefined : statuses;
  };
  assert.deepEqual(await poll(ended, () => "the ends of the agents of agents"), ["completed", "stopped"]);
  assert.deepEqual(family.requestsOf("b").map(rescues), [0, 0, 0, 1], "the rescue went to the agent of the agent");
  gates.open("a-end", "c-end");
  await family.ended(a);
  await family.ended(c);
  await endsInOrder(family);
});

for (const [what, how] of [
  ["a looping child that loads no extension (`isolated`) is found from outside", { isolated: true }],
  ["so is one of a type without extensions, in the foreground", { subagent_type: "bare", run_in_background: false }],
] as const) {
  test(what, async (t) => {
    const gates = new Gates();
    const usage = { input: 10, output: 5, cacheRead: 1000 };
    const family = await open(t, {
      config: { alertMode: "both" },
      files: { ...files, ".pi/agents/bare.md": "---\ndescription: bare\nextensions: false\n---\nYou are bare." },
      children: { a: async (request) => ({ ...(await looping(12)(request)), usage }), b: working("b", gates) },
    });
    const b = await family.spawn("b", { isolated: true });
    gates.open("b0", "b1");
    const { text } = await family.call("Agent", { ...family.task("a"), run_in_background: true, ...how });
    const id = TINTINWEB.started.exec(text)?.[1];
    if (id !== undefined) await family.ended(id);
    const alert = await family.alert("job of a");
    assert.ok(alert.includes(GREP), alert);
    assert.deepEqual(family.requestsOf("a").map(rescues), [0, 0, 0, 1], "after the third equal result");
    gates.open("b-end");
    await family.ended(b);

    const targets = await family.targets();
    const target = targets.get("job of a");
    assert.equal(target.link, "exact");
    assert.equal(target.status, "completed");
    assert.equal(target.toolCallCount, 3);
    const { input, output, cacheRead } = target.usage;
    assert.deepEqual(
      [input, output, cacheRead],
      [40, 20, 4000],
      "each message counts once, and what it read from the cache",
    );
    assert.equal(target.backend, PACKAGE);
    assert.equal(targets.get("job of b").toolCallCount, 2);
    assert.equal(targets.get("job of b").usage.input, 300);
    assert.deepEqual(
      family.alerts().filter((told) => told.includes("job of b")),
      [],
    );
    assert.match(await family.command(`/watchdog inspect ${target.id}`), /subagent_steered/);
    await endsInOrder(family);
  });
}

for (const [what, options] of [
  ["`enabled: false` of the global configuration", { config: { enabled: false, alertMode: "both" } }],
  ["PI_WATCHDOG_DISABLED=1", { config: { alertMode: "both" }, env: { PI_WATCHDOG_DISABLED: "1" } }],
] as const) {
  test(`${what} reaches children, whether they load the extension or not`, async (t) => {
    const family = await open(t, { ...options, children: { a: looping(6), b: looping(6) } });
    const a = await family.spawn("a");
    const b = await family.spawn("b", { isolated: true });
    await family.ended(a);
    await family.ended(b);
    for (const child of ["a", "b"]) {
      const requests = family.requestsOf(child);
      assert.equal(requests.length, 7, "nobody stopped it");
      assert.equal(rescues(requests.at(-1)), 0);
      assert.doesNotMatch(JSON.stringify(requests[0]?.tools), /watchdog_/);
    }
    assert.deepEqual(watchdogTexts(family.pi.records), []);
    const status = await family.command("/watchdog status");
    assert.match(status, /enabled is false|is off in this process/);
    assert.doesNotMatch(status, /[1-9] calls/);
    await endsInOrder(family);
  });
}

const ORDERS: [string, Partial<FamilyOptions>][] = [
  ["after the watchdog", {}],
  ["before it", { watchdog: "none", packages: [REPOSITORY] }],
];
for (const [when, options] of ORDERS) {
  test(`the main session ends in order while its children and theirs run, and leaves no process; the package is loaded ${when}`, async (t) => {
    const gates = new Gates();
    const sleep = (name: string) => bash(`echo > ${name}; exec sleep 600.${process.pid}${name.length}`);
    const family = await open(t, {
      ...options,
      config: { alertMode: "both" },
      children: {
        a: () => ({ text: "so far", hang: true }),
        b: () => sleep("b"),
        c: looping(500),
        d: nesting("d", "e", gates),
        e: () => sleep("ee"),
      },
    });
    await family.spawn("a");
    await family.spawn("b", { isolated: true });
    await family.spawn("c");
    await family.spawn("d");
    await family.asks("a");
    const sleeping = () => ["b", "ee"].every((name) => existsSync(join(family.lab.home.cwd, name))) || undefined;
    await poll(sleeping, () => "two commands that run");
    await family.alert("job of c");
    await endsInOrder(family);
    assert.ok(!execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).includes(`sleep 600.${process.pid}`));
  });
}

test("beside @gotgenes/pi-subagents, whose channels have the same names, each child belongs to its own package", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    config: { alertMode: "both" },
    packages: [STAND_IN],
    quirks: "one-tool",
    children: { a: working("a", gates), b: looping(12), c: working("c", gates), d: looping(12) },
  });
  const other = (child: string) => family.call("subagent", { ...family.task(child), run_in_background: true });
  const a = await family.spawn("a");
  const c = /Agent (\S+) started/.exec((await other("c")).text)?.[1];
  await family.asks("a");
  await family.asks("c");
  const b = await family.spawn("b");
  const d = /Agent (\S+) started/.exec((await other("d")).text)?.[1];
  await family.alert("job of b");
  await family.alert("job of d");
  const running = await family.targets();
  assert.match(await family.command(`/watchdog stop ${c}`), /has been stopped/);
  gates.open("a0", "a1", "a-end");
  await family.ended(a);

  assert.deepEqual(family.requestsOf("b").map(rescues), [0, 0, 0, 1]);
  assert.deepEqual(family.requestsOf("d").map(rescues), [0, 0, 0, 1]);
  for (const [child, id] of Object.entries({ a, b, c, d })) {
    assert.equal(running.get(`job of ${child}`).link, "exact", child);
    assert.deepEqual(running.get(`job of ${child}`).aliases, [id], child);
  }
  const targets = await family.targets();
  assert.equal(targets.get("job of a").status, "completed");
  assert.equal(targets.get("job of c").status, "stopped");
  assert.equal(targets.size, 5, "no child twice");
  const status = await family.command("/watchdog status");
  assert.ok(status.includes(PACKAGE) && status.includes("@gotgenes/pi-subagents"), status);
  assert.deepEqual(
    family.pi.uiRequests("notify").filter(({ notifyType }) => notifyType === "error"),
    [],
  );
  await endsInOrder(family);
});

test("a package of another shape costs a clear line in status; its children are watched and not reached", async (t) => {
  const family = await open(t, {
    config: { alertMode: "both" },
    settings: { extensions: [PROBE, CHANGED] },
    children: { a: looping(6) },
  });
  const a = await family.spawn("a");
  await family.ended(a);
  const alert = await family.alert("Target:");
  assert.ok(alert.includes(GREP), alert);
  const told = family.pi.uiRequests("notify").map(({ message }) => message);
  assert.equal(told.filter((message) => message.includes(`${PACKAGE} cannot be read`)).length, 1, told.join("\n"));
  const [, child] = (await family.targets()).values();
  assert.equal(child.link, "none");
  assert.match(
    await family.command(`/watchdog stop ${child.id}`),
    /not identified beyond doubt|cannot|no sub-agent package/,
  );
  await endsInOrder(family);
});

test("a new main session starts with none of the old one's children, and finds the package again", async (t) => {
  const gates = new Gates();
  const family = await open(t, { children: { a: working("a", gates), b: working("b", gates) } });
  await family.spawn("a");
  await family.asks("a");
  await family.pi.send({ type: "new_session" });
  assert.deepEqual([...(await family.targets()).keys()], ["main"]);
  const b = await family.spawn("b");
  gates.open("b0", "b1", "b-end");
  await family.ended(b);
  assert.equal((await family.targets()).get("job of b").link, "exact");
  assert.equal((await family.targets()).get("job of b").status, "completed");
  await endsInOrder(family);
});

test("the agent's id and the call that the watchdog names work in the package's own tool; the session id does not", async (t) => {
  const gates = new Gates();
  const family = await open(t, { children: { a: working("a", gates) } });
  const id = await family.spawn("a");
  await family.asks("a");
  const { agent, id: sessionId } = (await family.targets()).get("job of a");
  assert.equal(agent.agentId, id);
  assert.match((await family.call("steer_subagent", { agent_id: sessionId, message: "LOST" })).text, /Agent not found/);
  const steered = await family.callAsNamed(agent.steer, "LOOK ELSEWHERE");
  assert.match(steered.text, /sent to agent/);
  gates.open("a0");
  assert.match((await family.asks("a", 1)).newUserTexts.join("\n"), /LOOK ELSEWHERE/);
  gates.open("a1", "a-end");
  await family.ended(id);
  assert.deepEqual((await family.targets()).get("job of a").agent, { agentId: id }, "nothing is to be said to it now");
  await endsInOrder(family);
});
