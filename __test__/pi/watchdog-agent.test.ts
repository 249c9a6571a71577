// The watchdog sub-agent with real packages: it has its tools where its agent file lists them, and only there; the
// command puts the file in place; status says what is missing.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Child, Family, type FamilyOptions, Gates, type Kit } from "../support/gotgenes/family.ts";
import { LinkLab } from "../support/link/lab.ts";
import { Nicobailon } from "../support/nicobailon/family.ts";
import { Lab, type ModelRequest, tmuxMissing } from "../support/pi.ts";
import { bash, call } from "../support/scripts.ts";
import { TINTINWEB } from "../support/tintinweb/kit.ts";

const SHIPPED = readFileSync(new URL("../../agents/watchdog.md", import.meta.url), "utf8");
const FILE = ".pi/agents/watchdog.md";
const OLD = "---\ndescription: an old one\ntools: read, bash\n---\nLook around.\n";

const kits: [string, Kit | undefined][] = [
  ["the stand-in for gotgenes", undefined],
  ["tintinweb", TINTINWEB],
];
// Else tintinweb tells the ends of agents that started together 30 s late.
const together = { ".pi/subagents.json": JSON.stringify({ defaultJoinMode: "async" }) };
const open = (t: TestContext, kit: Kit | undefined, { files, ...options }: FamilyOptions) =>
  Family.open(t, { ...(kit === undefined ? {} : { kit }), ...options, files: { ...together, ...files } });

const toolsOf = (request: ModelRequest | undefined): string[] =>
  (request?.tools ?? []).map((tool) => (typeof tool === "string" ? tool : String(Reflect.get(tool, "name"))));

/** Looks at the agent "a" and alerts the main session, as far as it has the tools. */
function watching(results: string[]): Child {
  return ({ turn, toolResults }) => {
    results.push(...toolResults.map(({ text }) => text));
    if (turn === 0) return { toolCalls: [call("watchdog_list_targets", {})] };
    const [, id = "nobody"] = /"job of a" (\S+)/.exec(results[0] ?? "") ?? [];
    if (turn === 1)
      return { toolCalls: [call("watchdog_alert_main", { targetId: id, message: "Look here.", severity: "info" })] };
    return { text: "reported" };
  };
}

const waiting =
  (gates: Gates): Child =>
  async ({ turn }) => {
    if (turn > 0) await gates.pass("a");
    return turn > 0 ? { text: "done" } : bash("echo work");
  };

for (const [name, kit] of kits) {
  test(`with the agent file a child of ${name} calls the watchdog's tools, and is a watchdog by its type`, async (t) => {
    const gates = new Gates();
    const results: string[] = [];
    const family = await open(t, kit, {
      files: { [FILE]: SHIPPED },
      children: { a: waiting(gates), w: watching(results) },
    });
    const a = await family.spawn("a");
    await family.asks("a", 1);
    const w = await family.spawn("w", { subagent_type: "watchdog" });
    await family.ended(w);
    assert.match(results[0] ?? "", /^3 targets/);
    assert.match(results[1] ?? "", /^Alert \(info\) about "job of a" sent/);
    assert.deepEqual(
      toolsOf(family.requestsOf("w")[0]).filter((tool) => !tool.startsWith("watchdog_")),
      [],
    );
    const targets = await family.targets();
    assert.deepEqual([targets.get("job of a").kind, targets.get("job of w").kind], ["task", "watchdog"]);
    assert.doesNotMatch(await family.command("/watchdog status"), /lacks the watchdog_\* tools|does not list/);
    gates.open("a");
    await family.ended(a);
  });

  test(`without it a child of ${name} lacks them, and status says so and what mends it`, async (t) => {
    const results: string[] = [];
    const family = await open(t, kit, { files: { [FILE]: OLD }, children: { w: watching(results) } });
    assert.match(await family.command("/watchdog status"), /watchdog\.md does not list watchdog_list_targets, /);
    const w = await family.spawn("w", { subagent_type: "watchdog" });
    await family.ended(w);
    assert.match(results[0] ?? "", /not found/);
    const status = await family.command("/watchdog status");
    assert.match(
      status,
      /job of w \(watchdog\) \[[^\]]+\] lacks the watchdog_\* tools: its agent file .* \/watchdog install-agent/,
    );
  });

  test(`a child of ${name} is no watchdog by the words of its task, and is one by its tools`, async (t) => {
    const family = await open(t, kit, {
      files: { ".pi/agents/overseer.md": SHIPPED.replace("name: watchdog", "name: overseer") },
      children: { worker: () => ({ text: "done" }), seer: () => ({ text: "done" }) },
    });
    const worker = await family.spawn("worker", { description: "fix the watchdog" });
    const seer = await family.spawn("seer", { subagent_type: "overseer" });
    for (const id of [worker, seer]) await family.ended(id);
    const targets = await family.targets();
    assert.equal(targets.get("fix the watchdog").kind, "task");
    assert.equal(targets.get("job of seer").kind, "watchdog");
  });

  test(`seen from outside, a child of ${name} is what its type says, and status says what to do`, async (t) => {
    const family = await open(t, kit, {
      watchdog: "extension",
      files: { [FILE]: SHIPPED },
      children: { w: () => ({ text: "done" }), worker: () => ({ text: "done" }) },
    });
    const w = await family.spawn("w", { subagent_type: "watchdog" });
    const worker = await family.spawn("worker", { description: "fix the watchdog" });
    for (const id of [w, worker]) await family.ended(id);
    const targets = await family.targets();
    assert.deepEqual([targets.get("job of w").kind, targets.get("fix the watchdog").kind], ["watchdog", "task"]);
    assert.match(await family.command("/watchdog status"), /job of w .* lacks the watchdog_\* tools: .*pi install/);
  });
}

test("the file that the command writes works in a foreground run of pi-subagents", async (t) => {
  const results: string[] = [];
  const family = await Nicobailon.open(t, { children: { w: watching(results) } });
  assert.match(await family.command("/watchdog install-agent project yes"), /Wrote .*watchdog\.md/);
  const { isError, text } = await family.call("subagent", { agent: "watchdog", task: "TASK w" });
  assert.equal(isError, false, text);
  assert.match(results[0] ?? "", /^2 targets/, text);
  const targets = await family.targets();
  assert.equal([...targets.values()].find(({ agentType }) => agentType === "watchdog")?.kind, "watchdog");
});

test("in rpc the command asks, writes what was agreed to and says what to do next", async (t) => {
  const family = await open(t, undefined, { children: {} });
  const path = join(family.lab.home.cwd, FILE);
  let agreed = false;
  family.pi.onRecord(({ type, method, id }) => {
    if (type === "extension_ui_request" && method === "confirm")
      family.pi.write({ type: "extension_ui_response", id, confirmed: agreed });
  });
  const answer = async (confirmed: boolean, command: string) => {
    const from = family.pi.records.length;
    agreed = confirmed;
    const text = await family.command(command);
    return { text, asked: family.pi.records.slice(from).filter(({ method }) => method === "confirm") };
  };
  const no = await answer(false, "/watchdog install-agent project");
  assert.equal(no.asked.length, 1);
  assert.match(no.text, /Nothing was written/);
  assert.equal(existsSync(path), false);
  const yes = await answer(true, "/watchdog install-agent project");
  assert.match(yes.text, /Wrote .*watchdog\.md[\s\S]*\/reload/);
  assert.equal(readFileSync(path, "utf8"), SHIPPED);
  const again = await answer(true, "/watchdog install-agent project yes");
  assert.equal(again.asked.length, 0);
  assert.match(again.text, /is there already and is the same/);
  writeFileSync(path, OLD);
  const differs = await answer(false, "/watchdog install-agent project yes");
  assert.equal(differs.asked.length, 1, "a file that differs is asked about");
  assert.match(JSON.stringify(differs.asked), /Replace.*does not list watchdog_list_targets/);
  assert.equal(readFileSync(path, "utf8"), OLD);
  assert.match((await answer(false, "/watchdog install-agent project yes replace")).text, /Wrote/);
  assert.equal(readFileSync(path, "utf8"), SHIPPED);
  assert.match((await answer(true, "/watchdog install-agent everywhere")).text, /not understood.*gotgenes, tintinweb/);
});

test("in the terminal the command asks before it writes", { skip: tmuxMissing }, async (t) => {
  const lab = await Lab.open(t, { script: () => ({ text: "." }), packages: [TINTINWEB.package] });
  const path = join(lab.home.cwd, FILE);
  const tui = await lab.tui({ width: 120, height: 40 });
  await tui.waitFor(/scripted-1/);
  const install = async () => {
    await tui.type("/watchdog install-agent project");
    await tui.waitFor(/install-agent project/);
    await tui.press("Escape", "Enter");
    await tui.waitFor(/Write the watchdog's agent file\?/);
  };
  await install();
  await tui.press("Escape");
  await tui.waitFor(/Nothing was written/);
  assert.equal(existsSync(path), false);
  await install();
  await tui.press("Enter");
  await tui.waitFor(/Wrote .*watchdog\.md/);
  assert.equal(readFileSync(path, "utf8"), SHIPPED);
});

test("a child process is a watchdog by its tools, and one that has them among others is not", async (t) => {
  const lab = await LinkLab.open(t, { children: { w: () => ({ text: "done" }), a: () => ({ text: "done" }) } });
  await lab.run(lab.command("a"), lab.command("w", "--mode json -p --tools watchdog_list_targets,watchdog_alert_main"));
  await lab.childEnds("a");
  await lab.childEnds("w");
  for (const [child, kind] of [
    ["a", "task"],
    ["w", "watchdog"],
  ] as const) {
    assert.equal((await lab.target(child))?.kind, kind);
  }
});

for (const mode of ["print", "json"] as const) {
  test(`in ${mode} the command writes only what it was explicitly told to`, async (t) => {
    const script = () => ({ text: "." });
    const lab = await Lab.open(t, { script, packages: [TINTINWEB.package] });
    const path = join(lab.home.agentDir, "agents", "watchdog.md");
    const said = async (command: string) => {
      const { stdout, stderr } = await lab.run({ mode, prompts: [command] });
      return stdout + stderr;
    };
    assert.match(
      await said("/watchdog install-agent"),
      /Nothing was written yet\. To do it: \/watchdog install-agent global yes/,
    );
    assert.equal(existsSync(path), false);
    assert.match(await said("/watchdog install-agent global yes"), /Wrote/);
    assert.equal(readFileSync(path, "utf8"), SHIPPED);
    writeFileSync(path, OLD);
    assert.match(
      await said("/watchdog install-agent yes"),
      /differs.*To do it: \/watchdog install-agent global yes replace/,
    );
    assert.equal(readFileSync(path, "utf8"), OLD);
    assert.deepEqual(lab.server.requests, []);
  });
}

test("a link in the file's place is left alone, and without a package nothing is written", async (t) => {
  const lab = await Lab.open(t, { script: () => ({ text: "." }), packages: [TINTINWEB.package] });
  const { cwd } = lab.home;
  mkdirSync(join(cwd, ".pi", "agents"), { recursive: true });
  symlinkSync(join(cwd, "elsewhere.md"), join(cwd, FILE));
  const { stderr } = await lab.run({ mode: "print", prompts: ["/watchdog install-agent project yes replace"] });
  assert.match(stderr, /Nothing was written: .*no regular file/);
  assert.equal(existsSync(join(cwd, "elsewhere.md")), false);

  const bare = await Lab.open(t, { script: () => ({ text: "." }) });
  const none = await bare.run({ mode: "print", prompts: ["/watchdog install-agent yes"] });
  assert.match(none.stderr, /No sub-agent package .* was found/);
  const named = await bare.run({ mode: "print", prompts: ["/watchdog install-agent gotgenes yes"] });
  assert.match(named.stderr, /Wrote/);
});
