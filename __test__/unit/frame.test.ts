// The dashboard's frame on terminals of every size, and what a reader sees of a text that grows.

import assert from "node:assert/strict";
import { test } from "node:test";
import { visibleWidth } from "@earendil-works/pi-tui";
import { FOOTER_ROWS, fitHints, frame, type Row, textRows, Viewport } from "../../extension/render/frame.ts";

const HINTS = ["escape back", "up/down scroll", "p resume alerts", "home/end"];
const rowsOf = (from: number, to: number): Row[] =>
  Array.from({ length: to - from }, (_, i) => ({ key: `e${from + i}`, text: `event ${from + i}` }));
const keys = (rows: readonly Row[]): string[] => rows.map(({ key }) => key);

test("at every size from 20x40 to 60x200 the frame, the hints and some text are on the screen above the footer", () => {
  for (let height = 20; height <= 60; height++) {
    for (let width = 40; width <= 200; width += 1) {
      for (const length of [0, 1, 12, 13, 300]) {
        const view = new Viewport();
        const body = view.show(rowsOf(0, length), textRows(height)).map(({ text }) => text);
        const position = view.position;
        const parts = { title: "Watchdog", body, hints: fitHints(HINTS, width), border: (text: string) => text };
        const drawn = frame(position === undefined ? parts : { ...parts, position }, width, height);
        const where = `${height}x${width}, ${length} rows`;
        assert.ok(drawn.length <= height - FOOTER_ROWS, where);
        assert.match(drawn[0] ?? "", /^─+$/, where);
        assert.equal(drawn[1], "Watchdog", where);
        assert.equal(drawn.length - 4, Math.min(length, height - FOOTER_ROWS - 4), where);
        assert.ok(textRows(height) >= 10, where);
        assert.match(drawn.at(-2) ?? "", /^escape back · up\/down scroll/, where);
        assert.match(drawn.at(-1) ?? "", position === undefined ? /^─+$/ : /^── \d+-\d+ of \d+ ─+$/, where);
        for (const line of drawn) assert.ok(visibleWidth(line) <= width, where);
      }
    }
  }
});

test("a screen too low for the frame still shows text, and is never exceeded", () => {
  for (let height = 1; height < 20; height++) {
    const drawn = frame({ title: "t", body: ["one"], hints: "h", border: (text) => text }, 40, height);
    assert.ok(drawn.length >= 1 && drawn.length <= Math.max(1, height - FOOTER_ROWS), `${height}`);
  }
});

test("hints are left out from the end and never cut in two", () => {
  for (let width = 11; width < 80; width++) {
    const line = fitHints(HINTS, width);
    assert.ok(visibleWidth(line) <= width);
    assert.deepEqual(line.split(" · "), HINTS.slice(0, line.split(" · ").length));
  }
  assert.equal(visibleWidth(fitHints(HINTS, 5)), 5);
});

test("a text opens at its end and follows it until the reader leaves the end, and again when the reader is back", () => {
  for (const room of [1, 5, 17, 40]) {
    const view = new Viewport();
    assert.equal(view.show(rowsOf(0, 60), room).at(-1)?.key, "e59");
    assert.equal(view.show(rowsOf(0, 61), room).at(-1)?.key, "e60");
    view.move(-1);
    assert.equal(view.show(rowsOf(0, 62), room).at(-1)?.key, "e59");
    view.end();
    assert.equal(view.show(rowsOf(0, 62), room).at(-1)?.key, "e61");
    assert.equal(view.show(rowsOf(0, 63), room).at(-1)?.key, "e62");
  }
});

test("every key reaches the first and the last row, however long the text is", () => {
  for (const length of [1, 3, 17, 18, 100]) {
    for (const room of [1, 5, 17]) {
      const rows = rowsOf(0, length);
      const ways: [(view: Viewport) => void, (view: Viewport) => void, number][] = [
        [(view) => view.home(), (view) => view.end(), 1],
        [(view) => view.page(-1), (view) => view.page(1), length],
        [(view) => view.move(-1), (view) => view.move(1), length],
      ];
      for (const [up, down, times] of ways) {
        const view = new Viewport();
        view.show(rows, room);
        for (let i = 0; i < times; i++) {
          up(view);
          view.show(rows, room);
        }
        assert.equal(view.show(rows, room)[0]?.key, "e0");
        for (let i = 0; i < times; i++) down(view);
        assert.equal(view.show(rows, room).at(-1)?.key, `e${length - 1}`);
        assert.equal(view.show(rowsOf(0, length + 1), room).at(-1)?.key, `e${length}`, "follows again");
      }
    }
  }
});

test("paging passes over no row", () => {
  const rows = rowsOf(0, 100);
  const view = new Viewport();
  const seen = new Set(keys(view.show(rows, 7)));
  for (let i = 0; i < 30; i++) {
    view.page(-1);
    for (const key of keys(view.show(rows, 7))) seen.add(key);
  }
  assert.equal(seen.size, 100);
});

test("what is added below, above or evicted does not move what the reader looks at", () => {
  let seed = 4711;
  const random = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % below;
  };
  for (let round = 0; round < 500; round++) {
    const view = new Viewport();
    const room = 3 + random(15);
    let to = 60 + random(60);
    let from = 0;
    let head = random(8);
    const text = (): Row[] => [
      ...Array.from({ length: head }, (_, i) => ({ key: `h${i}`, text: "" })),
      ...rowsOf(from, to),
    ];
    view.show(text(), room);
    view.move(-(1 + random(to - room)));
    const before = keys(view.show(text(), room)).filter((key) => key.startsWith("e"));
    for (let step = 0; step < 5; step++) {
      to += random(4);
      const whole = before.length === room;
      if (whole) head += random(3);
      const first = Number(before[0]?.slice(1));
      if (whole) from = Math.min(first, from + random(3));
      const after = keys(view.show(text(), room)).filter((key) => key.startsWith("e"));
      assert.deepEqual(after, before, `round ${round}, step ${step}`);
    }
  }
});
