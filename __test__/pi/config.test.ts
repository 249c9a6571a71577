// Configuration files on real Pi: every mistake gives a clear message and costs nothing else; a project gives no powers.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Lab, type LabOptions, type Script } from "../support/pi.ts";
import { bash, loop, RESCUE, rescued, rescues, told } from "../support/scripts.ts";

const FILES = { "list.txt": "one\n" };
const LOOP = loop(bash("cat list.txt"), 8);

/** Names of what a warning must name, and the loop must still be found with the values that stand. */
function mistake(name: string, options: Partial<LabOptions>, says: readonly RegExp[]): void {
  test(`${name}: said once, and the watchdog works`, async (t) => {
    const lab = await Lab.open(t, { files: FILES, script: LOOP, config: { rescueMessage: RESCUE }, ...options });
    const pi = await lab.rpc();
    await pi.prompt("look");
    const text = told(pi);
    for (const pattern of says) assert.match(text, pattern);
    assert.equal(text.split(says[0] as RegExp).length - 1, 1, `once, not more: ${text}`);
    assert.ok(lab.server.requests.some(rescued), "the loop is found");
    assert.deepEqual(await pi.close(), { code: 0, signal: null });
  });
}

mistake("broken JSON", { config: '{ "repeatThreshold": 3,, }' }, [/config\.json/]);
mistake("not an object", { config: "[1, 2]" }, [/config\.json/]);
mistake("an empty file", { config: "" }, [/config\.json/]);
mistake("a wrong type", { config: { rescueMessage: RESCUE, repeatThreshold: "three" } }, [
  /repeatThreshold/,
  /config\.json/,
  /three/,
]);
mistake("a value out of range", { config: { rescueMessage: RESCUE, repeatThreshold: -5 } }, [/repeatThreshold/, /-5/]);
mistake("an unknown key", { config: { rescueMessage: RESCUE, repeatTreshold: 4 } }, [/repeatTreshold/, /config\.json/]);
mistake("broken JSON in the project", { projectConfig: "{" }, [/watchdog-supervisor\.json/]);
mistake("control characters in a value", { config: { rescueMessage: RESCUE, alertMode: "\u001b[31mboth\u0007" } }, [
  /alertMode/,
]);

test("a file that cannot be read: said, and the watchdog works", async (t) => {
  const lab = await Lab.open(t, { files: FILES, script: LOOP });
  // A directory cannot be read as a file by anyone, root included.
  mkdirSync(join(lab.home.agentDir, "watchdog-supervisor", "config.json"), { recursive: true });
  const pi = await lab.rpc();
  await pi.prompt("look");
  assert.match(told(pi), /config\.json/);
  assert.ok(lab.server.requests.some(rescued), "the loop is found");
});

test("warnings hold no control characters of the file", async (t) => {
  const lab = await Lab.open(t, {
    files: FILES,
    script: LOOP,
    config: { "k\u001b]0;title\u0007ey": 1, alertMode: "\u001b[2Jboth" },
  });
  const pi = await lab.rpc();
  await pi.prompt("look");
  const text = told(pi);
  assert.match(text, /alertMode/);
  assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
});

test("json mode says a mistake and goes on", async (t) => {
  const lab = await Lab.open(t, { files: FILES, script: LOOP, config: "{" });
  const { code, stdout, stderr } = await lab.run({ mode: "json", prompts: ["look"] });
  assert.equal(code, 0);
  assert.match(stdout + stderr, /config\.json/);
});

/** Goes on whatever comes, so that a breaker has something to refuse. */
const STUBBORN: Script = ({ turn }) => (turn < 8 ? bash("cat list.txt") : { text: "done" });
const POWERS = { alertMode: "both", steerDryRunDefault: false, circuitBreaker: "block" };
const refusals = (lab: Lab) =>
  lab.server.requests.flatMap((request) => request.toolResults).filter((result) => result.text.trim() !== "one");

test("a project file cannot arm the watchdog", async (t) => {
  const lab = await Lab.open(t, {
    files: FILES,
    script: STUBBORN,
    projectConfig: { ...POWERS, rescueMessage: RESCUE },
  });
  const pi = await lab.rpc();
  await pi.prompt("look");
  assert.deepEqual(refusals(lab), [], "no call is refused");
  assert.ok(lab.server.requests.some(rescued), "the harmless key of the same file counts");
  const text = told(pi);
  for (const key of Object.keys(POWERS)) assert.match(text, new RegExp(key));
});

test("a project file that grants itself powers has none either", async (t) => {
  const projectConfig = { ...POWERS, allowProjectPowers: true };
  const lab = await Lab.open(t, { files: FILES, script: STUBBORN, projectConfig });
  const pi = await lab.rpc();
  await pi.prompt("look");
  assert.deepEqual(refusals(lab), []);
  assert.match(told(pi), /allowProjectPowers/);
});

test("a project file has the powers that the global file allows projects", async (t) => {
  const lab = await Lab.open(t, {
    files: FILES,
    script: STUBBORN,
    config: { allowProjectPowers: true },
    projectConfig: POWERS,
  });
  const pi = await lab.rpc();
  await pi.prompt("look");
  assert.ok(refusals(lab).length > 0, "the loop is refused");
});

test("the global file arms the circuit breaker: the call is refused with what repeats and what to do", async (t) => {
  const lab = await Lab.open(t, { files: FILES, script: STUBBORN, config: { circuitBreaker: "block" } });
  const pi = await lab.rpc();
  await pi.prompt("look");
  const [refusal] = refusals(lab);
  assert.match(refusal?.text ?? "", /watchdog.*repeat.*3 times.*different/is);
  assert.deepEqual(await pi.close(), { code: 0, signal: null });
});

test("an untrusted project's file is not read", async (t) => {
  const lab = await Lab.open(t, { files: FILES, script: LOOP, projectConfig: { enabled: false, repeatTreshold: 1 } });
  const pi = await lab.rpc({ args: ["--no-approve"] });
  await pi.prompt("look");
  assert.ok(lab.server.requests.some(rescued), "the loop is found");
  assert.doesNotMatch(told(pi), /repeatTreshold/);
});

test("enabled: false watches nothing", async (t) => {
  const lab = await Lab.open(t, { files: FILES, script: LOOP, config: { enabled: false } });
  const pi = await lab.rpc();
  await pi.prompt("look");
  assert.equal(lab.server.requests.length, 9);
  await pi.prompt("/watchdog status");
  assert.match(told(pi), /enabled is false/);
});

test("a project file that switches the watchdog off is named, and the user's command wins", async (t) => {
  const lab = await Lab.open(t, { files: FILES, script: LOOP, projectConfig: { enabled: false } });
  const pi = await lab.rpc();
  await pi.prompt("/watchdog status");
  assert.equal(told(pi).split("enabled = false switches the watchdog off in this project").length - 1, 2);
  await pi.prompt("/watchdog set enabled true");
  const from = pi.records.length;
  await pi.prompt("/watchdog status");
  assert.doesNotMatch(JSON.stringify(pi.records.slice(from)), /switches the watchdog off/);
});

test("a project file has no say about history, outputs and files of the user, nor makes an armed power act sooner", async (t) => {
  const lab = await Lab.open(t, {
    files: FILES,
    script: LOOP,
    config: { autoKill: true },
    projectConfig: {
      history: false,
      historyPreviews: false,
      historyMaxDays: 1,
      historyMaxMb: 1,
      maxPreviewLines: 200,
      maxEventsPerAgent: 10,
      findingsLog: "/tmp/elsewhere",
      notifyCommand: ["touch", "/tmp/elsewhere"],
      autoKillAfterSec: 1,
      repeatThreshold: 1,
      idleTimeoutSec: 1,
    },
  });
  const pi = await lab.rpc();
  await pi.prompt("/watchdog config");
  const text = told(pi);
  for (const line of [
    / {2}history +true/,
    /historyPreviews +true/,
    /historyMaxDays +90/,
    /historyMaxMb +64/,
    /maxPreviewLines +20/,
    /maxEventsPerAgent +200/,
    /notifyCommand +\[\]/,
    /autoKillAfterSec +600/,
    /repeatThreshold +3/,
    /idleTimeoutSec +180/,
    /11 warnings/,
  ]) {
    assert.match(text, line);
  }
});

test("/watchdog set holds for the run and wins over the files", async (t) => {
  const lab = await Lab.open(t, { files: FILES, script: LOOP, config: { rescueMessage: "from the file" } });
  const pi = await lab.rpc();
  await pi.prompt(`/watchdog set rescueMessage ${RESCUE}`);
  await pi.prompt("look");
  assert.equal(lab.server.requests[0]?.prompt, "look");
  assert.ok(lab.server.requests.some((request) => rescues(request) === 1));
});
