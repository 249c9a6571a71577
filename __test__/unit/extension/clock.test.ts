// Time that nobody saw pass: noticed whoever asks for the time first, told once for each tree, and never as more than it
// was.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { now, watchTime } from "../../../extension/clock.ts";

const START = 2_000_000_000_000;

let times = 0;

/** Time by hand. `pass`: the timers run. `stand`: they do not, as in a process that is stopped. */
function time(t: TestContext) {
  // The module remembers the latest time of the test before.
  times += 1;
  t.mock.timers.enable({ apis: ["setInterval", "Date"], now: START + times * 1e9 });
  const gaps: number[] = [];
  const watch = (root = "main") => {
    const stop = watchTime(root, (ms) => gaps.push(ms));
    t.after(stop);
    return stop;
  };
  return {
    gaps,
    watch,
    pass(ms: number) {
      // In small steps, because the mocked date stands at the end of a step while its timers run.
      for (let left = ms; left > 0; left -= 500) t.mock.timers.tick(Math.min(500, left));
    },
    stand: (ms: number) => t.mock.timers.setTime(Date.now() + ms),
  };
}

test("time that passes with its timer is no gap, however long", (t) => {
  const { gaps, watch, pass } = time(t);
  watch();
  pass(3_600_000);
  now();
  assert.deepEqual(gaps, []);
});

test("a stop is a gap, noticed by the first who asks for the time", (t) => {
  for (const stopped of [14_000, 60_000, 8 * 3_600_000]) {
    const { gaps, watch, stand, pass } = time(t);
    const stop = watch();
    pass(5000);
    stand(stopped);
    now();
    now();
    pass(5000);
    assert.equal(gaps.length, 1);
    assert.ok(Math.abs((gaps[0] ?? 0) - stopped) <= 1000, `${gaps[0]} of ${stopped}`);
    stop();
    t.mock.timers.reset();
  }
});

test("a clock that is set forth is a gap, one that is set back and forth is none that counts twice", (t) => {
  const { gaps, watch, stand, pass } = time(t);
  watch();
  pass(1000);
  stand(-3_600_000);
  const before = now();
  pass(2000);
  assert.ok(now() >= before + 2000, "time goes on from where it was");
  assert.deepEqual(gaps, []);
  stand(3_600_000);
  now();
  assert.equal(gaps.length, 1);
});

test("a gap is told once for each tree, however many watch it, and not to who has stopped watching", (t) => {
  const { gaps, watch, stand, pass } = time(t);
  const one = watch("a");
  const two = watch("a");
  const other = watch("b");
  stand(60_000);
  pass(1000);
  assert.equal(gaps.length, 2);
  one();
  one();
  stand(60_000);
  now();
  assert.equal(gaps.length, 4, "the second still watches");
  two();
  other();
  stand(60_000);
  now();
  assert.equal(gaps.length, 4);
});

test("a listener that throws keeps nobody from hearing", (t) => {
  const { gaps, watch, stand } = time(t);
  t.after(
    watchTime("broken", () => {
      throw new Error("broken");
    }),
  );
  watch();
  stand(60_000);
  assert.doesNotThrow(now);
  assert.equal(gaps.length, 1);
});
