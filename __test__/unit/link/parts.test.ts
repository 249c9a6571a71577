// The parts of the link that are pure: what is kept for a main session that does not listen, lines cut out of bytes,
// and how much may pass.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Allowance, Budget } from "../../../extension/link/budget.ts";
import { proof, randomId, sameProof } from "../../../extension/link/handshake.ts";
import { BATCH, MAX_QUEUED, MAX_QUEUED_BYTES } from "../../../extension/link/limits.ts";
import { Outbox } from "../../../extension/link/outbox.ts";
import { LineReader } from "../../../extension/link/wire.ts";

const numbers = (text: string): number[] => (text === "" ? [] : JSON.parse(text).map(({ q }: { q: number }) => q));

test("what is sent and not acknowledged is sent again over a new connection, the rest is not", () => {
  const box = new Outbox();
  for (let n = 1; n <= 5; n += 1) box.add({ n });
  assert.deepEqual(numbers(box.next()), [1, 2, 3, 4, 5]);
  assert.equal(box.next(), "");
  box.acknowledged(2);
  box.add({ n: 6 });
  assert.deepEqual(numbers(box.next()), [6]);
  box.restart(3);
  assert.deepEqual(numbers(box.next()), [4, 5, 6]);
  box.acknowledged(6);
  assert.equal(box.length, 0);
});

test("a queue that nobody empties stays small, loses the oldest, and its numbers show the gap", () => {
  const box = new Outbox();
  for (let n = 1; n <= MAX_QUEUED + 100; n += 1) box.add({ n });
  box.skip(10);
  box.add({ last: true });
  assert.equal(box.length, MAX_QUEUED);
  assert.equal(box.last, MAX_QUEUED + 111);
  const first = numbers(box.next());
  assert.equal(first[0], 102);
  assert.equal(first.length, BATCH);
  const fat = new Outbox();
  for (let n = 0; n < 100; n += 1) fat.add({ text: "x".repeat(100_000) });
  assert.ok(fat.length * 100_000 <= MAX_QUEUED_BYTES, `${fat.length}`);
  assert.equal(numbers(fat.next()).length, 1, "one that is larger than a batch goes alone");
});

test("lines are found however the bytes are cut, also within a character", () => {
  const text = Buffer.from('{"a":"é→😀"}\n\n{"b":2}\n{"c"');
  for (const size of [1, 2, 3, 5, 100]) {
    const reader = new LineReader(100);
    const lines: string[] = [];
    for (let at = 0; at < text.length; at += size)
      assert.ok(reader.feed(text.subarray(at, at + size), (line) => lines.push(line) > 0));
    assert.deepEqual(lines, ['{"a":"é→😀"}', "", '{"b":2}'], `${size}`);
  }
});

test("a line that is too long ends the reading, in one piece or in many", () => {
  assert.equal(
    new LineReader(10).feed(Buffer.from("x".repeat(11)), () => true),
    false,
  );
  const reader = new LineReader(1000);
  let going = 0;
  while (reader.feed(Buffer.from("y"), () => true)) going += 1;
  assert.equal(going, 1000);
});

test("a proof of one side is none of the other's, and any other number, life or token gives another", () => {
  const [a, b, run] = [randomId(), randomId(), randomId()];
  const right = proof("token", "child", a, b, run);
  assert.ok(sameProof(right, proof("token", "child", a, b, run)));
  for (const wrong of [
    proof("token", "main", a, b, run),
    proof("token", "child", b, a, run),
    proof("token", "child", a, b, randomId()),
    proof("other", "child", a, b, run),
    "",
    undefined,
    right.slice(1),
  ])
    assert.equal(sameProof(wrong, right), false);
});

test("a budget makes who takes too much wait as long as that lasts, and fills again", () => {
  let now = 0;
  const budget = new Budget(1000, () => now);
  assert.equal(budget.take(1000), 0);
  assert.equal(budget.take(500), 500);
  now = 500;
  assert.equal(budget.take(0), 0);
  now = 100_000;
  assert.equal(budget.take(1000), 0);
  assert.equal(budget.take(1), 1);
});

test("an allowance gives so many at once and then one at a time", () => {
  const allowance = new Allowance(3, 1000);
  assert.deepEqual(
    [0, 0, 0, 0].map((at) => allowance.take(at)),
    [true, true, true, false],
  );
  assert.deepEqual(
    [1000, 1000, 60_000, 60_000].map((at) => allowance.take(at)),
    [true, false, true, true],
  );
});
