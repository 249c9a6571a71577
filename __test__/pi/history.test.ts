// The history on real Pi: what happened is there when Pi has ended, what a killed Pi left is told by the next one and
// closed by its user, and a database that is not usable costs one warning and nothing else.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { findOrphans, readHistory } from "../../index.js";
import { Lab, type LabOptions, type PiRpc, tmuxMissing } from "../support/pi.ts";
import { bash, loop, RESCUE, rescues, textOf, told, watchdogTexts } from "../support/scripts.ts";

const open = (t: TestContext, options: Partial<LabOptions> = {}) =>
  Lab.open(t, {
    files: { "list.txt": "one\n" },
    script: loop(bash("cat list.txt"), 8),
    config: { rescueMessage: RESCUE },
    ...options,
  });

const database = (lab: Lab) => join(lab.home.agentDir, "watchdog-supervisor", "state.db");

async function answer(pi: PiRpc, command: string): Promise<string> {
  const from = pi.records.length;
  await pi.send({ type: "prompt", message: command });
  const found = await pi.waitFor(
    (record) => record.type === "message_end" && record.message.customType === "watchdog-answer",
    `the answer to ${command}`,
    { from },
  );
  return textOf(found.message);
}

/** A Pi that is killed in mid-life, when what it did is in the database. Returns its session. */
async function killedPi(lab: Lab) {
  const pi = await lab.rpc();
  await pi.prompt("loop");
  const { sessionId } = await pi.send({ type: "get_state" });
  // Asking waits for what is on its way.
  assert.match(await answer(pi, "/watchdog history"), /repeated_command/);
  pi.process.kill("SIGKILL");
  await pi.exit;
  return { sessionId, pid: pi.process.pid };
}

test("a normal end loses nothing: the incident, what the session used, and how it ended", async (t) => {
  const lab = await open(t);
  const pi = await lab.rpc();
  await pi.prompt("loop");
  const { sessionId } = await pi.send({ type: "get_state" });
  const { cost } = await pi.send({ type: "get_session_stats" });
  assert.equal(rescues(lab.server.requests.at(-1)), 1);
  await pi.close();
  assert.deepEqual(
    readdirSync(join(database(lab), "..")).filter((name) => name.startsWith("state")),
    ["state.db"],
    "no other file is left",
  );
  const { incidents, sessions } = await readHistory(database(lab));
  assert.deepEqual(
    incidents.map(({ rule, severity, notices, lastCommand }) => ({ rule, severity, notices, lastCommand })),
    [{ rule: "repeated_command", severity: "warning", notices: 1, lastCommand: "cat list.txt" }],
  );
  const [session] = sessions;
  assert.equal(session?.sessionId, sessionId);
  assert.equal(session?.status, "completed");
  assert.equal(session?.project, lab.home.cwd);
  assert.ok(Math.abs((session?.usage.usd ?? 0) - cost) < 1e-9, `${session?.usage.usd} instead of ${cost}`);
});

test("eight Pi processes write one history at once, and all that they told and used is in it", async (t) => {
  const lab = await open(t);
  const prompts = ["loop", "loop more", "and again"];
  const runs = await Promise.all(Array.from({ length: 8 }, () => lab.run({ mode: "json", prompts })));
  for (const { code, stderr } of runs) assert.equal(code, 0, stderr);
  const { sessions, incidents } = await readHistory(database(lab), { limit: 1000 });
  const used = sessions.reduce((sum, { usage }) => sum + usage.input + usage.output, 0);
  const rescueMessages = runs.flatMap(({ records }) => watchdogTexts(records)).filter((text) => text.includes(RESCUE));
  assert.equal(sessions.length, 8);
  assert.ok(sessions.every(({ status }) => status === "completed"));
  assert.equal(used, 110 * lab.server.requests.length);
  assert.equal(
    incidents.reduce((sum, { notices }) => sum + notices, 0),
    rescueMessages.length,
  );
});

test("after /reload a session goes on in its row, and /new ends it and begins another", async (t) => {
  const lab = await open(t, { extensions: [fileURLToPath(new URL("../support/odd-tools.ts", import.meta.url))] });
  const pi = await lab.rpc();
  await pi.prompt("loop");
  await pi.prompt("/test-reload");
  await pi.prompt("loop");
  const { sessionId } = await pi.send({ type: "get_state" });
  const before = lab.server.requests.length;
  await pi.send({ type: "new_session" });
  await pi.prompt("loop");
  await pi.close();
  const { sessions } = await readHistory(database(lab));
  const used = Object.fromEntries(sessions.map((session) => [session.sessionId, session.usage.input]));
  assert.deepEqual([sessions.length, used[sessionId]], [2, 100 * before]);
  assert.ok(sessions.every(({ status, endedAt }) => status === "completed" && endedAt !== undefined));
});

test("what a killed Pi left is told once by the next one, listed, and closed when the user says so", async (t) => {
  const lab = await open(t);
  const bystander = await lab.rpc();
  await bystander.prompt("/watchdog status");
  const killed = await killedPi(lab);
  const next = await lab.rpc();
  await next.prompt("/watchdog status");
  const notice = await next.waitFor(
    (record) => record.type === "extension_ui_request" && /did not end in order/.test(record.message ?? ""),
    "the notice of what was left",
  );
  assert.match(notice.message, new RegExp(`"main" \\(pid ${killed.pid}\\).*last seen.*\\$\\d.*/watchdog orphans`));
  const list = await answer(next, "/watchdog orphans");
  assert.match(list, new RegExp(`Left behind: 1 session[\\s\\S]*its process is gone[\\s\\S]*${killed.sessionId}`));
  assert.match(await answer(next, `/watchdog orphans kill ${killed.sessionId}`), /process .* is gone/);
  assert.match(await answer(next, "/watchdog orphans close"), /Marked 1 session as closed/);
  assert.match(await answer(next, "/watchdog orphans"), /No session in the history was left behind/);
  const third = await lab.rpc();
  assert.match(await answer(third, "/watchdog orphans"), /No session in the history was left behind/);
  assert.ok(!told(third).includes("did not end in order"));
  const { sessions } = await readHistory(database(lab));
  const status = Object.fromEntries(sessions.map(({ sessionId, endedAt }) => [sessionId, endedAt !== undefined]));
  const { sessionId } = await bystander.send({ type: "get_state" });
  assert.equal(status[killed.sessionId], true);
  assert.equal(status[sessionId], false, "another live session's record stays");
});

test("the end of one session closes its own record and no other live one's", async (t) => {
  const lab = await open(t);
  const [one, other] = [await lab.rpc(), await lab.rpc()];
  for (const pi of [one, other]) await answer(pi, "/watchdog history");
  const { sessionId } = await other.send({ type: "get_state" });
  await one.close();
  const { sessions } = await readHistory(database(lab));
  assert.deepEqual(
    sessions.filter(({ endedAt }) => endedAt === undefined).map((session) => session.sessionId),
    [sessionId],
  );
  assert.deepEqual(await findOrphans(database(lab)), []);
});

test("a session that a user resumes after a crash is not left over", async (t) => {
  const lab = await open(t);
  const { sessionId } = await killedPi(lab);
  const pi = await lab.rpc({ args: ["--continue"] });
  assert.equal((await pi.send({ type: "get_state" })).sessionId, sessionId);
  assert.match(await answer(pi, "/watchdog orphans"), /No session in the history was left behind/);
});

test("/watchdog history answers in rpc mode, with filters", async (t) => {
  const lab = await open(t);
  const pi = await lab.rpc();
  assert.match(await answer(pi, "/watchdog history"), /No incident so far/);
  await pi.prompt("loop");
  const all = await answer(pi, "/watchdog history");
  assert.match(all, /1 incident\n {2}\d\d:\d\d warning repeated_command · main \[/);
  assert.match(all, /last: cat list\.txt/);
  assert.match(await answer(pi, "/watchdog history here open 7d warning repeated_command"), /1 incident/);
  assert.match(await answer(pi, "/watchdog history critical"), /No incident fits/);
  assert.match(await answer(pi, "/watchdog history cycle"), /No incident fits/);
  assert.match(await answer(pi, "/watchdog history what;ever"), /Usage: \/watchdog history/);
});

test("/watchdog history and orphans answer in json and print mode", async (t) => {
  const lab = await open(t);
  const first = await lab.rpc();
  await first.prompt("loop");
  await first.close();
  const prompts = ["/watchdog history", "/watchdog orphans"];
  const json = await lab.run({ mode: "json", prompts });
  assert.match(
    watchdogTexts(json.records).join("\n"),
    /repeated_command[\s\S]*No session in the history was left behind/,
  );
  const print = await lab.run({ mode: "print", prompts });
  assert.equal(print.stdout, "");
  assert.match(print.stderr, /repeated_command[\s\S]*No session in the history was left behind/);
});

test("/watchdog history answers in the terminal", { skip: tmuxMissing }, async (t) => {
  const lab = await open(t);
  const first = await lab.rpc();
  await first.prompt("loop");
  await first.close();
  const tui = await lab.tui({ width: 110, height: 40 });
  await tui.waitFor(/scripted-1/);
  await tui.type("/watchdog history 7d");
  await tui.press("Enter");
  await tui.waitFor(/1 incident\s[\s\S]*warning repeated_command/);
});

test("without history there is no file", async (t) => {
  const lab = await open(t, { config: { rescueMessage: RESCUE, history: false } });
  const pi = await lab.rpc();
  await pi.prompt("loop");
  assert.equal(rescues(lab.server.requests.at(-1)), 1);
  assert.match(await answer(pi, "/watchdog history"), /history is false/);
  await pi.close();
  assert.equal(existsSync(database(lab)), false);
});

const BROKEN: [what: string, breakIt: (path: string) => void, says: RegExp][] = [
  [
    "damaged",
    (path) => writeFileSync(path, "no database at all ".repeat(400)),
    /was damaged.*set aside as .*corrupt-1/,
  ],
  ["a folder", (path) => mkdirSync(path), /cannot be opened.*make its folder writable/],
];

for (const [what, breakIt, says] of BROKEN) {
  test(`a database that is ${what} costs one warning, and the watchdog watches`, async (t) => {
    const lab = await open(t);
    breakIt(database(lab));
    const pi = await lab.rpc();
    await pi.prompt("loop");
    await pi.prompt("loop");
    assert.ok(rescues(lab.server.requests.at(-1)) > 0);
    await pi.waitFor((record) => says.test(record.message ?? ""), "the warning");
    assert.equal(told(pi).match(/The history/g)?.length, 1);
    assert.deepEqual(await pi.close(), { code: 0, signal: null });
  });
}
