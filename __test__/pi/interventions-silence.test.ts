// Silence in real Pi, told of in the main session: a child whose model does not answer, a child's tool past its time, a
// child that never starts, one whose work is done and that never returns. Limits are a second; nothing waits for longer
// than it takes.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Child, Family, type FamilyOptions, Gates } from "../support/gotgenes/family.ts";
import { bash } from "../support/scripts.ts";
import { TINTINWEB } from "../support/tintinweb/kit.ts";

const files = { ".pi/subagents.json": JSON.stringify({ defaultJoinMode: "async" }) };
const hanging: Child = () => ({ text: "so far", hang: true });

const open = (t: TestContext, options: FamilyOptions) => Family.open(t, { files, kit: TINTINWEB, ...options });

test("a child whose model is silent is told of in the main session, by name, and that it is at work again", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    config: { idleTimeoutSec: 1 },
    children: {
      a: async ({ turn }) => {
        await gates.pass(`a${turn}`);
        return turn === 0 ? bash("echo awake") : { text: "a is done" };
      },
    },
  });
  const a = await family.spawn("a");
  await family.asks("a");
  const alert = await family.alert("job of a");
  const target = (await family.targets()).get("job of a");
  assert.ok(alert.includes(`Target: "job of a" (`) && alert.includes(target.id), alert);
  assert.match(alert, /Status: not responding/);
  assert.match(alert, /- no sign of it for \d+ s, and nothing is open/);
  assert.equal(target.status, "running", "nobody stopped it");
  gates.open("a0");
  await family.notified("job of a is at work again");
  gates.open("a1");
  await family.ended(a);
  await family.pi.close();
});

test("a child's tool past its time is told of while it runs", async (t) => {
  const family = await open(t, {
    config: { openToolTimeoutSec: 1 },
    children: { a: ({ turn }) => (turn === 0 ? bash("sleep 600") : { text: "a is done" }) },
  });
  const a = await family.spawn("a");
  const alert = await family.alert("job of a");
  assert.match(alert, /- a call of bash has run for \d+ s/);
  assert.match(alert, /Last command:\n> sleep 600/);
  assert.match(await family.command(`/watchdog stop ${a}`), /has been stopped/);
  await family.ended(a);
  await family.pi.close();
});

test("a child that is started and never does anything is told of", async (t) => {
  const family = await Family.open(t, {
    config: { idleTimeoutSec: 1 },
    quirks: "unstarted",
    children: { a: hanging },
  });
  await family.spawn("a");
  assert.match(await family.alert("job of a"), /- it has not done anything since it was started \d+ s ago/);
  assert.deepEqual(family.requestsOf("a"), []);
  await family.pi.close();
});

test("a child whose work is done and that does not return is told of, while its parent waits for it", async (t) => {
  const family = await Family.open(t, {
    config: { idleTimeoutSec: 1 },
    quirks: "unreturned",
    children: { a: () => ({ text: "a is done" }) },
  });
  const call = family.begin("subagent", family.task("a"));
  const notice = await family.notified("job of a");
  assert.match(notice, /it finished its work \d+ s ago and has not returned/);
  await call;
  await family.pi.send({ type: "abort" });
  await family.pi.close();
});
