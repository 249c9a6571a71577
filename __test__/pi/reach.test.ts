// `/watchdog steer` and `/watchdog stop` on real Pi with real children: that the right one is reached, and that what
// became of it is told as it was.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Child, Family, type FamilyOptions, Gates } from "../support/gotgenes/family.ts";
import { Lab, tmuxMissing } from "../support/pi.ts";
import { bash, RESCUE, steps, watchdogTexts } from "../support/scripts.ts";

const open = (t: TestContext, options: Partial<FamilyOptions> = {}) =>
  Family.open(t, { children: {}, ...options, config: { rescueMessage: RESCUE, ...(options.config as object) } });

/** One command, then waits at its gate, then ends. */
const working =
  (name: string, gates: Gates): Child =>
  async ({ turn }) => {
    await gates.pass(`${name}${turn}`);
    return turn === 0 ? bash(`echo ${name}`) : { text: `${name} is done` };
  };

async function pair(t: TestContext, options: Partial<FamilyOptions> = {}) {
  const gates = new Gates();
  const family = await open(t, { ...options, children: { a: working("a", gates), b: working("b", gates) } });
  const a = await family.spawn("a");
  const b = await family.spawn("b");
  await family.asks("a");
  await family.asks("b");
  return { family, gates, a, b };
}

test("steer reaches the child that is named and nobody else, also while alertMode is main_only", async (t) => {
  const { family, gates, a, b } = await pair(t);
  assert.match(
    await family.command(`/watchdog steer ${a} Look  into "src" instead.`),
    /^The message is queued for "job of a": it arrives before the agent's next model call\.$/m,
  );
  assert.match(await family.command(`/watchdog steer ${b}`), /^The rescue message is queued for "job of b"/m);
  gates.open("a0", "b0");
  assert.deepEqual((await family.asks("a", 1)).newUserTexts, ['Look  into "src" instead.']);
  assert.deepEqual((await family.asks("b", 1)).newUserTexts, [RESCUE]);
  assert.match(await family.command(`/watchdog inspect ${a}`), /subagent_steered steered: Look into "src" instead\./);
  gates.open("a1", "b1");
  await family.ended(a);
  await family.ended(b);
  assert.match(
    await family.command(`/watchdog steer ${a} late`),
    /^Refused, .* "job of a": the target has ended \(completed\)\.$/m,
  );
  assert.match(
    await family.command(`/watchdog stop ${a}`),
    /^Refused, .* "job of a": the target has ended \(completed\)\.$/m,
  );
});

test("stop ends the child that is named by the package's own state, and the other goes on", async (t) => {
  const { family, gates, a, b } = await pair(t);
  const answer = await family.command(`/watchdog stop ${a}`);
  assert.match(answer, /"job of a" has been stopped\. Its state: stopped\.|Stopping "job of a" was agreed to/);
  await family.ended(a);
  const targets = await family.targets();
  assert.equal(targets.get("job of a").status, "stopped");
  assert.equal(targets.get("job of b").status, "running");
  gates.open("b0", "b1");
  assert.match(await family.ended(b), /b is done/);
});

test("who is not known beyond doubt is not reached, and the reason is told", async (t) => {
  const gates = new Gates();
  const family = await open(t, { quirks: "detached", children: { a: working("a", gates) } });
  const a = await family.spawn("a");
  await family.asks("a");
  const child = [...(await family.targets()).values()].find(({ link }) => link !== undefined);
  assert.equal(child.link, "inferred");
  for (const command of [`steer ${child.id} psst`, `stop ${child.id}`]) {
    assert.match(
      await family.command(`/watchdog ${command}`),
      /^Refused, .*not identified beyond doubt \(link: inferred\)/m,
    );
  }
  gates.open("a0", "a1");
  await family.ended(a);
  assert.ok(family.requestsOf("a").every(({ newUserTexts }) => !newUserTexts.includes("psst")));
});

const WRONG: readonly [command: string, says: RegExp][] = [
  ["/watchdog steer", /Usage: \/watchdog steer <target> \[message\]\. Known: .* \(main\)/],
  ["/watchdog stop", /Usage: \/watchdog stop <target>\. Known: .* \(main\)/],
  ["/watchdog steer nobody hello", /No target "nobody"\. Known: .* \(main\)/],
  ["/watchdog stop nobody", /No target "nobody"\. Known: .* \(main\)/],
];

test("a wrong name is told in rpc, json and print mode, and a main session is neither steered nor stopped", async (t) => {
  const lab = await Lab.open(t, { script: steps([]) });
  const json = await lab.run({ mode: "json", prompts: WRONG.map(([command]) => command) });
  const answers = watchdogTexts(json.records);
  for (const [i, [command, says]] of WRONG.entries()) assert.match(answers[i] ?? "", says, command);
  const print = await lab.run({ mode: "print", prompts: WRONG.map(([command]) => command) });
  for (const [command, says] of WRONG) assert.match(print.stderr, says, command);

  const family = await open(t);
  for (const [command, says] of WRONG) assert.match(await family.command(command), says, command);
  const { id } = (await family.targets()).get("main");
  for (const command of [`steer ${id} hello`, `stop ${id}`]) {
    assert.match(
      await family.command(`/watchdog ${command}`),
      /^Refused, .*"main": the target is a main session, not a sub-agent\.$/m,
    );
  }
});

test("steer and stop answer in the terminal", {
  skip: tmuxMissing,
}, async (t) => {
  const lab = await Lab.open(t, { script: steps([]) });
  const tui = await lab.tui({ width: 140, height: 60 });
  await tui.waitFor(/scripted-1/);
  await tui.type("/watchdog stop nobody");
  await tui.press("Enter");
  await tui.waitFor(/No target "nobody"/);
  await tui.type("/watchdog steer nobody");
  await tui.press("Enter");
  await tui.waitFor(/No target "nobody"[\s\S]*No target "nobody"/);
});
