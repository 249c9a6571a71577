// What is said of a target: how well it is known and seen, and how its package and its parent's costs are named.

import assert from "node:assert/strict";
import { test } from "node:test";
import { packageLines } from "../../../extension/commands/packages.ts";
import { toText } from "../../../extension/render/page.ts";
import type { PackageReport, SubagentBackend } from "../../../extension/subagents/backend.ts";
import { limitsOf, lostEvents, titleOf, totalsWords } from "../../../extension/target-words.ts";

const NOW = 1_000_000;
const running = { status: "running" as const };

test("what is as it should be is not mentioned", () => {
  assert.deepEqual(limitsOf({ ...running, link: "exact", visibility: "full" }, NOW), []);
  const remote = { run: "r", connected: true, contactAt: NOW - 5000, lost: 0 };
  assert.deepEqual(limitsOf({ ...running, link: "exact", remote }, NOW), []);
});

test("a link that is not exact and what cannot be seen are said in words", () => {
  assert.match(limitsOf({ ...running, link: "inferred" }, NOW).join(), /never steered/);
  assert.match(limitsOf({ ...running, link: "none" }, NOW).join(), /never steered/);
  assert.deepEqual(limitsOf({ ...running, visibility: "no_open_tools" }, NOW), ["open tools not visible"]);
  assert.deepEqual(limitsOf({ ...running, visibility: "result_only" }, NOW), ["only results are seen"]);
});

test("a process that is not heard of, and events that were lost, are said; an ended one owes no contact", () => {
  const remote = { run: "r", connected: false, contactAt: NOW - 12_000, lost: 3 };
  assert.deepEqual(limitsOf({ ...running, remote }, NOW), ["no contact for 12s", "3 events lost"]);
  assert.deepEqual(limitsOf({ status: "stopped", remote }, NOW), ["3 events lost"]);
  const frozen = { run: "r", connected: true, contactAt: NOW - 90_000, lost: 0 };
  assert.deepEqual(limitsOf({ ...running, remote: frozen }, NOW), ["no contact for 1m"]);
  assert.equal(lostEvents({ ...running, remote }), 3);
  assert.equal(lostEvents(running), 0);
});

test("names and types are safe, and the type is said where it says more", () => {
  assert.equal(titleOf({ name: "a\u001b[2Jb\nc", agentType: "x\u202ey" }), "ab c (xy)");
  assert.equal(titleOf({ name: "Explore", agentType: "Explore" }), "Explore");
});

test("totals name all parts, and that a cost is not known", () => {
  const usage = { input: 1500, output: 20, cacheRead: 3_000_000, cacheWrite: 0, usd: 0 };
  assert.equal(totalsWords({ ...usage, usd: 1.5 }), "1.5k in, 20 out, 3.0M cache read, 0 cache write · $1.50");
  assert.match(totalsWords(usage), /cost not known$/);
});

test("packages in use and unusable ones have a line each, absent ones one together and only where nothing is in use", () => {
  const backend = (name: string) =>
    ({ name, capabilities: { list: true, steer: true, stop: false, resume: false } }) as SubagentBackend;
  const report = (name: string, state: PackageReport["state"], detail?: string): PackageReport => ({
    package: name,
    state,
    ...(detail === undefined ? {} : { detail }),
  });
  const text = (...args: Parameters<typeof packageLines>) => toText(packageLines(...args));
  assert.equal(text([], []), "Sub-agents: no sub-agent package was found");
  assert.equal(
    text([], [report("a", "absent"), report("b", "absent"), report("c", "unusable", "too old\u001b[2J")]),
    "Sub-agents: c cannot be used: too old\nSub-agents: no sub-agent package was found (looked for a, b)",
  );
  assert.equal(
    text([backend("a"), backend("z")], [report("a", "in use", "2 children"), report("b", "absent")]),
    "Sub-agents: z (list, steer)\nSub-agents: a (list, steer); 2 children",
  );
});
