// The live records of @gotgenes/pi-subagents are no part of its types: what is used of them, and what is left alone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { liveSession, type Service } from "../../../extension/subagents/gotgenes-service.ts";

const service = (manager: unknown): Service & { manager: unknown } => ({
  getRecord: () => undefined,
  listAgents: () => [],
  hasRunning: () => false,
  abort: () => false,
  steer: async () => false,
  manager,
});

const live = (more: Record<string, unknown> = {}) => {
  const listeners = new Set<(event: unknown) => void>();
  const record = {
    id: "a1",
    messages: [{ role: "user" }],
    subscribeToUpdates(listener: (event: unknown) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    ...more,
  };
  return { listeners, manager: { getRecord: (id: string) => (id === "a1" ? record : undefined) } };
};

test("the live record gives the session's events and what was said before, and is left as it was found", () => {
  const { listeners, manager } = live({ outputFile: "/tasks/2026_s1.jsonl" });
  const session = liveSession(service(manager), "a1", "s1");
  assert.ok(typeof session === "object");
  assert.equal(listeners.size, 0, "looking leaves no listener");
  assert.deepEqual(session.messages, [{ role: "user" }]);
  const off = session.subscribe(() => {});
  assert.equal(listeners.size, 1);
  (off as () => void)();
  assert.equal(listeners.size, 0);
});

test("an agent that has no session yet is looked at later", () => {
  const { manager } = live({ subscribeToUpdates: () => undefined });
  assert.equal(liveSession(service(manager), "a1", "s1"), "later");
});

test("records of any other shape, of another agent or of another session are not used", () => {
  const odd = [undefined, null, 7, "x", {}, { getRecord: 7 }, { getRecord: () => 7 }, { getRecord: () => ({}) }];
  const others = [
    live({ id: "a2" }),
    live({ id: undefined }),
    live({ subscribeToUpdates: 7 }),
    live({ outputFile: "/tasks/2026_other.jsonl" }),
  ].map(({ manager }) => manager);
  for (const manager of [...odd, ...others]) assert.equal(liveSession(service(manager), "a1", "s1"), undefined);
  assert.equal(liveSession(service(live().manager), "nobody", "s1"), undefined);
});
