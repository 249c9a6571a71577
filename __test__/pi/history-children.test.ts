// The history of children that are Pi processes of their own: both they and their main session write it, and what they
// used counts once. A child that outlives a killed main session is told, and ended by its user's word only.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { findOrphans, readHistory } from "../../index.js";
import { LinkLab } from "../support/link/lab.ts";
import { poll } from "../support/pi.ts";
import { bash, textOf } from "../support/scripts.ts";

const database = (lab: LinkLab) => join(lab.lab.home.agentDir, "watchdog-supervisor", "state.db");

test("a looping child process is in the history once, with its own incident and all that it used", async (t) => {
  const lab = await LinkLab.open(t, {
    files: { "src.txt": "TOKEN\n" },
    children: { a: (request) => (request.turn >= 6 ? { text: "I stop here." } : bash("grep -n TOKEN src.txt")) },
  });
  await lab.start("a");
  await lab.childEnds("a");
  const { sessionId } = await lab.pi.send({ type: "get_state" });
  await lab.endsInOrder();
  const { sessions, incidents } = await readHistory(database(lab));
  const [child, ...others] = sessions.filter(({ rootId, sessionId: id }) => rootId === sessionId && id !== sessionId);
  assert.deepEqual(others, []);
  const tokens = (child?.usage.input ?? 0) + (child?.usage.output ?? 0);
  assert.equal(tokens, 110 * lab.requestsOf("a").length);
  assert.notEqual(child?.endedAt, undefined);
  const own = incidents.filter((incident) => incident.sessionId === child?.sessionId);
  assert.ok(
    own.some(({ rule, lastCommand }) => rule === "repeated_command" && lastCommand === "grep -n TOKEN src.txt"),
  );
  assert.deepEqual(await findOrphans(database(lab)), []);
});

test("a child process that outlives its killed main session is told by the next Pi, and ended when its user says so", async (t) => {
  const lab = await LinkLab.open(t, { children: { a: () => ({ text: "I think", hang: true }) } });
  await lab.start("a");
  await lab.asks("a");
  const left = await poll(
    async () => {
      const { sessions } = await readHistory(database(lab)).catch(() => ({ sessions: [] }));
      return sessions.find(({ sessionId, rootId }) => sessionId !== rootId);
    },
    () => "the child in the history",
  );
  lab.pi.process.kill("SIGKILL");
  await lab.pi.exit;
  const [orphan] = (await findOrphans(database(lab))).filter(({ running }) => running);
  assert.equal(orphan?.sessionId, left.sessionId);
  const pid = orphan?.pid ?? 0;
  const alive = () => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  t.after(() => alive() && process.kill(pid, "SIGKILL"));

  const next = await lab.lab.rpc();
  await next.prompt("/watchdog status");
  const notice = await next.waitFor((record) => /did not end in order/.test(record.message ?? ""), "the notice");
  assert.match(notice.message, new RegExp(`Still running without a main session: .*\\(pid ${pid}\\)`));
  assert.ok(alive(), "being told ends nothing");
  const from = next.records.length;
  await next.send({ type: "prompt", message: `/watchdog orphans kill ${left.sessionId}` });
  const answer = await next.waitFor(
    (record) => record.type === "message_end" && record.message.customType === "watchdog-answer",
    "the answer",
    { from },
  );
  assert.match(textOf(answer.message), new RegExp(`Asked process ${pid} to end`));
  await poll(
    async () => ((await findOrphans(database(lab))).some(({ running }) => running) ? undefined : true),
    () => "the end of the child",
  );
});
