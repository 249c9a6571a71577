// Text from models and programs, made safe to show: what must go, what must stay, and that nothing slips through.

import assert from "node:assert/strict";
import { test } from "node:test";
import { plain as commandLine } from "../../bin/lib/plain.mjs";
import { cut, lines, oneLine, plain, quoted } from "../../extension/sanitize.ts";
import { hashOutput } from "../../index.js";

const FORBIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/;

for (const [what, raw, safe] of [
  ["colours", "\u001b[1;31mred\u001b[0m", "red"],
  ["a title", "\u001b]0;owned\u0007text", "text"],
  ["a link", "\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "link"],
  ["eight-bit sequences", "\u009b31mred", "red"],
  ["bidi marks", "a\u202eb\u2066c", "abc"],
  ["invisible characters", "a\u200bb\u2060c\ufeffd\u{e0041}", "abcd"],
  ["line ends", "a\r\nb\rc\u2028d\u0085e", "a\nb\nc\nd\ne"],
  ["tabs", "a\tb", "a  b"],
  ["NUL and bell", "a\u0000\u0007b", "ab"],
  ["lone surrogates", "a\ud800b", "a\ufffdb"],
  ["fillers and selectors", "a\u3164b\u115fc\uffa0d\u2800e\u034ff\u180bg\ufe0fh\u{e0101}i\u17b4j", "abcdefghij"],
  ["joined emoji fall apart", "👩‍👩‍👧 ❤️", "👩👩👧 ❤"],
  ["a sequence without an end", "a\u001b]0;b\nc\u001b[1;\nd", "a\nc\nd"],
  ["what is text", "日本語 — naïve 👩 → ok", "日本語 — naïve 👩 → ok"],
] as const) {
  test(`plain text: ${what}`, () => assert.equal(plain(raw), safe));
}

test("one line has no line ends, no double spaces and at most so many characters", () => {
  assert.equal(oneLine("  a\n\n b\t c "), "a b c");
  assert.equal(oneLine("x".repeat(500)).length, 200);
  assert.ok(oneLine("x".repeat(500)).endsWith("…"));
  assert.equal(oneLine("x".repeat(200)), "x".repeat(200));
});

test("a cut never splits a character in two", () => {
  for (let max = 1; max < 12; max++) assert.equal(cut("😀😀😀😀😀", max).isWellFormed(), true);
});

test("lines and quotes are bounded and say how much is missing", () => {
  assert.deepEqual(lines("1\n2\n3\n4\n\n", 2), ["1", "2", "… 2 more lines"]);
  assert.deepEqual(lines("1\n2\n3", 2), ["1", "2", "… 1 more line"]);
  assert.equal(quoted("a\n# b"), "> a\n> # b");
  const long = lines("x".repeat(10_000_000));
  assert.equal(long.length, 1);
  assert.equal(long[0]?.length, 200);
});

/** Small and seeded: the same soup in every run. */
function* soup(count: number): Generator<string> {
  const pieces = [
    "\u001b[",
    "\u001b]",
    "\u009d",
    "\u0090",
    "\u001b\\",
    "\u0007",
    "31m",
    ";",
    "a",
    "é",
    "日",
    "😀",
    "\n",
    "\r",
    "\u202e",
    "\u200b",
    "\ud83d",
    "\udc00",
    "\u0000",
    "\u2028",
    " ",
    "\t",
  ];
  let state = 4711;
  const next = (): number => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    return state >> 8;
  };
  for (let i = 0; i < count; i++) {
    yield Array.from({ length: next() % 40 }, () => pieces[next() % pieces.length]).join("");
  }
}

test("no soup of sequences leaves anything that a terminal obeys", () => {
  for (const text of soup(5000)) {
    for (const safe of [plain(text), oneLine(text), quoted(text)]) {
      assert.doesNotMatch(safe, FORBIDDEN, JSON.stringify(text));
      assert.ok(safe.isWellFormed());
    }
    assert.doesNotMatch(oneLine(text), /[\n\t]/);
    assert.equal(plain(plain(text)), plain(text), "once is enough");
  }
});

/** All code points but halves of pairs, so many at a time. */
function* codePoints(together: number): Generator<string> {
  for (let from = 0; from < 0x11_0000; from += together) {
    const part = Array.from({ length: together }, (_, index) => from + index);
    const scalar = part.filter((code) => code < 0x11_0000 && (code < 0xd800 || code > 0xdfff));
    if (scalar.length > 0) yield String.fromCodePoint(...scalar);
  }
}

test("the extension, the command and the addon take out the same characters, of all there are", () => {
  // Those that begin sequences take more with them; line ends and blanks are shown in different ways.
  const apart = /[\u001b\u0090\u0098\u009b\u009d-\u009f\s\u0085]/gu;
  for (const all of codePoints(150)) {
    const text = `<${all.replace(apart, "")}>`;
    const shown = plain(text);
    assert.equal(hashOutput(text, { previewLines: 1 }).preview, shown);
    assert.equal(commandLine(text, 1000), shown);
  }
});

test("nothing that Unicode calls invisible or a direction mark is left", () => {
  const hidden = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Noncharacter_Code_Point}\p{Cc}\u2800]/u;
  for (const all of codePoints(1000)) assert.doesNotMatch(plain(all).replaceAll("\n", ""), hidden);
});

test("what is a letter, a mark of one, a digit or a sign stays", () => {
  const visible =
    /[^\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Noncharacter_Code_Point}\p{C}\p{Z}\u2800\u{16fe4}\u{1d159}]/gu;
  for (const all of codePoints(1000)) {
    const text = (all.match(visible) ?? []).join("");
    assert.equal(plain(text), text);
  }
});

test("escape sequences go in the same way as in the addon, whole or cut off", () => {
  for (const text of soup(3000)) {
    const flat = text.toWellFormed().replace(/[\r\t\v\f\u0085\u2028\u2029]/g, "");
    assert.equal(
      hashOutput(flat, { previewLines: 1 }).preview,
      plain(flat).split("\n")[0]?.trimEnd(),
      JSON.stringify(flat),
    );
  }
});
