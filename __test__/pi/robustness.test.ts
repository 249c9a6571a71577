// What a session may throw at the watchdog without losing anything: sizes, broken text, unknown ids, a panic, no addon.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Lab, REPOSITORY, type Script } from "../support/pi.ts";
import {
  bash,
  call,
  loop,
  phase,
  quietThenLoop,
  RESCUE,
  rescued,
  rescues,
  told,
  watchdogTexts,
} from "../support/scripts.ts";

const support = (name: string) => fileURLToPath(new URL(`../support/${name}`, import.meta.url));
const ODD_TOOLS = support("odd-tools.ts");
const config = { rescueMessage: RESCUE };
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069\ufeff]/;

test("a 50 MB tool output, again and again, is a loop like any other", async (t) => {
  const lab = await Lab.open(t, {
    config,
    extensions: [ODD_TOOLS],
    settings: { compaction: { enabled: false } },
    script: loop({ toolCalls: [call("big_text", { times: 50 })] }, 6),
  });
  // Print mode: Pi's own records of such outputs would be most of the work.
  const { code, stderr } = await lab.run({ mode: "print", prompts: ["go"], args: ["--no-session"] });
  assert.equal(code, 0, stderr);
  const found = lab.server.requests.findIndex(rescued);
  assert.ok(found >= 3 && found <= 5, `came in request ${found}`);
  assert.match(lab.server.requests[1]?.toolResults[0]?.text ?? "", /^\(5\d{7} characters\)$/);
});

test("broken UTF-16, NULs and escape soup: a loop is found, and none of it reaches the alert", async (t) => {
  const lab = await Lab.open(t, {
    config,
    extensions: [ODD_TOOLS],
    script: loop({ toolCalls: [call("soup", {})] }, 6),
  });
  const pi = await lab.rpc();
  await pi.prompt("go");
  assert.ok(lab.server.requests.some(rescued));
  const texts = watchdogTexts(pi.records);
  assert.ok(texts.length > 0);
  for (const text of texts) {
    assert.doesNotMatch(text, CONTROL);
    assert.ok(text.isWellFormed());
  }
  assert.deepEqual(await pi.close(), { code: 0, signal: null });
});

test("soup in arguments, paths and tool names costs nothing", async (t) => {
  const odd = "\ud800\u0000\u001b]0;x\u0007\u202e";
  const turns = [
    bash(`printf '%s' 'a${odd}' | head -c 3`),
    { toolCalls: [call("read", { path: `no${odd}file` })] },
    { toolCalls: [call(`tool${odd}`, { [`key${odd}`]: odd })] },
    { toolCalls: [call("read", { path: 7 as unknown as string })] },
    { toolCalls: [call("different_soup", {})] },
    { text: `said ${odd}`, ...bash("pwd") },
  ];
  const lab = await Lab.open(t, { config, extensions: [ODD_TOOLS], script: quietThenLoop(turns) });
  const pi = await lab.rpc();
  await pi.prompt("begin");
  assert.deepEqual(lab.server.requests.map(rescues), Array(turns.length + 1).fill(0));
  await pi.prompt("go on");
  assert.ok(lab.server.requests.some(rescued), "still awake");
  assert.deepEqual(await pi.close(), { code: 0, signal: null });
});

test("results without text (images) can repeat too", async (t) => {
  const lab = await Lab.open(t, {
    config,
    extensions: [ODD_TOOLS],
    script: loop({ toolCalls: [call("picture", {})] }, 6),
  });
  const pi = await lab.rpc();
  await pi.prompt("go");
  assert.ok(lab.server.requests.some(rescued));
});

for (const [name, request] of [
  ["a tool that does not exist", call("nope", { deep: { down: [1] } })],
  ["arguments that never validate", call("read", { path: { not: "a string" } })],
] as const) {
  test(`a loop over ${name} is found`, async (t) => {
    const lab = await Lab.open(t, { config, script: loop({ toolCalls: [request] }, 6) });
    const pi = await lab.rpc();
    await pi.prompt("go");
    assert.ok(lab.server.requests.some(rescued));
  });
}

test("compactions between the rounds do not hide a loop", async (t) => {
  const round = loop(bash("echo same"), 8);
  const lab = await Lab.open(t, {
    config,
    settings: { compaction: { keepRecentTokens: 1 } },
    // Pi compacts because of the tokens that the model says it was sent; the summary is asked of the model too.
    script: async (request, conversation) =>
      /^(# Conversation|<conversation>)/.test(request.prompt)
        ? { text: "Summary: it went on." }
        : { ...(await round(request, conversation)), usage: { input: 199_000, output: 10 } },
  });
  const pi = await lab.rpc();
  await pi.prompt("go");
  assert.ok(pi.records.filter(({ type }) => type === "compaction_end").length >= 3);
  assert.ok(lab.server.requests.some(rescued));
});

test("a provider that fails for a while is an outage, not a loop", async (t) => {
  const script: Script = (request, conversation) => {
    if (phase(request).prompt !== "begin") return loop(bash("echo same"), 8)(request, conversation);
    return conversation.calls < 3 ? { error: { status: 529, message: "overloaded" } } : { text: "back again" };
  };
  const lab = await Lab.open(t, { config, script });
  const pi = await lab.rpc();
  await pi.prompt("begin");
  assert.equal(lab.server.requests.length, 4);
  assert.deepEqual(watchdogTexts(pi.records), []);
  await pi.prompt("and now");
  assert.ok(lab.server.requests.some(rescued), "still awake");
});

for (const tool of [
  "watchdog_read_events",
  "watchdog_detect_stuck",
  "watchdog_alert_main",
  "watchdog_steer_subagent",
]) {
  test(`${tool} with an id that does not exist says so`, async (t) => {
    const args = { targetId: "no-such-target", ...(tool === "watchdog_alert_main" ? { message: "look" } : {}) };
    const script: Script = ({ turn }) => (turn === 0 ? { toolCalls: [call(tool, args)] } : { text: "done" });
    const lab = await Lab.open(t, { config, script });
    const pi = await lab.rpc();
    await pi.prompt("go");
    const end = pi.records.find(({ type }) => type === "tool_execution_end");
    assert.equal(end?.isError, true);
    assert.match(lab.server.requests[1]?.toolResults[0]?.text ?? "", /no-such-target/);
  });
}

test("/watchdog inspect with an id that does not exist says so", async (t) => {
  const lab = await Lab.open(t, { config, script: () => ({ text: "hello" }) });
  const pi = await lab.rpc();
  await pi.prompt("/watchdog inspect no-such-target");
  assert.match(told(pi), /no-such-target/);
});

test("a panic in the addon is an exception, and Pi and the watchdog go on", async (t) => {
  const lab = await Lab.open(t, {
    config,
    extensions: [support("panic.ts")],
    env: { PI_WATCHDOG_TEST_PANIC: "1" },
    script: loop(bash("echo same"), 8),
  });
  const pi = await lab.rpc();
  await pi.prompt("/watchdog status"); // loads the addon
  await pi.prompt("/panic");
  assert.match(told(pi), /caught: .*panic/i);
  await pi.prompt("go");
  assert.ok(lab.server.requests.some(rescued));
  assert.deepEqual(await pi.close(), { code: 0, signal: null });
});

test("without the addon Pi starts, works, and says what to do", async (t) => {
  const lab = await Lab.open(t, {
    watchdog: "none",
    script: ({ turn }) => (turn === 0 ? bash("pwd") : { text: "done" }),
  });
  const copy = copyPackage(join(lab.home.root, "bare"));
  rmSync(join(copy, "native"), { recursive: true, force: true });
  lab.home.writeAgentFile("settings.json", { packages: [copy] });
  const pi = await lab.rpc();
  await pi.prompt("go");
  assert.equal(lab.server.requests.length, 2);
  assert.match(told(pi), /watchdog[^\n]*(npm run setup|npm run build|not built|could not be loaded)/i);
  assert.deepEqual(await pi.close(), { code: 0, signal: null });
});

test("two installed copies of the package are one watchdog", async (t) => {
  const lab = await Lab.open(t, {
    watchdog: "none",
    config,
    script: quietThenLoop([bash("cat list.txt"), bash("cat list.txt")]),
  });
  lab.home.writeFile("list.txt", "one\n");
  const copies = ["first", "second"].map((name) => copyPackage(join(lab.home.root, name)));
  lab.home.writeAgentFile("settings.json", { packages: copies });
  const pi = await lab.rpc();
  await pi.prompt("begin");
  assert.deepEqual(lab.server.requests.map(rescues), [0, 0, 0], "two equal calls are not counted twice");
  await pi.prompt("/watchdog status");
  assert.match(told(pi), /main \[[^\n]* · 2 calls · /, "the command is there, and each call was counted once");
  for (let n = 0; n < 2; n++) {
    await pi.send({ type: "new_session" });
    await pi.prompt("and now");
    assert.equal(rescues(lab.server.requests.at(-1)), 1, "and the loop is told once");
  }
});

/** The files that an installed package has. */
function copyPackage(target: string): string {
  const { files } = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")) as { files: string[] };
  mkdirSync(target, { recursive: true });
  for (const name of [
    "package.json",
    "native",
    ...files.filter((file) => !/^(src|docs|Cargo|build\.rs|scripts)/.test(file)),
  ]) {
    cpSync(join(REPOSITORY, name), join(target, name), { recursive: true });
  }
  return target;
}
