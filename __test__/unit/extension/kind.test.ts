// What makes an agent one that watches others: its type or its tools, never the words of its task.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readWish } from "../../../extension/commands/install-agent.ts";
import { agentText, missingIn, PACKAGES } from "../../../extension/subagents/agent-file.ts";
import { isWatchdogByTools, isWatchdogType, kindOfType, missingTools } from "../../../extension/subagents/kind.ts";
import { watchdogTools } from "../../../extension/tools.ts";

const OURS = watchdogTools.map(({ name }) => name);

test("an agent type has the word as a word", () => {
  for (const type of ["watchdog", "Watchdog", "code-watchdog", "watchdog_2", "my watchdog"])
    assert.equal(kindOfType(type), "watchdog", type);
  for (const type of ["", "Explore", "general-purpose", "watchdogs", "mywatchdog"])
    assert.equal(isWatchdogType(type), false, type);
});

test("tools make a watchdog only where there is nothing to work with besides", () => {
  const reading = ["read", "grep", "find", "ls"];
  assert.equal(isWatchdogByTools(OURS), true);
  for (const tool of OURS) assert.equal(isWatchdogByTools([...reading, tool]), true, tool);
  assert.equal(isWatchdogByTools([]), false);
  assert.equal(isWatchdogByTools(reading), false);
  // A session that inherits the tools of all extensions has them too.
  for (const tool of ["bash", "edit", "write", "subagent", "watchdog", "watchdog_of_another"])
    assert.equal(isWatchdogByTools([...OURS, tool]), false, tool);
});

test("a watchdog sub-agent lacks what it needs to look and to report, and nothing else", () => {
  assert.deepEqual(missingTools(OURS), []);
  for (const tool of OURS) {
    const left = missingTools(OURS.filter((name) => name !== tool));
    assert.deepEqual(left, /steer|config/.test(tool) ? [] : [tool]);
  }
});

test("the file written for a package lacks nothing there, and files of any shape are read", () => {
  for (const name of PACKAGES.values()) assert.deepEqual(missingIn(agentText(name), [name]), [], name);
  const listed = `---\ntools:\n${OURS.map((tool) => `  - ${tool}`).join("\n")}\n---\n`;
  assert.deepEqual(missingIn(listed, ["@gotgenes/pi-subagents"]), []);
  for (const text of ["", "---", "---\ntools: [\n---\n", "---\ntools: none\n---\n", "---\ntools:\n---\n", "\u0000"])
    for (const name of PACKAGES.values()) assert.equal(missingIn(text, [name]).length, 4, JSON.stringify(text));
  assert.equal(missingIn(agentText("pi-subagents"), ["@tintinweb/pi-subagents"]).length, 4);
  assert.equal(missingIn(agentText("@tintinweb/pi-subagents"), ["pi-subagents"]).length, 4);
});

test("the words of the command go in any order, and what is not understood is said", () => {
  const wish = { place: "project", packages: ["pi-subagents"], yes: true, replace: false };
  for (const typed of ["project pi-subagents yes", "  yes PROJECT pi-subagents ", "yes pi-subagents project"])
    assert.deepEqual(readWish(typed), wish);
  assert.deepEqual(readWish(""), { place: "global", packages: [], yes: false, replace: false });
  assert.deepEqual(readWish("@gotgenes/pi-subagents"), readWish("gotgenes"));
  assert.match(String(readWish("yes please")), /"please" is not understood/);
});
