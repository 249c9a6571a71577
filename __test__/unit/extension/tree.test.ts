// Targets as a tree: whatever packages say of parents, every target has one row, and what a branch used is added up.

import assert from "node:assert/strict";
import { test } from "node:test";
import { branch, squeeze } from "../../../extension/render/branch.ts";
import { asTree } from "../../../extension/tools/tree.ts";
import type { TargetSummary } from "../../../index.js";

const target = (id: string, parentId?: string, more: Partial<TargetSummary> = {}): TargetSummary =>
  ({
    id,
    rootId: "root",
    ...(parentId === undefined ? {} : { parentId }),
    name: id,
    usage: { input: 1, output: 2, cacheRead: 10, cacheWrite: 20, usd: 0.5 },
    ...more,
  }) as TargetSummary;

/** `id` with two spaces a level. */
const drawn = (rows: ReturnType<typeof asTree>): string[] =>
  rows.map(({ target, depth }) => "  ".repeat(depth) + target.id);

test("children stand under their parents, whatever order they come in", () => {
  const rows = asTree([target("c", "b"), target("b", "a"), target("d", "root"), target("a", "root"), target("root")]);
  assert.deepEqual(drawn(rows), ["root", "  d", "  a", "    b", "      c"]);
  assert.deepEqual(
    rows.map(({ follows }) => follows),
    [[], [true], [false], [false, false], [false, false, false]],
  );
});

test("a child of an unknown parent stands under its main session, and without one at the top", () => {
  assert.deepEqual(drawn(asTree([target("root"), target("x", "gone"), target("y", undefined)])), [
    "root",
    "  x",
    "  y",
  ]);
  assert.deepEqual(drawn(asTree([target("x", "gone"), target("y", "x")])), ["x", "  y"]);
});

test("a target that is its own parent, or in a circle of them, has one row", () => {
  const circle = [target("a", "c"), target("b", "a"), target("c", "b"), target("d", "d"), target("e", "c")];
  const rows = asTree([target("root"), ...circle]);
  assert.deepEqual(rows.map((row) => row.target.id).sort(), ["a", "b", "c", "d", "e", "root"]);
});

test("a branch's total has everything below it, also what is not shown", () => {
  const all = [target("root"), target("a", "root"), target("b", "a"), target("c", "b")];
  const rows = asTree(all, ({ id }) => id !== "b");
  assert.deepEqual(drawn(rows), ["root", "  a", "    c"], "a hidden parent's children stand under the next one shown");
  assert.deepEqual(rows[1]?.total, { input: 3, output: 6, cacheRead: 30, cacheWrite: 60, usd: 1.5 });
  assert.deepEqual(
    rows.map(({ below }) => below),
    [3, 2, 0],
  );
  assert.deepEqual(rows[0]?.total, { input: 4, output: 8, cacheRead: 40, cacheWrite: 80, usd: 2 });
});

test("how deep agents nest and how many there are is not bounded by the stack", () => {
  const chain = Array.from({ length: 2000 }, (_, i) => target(`n${i}`, i === 0 ? "root" : `n${i - 1}`));
  const rows = asTree([...chain.reverse(), target("root")]);
  assert.equal(rows.length, 2001);
  assert.equal(rows.at(-1)?.depth, 2000);
  assert.equal(rows[0]?.below, 2000);
  const wide = Array.from({ length: 5000 }, (_, i) => target(`w${i}`, "root"));
  assert.equal(asTree([target("root"), ...wide]).length, 5001);
});

test("glyphs: a bend for each row, lines where siblings follow, and no more than eight levels", () => {
  const glyphs = (...follows: boolean[]) => branch(follows, false).lead;
  assert.equal(glyphs(), "");
  assert.equal(glyphs(true), "├ ");
  assert.equal(glyphs(false), "└ ");
  assert.equal(glyphs(true, false, true), "│   ├ ");
  assert.equal(branch([true, false], true).hang, "│   │ ");
  assert.equal(branch([true, false], false).hang, "│     ");
  assert.equal(branch([true, true], true).hang, "│ │ │ ");
  assert.deepEqual(branch(Array(8).fill(false), true).level, undefined);
  const deep = branch(Array(12).fill(false), true);
  assert.equal(deep.level, 12);
  assert.equal(deep.lead.length, 16);
  assert.equal(deep.indent, 16);
  assert.equal(squeeze("  │   ├ "), " │ ├ ");
  assert.equal(squeeze(""), "");
});
