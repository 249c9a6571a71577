// Sessions that end, change, fork and come back: nothing is told twice, nothing of the past is told again, and Pi ends
// in order whatever runs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Lab, type PiRpc, tmuxMissing } from "../support/pi.ts";
import { bash, loop, phase, RESCUE, rescued, rescues, watchdogTexts } from "../support/scripts.ts";

const support = (name: string) => fileURLToPath(new URL(`../support/${name}`, import.meta.url));
const config = { rescueMessage: RESCUE };
const files = { "list.txt": "one\n" };

/** Two equal rounds on "twice", a loop on any other prompt. */
const script: Parameters<typeof Lab.open>[1]["script"] = (request, conversation) => {
  const { prompt, turn } = phase(request);
  if (prompt.startsWith("twice")) return turn < 2 ? bash("cat list.txt") : { text: "done" };
  return loop(bash("cat list.txt"), 8)(request, conversation);
};

const open = (t: Parameters<typeof Lab.open>[0], more: object = {}) =>
  Lab.open(t, { config, files, script, extensions: [support("odd-tools.ts")], ...more });

/** Without it an orderly end would say nothing. */
const isLoaded = async (pi: PiRpc) => assert.ok((await pi.commands()).includes("watchdog"));

const endsInOrder = async (pi: PiRpc) => {
  assert.deepEqual(await pi.close(), { code: 0, signal: null });
  assert.doesNotMatch(pi.stderr, /stale|Error|panick/);
};

test("after /reload the watchdog watches, once", async (t) => {
  const lab = await open(t);
  const pi = await lab.rpc();
  await pi.prompt("twice");
  for (let n = 0; n < 3; n++) await pi.prompt("/test-reload");
  await pi.prompt("loop");
  assert.equal(rescues(lab.server.requests.at(-1)), 1);
  assert.equal(
    watchdogTexts(pi.records).filter((text) => text.includes(RESCUE)).length,
    1,
    "one message, not one a load",
  );
  await endsInOrder(pi);
});

test("/reload in mid-run neither ends nor blinds the run", async (t) => {
  const lab = await open(t, { extensions: [support("odd-tools.ts"), support("held-bash.ts")] });
  const pi = await lab.rpc();
  await pi.send({ type: "prompt", message: "loop" });
  await pi.waitFor(({ type }) => type === "tool_execution_start", "the first tool");
  const reload = pi.send({ type: "prompt", message: "/test-reload" }).catch((error: Error) => error);
  lab.home.writeFile("go", "");
  await pi.waitFor(({ type }) => type === "agent_settled", "the end of the run");
  await reload;
  assert.ok(lab.server.requests.some(rescued), "the loop is found");
  assert.equal(rescues(lab.server.requests.at(-1)), 1);
  await endsInOrder(pi);
});

test("a new session begins at zero", async (t) => {
  const lab = await open(t);
  const pi = await lab.rpc();
  await pi.prompt("twice");
  await pi.send({ type: "new_session" });
  await pi.prompt("twice again");
  assert.deepEqual(lab.server.requests.map(rescues), [0, 0, 0, 0, 0, 0]);
  await pi.send({ type: "new_session" });
  await pi.prompt("loop");
  assert.equal(rescues(lab.server.requests.at(-1)), 1);
  await endsInOrder(pi);
});

test("a resumed session is watched, and its past is not told again", async (t) => {
  const lab = await open(t);
  const pi = await lab.rpc();
  await pi.prompt("loop");
  assert.equal(rescues(lab.server.requests.at(-1)), 1);
  const { sessionFile } = await pi.send({ type: "get_state" });
  await pi.send({ type: "new_session" });
  const from = pi.records.length;
  await pi.send({ type: "switch_session", sessionPath: sessionFile });
  await pi.prompt("twice");
  assert.deepEqual(watchdogTexts(pi.records.slice(from)), []);
  await pi.prompt("loop");
  assert.ok(watchdogTexts(pi.records.slice(from)).some((text) => text.includes(RESCUE)));
  await endsInOrder(pi);
});

test("a session resumed by another process is watched, and its past is not told again", async (t) => {
  const lab = await open(t);
  const first = await lab.rpc();
  await first.prompt("loop");
  await endsInOrder(first);
  const pi = await lab.rpc({ args: ["--continue"] });
  const before = lab.server.requests.length;
  await pi.prompt("twice");
  assert.deepEqual(lab.server.requests.slice(before).map(rescues), [1, 1, 1], "the old one only");
  await pi.prompt("loop");
  assert.equal(rescues(lab.server.requests.at(-1)), 2);
  await endsInOrder(pi);
});

test("a fork is watched, and its past is not told again", async (t) => {
  const lab = await open(t);
  const pi = await lab.rpc();
  await pi.prompt("loop");
  await pi.prompt("twice");
  const { messages } = await pi.send({ type: "get_fork_messages" });
  const from = pi.records.length;
  await pi.send({ type: "fork", entryId: messages.at(-1).entryId });
  await pi.prompt("twice once more");
  assert.deepEqual(watchdogTexts(pi.records.slice(from)), []);
  await pi.prompt("loop");
  assert.ok(watchdogTexts(pi.records.slice(from)).some((text) => text.includes(RESCUE)));
  await endsInOrder(pi);
});

test("an aborted run leaves nothing behind", async (t) => {
  const lab = await open(t, { extensions: [support("held-bash.ts")] });
  const pi = await lab.rpc();
  await pi.send({ type: "prompt", message: "twice" });
  await pi.waitFor(({ type }) => type === "tool_execution_start", "the first tool");
  await pi.send({ type: "abort" });
  lab.home.writeFile("go", "");
  await pi.prompt("loop");
  assert.equal(rescues(lab.server.requests.at(-1)), 1);
  await endsInOrder(pi);
});

test("shutdown while a tool runs ends Pi in order", async (t) => {
  const lab = await open(t, { extensions: [support("held-bash.ts")] });
  const pi = await lab.rpc();
  await pi.send({ type: "prompt", message: "loop" });
  await pi.waitFor(({ type }) => type === "tool_execution_start", "the first tool");
  await isLoaded(pi);
  await endsInOrder(pi);
});

test("shutdown while the model writes ends Pi in order", async (t) => {
  const lab = await open(t, { script: () => ({ text: "and so on", hang: true }) });
  const pi = await lab.rpc();
  await pi.send({ type: "prompt", message: "go" });
  await pi.waitFor(({ type }) => type === "message_update", "the first words");
  await isLoaded(pi);
  await endsInOrder(pi);
});

test("SIGTERM in mid-run ends Pi in order", async (t) => {
  const lab = await open(t, { extensions: [support("held-bash.ts")] });
  const pi = await lab.rpc();
  await pi.send({ type: "prompt", message: "loop" });
  await pi.waitFor(({ type }) => type === "tool_execution_start", "the first tool");
  await isLoaded(pi);
  pi.process.kill("SIGTERM");
  await pi.exit;
  assert.doesNotMatch(pi.stderr, /stale|panick/);
});

test("/watchdog status answers in rpc mode", async (t) => {
  const lab = await open(t);
  const pi = await lab.rpc();
  await pi.prompt("/watchdog status");
  assert.match(watchdogTexts(pi.records).join("\n"), /no sub-agent package was found/i);
  assert.equal(lab.server.requests.length, 0, "and asks no model");
});

test("/watchdog status answers in json mode", async (t) => {
  const lab = await open(t);
  const { code, records, stderr } = await lab.run({ mode: "json", prompts: ["/watchdog status"] });
  assert.equal(code, 0, stderr);
  assert.match(watchdogTexts(records).join("\n"), /no sub-agent package was found/i);
});

test("/watchdog status answers in print mode", async (t) => {
  const lab = await open(t);
  const { code, stdout, stderr } = await lab.run({ mode: "print", prompts: ["/watchdog status"] });
  assert.equal(code, 0, stderr);
  assert.match(stdout + stderr, /no sub-agent package was found/i);
});

test("/watchdog answers in the terminal, a loop is shown there, and /reload and /new work", {
  skip: tmuxMissing,
}, async (t) => {
  const lab = await open(t);
  const tui = await lab.tui({ width: 110, height: 50 });
  const say = async (text: string) => {
    await tui.type(text);
    await tui.press("Enter");
  };
  await tui.waitFor(/scripted-1/);
  await say("/watchdog status");
  await tui.waitFor(/no sub-agent package was found/i);
  await say("loop");
  await tui.waitFor(/I stop here\./);
  assert.match(await tui.screen(), /Watchdog rescue/);
  await say("/reload");
  await tui.waitFor(/[Rr]eloaded/);
  await say("/new");
  await tui.waitFor(/[Nn]ew session/);
  await say("loop");
  await tui.waitFor(/I stop here\./);
  assert.equal(rescues(lab.server.requests.at(-1)), 1);
  assert.equal(await tui.exitCode(), undefined);
});
