// The off switch on real Pi: by the environment, and by `enabled: false` of a main session, which reaches its children,
// in the process and out of it.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Family, Gates } from "../support/gotgenes/family.ts";
import { Lab, type LabOptions, piCli, tmuxMissing } from "../support/pi.ts";
import { bash, loop, rescued, steps, told, watchdogTexts } from "../support/scripts.ts";

const VARIABLE = "PI_WATCHDOG_DISABLED";
const FILES = { "list.txt": "one\ntwo\n" };
const SAYS = /The watchdog is off in this process: PI_WATCHDOG_DISABLED is set in the environment\./;

const open = (t: TestContext, options: Partial<LabOptions> = {}) =>
  Lab.open(t, { files: FILES, script: loop(bash("cat list.txt"), 8), ...options });

/** A Pi of its own, started as a shell tool would; its standard error is in the result. */
const CHILD = `${JSON.stringify(process.execPath)} ${JSON.stringify(piCli())} -p --no-session '/watchdog status' 2>&1 < /dev/null`;

for (const value of ["1", "true", "YES"]) {
  test(`${VARIABLE}=${value} leaves Pi as it is, but for a word in the footer and commands that say why`, async (t) => {
    const lab = await open(t, { env: { [VARIABLE]: value } });
    const pi = await lab.rpc();
    await pi.prompt("look");
    assert.equal(lab.server.requests.length, 9);
    assert.deepEqual(lab.server.requests.filter(rescued), []);
    assert.deepEqual(
      lab.server.requests[0]?.tools.filter((name) => JSON.stringify(name).includes("watchdog_")),
      [],
    );
    assert.deepEqual(
      pi.uiRequests("setStatus").map(({ statusText }) => statusText),
      ["watchdog: off"],
    );
    assert.deepEqual(pi.uiRequests("notify"), [], "nobody asked");
    await pi.send({ type: "prompt", message: "/watchdog status" });
    assert.match(told(pi), SAYS);
    assert.deepEqual(watchdogTexts(pi.records), []);
  });
}

for (const value of ["0", "false", ""]) {
  test(`${VARIABLE}=${JSON.stringify(value)} is not off`, async (t) => {
    const lab = await open(t, { env: { [VARIABLE]: value } });
    const pi = await lab.rpc();
    await pi.prompt("look");
    assert.ok(lab.server.requests.some(rescued));
  });
}

test("off by the environment, a command answers in json and print mode as well, and the model is not sent it", async (t) => {
  const lab = await open(t, { script: steps([]), env: { [VARIABLE]: "1" } });
  const json = await lab.run({ mode: "json", prompts: ["/watchdog inspect x", "hello"] });
  assert.match(watchdogTexts(json.records).join("\n"), SAYS);
  assert.deepEqual(
    lab.server.requests[0]?.messages.filter(({ role }) => role === "user").map(({ text }) => text),
    ["hello"],
  );
  const print = await lab.run({ mode: "print", prompts: ["/watchdog:settings"] });
  assert.match(print.stderr, SAYS);
  assert.equal(print.stdout, "");
});

test("off by the environment, a command answers in the terminal", { skip: tmuxMissing }, async (t) => {
  const lab = await open(t, { env: { [VARIABLE]: "1" } });
  const tui = await lab.tui({ width: 120, height: 30 });
  await tui.waitFor(/scripted-1[\s\S]*watchdog: off|watchdog: off[\s\S]*scripted-1/);
  await tui.type("/watchdog ");
  await tui.press("Enter");
  await tui.waitFor(/watchdog is off in this process: PI_WATCHDOG_DISABLED is set/);
});

test("the environment's off reaches a process that the session starts", async (t) => {
  const lab = await open(t, { script: steps([bash(CHILD)]), env: { [VARIABLE]: "1" } });
  const pi = await lab.rpc();
  await pi.prompt("start a child");
  assert.match(lab.server.requests[1]?.toolResults[0]?.text ?? "", SAYS);
});

test("enabled: false reaches processes, and set true again it no longer does", async (t) => {
  const show = bash(`echo "[$${VARIABLE}]"; ${CHILD}`);
  const lab = await open(t, {
    config: { enabled: false },
    // What the child would read by itself must not be what makes it quiet.
    script: steps([
      bash('printf "%s" \'{"enabled":true}\' > "$PI_CODING_AGENT_DIR/watchdog-supervisor/config.json"'),
      show,
    ]),
  });
  const pi = await lab.rpc();
  await pi.prompt("start a child");
  const off = lab.server.requests[2]?.toolResults[0]?.text ?? "";
  assert.match(off, /^\[1\]\n/);
  assert.match(off, SAYS);

  await pi.send({ type: "prompt", message: "/watchdog set enabled true" });
  await pi.send({ type: "new_session" });
  await pi.prompt("start another child");
  const on = lab.server.requests.at(-1)?.toolResults[0]?.text ?? "";
  assert.match(on, /^\[\]\n/);
  assert.match(on, /Native core/);
});

test("a variable that was there before is put back as it was", async (t) => {
  const lab = await open(t, { script: steps([bash(`echo "[$${VARIABLE}]"`)]), env: { [VARIABLE]: "no" } });
  const pi = await lab.rpc();
  const shown = async (prompt: string) => {
    await pi.send({ type: "new_session" });
    await pi.prompt(prompt);
    return lab.server.requests.at(-1)?.toolResults[0]?.text.trim();
  };
  assert.equal(await shown("one"), "[no]");
  await pi.send({ type: "prompt", message: "/watchdog set enabled false" });
  assert.equal(await shown("two"), "[1]");
  await pi.send({ type: "prompt", message: "/watchdog set enabled true" });
  assert.equal(await shown("three"), "[no]");
});

test("enabled: false of the main session's project reaches a child of its process whose own files say otherwise", async (t) => {
  const gates = new Gates();
  const family = await Family.open(t, {
    files: FILES,
    config: { enabled: true },
    projectConfig: { enabled: false },
    children: {
      a: async ({ turn }) => {
        if (turn === 0) await gates.pass("a");
        return turn < 6 ? bash("cat list.txt") : { text: "done" };
      },
    },
  });
  assert.match(await family.command("/watchdog status"), /enabled is false/);
  family.lab.home.writeProjectConfig({ enabled: true });
  const a = await family.spawn("a");
  gates.open("a");
  await family.ended(a);
  assert.deepEqual(family.alerts(), []);
  assert.equal(family.requestsOf("a").length, 7);
  assert.deepEqual(family.requestsOf("a").filter(rescued), []);
  const status = await family.command("/watchdog status");
  assert.match(status, /enabled is false/);
  assert.doesNotMatch(status, /[1-9]\d* repeat/);
});
