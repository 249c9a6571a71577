// What crosses into the addon is bounded, and nothing that a tool can return breaks it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { argumentsText, assistantText, bounded, textOf, WHOLE } from "../../../extension/content.ts";

test("a text of up to 256 Ki units goes whole, a longer one as its head and tail with what is missing", () => {
  const whole = "x".repeat(WHOLE);
  assert.equal(bounded(whole), whole);
  const long = `${"a".repeat(WHOLE)}end`;
  const cut = bounded(long);
  assert.match(cut, /^a{65536}\n\[163843 characters left out: [g-v]{64}\]\na+end$/);
  assert.ok(cut.length < 100 * 1024);
  assert.notEqual(bounded(`${long}s`), cut, "another length is another text");
  const other = `${long.slice(0, 150_000)}b${long.slice(150_001)}`;
  assert.notEqual(bounded(other), cut, "another letter in the middle is another text");
});

test("a cut never splits a character", () => {
  for (const pad of ["", "x"]) assert.ok(bounded(pad + "😀".repeat(WHOLE)).isWellFormed());
});

test("parts are joined, and what is no text is named", () => {
  const parts = [
    { type: "text", text: "a" },
    { type: "image", data: "AAAA", mimeType: "image/png" },
    { type: "audio" },
    null,
    { type: "text", text: 5 },
  ];
  assert.equal(textOf(parts), "a\n[image image/png]\n[audio]\n\n");
  assert.equal(textOf("plain"), "plain");
  for (const nothing of [undefined, null, 5, {}]) assert.equal(textOf(nothing), "");
  const many = Array.from({ length: 40 }, () => ({ type: "text", text: "y".repeat(WHOLE) }));
  assert.ok(textOf(many).length < 100 * 1024);
});

test("thinking and text of an answer are apart, calls are neither", () => {
  const parts = [
    { type: "thinking", thinking: "t" },
    { type: "toolCall", name: "x" },
    { type: "text", text: "a" },
  ];
  assert.deepEqual(assistantText(parts), { text: "a", thinking: "t" });
  assert.deepEqual(assistantText("a"), { text: "a", thinking: "" });
});

test("arguments stay comparable when they are too long to hand over", () => {
  const write = (content: string) => argumentsText({ path: "a", content });
  const long = "x".repeat(WHOLE);
  assert.equal(write("short"), '{"path":"a","content":"short"}');
  assert.ok(write(long).length < 1000);
  assert.equal(JSON.parse(write(long)).path, "a");
  assert.equal(write(long), write(long));
  assert.notEqual(write(`${long}1`), write(`${long}2`));
});

test("arguments that JSON has no form for are empty", () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  for (const args of [undefined, null, circular, { n: 1n }, () => 1]) assert.equal(argumentsText(args), "{}");
});
