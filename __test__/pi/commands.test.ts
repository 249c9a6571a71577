// The commands on real Pi: that each answers in each mode, that what is typed wrong is told, and that what they set
// takes effect. Answers are for people; where Pi can keep them from the model, they are kept.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { subcommands } from "../../extension/commands/watchdog.ts";
import { Lab, type LabOptions, type PiRpc, tmuxMissing } from "../support/pi.ts";
import { bash, loop, RESCUE, rescued, rescues, textOf, watchdogTexts } from "../support/scripts.ts";

const files = { "list.txt": "one\ntwo\n" };
const LOOP = loop(bash("cat list.txt"), 6);

const open = (t: TestContext, options: Partial<LabOptions> = {}) =>
  Lab.open(t, { files, script: LOOP, config: { rescueMessage: RESCUE }, ...options });

/** What the command answered in the session. */
async function answer(pi: PiRpc, command: string): Promise<string> {
  const from = pi.records.length;
  await pi.send({ type: "prompt", message: command });
  return pi.customMessages("watchdog-answer", from).map(textOf).join("\n");
}

/** What the footer chip said, one after the other; undefined: cleared. */
const chips = (pi: PiRpc): (string | undefined)[] =>
  pi
    .uiRequests("setStatus")
    .filter(({ statusKey }) => statusKey === "watchdog")
    .map(({ statusText }) => statusText);

/** Every command, with what its answer must say. */
const COMMANDS: readonly [command: string, says: RegExp][] = [
  ["/watchdog", /Native core \d+\.\d+\.\d+[\s\S]*no sub-agent package was found[\s\S]*Targets: 1 live\n {2}main \[/],
  ["/watchdog status", /Alerts on \(alertMode main_only, circuitBreaker off\)/],
  ["/watchdog config", /\* rescueMessage +Rescue 4711[\s\S]*cooldownSec +60/],
  ["/watchdog set cooldownSec 5", /For this run: cooldownSec = 5/],
  ["/watchdog set", /Usage: \/watchdog set <key> <value>\. Keys: enabled, rescueMessage/],
  ["/watchdog pause", /Alerts are paused\./],
  ["/watchdog resume", /Alerts are on/],
  ["/watchdog inspect", /Usage: \/watchdog inspect <target>\. Known: .* \(main\)/],
  ["/watchdog inspect nobody", /No target "nobody"\. Known: .* \(main\)/],
  [
    "/watchdog dance",
    /Unknown subcommand "dance"\. Use \/watchdog status \| config \| set <key> <value> \| pause [\s\S]* \| stop <target>/,
  ],
  ["/watchdog statsu", /Unknown subcommand "statsu"\. Did you mean \/watchdog status\?/],
  ["/watchdog help", new RegExp(subcommands.map(({ name }) => `/watchdog ${name} `).join("[\\s\\S]*?"))],
];

test("every command answers in rpc mode, and asks no model", async (t) => {
  const lab = await open(t);
  const pi = await lab.rpc();
  for (const [command, says] of COMMANDS) assert.match(await answer(pi, command), says, command);
  assert.equal(lab.server.requests.length, 0);
  await pi.prompt("look");
  assert.deepEqual(lab.server.requests[0]?.newUserTexts, ["look"], "the model is not sent the answers");
});

test("the description of the command in Pi's menu names every subcommand", async (t) => {
  const pi = await (await open(t)).rpc();
  const { commands } = await pi.send({ type: "get_commands" });
  const found = commands.find(({ name }: { name: string }) => name === "watchdog");
  assert.equal(found.description, `Show the watchdog: ${subcommands.map(({ name }) => name).join(", ")}`);
});

test("every command answers in json mode", async (t) => {
  const lab = await open(t);
  const { code, records, stderr } = await lab.run({ mode: "json", prompts: COMMANDS.map(([command]) => command) });
  assert.equal(code, 0, stderr);
  const answers = watchdogTexts(records);
  assert.equal(answers.length, COMMANDS.length);
  for (const [i, [command, says]] of COMMANDS.entries()) assert.match(answers[i] ?? "", says, command);
});

test("every command answers in print mode, on stderr: stdout is the model's", async (t) => {
  const lab = await open(t);
  const { code, stdout, stderr } = await lab.run({ mode: "print", prompts: COMMANDS.map(([command]) => command) });
  assert.equal(code, 0, stderr);
  assert.equal(stdout, "");
  for (const [command, says] of COMMANDS) assert.match(stderr, says, command);
});

test("settings have nobody to ask in json and print mode, and show the configuration", async (t) => {
  const lab = await open(t);
  const json = await lab.run({ mode: "json", prompts: ["/watchdog:settings"] });
  assert.match(watchdogTexts(json.records).join("\n"), /cooldownSec +60/);
  const print = await lab.run({ mode: "print", prompts: ["/watchdog:settings"] });
  assert.match(print.stderr, /cooldownSec +60/);
});

test("every command answers in the terminal, and the model never sees an answer", { skip: tmuxMissing }, async (t) => {
  const lab = await open(t, { script: () => ({ text: "nothing to do" }) });
  const tui = await lab.tui({ width: 140, height: 120 });
  await tui.waitFor(/scripted-1/);
  // Not the dashboard, and not where Enter takes the first of the arguments that are offered.
  const others = COMMANDS.filter(([command]) => !/ set$| inspect$|\/watchdog$/.test(command));
  for (const [command, says] of others) {
    await tui.type(command);
    await tui.press("Enter");
    // The screen pads and wraps: white space in it is any white space.
    await tui.waitFor(new RegExp(says.source.replaceAll(/\\n(?: \{2\})?| \+?/g, "\\s+")));
  }
  await tui.type("hello");
  await tui.press("Enter");
  await tui.waitFor(/nothing to do/);
  const { messages } = lab.server.requests[0]!;
  assert.deepEqual(
    messages.filter(({ role }) => role === "user").map(({ text }) => text),
    ["hello"],
  );
});

test("while a turn runs in rpc mode the answer does not wait for its end", async (t) => {
  const gate = Promise.withResolvers<void>();
  const script: LabOptions["script"] = async () => {
    await gate.promise;
    return { text: "done" };
  };
  const lab = await open(t, { script });
  const pi = await lab.rpc();
  const run = pi.prompt("go");
  await lab.server.request(() => true, "the model call");
  await pi.send({ type: "prompt", message: "/watchdog status" });
  const [notice] = pi.uiRequests("notify").slice(-1);
  assert.match(notice?.message, /Targets: 1 live/);
  assert.match(notice?.message, /main \[\w+\] · running/);
  gate.resolve();
  await run;
});

test("what is typed wrong after set is told, and changes nothing", async (t) => {
  const pi = await (await open(t)).rpc();
  const before = await answer(pi, "/watchdog config");
  for (const [typed, says] of [
    ["colour red", /Unknown key "colour"\. Keys: enabled, /],
    ["repeatTreshold 4", /Unknown key "repeatTreshold"\. Did you mean repeatThreshold\? Keys: enabled, /],
    [
      "allowProjectPowers true",
      /it counts in the global file only; false stays\nNothing was changed: allowProjectPowers = false$/,
    ],
    ["cooldownSec soon", /cooldownSec takes a number, not "soon"\./],
    ["debug maybe", /debug takes true or false, not "maybe"\./],
    ["alertMode all", /alertMode takes main_only, direct_subagent or both, not "all"\./],
    ["steerDryRunDefault off", /steerDryRunDefault takes true, false or null, not "off"\./],
    ["repeatThreshold", /repeatThreshold = 3\n.*<a number>/],
  ] as const) {
    assert.match(await answer(pi, `/watchdog set ${typed}`), says, typed);
  }
  assert.equal(await answer(pi, "/watchdog config"), before);
  // Out of range is not wrong: the nearest value counts, and that is told.
  assert.match(
    await answer(pi, "/watchdog set repeatThreshold -5"),
    /repeatThreshold = -5 is not between[\s\S]*repeatThreshold = 0$/,
  );
});

test("the user's hand may raise powers, and every kind of value is understood", async (t) => {
  const pi = await (await open(t)).rpc();
  for (const [typed, shown] of [
    ["alertMode both", "alertMode = both"],
    ["CIRCUITBREAKER block", "circuitBreaker = block"],
    ["steerDryRunDefault false", "steerDryRunDefault = false"],
    ["steerDryRunDefault null", "steerDryRunDefault = null"],
    ["cooldownSec -1", "cooldownSec = -1"],
    ["debug true", "debug = true"],
  ] as const) {
    assert.equal(await answer(pi, `/watchdog set ${typed}`), `For this run: ${shown}`);
  }
});

test("the rescue message is the rest of the line, in any language, and is what the model gets", async (t) => {
  const MESSAGE = `Halt!  Fass "alles" zusammen — и подумай заново. ${RESCUE}`;
  const lab = await open(t, { config: {} });
  const pi = await lab.rpc();
  await answer(pi, `/watchdog set rescueMessage ${MESSAGE}`);
  await pi.prompt("look");
  const told = lab.server.requests.find(rescued);
  assert.deepEqual(told?.newUserTexts.length, 1);
  assert.ok(told?.newUserTexts[0]?.endsWith(`\n\n${MESSAGE}`), told?.newUserTexts[0]);
});

test("pause: no rescue and no alert, but the watching goes on; resume: they are back", async (t) => {
  const lab = await open(t);
  const pi = await lab.rpc();
  await answer(pi, "/watchdog pause");
  assert.deepEqual(chips(pi), ["watchdog: paused"]);
  await pi.prompt("look");
  assert.equal(rescues(lab.server.requests.at(-1)), 0);
  assert.ok(chips(pi).includes("watchdog: 1 stuck, paused"), "it is seen all the same");
  assert.match(await answer(pi, "/watchdog status"), /Alerts paused/);
  assert.match(await answer(pi, "/watchdog pause"), /paused already/);
  await answer(pi, "/watchdog resume");
  await pi.prompt("look");
  assert.ok(lab.server.requests.some(rescued));
});

test("the chip says how many are stuck, and is cleared when nobody is", async (t) => {
  const script: LabOptions["script"] = ({ turn }) =>
    turn < 3 ? bash("cat list.txt") : turn === 3 ? bash("date > other.txt; wc -c list.txt") : { text: "done" };
  const lab = await open(t, { script });
  const pi = await lab.rpc();
  await pi.prompt("look");
  await pi.waitFor(
    (record) => record.method === "setStatus" && record.statusKey === "watchdog" && record.statusText === undefined,
    "the chip's end",
  );
  assert.equal(chips(pi)[0], "watchdog: 1 stuck");
});

test("inspect shows the verdict and the recent events, one a line with the output's hash", async (t) => {
  const lab = await open(t);
  const pi = await lab.rpc();
  await pi.prompt("look");
  const [, id = ""] = /main \[([^\]]+)\]/.exec(await answer(pi, "/watchdog status")) ?? [];
  const text = await answer(pi, `/watchdog inspect ${id}`);
  assert.match(text, /^main\n/);
  assert.match(text, /\n {2}\d\d:\d\d:\d\d tool_call bash: cat list\.txt\n/);
  const hashes = [...text.matchAll(/\n {2}\d\d:\d\d:\d\d tool_result [^\n]* \[([0-9a-f]{8})\]/g)].map(
    ([, hash]) => hash,
  );
  assert.equal(hashes.length, 3);
  assert.equal(new Set(hashes).size, 1, "equal outputs have equal hashes");
  assert.match(text, /alert|Likely stuck|Not stuck by the rules/);
});

test("completion offers subcommands, keys, values and targets", { skip: tmuxMissing }, async (t) => {
  const lab = await open(t);
  const tui = await lab.tui({ width: 120, height: 40 });
  await tui.waitFor(/scripted-1/);
  const offers = async (typed: string, says: RegExp) => {
    await tui.type(typed);
    await tui.waitFor(says);
    await tui.press(...Array.from(typed, () => "BSpace"));
  };
  await offers("/watchdog ", /status +Versions[\s\S]*set <key> <value> +Change a configuration key/);
  await offers("/watchdog st", /steer <target> \[message\] +Send a message[\s\S]*stop <target> +End a sub-agent/);
  await offers("/watchdog in", /inspect <target> +Recent events[\s\S]*install-agent .*Write the agent file/);
  await offers("/watchdog install-agent gl", /global/);
  await offers("/watchdog install-agent project t", /tintinweb/);
  await offers("/watchdog set c", /cooldownSec[\s\S]*changingOutputThreshold/);
  await offers("/watchdog set alertMode ", /main_only[\s\S]*direct_subagent[\s\S]*both/);
  await offers("/watchdog inspect ", /main, (idle|running)/);
});

test("the dashboard opens, shows details, pauses, and gives the editor back", { skip: tmuxMissing }, async (t) => {
  const lab = await open(t);
  const tui = await lab.tui({ width: 100, height: 40 });
  await tui.waitFor(/scripted-1/);
  await tui.type("look");
  await tui.press("Enter");
  await tui.waitFor(/I stop here\./);
  await tui.type("/watchdog ");
  await tui.press("Escape", "Enter");
  await tui.waitFor(/> main +(stuck|idle) +3 calls/);
  for (const width of [60, 200, 30]) {
    await tui.resize(width, 40);
    await tui.waitFor(/Watchdog · 1 live/);
    assert.equal(await tui.exitCode(), undefined, `Pi draws it at width ${width}`);
  }
  await tui.resize(100, 40);
  await tui.type("p");
  await tui.waitFor(/alerts paused[\s\S]*watchdog: (1 stuck, )?paused/);
  await tui.press("Enter");
  await tui.waitFor(/tool_result bash: cat list\.txt.*\[[0-9a-f]{8}\]/);
  await tui.press("Escape");
  await tui.waitFor(/escape close/);
  await tui.press("Escape");
  await tui.waitFor(/^(?![\s\S]*escape close)/);
  await tui.type("still here");
  const screen = await tui.waitFor(/still here/);
  assert.doesNotMatch(screen, /escape close/);
});

test("settings in the terminal: a choice, a number, and a wrong number", { skip: tmuxMissing }, async (t) => {
  const lab = await open(t);
  const tui = await lab.tui({ width: 100, height: 40 });
  await tui.waitFor(/scripted-1/);
  await tui.type("/watchdog:settings ");
  await tui.press("Enter");
  await tui.waitFor(/Watchdog settings for this run[\s\S]*→ enabled +true/);
  await tui.press("Down", "Down", "Down", "Down");
  await tui.waitFor(/→ cooldownSec +60/);
  await tui.press("Enter");
  await tui.waitFor(/a number; enter saves/);
  await tui.type("x");
  await tui.press("Enter");
  await tui.waitFor(/cooldownSec takes a number, not "60x"/);
  await tui.press("BSpace", "BSpace", "BSpace");
  await tui.type("7");
  await tui.press("Enter");
  await tui.waitFor(/cooldownSec +7[\s\S]*For this run: cooldownSec = 7/);
  await tui.press(...Array.from({ length: 12 }, () => "Down"));
  await tui.waitFor(/→ debug +false/);
  await tui.press("Enter");
  await tui.waitFor(/→ debug +true/);
  await tui.press("Escape");
  await tui.waitFor(/watchdog debug: nothing sent or received yet/);
});

test("settings in rpc mode: two questions and an answer, or none when cancelled", async (t) => {
  const lab = await open(t);
  const pi = await lab.rpc();
  const ask = async (method: string, from: number) =>
    pi.waitFor((record) => record.type === "extension_ui_request" && record.method === method, method, { from });

  const from = pi.records.length;
  const done = pi.send({ type: "prompt", message: "/watchdog:settings" });
  const which = await ask("select", from);
  const row = which.options.find((option: string) => option.startsWith("alertMode ="));
  assert.equal(row, "alertMode = main_only");
  const next = pi.records.length;
  pi.write({ type: "extension_ui_response", id: which.id, value: row });
  const value = await ask("select", next);
  assert.deepEqual(value.options, ["main_only", "direct_subagent", "both"]);
  pi.write({ type: "extension_ui_response", id: value.id, value: "both" });
  await done;
  assert.match(await answer(pi, "/watchdog status"), /alertMode both/);

  const again = pi.records.length;
  const cancelled = pi.send({ type: "prompt", message: "/watchdog:settings" });
  const question = await ask("select", again);
  pi.write({ type: "extension_ui_response", id: question.id, cancelled: true });
  await cancelled;
  assert.deepEqual(pi.customMessages("watchdog-answer", again), []);
});

test("the debug console shows what the provider is sent and answers, and leaves the editor on the screen", {
  skip: tmuxMissing,
}, async (t) => {
  const gate = Promise.withResolvers<void>();
  const lab = await open(t, {
    config: { debug: true },
    script: async ({ turn }) => {
      if (turn === 1) await gate.promise;
      return turn === 0 ? bash("cat list.txt") : { text: "I stop here." };
    },
  });
  const tui = await lab.tui({ width: 80, height: 24 });
  await tui.waitFor(/scripted-1/);
  await tui.type("look");
  await tui.press("Enter");
  const call = await tui.waitFor(
    /new of [\s\S]*toolResult bash: one[\s\S]*received[\s\S]*bash \{"command":"cat list\.txt"/,
  );
  assert.match(call, /watchdog sent \d\d:\d\d:\d\d\s+1 new of 3 messages/);
  assert.match(call, /^─{80}$/m);
  gate.resolve();
  await tui.waitFor(/watchdog received \d\d:\d\d:\d\d\s+I stop here\./);
});

test("a command of a session that is not watched says so", async (t) => {
  const lab = await open(t, { config: { enabled: false, rescueMessage: RESCUE } });
  const pi = await lab.rpc();
  assert.match(await answer(pi, "/watchdog status"), /Alerts off: enabled is false|does not watch this session/);
  await answer(pi, "/watchdog set enabled true");
  await pi.prompt("look");
  assert.ok(
    lab.server.requests.some((request) => rescues(request) > 0),
    "switched on, it watches",
  );
});
