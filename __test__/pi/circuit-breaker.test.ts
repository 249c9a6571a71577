// With the circuit breaker a found loop is refused, and a message that goes round is cut, on real Pi.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Reply } from "../support/model-types.ts";
import { Lab, type Script } from "../support/pi.ts";
import { bash, call, RESCUE, steps } from "../support/scripts.ts";

const config = { rescueMessage: RESCUE, cooldownSec: 0 };
const files = { "list.txt": "one\ntwo\n" };

test("block: the next identical call is refused with a reason that names the loop, and another call is not", async (t) => {
  const script: Script = ({ turn }) =>
    turn < 4 ? bash("cat list.txt") : turn === 4 ? bash("wc -l list.txt") : { text: "done" };
  const lab = await Lab.open(t, { config: { ...config, circuitBreaker: "block" }, script, files });
  const pi = await lab.rpc();
  await pi.prompt("look");
  const results = lab.server.requests.flatMap(({ toolResults }) => toolResults);
  assert.equal(results.length, 5);
  assert.deepEqual(
    results.map(({ text }) => text.includes("Refused by the watchdog")),
    [false, false, false, true, false],
  );
  assert.match(results[3]!.text, /repeated 3 times/);
  assert.match(results[4]!.text, /2 list\.txt/);
});

test("block: a refusal is neither progress nor a loop of its own", async (t) => {
  const script: Script = ({ turn }) => (turn < 8 ? bash("cat list.txt") : { text: "done" });
  const lab = await Lab.open(t, { config: { ...config, circuitBreaker: "block" }, script, files });
  const pi = await lab.rpc();
  await pi.prompt("look");
  const results = lab.server.requests.flatMap(({ toolResults }) => toolResults);
  assert.deepEqual(
    results.map(({ text }) => text.includes("Refused by the watchdog")),
    [false, false, false, true, true, true, true, true],
  );
});

test("stop: a loop that goes on after a refusal ends the turn", async (t) => {
  const script: Script = ({ turn }) => (turn < 30 ? bash("cat list.txt") : { text: "never" });
  const lab = await Lab.open(t, { config: { ...config, circuitBreaker: "stop" }, script, files });
  const pi = await lab.rpc();
  await pi.prompt("look");
  assert.ok(lab.server.requests.length < 10, `${lab.server.requests.length} requests`);
});

/** What `cat up.txt` was answered, after it was refused once and `help` came. */
async function afterHelp(t: TestContext, help: Reply[]): Promise<string[]> {
  const look = bash("cat up.txt");
  const lab = await Lab.open(t, {
    config: { ...config, circuitBreaker: "block" },
    files: { "make.sh": "echo here > up.txt\n" },
    script: steps([look, look, look, look, ...help]),
  });
  const pi = await lab.rpc();
  await pi.prompt("go");
  const texts = lab.server.requests.flatMap(({ toolResults }) => toolResults).map(({ text }) => text);
  assert.match(texts[3] ?? "", /Refused by the watchdog.*same failing command repeated 3 times/);
  return texts.slice(4);
}

test("block: a call is let through after something that may have helped, and again when it did", async (t) => {
  const texts = await afterHelp(t, [bash("sh ./make.sh"), bash("cat up.txt"), bash("cat up.txt")]);
  assert.deepEqual(texts.slice(1), ["here\n", "here\n"]);
});

test("block: an edit and the test of it in one message are not torn apart", async (t) => {
  const editAndTest = [call("write", { path: "up.txt", content: "now" }), call("bash", { command: "cat up.txt" })];
  const texts = await afterHelp(t, [{ toolCalls: editAndTest }, bash("cat up.txt")]);
  assert.doesNotMatch(texts.join(), /Refused/);
});

test("block: nothing is refused while the watchdog is paused", async (t) => {
  const script: Script = ({ turn }) => (turn < 6 ? bash("cat list.txt") : { text: "done" });
  const lab = await Lab.open(t, { config: { ...config, circuitBreaker: "block" }, script, files });
  const pi = await lab.rpc();
  await pi.prompt("/watchdog pause");
  await pi.prompt("look");
  const results = lab.server.requests.flatMap(({ toolResults }) => toolResults);
  assert.equal(results.length, 6);
  assert.ok(results.every(({ text }) => text.includes("one")));
});

test("off: nothing is refused", async (t) => {
  const script: Script = ({ turn }) => (turn < 6 ? bash("cat list.txt") : { text: "done" });
  const lab = await Lab.open(t, { config, script, files });
  const pi = await lab.rpc();
  await pi.prompt("look");
  const results = lab.server.requests.flatMap(({ toolResults }) => toolResults);
  assert.ok(results.every(({ text }) => text.includes("one")));
});

const CHANT = "Let me check the configuration once more to be sure. ".repeat(40);

test("block: a message that goes round is cut while it is written, and the model is told why, once", async (t) => {
  const script: Script = ({ turn, newUserTexts }) =>
    newUserTexts.some((text) => text.includes("cut off the latest message"))
      ? { text: "I stop." }
      : turn === 0
        ? { text: CHANT, hang: true }
        : { text: "unexpected" };
  const lab = await Lab.open(t, { config: { ...config, circuitBreaker: "block" }, script });
  const pi = await lab.rpc();
  await pi.prompt("go");
  const told = await lab.server.request(
    ({ newUserTexts }) => newUserTexts.some((text) => text.includes("cut off the latest message")),
    "the account of the cut",
  );
  assert.ok(told.newUserTexts.some((text) => text.includes(RESCUE)));
  // Pi leaves aborted messages out of later requests, and keeps them in the session.
  assert.ok(
    pi.messages().some((message) => JSON.stringify(message).includes("Let me check")),
    "what was written is kept",
  );
});

test("block: a project's rescue message is quoted as the project's after a cut", async (t) => {
  const cut = (request: { newUserTexts: readonly string[] }) =>
    request.newUserTexts.some((text) => text.includes("cut off the latest message"));
  const script: Script = (request) => (cut(request) ? { text: "I stop." } : { text: CHANT, hang: true });
  const lab = await Lab.open(t, {
    config: { cooldownSec: 0, circuitBreaker: "block" },
    projectConfig: { rescueMessage: "PROJECT SPEAKS" },
    script,
  });
  const pi = await lab.rpc();
  await pi.prompt("go");
  const { newUserTexts } = await lab.server.request(cut, "the account of the cut");
  assert.match(newUserTexts.join("\n"), /of the project's configuration file:\n> PROJECT SPEAKS/);
});

test("off: a message that goes round is told of and not cut", async (t) => {
  const script: Script = ({ turn }) => ({ text: turn === 0 ? CHANT : "done" });
  const lab = await Lab.open(t, { config, script });
  const pi = await lab.rpc();
  await pi.prompt("go");
  assert.ok(pi.messages().some((message) => JSON.stringify(message).includes(CHANT.trim().slice(-200))));
});
