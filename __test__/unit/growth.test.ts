// No text makes a function of the extension or the command cost more than its length: a quadratic one freezes Pi.

import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { plain as commandLine } from "../../bin/lib/plain.mjs";
import { argumentsText, assistantText, bounded, textOf } from "../../extension/content.ts";
import { shortIds } from "../../extension/format.ts";
import { note, readNotice } from "../../extension/link/check.ts";
import { squeeze } from "../../extension/render/branch.ts";
import { toText } from "../../extension/render/page.ts";
import { cut, lines, oneLine, plain, quoted } from "../../extension/sanitize.ts";
import { LineReader } from "../../extension/subagents/lines.ts";
import { hashOutput, normalizeCommand, normalizeMessage, store } from "../../index.js";
import { isLinear, UNITS } from "../support/growth.ts";

const FUNCTIONS: Record<string, (text: string) => unknown> = {
  plain,
  "plain of the command": (text) => commandLine(text, text.length),
  oneLine: (text) => oneLine(text, text.length),
  "oneLine, cut": (text) => oneLine(text),
  cut: (text) => cut(text, text.length / 2),
  lines: (text) => lines(text, text.length, text.length),
  quoted: (text) => quoted(text, text.length, 80),
  bounded,
  textOf: (text) => textOf([text, text].map((part) => ({ type: "text", text: part }))),
  assistantText: (text) =>
    assistantText([
      { type: "text", text },
      { type: "thinking", thinking: text },
    ]),
  argumentsText: (text) => argumentsText({ command: text, list: [text] }),
  shortIds: (text) => shortIds([text, `${text}1`, `${text}2`].map((id) => ({ id, aliases: [id] }))),
  squeeze,
  toText: (text) => toText([{ text }]),
  "a child's notice": (text) =>
    readNotice({ note: text, lastCommand: text, analysis: { evidence: [{ type: "x", summary: text }] } }, "id", "name"),
  "a child's note": note,
  "lines of a file": (text) => new LineReader().take(Buffer.from(text)),
  normalizeCommand,
  normalizeMessage,
  hashOutput: (text) => hashOutput(text, { maxBytes: text.length }),
  contentHash: store.contentHash,
};

for (const [name, work] of Object.entries(FUNCTIONS)) {
  test(`${name} costs what its text is long`, () => isLinear(name, work));
}

test("the texts are many, and find what is quadratic", () => {
  assert.equal(new Set(UNITS).size, UNITS.length);
  assert.ok(UNITS.length > 90);
  // Node's own function, which reads to the end for each sequence that is opened.
  assert.throws(() => isLinear("strip", stripVTControlCharacters), /µs/);
});
