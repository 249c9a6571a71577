// The clock of a tree on an injected time: when it ticks, when it stops, and that a fault in it reaches nobody.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createTreeClock, treeTickEvery } from "../../../extension/alerts/tree-clock.ts";
import { createGuard } from "../../../extension/guard.ts";
import type { Runtime } from "../../../extension/runtime.ts";
import type { Session } from "../../../extension/session.ts";
import { defaultConfig, type Notice, Signal } from "../../../index.js";

function clockOf(t: TestContext, tick: () => number) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const seen = { ticks: 0, told: [] as string[], due: [] as string[], faults: [] as string[] };
  const store = {
    tickTree: () => {
      seen.ticks += 1;
      return tick();
    },
    takeTreeNotice: () => {
      const incident = seen.due.shift();
      return incident === undefined ? null : { incident };
    },
  };
  const session = {
    id: "main",
    disposed: false,
    observing: true,
    config: { ...defaultConfig(), idleTimeoutSec: 1 },
  };
  const clock = createTreeClock(
    { native: { store, Signal } } as unknown as Runtime,
    session as unknown as Session,
    createGuard((message) => seen.faults.push(message)),
    (notice: Notice) => seen.told.push(notice.incident),
  );
  return { clock, seen, session, pass: (ms: number) => t.mock.timers.tick(ms) };
}

test("it ticks while an agent works, and rests when none does", (t) => {
  let busy = true;
  const { clock, seen, pass } = clockOf(t, () => (busy ? Signal.BUSY : 0));
  pass(10_000);
  assert.equal(seen.ticks, 0, "nobody has begun to work");
  clock.tend();
  pass(1000);
  assert.equal(seen.ticks, 4);
  busy = false;
  pass(10_000);
  assert.equal(seen.ticks, 5, "it saw that nobody works");
  clock.tend();
  pass(250);
  assert.equal(seen.ticks, 6);
});

test("what is due is told at a tick that says so, and when the tree is tended", (t) => {
  const { clock, seen, pass } = clockOf(t, () => Signal.BUSY | (seen.due.length > 0 ? Signal.TREE : 0));
  seen.due.push("a", "b");
  clock.tend();
  assert.deepEqual(seen.told, ["a", "b"]);
  seen.due.push("c");
  pass(250);
  assert.deepEqual(seen.told, ["a", "b", "c"]);
});

test("after the session's end it never ticks nor tells again", (t) => {
  const { clock, seen, pass } = clockOf(t, () => Signal.BUSY);
  clock.tend();
  pass(250);
  clock.stop();
  clock.stop();
  seen.due.push("late");
  pass(10_000);
  clock.tend();
  pass(10_000);
  assert.deepEqual([seen.ticks, seen.told], [1, []]);
});

for (const [what, change] of [
  ["is not observed any more", { observing: false }],
  ["was disposed without a word", { disposed: true }],
] as const) {
  test(`it stops by itself when the session ${what}`, (t) => {
    const { clock, seen, session, pass } = clockOf(t, () => Signal.BUSY);
    clock.tend();
    pass(250);
    Object.assign(session, change);
    pass(10_000);
    assert.equal(seen.ticks, 1);
  });
}

test("a fault in it is told once and does not escape", (t) => {
  const { clock, seen, pass } = clockOf(t, () => {
    throw new Error("broken");
  });
  clock.tend();
  pass(1000);
  assert.deepEqual([seen.ticks, seen.faults.length], [4, 1]);
});

test("it meets the shortest limit within a quarter of it, and without limits still looks for waits", () => {
  const every = (limits: object) => treeTickEvery({ ...defaultConfig(), ...limits });
  assert.equal(every({}), 5000);
  assert.equal(every({ idleTimeoutSec: 8 }), 2000);
  assert.equal(every({ openToolTimeoutSec: 0.1 }), 250);
  const off = { idleTimeoutSec: 0, openToolTimeoutSec: 0, staleAfterSec: 0, autoKillAfterSec: 0 };
  assert.equal(every(off), 5000);
});
