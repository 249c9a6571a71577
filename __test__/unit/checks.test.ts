// What `npm run check` judges by code of its own: titles of commits, circles of files, and why a build failed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { whyCargoFailed } from "../../scripts/build.mjs";
import { circles, importsOf } from "../../scripts/lib/check-circles.mjs";
import { titleProblem } from "../../scripts/lib/check-commits.mjs";

test("a title of a commit has a type and fits in a line", () => {
  for (const title of [
    "fix(alerts): say it once",
    "feat: add rpc",
    "refactor(tree-clock)!: drop tend",
    "docs: name TOKEN and Pi",
    `test: ${"a".repeat(66)}`,
  ])
    assert.equal(titleProblem(title), undefined, title);
  for (const title of [
    "Who is watched again has clocks again",
    "fix alerts: say it once",
    "fix(alerts) say it once",
    "feature: x",
    "fix: ",
    "fix: Say it once",
    "fix: say it once.",
    `test: ${"a".repeat(67)}`,
  ])
    assert.notEqual(titleProblem(title), undefined, title);
});

test("a circle is found whatever leads to it, and types lead nowhere", () => {
  assert.deepEqual(
    circles(
      new Map([
        ["a", ["b"]],
        ["b", ["c"]],
        ["c", ["b"]],
      ]),
    ),
    [["b", "c"]],
  );
  assert.deepEqual(circles(new Map([["a", ["a"]]])), [["a"]]);
  assert.deepEqual(
    circles(
      new Map([
        ["a", ["b", "c"]],
        ["b", ["c"]],
        ["c", []],
      ]),
    ),
    [],
  );
  const source = `
import { a } from "./a.ts";
import type { B } from "./b.ts";
import { type C, type D } from "./c.ts";
import { type E, f } from "../f.ts";
import "./g.ts";
export { h } from "./h.ts";
export type { I } from "./i.ts";
import {
  long,
} from "./long.ts";
import x from "node:fs";
`;
  assert.deepEqual(importsOf("dir/here.ts", source), ["dir/a.ts", "f.ts", "dir/g.ts", "dir/h.ts", "dir/long.ts"]);
});

test("a build that misses a C compiler or the network says what to do", () => {
  // As rustc, the build script of SQLite, and cargo say it.
  for (const said of [
    "error: linker `cc` not found\n  |\n  = note: No such file or directory (os error 2)",
    'error occurred in cc-rs: failed to find tool "cc": No such file or directory (os error 2)',
    'error occurred in cc-rs: failed to find tool "x86_64-linux-gnu-gcc": … (see https://docs.rs/cc) is `cc` not installed?',
  ])
    assert.match(whyCargoFailed(said, 101), /C compiler is missing.*build-essential.*xcode-select/, said);
  assert.match(whyCargoFailed("error: failed to download `serde`", 101), /network is needed once/);
  assert.match(whyCargoFailed("error[E0425]: cannot find value", 101), /exit code 101/);
});
