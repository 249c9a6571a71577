// Wrong arguments to the library: a TypeError that names the trouble, never a crash, and the object goes on working.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Detector as DetectorType, TraceEvent } from "../../index.js";
import * as library from "../../index.js";

const WRONG: unknown[] = [undefined, null, 1, "x", true, Symbol("s"), 10n, [], {}, () => {}, Object.create(null)];
const { Detector } = library;

test("wrong types are TypeErrors", () => {
  const call = (value: unknown): void => {
    const functions: [string, () => unknown][] = [
      ["resolveConfig", () => library.resolveConfig([value as never])],
      ["normalizeCommand", () => library.normalizeCommand({ value } as never)],
      ["hashOutput", () => library.hashOutput({ value } as never)],
      ["analyze", () => library.analyze([value as never])],
      ["detectStuck", () => library.detectStuck([], {}, "now" as never, value as never)],
      ["shouldAlert", () => library.shouldAlert(null, { likelyStuck: value } as never, 0, 0)],
      ["observe", () => new Detector().observe({ at: 0, type: value } as never)],
      ["tick", () => new Detector().tick({ value } as never)],
      ["analysis", () => new Detector().analysis({ value } as never)],
    ];
    for (const [name, run] of functions) assert.throws(run, TypeError, `${name} with ${typeof value}`);
  };
  WRONG.forEach(call);
});

test("a detector that was given rubbish goes on", () => {
  const detector: DetectorType = new Detector();
  const deep = JSON.parse(`${"[".repeat(500)}${"]".repeat(500)}`) as unknown;
  for (const at of [Number.NaN, -1, Number.MAX_VALUE]) {
    for (const turn of [-1, 1.5, Number.NaN, 2 ** 53]) {
      const event = { at, type: "tool_call", turn, callId: "c", tool: "\u001b[2J\n", args: deep } as TraceEvent;
      try {
        detector.observe(event);
      } catch (error) {
        assert.ok(error instanceof TypeError, String(error));
      }
    }
  }
  detector.reset();
  const found = [1, 2, 3].flatMap((turn) => {
    detector.observe({ at: turn, type: "tool_call", turn, callId: `${turn}`, tool: "bash", args: { command: "ls" } });
    return detector.observe({ at: turn, type: "tool_result", turn, callId: `${turn}`, tool: "bash", output: "a" });
  });
  assert.equal(found.length, 1);
});
