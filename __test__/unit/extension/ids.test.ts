// The name by which the main agent's own tools reach an agent: what packages may answer, in any shape.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { SubagentBackend, SubagentRecord, ToolCall } from "../../../extension/subagents/backend.ts";
import { agentOf, hasTool } from "../../../extension/subagents/ids.ts";

const record = (agentId: string, sessionId: string, more: Partial<SubagentRecord> = {}): SubagentRecord => ({
  agentId,
  sessionId,
  link: "exact",
  type: "Explore",
  description: "find TOKEN",
  status: "running",
  ...more,
});

const backend = (name: string, records: SubagentRecord[], steerCall?: (id: string) => ToolCall): SubagentBackend => ({
  name,
  capabilities: { list: true, steer: true, stop: true, resume: false },
  list: () => records,
  steer: async () => ({ outcome: "queued" }),
  stop: async () => ({ outcome: "queued" }),
  ...(steerCall === undefined ? {} : { steerCall }),
  dispose() {},
});

const steers = (agent_id: string): ToolCall => ({ tool: "steer_subagent", args: { agent_id } });

test("an agent is named by its package's id, with a call of the package's own tool", () => {
  const call = agentOf([backend("one", [record("a1", "s1")], steers)], "s1");
  assert.deepEqual(call, {
    agentId: "a1",
    backend: "one",
    steer: 'steer_subagent {"agent_id": "a1", "message": "…"}',
  });
  const run = { tool: "subagent", args: { action: "steer", id: "r1", index: 2 } };
  assert.equal(
    agentOf([backend("two", [record("r1:2", "s2")], () => run)], "s2")?.steer,
    'subagent {"action": "steer", "id": "r1", "index": 2, "message": "…"}',
  );
});

test("a link that is not exact, a session that nobody knows and a backend that throws name nobody", () => {
  const broken: SubagentBackend = {
    ...backend("broken", []),
    list: () => {
      throw new Error("changed shape");
    },
  };
  const doubtful = [record("a1", "s1", { link: "inferred" }), record("a2", "s2", { link: "none" })];
  for (const id of ["s1", "s2", "s3", ""]) {
    assert.equal(agentOf([broken, backend("one", doubtful, steers)], id), undefined);
  }
  const strange = backend("strange", [record("a4", "s4")], () => {
    throw new Error("no tools");
  });
  assert.equal(agentOf([strange], "s4"), undefined);
});

test("the package's id goes before that of the link, whichever was found first", () => {
  const link = backend("process (link)", [record("s1", "s1")]);
  const own = backend("one", [record("a1", "s1")]);
  for (const backends of [
    [link, own],
    [own, link],
  ]) {
    assert.equal(agentOf(backends, "s1")?.agentId, "a1");
  }
  assert.deepEqual(agentOf([link], "s1"), { agentId: "s1", backend: "process (link)", steer: undefined });
});

test("an id that could not be shown as it is names nobody", () => {
  for (const id of ["", "a\nb", "a\u202eb", "a\u001b[2J", "x".repeat(500)]) {
    assert.equal(agentOf([backend("one", [record(id, "s1")], steers)], "s1"), undefined, JSON.stringify(id));
  }
});

test("a tool of the same name that takes other arguments, is another package's, or is switched off, is not the package's", () => {
  const pi = (active: string[], parameters: unknown, path: unknown = "/one/index.ts") =>
    ({
      getActiveTools: () => active,
      getAllTools: () => [
        { name: "steer_subagent", parameters, sourceInfo: { path } },
        { name: "subagent", sourceInfo: { path: "/one/index.ts" } },
      ],
    }) as unknown as ExtensionAPI;
  const properties = { agent_id: {}, message: {} };
  const has = (one: ExtensionAPI) => hasTool(one, "steer_subagent", ["agent_id", "message"], "subagent");
  assert.equal(has(pi(["steer_subagent"], { properties })), true);
  assert.equal(has(pi([], { properties })), false);
  assert.equal(has(pi(["steer_subagent"], { properties }, "/two/index.ts")), false);
  assert.equal(has(pi(["steer_subagent"], { properties }, null)), false);
  for (const other of [undefined, null, 7, {}, { properties: null }, { properties: { id: {}, message: {} } }])
    assert.equal(has(pi(["steer_subagent"], other)), false);
});
