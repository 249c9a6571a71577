// A main session watches itself: what is a loop, what is not, and what the model is told, on real Pi.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Lab, type Reply, type Script } from "../support/pi.ts";
import {
  bash,
  call,
  edit,
  loop,
  quietThenLoop,
  RESCUE,
  read,
  rescued,
  rescues,
  steps,
  watchdogTexts,
} from "../support/scripts.ts";

const config = { rescueMessage: RESCUE };

test("the same command with the same result three times: the next request has the rescue message", async (t) => {
  const script: Script = ({ turn }) => (turn < 3 ? bash("cat list.txt") : { text: "I stop." });
  const lab = await Lab.open(t, { config, script, files: { "list.txt": "one\ntwo\n" } });
  const pi = await lab.rpc();
  await pi.prompt("look at the list");
  const { requests } = lab.server;
  assert.equal(requests.length, 4);
  assert.deepEqual(requests.map(rescues), [0, 0, 0, 1]);
  assert.equal(rescued(requests[3]!), true, "it comes after the third result");
  assert.equal(requests[3]!.toolResults.length, 1);
  assert.ok(watchdogTexts(pi.records).length > 0, "the user sees it too");
});

test("the rescue message comes once: the incident is over when the model does something else", async (t) => {
  const after = [read("list.txt"), bash("wc -l list.txt"), bash("ls"), bash("head -1 list.txt")];
  const script: Script = ({ turn }) => (turn < 3 ? bash("cat list.txt") : (after[turn - 3] ?? { text: "done" }));
  const lab = await Lab.open(t, { config, script, files: { "list.txt": "one\ntwo\n" } });
  const pi = await lab.rpc();
  await pi.prompt("look at the list");
  assert.deepEqual(lab.server.requests.map(rescues), [0, 0, 0, 1, 1, 1, 1, 1]);
});

test("a model that goes on all the same is not flooded within the cooldown", async (t) => {
  const script: Script = ({ turn }) => (turn < 9 ? bash("cat list.txt") : { text: "done" });
  const lab = await Lab.open(t, { config, script, files: { "list.txt": "one\ntwo\n" } });
  const pi = await lab.rpc();
  await pi.prompt("look at the list");
  const counts = lab.server.requests.map(rescues);
  assert.equal(counts[3], 1);
  assert.ok(counts.at(-1)! <= 2, `rescue messages in the requests: ${counts}`);
});

test("with cooldown 0 a loop that goes on is found again", async (t) => {
  const script: Script = ({ turn }) => (turn < 9 ? bash("cat list.txt") : { text: "done" });
  const lab = await Lab.open(t, {
    config: { ...config, cooldownSec: 0 },
    script,
    files: { "list.txt": "one\ntwo\n" },
  });
  const pi = await lab.rpc();
  await pi.prompt("look at the list");
  const counts = lab.server.requests.map(rescues);
  assert.equal(counts[3], 1);
  assert.ok(counts.at(-1)! >= 2, `rescue messages in the requests: ${counts}`);
});

test("two files in turn, again and again, are a loop too", async (t) => {
  const script: Script = (request) =>
    rescued(request) || request.turn >= 14 ? { text: "I stop." } : read(request.turn % 2 === 0 ? "a.txt" : "b.txt");
  const lab = await Lab.open(t, { config, script, files: { "a.txt": "a\n", "b.txt": "b\n" } });
  const pi = await lab.rpc();
  await pi.prompt("compare them");
  const found = lab.server.requests.findIndex(rescued);
  assert.ok(found >= 5 && found <= 10, `period 2 is due in lap 3 to 5, came in request ${found}`);
});

test("the same failing type check with nothing changed in between is a loop at its second run", async (t) => {
  const lab = await Lab.open(t, {
    config,
    script: loop(bash("sh ./tsc --noEmit"), 5),
    files: { tsc: "echo 'a.ts(3,7): error TS2322: Type string is not assignable to type number.'; exit 2\n" },
  });
  const pi = await lab.rpc();
  await pi.prompt("check the types");
  const found = lab.server.requests.findIndex(rescued);
  assert.ok(found === 2 || found === 3, `came in request ${found}`);
});

/** The replies cause nothing; a loop after them does, so the silence was a verdict. */
function silent(name: string, quiet: readonly Reply[], files: Record<string, string> = {}): void {
  test(`silent: ${name}`, async (t: TestContext) => {
    const lab = await Lab.open(t, { config, script: quietThenLoop(quiet), files });
    const pi = await lab.rpc();
    await pi.prompt("begin");
    assert.equal(lab.server.requests.length, quiet.length + 1);
    assert.deepEqual(lab.server.requests.map(rescues), Array(quiet.length + 1).fill(0));
    assert.deepEqual(watchdogTexts(pi.records), []);
    await pi.prompt("now something else");
    assert.ok(lab.server.requests.some(rescued), "the loop after it is found");
  });
}

silent(
  "the same command with an edit between",
  [0, 1, 2, 3, 4].flatMap((n) => [bash("sh check.sh"), edit("code.txt", `version ${n}`, `version ${n + 1}`)]),
  { "check.sh": "echo '1 failed: adds up'\n", "code.txt": "version 0\n" },
);

silent(
  "reads of one file with rising offset",
  [0, 1, 2, 3, 4].map((n) => read("long.txt", n * 10 + 1, 10)),
  { "long.txt": `${Array.from({ length: 60 }, (_, n) => `line ${n}`).join("\n")}\n` },
);

silent(
  "a test run that gets better: 41 failed, 17 failed, 2 failed",
  [bash("sh run.sh"), bash("sh run.sh"), bash("sh run.sh")],
  {
    "run.sh": 'set -- $(cat left); echo "$1 failed"; shift; echo "$@" > left; exit 1\n',
    left: "41 17 2 0\n",
  },
);

silent(
  "one batch of six equal calls",
  [{ toolCalls: Array.from({ length: 6 }, () => call("bash", { command: "cat list.txt" })) }, read("list.txt")],
  { "list.txt": "one\n" },
);

silent("two equal calls, and then something else", [bash("cat list.txt"), bash("cat list.txt"), bash("wc list.txt")], {
  "list.txt": "one\n",
});

test("a threshold of 0 disables the rule", async (t) => {
  const script: Script = ({ turn }) => (turn < 6 ? bash("cat list.txt") : { text: "done" });
  const off = { repeatThreshold: 0, changingOutputThreshold: 0, llmRepeatThreshold: 0, typecheckRepeatThreshold: 0 };
  const lab = await Lab.open(t, { config: { ...config, ...off }, script, files: { "list.txt": "one\n" } });
  const pi = await lab.rpc();
  await pi.prompt("look");
  assert.deepEqual(lab.server.requests.map(rescues), Array(7).fill(0));
  assert.ok((await pi.commands()).includes("watchdog"));
});

test("a paused watchdog says nothing, a resumed one does", async (t) => {
  const script = loop(bash("cat list.txt"), 5);
  const lab = await Lab.open(t, { config, script, files: { "list.txt": "one\n" } });
  const pi = await lab.rpc();
  await pi.prompt("/watchdog pause");
  await pi.prompt("look");
  const paused = lab.server.requests.length;
  assert.equal(paused, 6);
  assert.equal(lab.server.requests.some(rescued), false);
  await pi.prompt("/watchdog resume");
  await pi.prompt("look again");
  assert.ok(lab.server.requests.slice(paused).some(rescued));
});

test("steps that end by themselves need no watchdog: nothing is added to the session", async (t) => {
  const lab = await Lab.open(t, { config, script: steps([bash("ls"), bash("pwd")]) });
  const pi = await lab.rpc();
  await pi.prompt("look around");
  assert.ok((await pi.commands()).includes("watchdog"));
  const { messages } = await pi.send({ type: "get_messages" });
  assert.deepEqual(
    messages.map((message: { role: string }) => message.role).filter((role: string) => role !== "system"),
    ["user", "assistant", "toolResult", "assistant", "toolResult", "assistant"],
  );
});
