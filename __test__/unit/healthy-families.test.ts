// Long healthy work of several agents: nothing but the remark that one has been at work for long, at the default
// configuration.

import assert from "node:assert/strict";
import { test } from "node:test";
import { families } from "../healthy/families/index.ts";
import { perform } from "../healthy/families/stage.ts";
import { isAlarm, watch } from "../healthy/families/watch.ts";

for (const scenario of families) {
  test(`silent: ${scenario.name}`, () => {
    const events = perform(scenario);
    assert.ok(events.length >= 50 && events.length <= 400, `50 to 400 events, not ${events.length}`);
    assert.deepEqual(watch(events, 3600).filter(isAlarm), [], scenario.why);
  });
}

test("families are the same at every call, named apart, and have children", () => {
  assert.ok(families.length >= 25);
  assert.equal(new Set(families.map((scenario) => scenario.name)).size, families.length);
  for (const scenario of families) {
    const events = perform(scenario);
    assert.deepEqual(perform(scenario), events);
    assert.ok(events.some((event) => event.agent !== undefined));
  }
});
