// Long healthy work that looks like a loop: no verdict and no intervention, at the default configuration.

import assert from "node:assert/strict";
import { test } from "node:test";
import { analyze } from "../../index.js";
import { scenarios } from "../healthy/scenarios/index.ts";
import { play } from "../healthy/trace.ts";

for (const scenario of scenarios) {
  test(`silent: ${scenario.name}`, () => {
    const { events, steps } = play(scenario);
    assert.ok(steps >= 50 && steps <= 500, `50 to 500 steps, not ${steps}`);
    // What long work costs is the user's limit to set, and no verdict on it.
    const { findings } = analyze(events, { costLimitUsd: 0 });
    const told = findings
      .filter((finding) => finding.severity !== "info" || finding.intervention !== undefined)
      .map(({ rule, eventIndex, analysis, intervention }) => ({
        rule,
        reasons: intervention ? [intervention.reason] : analysis.reasons,
        evidence: analysis.evidence.map((evidence) => evidence.command),
        event: events[eventIndex],
      }));
    assert.deepEqual(told, [], scenario.why);
  });
}

test("scenarios are the same at every call and named apart", () => {
  assert.ok(scenarios.length >= 36);
  assert.equal(new Set(scenarios.map((scenario) => scenario.name)).size, scenarios.length);
  for (const scenario of scenarios) assert.deepEqual(play(scenario).events, play(scenario).events);
});
