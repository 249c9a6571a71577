// Children that are Pi processes of their own, started by the main agent's shell: they report over the link. What the
// watchdog does to a child is read from the child's own model requests.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Gates, STAND_IN } from "../support/gotgenes/family.ts";
import { type Child, LinkLab } from "../support/link/lab.ts";
import { poll } from "../support/pi.ts";
import { bash, RESCUE, rescued, rescues } from "../support/scripts.ts";

const GREP = "grep -n TOKEN src.txt";
const files = { "src.txt": "TOKEN\n" };

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

test("a looping child process is told of in the main session, with its name and evidence, and a working one is not", async (t) => {
  const lab = await LinkLab.open(t, {
    files,
    children: {
      a: (request) => (request.turn >= 6 ? { text: "I stop here." } : bash(GREP)),
      b: ({ turn }) => (turn < 3 ? bash(`echo step ${turn}`) : { text: "b is done" }),
    },
  });
  await lab.start("a", "b");
  const alert = await lab.alert(GREP);
  await lab.childEnds("a");
  await lab.childEnds("b");

  assert.match(
    alert,
    /^\[Watchdog Alert\]\n\nTarget: .*\n(?:Session: .*\n)?Status: (likely stuck|ended \(completed\))\nConfidence: \w+\n\nEvidence:\n- /,
  );
  const targets = await lab.targets();
  const a = targets.find(({ id }) => alert.includes(id));
  assert.ok(a, alert);
  assert.equal(a.parentId, a.rootId ?? a.parentId);
  assert.equal(a.link, "exact");
  assert.ok(
    lab.alerts().every((text) => text.includes(a.id)),
    "no other child is named",
  );
  assert.equal(targets.filter(({ parentId }) => parentId !== undefined).length, 2);
  assert.ok(
    lab.requestsOf("a").every((request) => rescues(request) === 0),
    "main_only sends the child nothing",
  );
  await lab.endsInOrder();
});

test("with both, the looping child process gets the rescue before its next model call, and the other does not", async (t) => {
  const lab = await LinkLab.open(t, {
    files,
    config: { alertMode: "both", rescueMessage: RESCUE },
    children: {
      a: (request) => (rescued(request) || request.turn >= 12 ? { text: "I stop here." } : bash(GREP)),
      b: ({ turn }) => (turn < 3 ? bash(`echo step ${turn}`) : { text: "b is done" }),
    },
  });
  await lab.start("a", "b");
  await lab.alert(GREP);
  await lab.childEnds("a");
  await lab.childEnds("b");
  assert.equal(rescues(lab.requestsOf("a").at(-1)), 1);
  assert.ok(lab.requestsOf("b").every((request) => rescues(request) === 0));
  await lab.endsInOrder();
});

test("a model in a child process changes nothing of its main session, and the user there sees that it tried", async (t) => {
  const config = { rescueMessage: "Obey.", enabled: false };
  const lab = await LinkLab.open(t, {
    children: {
      a: ({ turn }) =>
        turn < 2
          ? { toolCalls: [{ name: "watchdog_config", args: { action: "set", config } }] }
          : { text: "a is done" },
    },
  });
  const before = (await lab.call("watchdog_config", { action: "get" })).data.config;
  await lab.start("a");
  await lab.childEnds("a");
  const shown = (key: string): number =>
    lab.pi.uiRequests("notify").filter(({ message }) => String(message).includes(`tried to set ${key}; it was refused`))
      .length;
  await poll(
    () => shown("rescueMessage") > 0 && shown("enabled") > 0,
    () => "the lines for the user did not come",
  );
  assert.deepEqual([shown("rescueMessage"), shown("enabled")], [1, 1]);
  assert.ok(JSON.stringify(lab.requestsOf("a").at(-1)?.messages).includes("Nothing was changed. Refused:"));
  assert.deepEqual((await lab.call("watchdog_config", { action: "get" })).data.config, before);
  await lab.endsInOrder();
});

test("a message by the tool arrives in the named process alone, and is called queued until it is taken up", async (t) => {
  const gates = new Gates();
  const lab = await LinkLab.open(t, {
    config: { alertMode: "both" },
    children: { a: working("a", gates), b: working("b", gates) },
  });
  await lab.inBackground("a", "b");
  await lab.asks("a");
  await lab.asks("b");
  const target = await lab.target("a");
  // The agent waits for its model: nobody can say yet that it has the message.
  const { data } = await lab.call("watchdog_steer_subagent", {
    targetId: target.id,
    message: "Look elsewhere.",
    dryRun: false,
  });
  assert.equal(data.outcome, "queued");
  gates.open("a0", "a1", "a-end", "b0", "b1", "b-end");
  await lab.ends("a");
  await lab.ends("b");
  assert.ok(JSON.stringify(lab.requestsOf("a").at(-1)?.messages).includes("Look elsewhere."));
  assert.ok(!JSON.stringify(lab.requestsOf("b").at(-1)?.messages).includes("Look elsewhere."));
  await lab.endsInOrder();
});

test("stopping one process ends it as stopped, and the other goes on", async (t) => {
  const gates = new Gates();
  const lab = await LinkLab.open(t, { children: { a: working("a", gates), b: working("b", gates) } });
  await lab.inBackground("a", "b");
  await lab.asks("a");
  await lab.asks("b");
  const { id } = await lab.target("a");
  const answer = await lab.type(`/watchdog stop ${id}`);
  assert.match(answer, /stop/i, answer);
  await lab.ends("a");
  assert.equal(lab.exitCode("a"), 143);
  await lab.targetsWhen((targets) => targets.some((one) => one.id === id && one.status === "stopped"), "a stopped");
  gates.open("b0", "b1", "b-end");
  await lab.ends("b");
  assert.equal(lab.exitCode("b"), 0);
  const b = (await lab.targets()).find((one) => one.id !== id && one.parentId !== undefined);
  assert.equal(b.status, "completed");
  await lab.endsInOrder();
});

test("a process that a child starts hangs under that child", async (t) => {
  const lab: LinkLab = await LinkLab.open(t, {
    files,
    children: {
      a: (request) => (request.turn === 0 ? bash(lab.command("b")) : { text: "a is done" }),
      b: (request) => (request.turn >= 6 ? { text: "I stop here." } : bash(GREP)),
    },
  });
  await lab.start("a");
  const alert = await lab.alert(GREP);
  await lab.childEnds("a");
  const targets = await lab.targets();
  const b = targets.find(({ id }) => alert.includes(id));
  const a = targets.find(({ id }) => id === b.parentId);
  const main = targets.find(({ id }) => id === a.parentId);
  assert.equal(main.parentId, undefined);
  assert.equal(b.toolCallCount, 6);
  assert.equal(a.toolCallCount, 1);
  await lab.endsInOrder();
});

test("what a child starts within its own process hangs under it, is told of, counted, and ends with it", async (t) => {
  const task = { subagent_type: "Explore", description: "job of n", prompt: "TASK n" };
  const lab = await LinkLab.open(t, {
    files,
    packages: [STAND_IN],
    children: {
      a: ({ turn }) => (turn === 0 ? { toolCalls: [{ name: "subagent", args: task }] } : { text: "a is done" }),
      n: ({ turn }) => (turn >= 6 ? { text: "I stop here." } : bash(GREP)),
    },
  });
  await lab.start("a");
  const alert = await lab.alert(GREP);
  await lab.childEnds("a");
  const targets = await lab.targetsWhen(
    (all) => all.filter(({ status }) => status === "completed").length === 2,
    "ends",
  );
  const nested = targets.find(({ id }) => alert.includes(id));
  const child = targets.find(({ id }) => id === nested.parentId);
  const main = targets.find(({ id }) => id === child.parentId);
  assert.deepEqual([nested.toolCallCount, child.toolCallCount, main.parentId], [6, 1, undefined]);
  const own = targets.reduce((sum, { usage }) => sum + usage.usd, 0);
  assert.equal(main.usageWithChildren.usd.toFixed(6), own.toFixed(6));
  await lab.endsInOrder();
});

test("a killed child is told as an error; a killed main session leaves a child that ends by itself, in order", async (t) => {
  const gates = new Gates();
  const lab = await LinkLab.open(t, { children: { a: working("a", gates), b: working("b", gates) } });
  await lab.inBackground("a", "b");
  await lab.asks("a");
  await lab.asks("b");
  const { id } = await lab.target("a");
  process.kill(lab.pid("a"), "SIGKILL");
  await lab.targetsWhen((targets) => targets.some((one) => one.id === id && one.status === "error"), "the end of a");
  lab.pi.process.kill("SIGKILL");
  await lab.pi.exit;
  gates.open("b0", "b1", "b-end");
  await lab.ends("b");
  assert.equal(lab.exitCode("b"), 0);
  assert.equal(readFileSync(join(lab.lab.home.cwd, "err-b"), "utf8"), "");
  assert.ok(readFileSync(join(lab.lab.home.cwd, "out-b"), "utf8").includes("b is done"));

  // Whoever is a main session next removes what the killed one left.
  const next = await lab.lab.rpc({ args: ["--no-session"] });
  await next.prompt("hello");
  await next.close();
  assert.deepEqual(lab.places(), []);
});

test("where the watchdog is off there is no socket and nothing in the environment", async (t) => {
  for (const options of [{ config: { enabled: false } }, { env: { PI_WATCHDOG_DISABLED: "1" } }]) {
    const lab = await LinkLab.open(t, { ...options, children: {} });
    const { text } = await lab.call("bash", { command: "env | grep PI_WATCHDOG_LINK || echo none" });
    assert.match(text, /none/);
    assert.deepEqual(lab.places(), []);
    await lab.endsInOrder();
  }
});

test("a frozen process is said to be out of contact, and goes on when it thaws; print mode reports as json mode does", async (t) => {
  const gates = new Gates();
  const lab = await LinkLab.open(t, { children: { a: working("a", gates), b: working("b", gates) } });
  await lab.inBackground("a");
  await lab.call("bash", { command: `${lab.command("b", "-p")} &` });
  await lab.asks("a");
  await lab.asks("b");
  const { id } = await lab.target("a");
  process.kill(lab.pid("a"), "SIGSTOP");
  const status = await poll(
    async () => {
      const text = await lab.type("/watchdog status");
      return text.includes("no contact for") ? text : undefined;
    },
    () => "the silence in status",
  );
  const said = status.split("\n").filter((line) => line.includes("no contact"));
  assert.equal(said.length, 1, status);
  process.kill(lab.pid("a"), "SIGCONT");
  gates.open("a0", "a1", "a-end", "b0", "b1", "b-end");
  await lab.ends("a");
  assert.equal(lab.exitCode("a"), 0);
  const targets = await lab.targetsWhen(
    (all) => all.filter(({ status, parentId }) => status === "completed" && parentId !== undefined).length === 2,
    "two that have ended",
  );
  assert.deepEqual(
    targets.filter(({ parentId }) => parentId !== undefined).map(({ toolCallCount }) => toolCallCount),
    [2, 2],
  );
  assert.ok(targets.some((one) => one.id === id));
  await lab.endsInOrder();
});

test("a process that the shell of an agent within this process starts hangs under that agent, with its task as its name", async (t) => {
  const task = { subagent_type: "Explore", description: "job of n", prompt: "TASK n" };
  const gates = new Gates();
  const lab: LinkLab = await LinkLab.open(t, {
    files,
    packages: [STAND_IN],
    children: {
      n: (request) => (request.turn === 0 ? bash(lab.command("b")) : { text: "n is done" }),
      b: working("b", gates),
    },
  });
  await lab.calls({ name: "subagent", args: task });
  await lab.asks("b");
  const nested = (all: { id: string; name: string; parentId?: string }[]) => all.find(({ name }) => name === "TASK b");
  gates.open("b0", "b1", "b-end");
  const targets = await lab.targetsWhen((all) => nested(all) !== undefined, "the process by its task");
  const agent = targets.find(({ id }) => id === nested(targets)?.parentId);
  assert.equal(agent?.name, "job of n", JSON.stringify(targets));
  const main = targets.find(({ id }) => id === agent?.parentId);
  assert.equal(main?.parentId, undefined);
  await lab.endsInOrder();
});

test("a program of the agent's shell that holds the token brings a few alerts, takes no session over, and has no other ended", async (t) => {
  const gates = new Gates();
  const task = { subagent_type: "Explore", description: "job of n", prompt: "TASK n" };
  const lab: LinkLab = await LinkLab.open(t, {
    files,
    config: { costLimitUsd: 1 },
    packages: [STAND_IN],
    children: { n: working("n", gates) },
  });
  await lab.calls({ name: "subagent", args: { ...task, run_in_background: true } });
  await lab.asks("n");
  const agent = (await lab.targetsWhen((all) => all.some(({ name }) => name === "job of n"), "the agent")).find(
    ({ name }) => name === "job of n",
  );
  const program = fileURLToPath(new URL("../support/link/flooder.ts", import.meta.url));
  const line = `"${process.execPath}" --no-warnings "${program}" ${agent.id} ${process.pid} > flooder 2>&1; echo done`;
  await lab.call("bash", { command: line });
  const answers = readFileSync(join(lab.lab.home.cwd, "flooder"), "utf8");
  assert.match(answers, /^taken over: denied, it runs in another process$/m, answers);
  assert.match(answers, /^sent: \d{4,}$/m, answers);
  const targets = await lab.targets();
  assert.equal(targets.find(({ id }) => id === agent.id)?.usage.usd, agent.usage.usd, "the agent's own figures");
  assert.ok(lab.alerts().length <= 40, `${lab.alerts().length} alerts`);
  const most = Math.max(...lab.lab.server.requests.map(({ messages }) => JSON.stringify(messages).length));
  assert.ok(most < 100_000, `${most} characters in one request`);
  assert.ok(!JSON.stringify(targets).includes(`"pid":${process.pid}`), "a process that was only declared is nobody's");
  gates.open("n0", "n1", "n-end");
  await lab.endsInOrder();
});
