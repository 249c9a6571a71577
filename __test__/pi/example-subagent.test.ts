// Pi's own example extension `subagent` on real Pi: agents are processes that only the details of its tool calls tell of.

import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { LabOptions, ModelRequest, Reply } from "../support/pi.ts";
import { piPackage } from "../support/pi-home.ts";
import { Puppet } from "../support/puppet.ts";
import { bash, RESCUE, rescued } from "../support/scripts.ts";

const EXAMPLE = join(piPackage(), "examples/extensions/subagent/index.ts");
const SCOUT = "---\nname: scout\ndescription: looks\n---\nDo the task.\n";

type Child = (request: ModelRequest) => Reply | Promise<Reply>;

/** Each child answers as the entry of its task says. The children do not load the watchdog: `-e` does not reach them. */
async function open(t: TestContext, children: Record<string, Child>, options: Partial<LabOptions> = {}) {
  const started = await Puppet.start(t, {
    watchdog: "extension",
    extensions: [EXAMPLE],
    ...options,
    child: (request) => children[/^Task: (\w+)/.exec(request.prompt)?.[1] ?? ""]?.(request),
  });
  const main = new Puppet(...started);
  main.lab.home.writeAgentFile("agents/scout.md", SCOUT);
  return main;
}

const scout = (task: string) => ({ agent: "scout", task });
const looping: Child = ({ turn }) => (turn < 5 ? bash("echo round") : { text: "I give up." });
const working: Child = ({ turn }) => (turn < 5 ? bash(`echo step ${turn}`) : { text: "Done." });

test("of two processes at once the looping one is told of while it runs, the other completes, and both are paid for", async (t) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const main = await open(t, {
    LOOP: async (request) => {
      if (request.turn === 5) await held;
      return looping(request);
    },
    WORK: working,
  });
  const call = await main.begin("subagent", { tasks: [scout("LOOP"), scout("WORK")] });
  assert.match(await main.notified("may be stuck"), /LOOP may be stuck: same command repeated/);
  assert.match(await main.command("/watchdog status"), /LOOP \(scout\) \[[^\]]+\] · stuck/);
  release();
  await main.end(call);
  assert.match(await main.alert('Target: "LOOP"'), /same command repeated[\s\S]*echo round/);
  assert.deepEqual(
    main.alerts().filter((text) => text.includes("WORK")),
    [],
  );
  const targets = await main.targets();
  const loop = targets.get("LOOP");
  assert.deepEqual(
    [loop.status, loop.link, loop.agentType, loop.toolCallCount, loop.parentId],
    ["completed", "none", "scout", 5, targets.get("main").id],
  );
  assert.equal(targets.get("WORK").toolCallCount, 5);
  for (const name of ["LOOP", "WORK"]) {
    const { usage } = targets.get(name);
    assert.deepEqual([usage.input, usage.output], [600, 60], `${name}: six requests`);
  }
});

test("a child is not steered, and the reason is given", async (t) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const main = await open(
    t,
    {
      LOOP: async (request) => {
        if (request.turn === 5) await held;
        return looping(request);
      },
    },
    { config: { alertMode: "both", rescueMessage: "Plan anew 4711." } },
  );
  const call = await main.begin("subagent", scout("LOOP"));
  await main.notified("LOOP may be stuck");
  release();
  await main.end(call);
  const answer = await main.call("watchdog_steer_subagent", {
    targetId: "call1",
    message: "Stop.",
    dryRun: false,
  });
  assert.match(answer.text, /^Refused, nothing was sent/);
  const child = main.lab.server.requests.filter(({ prompt }) => prompt.startsWith("Task: LOOP"));
  assert.ok(child.length > 0 && child.every(({ body }) => !JSON.stringify(body).includes("4711")));
});

test("a chain's steps are one child after another, and a failed one ends as the package says", async (t) => {
  const main = await open(t, {
    FIRST: ({ turn }) => (turn === 0 ? bash("echo one") : { text: "One." }),
    SECOND: () => ({ error: { status: 400, message: "bad request" } }),
    THIRD: () => ({ text: "Never." }),
  });
  await main.call("subagent", { chain: [scout("FIRST"), scout("SECOND {previous}"), scout("THIRD")] });
  const targets = await main.targets();
  assert.deepEqual([...targets.keys()].sort(), ["FIRST", "SECOND One.", "main"]);
  assert.equal(targets.get("FIRST").status, "completed");
  assert.equal(targets.get("SECOND One.").status, "error");
});

test("a child that answers nothing any more is told of while it hangs", async (t) => {
  const main = await open(
    t,
    { HANG: ({ turn }) => (turn < 2 ? bash(`echo step ${turn}`) : { text: "", hang: true }) },
    { config: { idleTimeoutSec: 1 } },
  );
  const call = await main.begin("subagent", scout("HANG"));
  assert.match(await main.notified("HANG"), /HANG: no sign of it for \d+ s/);
  await main.pi.send({ type: "abort" });
  await main.end(call);
});

test("a call that the user aborts ends its children, and an agent that does not exist is no running target", async (t) => {
  const main = await open(t, { HANG: () => ({ text: "", hang: true }) });
  const call = await main.begin("subagent", scout("HANG"));
  await main.lab.server.request(({ prompt }) => prompt === "Task: HANG", "the child's request");
  await main.pi.send({ type: "abort" });
  await main.end(call);
  await main.call("subagent", { agent: "nobody", task: "NOTHING" });
  const targets = await main.targets();
  assert.equal(targets.get("HANG").status, "aborted");
  assert.equal(targets.get("NOTHING").status, "error");
});

test("children that load the watchdog report themselves, are reached, and count once", async (t) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const main = await open(
    t,
    {
      LOOP: async (request) => {
        if (rescued(request)) return { text: "I stop." };
        if (request.turn === 5) await held;
        return looping(request);
      },
      WORK: working,
    },
    { watchdog: "package", config: { alertMode: "both", rescueMessage: RESCUE } },
  );
  const call = await main.begin("subagent", { tasks: [scout("LOOP"), scout("WORK")] });
  await main.notified("may be stuck");
  release();
  await main.end(call);
  const { data } = await main.call("watchdog_list_targets", { includeCompleted: true });
  const [root, ...children] = data.targets;
  assert.equal(children.length, 2, JSON.stringify(data.targets));
  assert.deepEqual(children.map(({ name, agentType }: Record<string, unknown>) => `${name} ${agentType}`).sort(), [
    "LOOP scout",
    "WORK scout",
  ]);
  let spent = root.usage.input;
  for (const child of children) {
    assert.deepEqual([child.link, child.parentId, child.visibility], ["exact", root.id, "full"]);
    spent += child.usage.input;
  }
  assert.equal(root.usageWithChildren.input, spent);
  const requests = main.lab.server.requests.filter(({ prompt }) => prompt.startsWith("Task: "));
  assert.equal(spent - root.usage.input, 100 * requests.length, "every request is paid for once");
  assert.ok(requests.some((request) => request.prompt === "Task: LOOP" && rescued(request)));
  assert.ok(!requests.some((request) => request.prompt === "Task: WORK" && rescued(request)));
});
