// The configuration as the library and the commands see it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { configKeys, findKey, parseValue } from "../../extension/commands/keys.ts";
import * as library from "../../index.js";

test("each value of a resolved configuration names the layer that it comes from", () => {
  const { config, sources } = library.resolveConfig([
    { source: "global", name: "config.json", text: '{"cooldownSec": 5}' },
    { source: "project", name: "project.json", text: '{"rescueMessage": "Halt.", "historyMaxDays": 1}' },
    { source: "model", name: "watchdog_config", text: '{"debug": true}' },
  ]);
  assert.deepEqual(Object.keys(sources).sort(), Object.keys(config).sort());
  const { cooldownSec, rescueMessage, historyMaxDays, debug, enabled } = sources;
  assert.deepEqual(
    { cooldownSec, rescueMessage, historyMaxDays, debug, enabled },
    { cooldownSec: "global", rescueMessage: "project", historyMaxDays: "default", debug: "model", enabled: "default" },
  );
  assert.equal(config.historyMaxDays, 90);
});

test("every kind of key takes its typed value, and a list only as JSON", () => {
  const keys = configKeys(library);
  const typed = (name: string, text: string): unknown => {
    const key = findKey(keys, name);
    assert.ok(key);
    const parsed = parseValue(key, text);
    return parsed.ok ? parsed.value : parsed.message;
  };
  assert.deepEqual(typed("notifyCommand", '["notify-send", "a b"]'), ["notify-send", "a b"]);
  assert.deepEqual(typed("notifyCommand", "[]"), []);
  for (const wrong of ["notify-send", "[1]", '{"a": 1}', "["]) {
    assert.match(String(typed("notifyCommand", wrong)), /takes a list of texts/);
  }
  assert.equal(typed("findingsLog", '""'), "");
  assert.equal(typed("findingsLog", "/tmp/a b.jsonl"), "/tmp/a b.jsonl");
  assert.equal(typed("rescueMessage", '""'), '""');
  assert.equal(typed("wakeOnCritical", "FALSE"), false);
});
