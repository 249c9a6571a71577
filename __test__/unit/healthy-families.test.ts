// Long healthy work of several agents: nothing but the remark that one has been at work for long, at the default
// configuration.

import assert from "node:assert/strict";
import { test } from "node:test";
import { families } from "../healthy/families/index.ts";
import { noticesOf } from "../healthy/families/notices.ts";
import { familySicknesses, sicken } from "../healthy/families/sick.ts";
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

for (const sickness of familySicknesses) {
  const { name, rules, agent, notBefore, within, times, says } = sickness;

  test(`told: ${name}`, () => {
    const { events, from, over } = sicken(sickness);
    const alarms = watch(events, 3600).filter(isAlarm);
    const all = JSON.stringify(alarms, null, 1);
    const first = alarms.find((told) => told.rule === rules[0]);
    assert.ok(first, `told at all: ${all}`);
    assert.equal(first.agent, agent);
    assert.match(first.reason, says);
    const after = first.at - from;
    assert.ok(after >= notBefore - 0.01 && after <= within + 0.01, `${notBefore} to ${within} s after ${from}: ${all}`);
    assert.deepEqual([...new Set(alarms.map((told) => told.rule))].sort(), [...rules].sort(), "and nothing else");
    assert.equal(alarms.filter((told) => told.rule === rules[0]).length, times, `at doublings only: ${all}`);
    if (over !== undefined) {
      assert.ok(
        alarms.every((told) => told.at < over),
        `silent after ${over}: ${all}`,
      );
    }
  });
}

// A silence that was told ends with a word, where its agent goes on: one that has ended needs none.
const endings = familySicknesses.filter(
  ({ rules, agent }) => rules.includes("intervention:timeout") && agent !== "review",
);

for (const [n, sickness] of endings.entries()) {
  test(`ends with a word: ${sickness.name}`, () => {
    const { events, over } = sicken(sickness);
    assert.ok(over !== undefined);
    const timeouts = noticesOf(`sick-family-${n}`, events).filter(
      ({ agent, notice }) => agent === sickness.agent && (notice.severity !== "info" || notice.kind === "over"),
    );
    assert.ok(timeouts.length >= 2);
    const ends = timeouts.filter(({ notice }) => notice.kind === "over");
    assert.equal(
      ends.length,
      1,
      JSON.stringify(timeouts.map(({ notice, at }) => [at, notice.kind, notice.intervention])),
    );
    assert.equal(timeouts.at(-1), ends[0], "and it is the last word");
    assert.ok(ends[0]!.at >= over && ends[0]!.at <= over + 15);
  });
}

test("sicknesses are named apart", () => {
  assert.ok(familySicknesses.length >= 15);
  assert.equal(new Set(familySicknesses.map((sickness) => sickness.name)).size, familySicknesses.length);
});
