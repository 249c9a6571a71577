// Sub-agent tools that nobody knows, on real Pi: what status says of them.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Family } from "../support/gotgenes/family.ts";
import { REPOSITORY } from "../support/pi.ts";

const DELEGATE = join(REPOSITORY, "__test__/support/delegate.ts");

test("a tool that hands tasks to agents nobody sees is one line in status, and a list of tasks is none", async (t) => {
  const family = await Family.open(t, { extensions: [DELEGATE], children: { seen: () => ({ text: "done" }) } });
  await family.call("subagent", family.task("seen"));
  await family.call("task", { action: "list" });
  assert.doesNotMatch(await family.command("/watchdog status"), /Sub-agents: tool/);
  await family.call("delegate", { prompt: "look around" });
  await family.call("delegate", { prompt: "look again" });
  const status = await family.command("/watchdog status");
  assert.match(
    status,
    /Sub-agents: tool delegate .*2 calls; the agents that it may start are not seen, only its calls/,
  );
  assert.doesNotMatch(status, /tool (task|subagent)/);
  assert.deepEqual([...(await family.targets()).keys()].sort(), ["job of seen", "main"]);
});
