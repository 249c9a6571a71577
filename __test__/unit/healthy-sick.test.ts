// Agents that get stuck after long healthy work: found within the window of the rule, once; again when the warning is
// ignored; silent after they recovered.

import assert from "node:assert/strict";
import { test } from "node:test";
import { analyze, Detector } from "../../index.js";
import { fallIll, sicknesses } from "../healthy/sick.ts";

for (const sickness of sicknesses) {
  const { name, from, by } = sickness;
  const laps = by * 5;
  const { trace, lapEnds, recovery } = fallIll(sickness, laps);
  const { findings, analysis } = analyze(trace.events);
  const verdicts = findings
    .filter((finding) => finding.severity !== "info" && finding.intervention === undefined)
    .map((finding) => ({ ...finding, lap: lapEnds.findIndex((end) => finding.eventIndex <= end) + 1 }));
  const told = JSON.stringify(verdicts.map(({ lap, rule, severity }) => [lap, rule, severity]));

  test(`found: ${name}`, () => {
    const [first] = verdicts;
    assert.ok(first, "a verdict");
    assert.ok(first.lap >= from && first.lap <= by, `in laps ${from} to ${by}: ${told}`);
    const kinds = first.analysis.evidence.map((evidence) => evidence.type as string);
    assert.ok(
      sickness.evidence.some((kind) => kinds.includes(kind)),
      `${sickness.evidence} in ${kinds}`,
    );
    assert.equal(verdicts.filter((verdict) => verdict.lap >= 1 && verdict.lap <= by).length, 1, `once: ${told}`);
  });

  test(`found again when ignored, at growing distance: ${name}`, () => {
    const laps = verdicts.filter((verdict) => verdict.eventIndex < recovery).map((verdict) => verdict.lap);
    assert.ok(laps.length >= 2, `a second verdict within ${by * 5} laps: ${told}`);
    assert.ok(laps.length <= 5, `not at every lap: ${told}`);
    assert.equal(new Set(verdicts.map((verdict) => verdict.incident)).size, 1, `one incident: ${told}`);
  });

  test(`silent after recovery: ${name}`, () => {
    assert.deepEqual(
      verdicts.filter((verdict) => verdict.eventIndex >= recovery),
      [],
    );
    assert.equal(analysis.likelyStuck, false);
  });

  test(`silent before: ${name}`, () => {
    const detector = new Detector();
    const before = trace.events.slice(0, lapEnds[0]);
    const early = before.flatMap((event) => detector.observe(event)).filter((finding) => finding.severity !== "info");
    assert.deepEqual(early, []);
  });
}
