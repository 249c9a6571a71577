// What is due for a session, as the store hands it out.

import assert from "node:assert/strict";
import { test } from "node:test";
import { takeAll } from "../../../extension/alerts/due.ts";
import { defaultConfig, store } from "../../../index.js";

/** A session that repeated a call so often, with nobody taking its notices in between. */
function looped(id: string, calls: number): number {
  const handle = store.open(id, 0, { name: id, rootId: id }, defaultConfig());
  for (let turn = 1; turn <= calls; turn++) {
    store.observeToolCall(handle, turn, turn, "c", "bash", '{"command":"ls"}');
    store.observeToolResult(handle, turn, turn, "c", "bash", "the same", false, "", "");
  }
  return handle;
}

test("of verdicts that are due together only the gravest is taken, and nothing is left", () => {
  for (const [calls, severity] of [
    [3, "warning"],
    [12, "critical"],
  ] as const) {
    const handle = looped(`due-${calls}`, calls);
    const verdicts = takeAll(store, handle).filter(({ kind }) => kind === "stuck");
    assert.deepEqual(
      verdicts.map((verdict) => verdict.severity),
      [severity],
    );
    assert.deepEqual(takeAll(store, handle), []);
    store.end(handle, 100, "completed");
  }
});
