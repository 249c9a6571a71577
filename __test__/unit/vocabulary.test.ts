// The vocabulary of events is what it says: an event that is declared as live is sent somewhere in the extension, and the
// extension sends no other.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { LIVE_EVENTS } from "../../extension/generated/events.ts";
import { root } from "../../scripts/lib/native.mjs";

const sources = globSync("extension/**/*.ts", { cwd: root })
  .filter((path) => !path.includes("generated"))
  .map((path) => readFileSync(join(root, path), "utf8"));

test("every event that is declared as live is sent by the extension", () => {
  const unsent = LIVE_EVENTS.filter((name) => !sources.some((source) => source.includes(`"${name}"`)));
  // The store makes a notice of the end of a child by itself as well.
  assert.deepEqual(unsent, []);
});
