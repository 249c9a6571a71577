// Real processes on the link: many, fast, killed, frozen, and with the floor taken away from under them. What is made is
// compared with what arrives, to the single event.

import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { store } from "../../../index.js";
import { TestMain } from "../../support/link/main.ts";
import { LinkedProcess } from "../../support/link/spawn.ts";
import { poll } from "../../support/wait.ts";

const ended = (count: number) => (targets: { endedAt?: number }[]) =>
  targets.filter(({ endedAt }) => endedAt !== undefined).length === count;

test("64 processes at once: each is a target of its own, and nothing is lost or counted twice", async (t) => {
  const main = new TestMain(t);
  const children = Array.from({ length: 64 }, (_, n) => new LinkedProcess(t, `many-${n}`, 40, 10, true));
  // Starting so many takes a busy machine a while.
  for (const child of children) await child.says("made");
  await main.when(
    (targets) => targets.filter(({ toolCallCount }) => toolCallCount === 40).length === 64,
    "all at work",
  );
  for (const child of children) child.release();
  assert.deepEqual(
    await Promise.all(children.map(({ exit }) => exit)),
    children.map(() => 0),
  );
  await main.when(ended(64), "64 ends");
  for (const target of main.targets()) {
    assert.deepEqual(
      [target.status, target.toolCallCount, target.remote?.lost, Math.round(target.usage.input)],
      ["completed", 40, 0, 4000],
      target.id,
    );
    assert.equal(target.eventCount, 80);
  }
  assert.deepEqual(main.faults, []);
});

test("a thousand events a second arrive, each once", async (t) => {
  const main = new TestMain(t);
  const child = new LinkedProcess(t, "fast-1", 3000, 1, true);
  await child.says("made");
  child.release();
  assert.equal(await child.exit, 0);
  await main.when(ended(1), "the end");
  const target = main.target("fast-1");
  assert.deepEqual([target.toolCallCount, target.remote?.lost], [3000, 0]);
  assert.equal(store.events(handleOf(main, "fast-1"), 1)[0]?.summary, "bash: echo 3000");
});

test("what is too fast to be kept is lost in the middle, counted to the event, and told", async (t) => {
  const main = new TestMain(t);
  const child = new LinkedProcess(t, "burst-1", 50_000, 0, true);
  await child.says("made");
  await main.when(([target]) => target?.toolCallCount === 50_000, "the figures");
  child.release();
  assert.equal(await child.exit, 0);
  await main.when(ended(1), "the end");
  const target = main.target("burst-1");
  const lost = target.remote?.lost ?? 0;
  assert.ok(lost > 0, "all of them in one turn cannot be kept");
  assert.equal(target.eventCount + lost, 100_000, "what is not lost is here");
  assert.match(main.connection.report()[0]?.detail ?? "", new RegExp(`${lost} events lost`));
});

test("the main session reloads in the middle: the process finds it again, and nothing is lost or counted twice", async (t) => {
  const main = new TestMain(t);
  const child = new LinkedProcess(t, "reload-1", 300, 5, true);
  for (const calls of [50, 120, 200]) {
    await main.when(([target]) => (target?.toolCallCount ?? 0) >= calls, `${calls} calls`);
    main.reload();
  }
  await main.when(([target]) => target?.toolCallCount === 300, "all calls");
  child.release();
  assert.equal(await child.exit, 0);
  await main.when(ended(1), "the end");
  assert.equal(main.targets().length, 1);
  const target = main.target("reload-1");
  assert.deepEqual([target.status, target.toolCallCount, target.remote?.lost], ["completed", 300, 0]);
  assert.equal(child.lines.filter(({ lost }) => lost).length, 0);
});

test("the socket is deleted under way: who is connected goes on, and who comes later finds it again", async (t) => {
  const main = new TestMain(t);
  const first = new LinkedProcess(t, "before-1", 5, 1, true);
  await main.when(([target]) => target?.toolCallCount === 5, "the first");
  rmSync(dirname(main.address.path), { recursive: true });
  const second = new LinkedProcess(t, "after-1", 5, 1, true);
  await main.when(
    (targets) => targets.length === 2 && targets.every(({ toolCallCount }) => toolCallCount === 5),
    "both",
  );
  const steered = main.backend.steer("before-1", "Still there?");
  await first.says("steered");
  assert.deepEqual(await steered, { outcome: "queued" });
  first.release();
  second.release();
  assert.deepEqual([await first.exit, await second.exit], [0, 0]);
});

test("a message reaches the one that it is for, and an end is asked of the one that it is meant for", async (t) => {
  const main = new TestMain(t);
  const [a, b] = [new LinkedProcess(t, "a-1", 1, 1, true), new LinkedProcess(t, "b-1", 1, 1, true)];
  await main.when((targets) => targets.length === 2, "both");
  assert.deepEqual(await main.backend.steer("b-1", "Look elsewhere."), { outcome: "queued" });
  assert.deepEqual(
    b.lines.filter((line) => "steered" in line),
    [{ steered: "Look elsewhere." }],
  );
  assert.equal(a.lines.filter((line) => "steered" in line).length, 0);
  assert.deepEqual(await main.backend.steer("b-1", "Now: look here."), { outcome: "delivered" });
  assert.equal((await main.backend.steer("b-1", "Late: too late.")).outcome, "refused");
  assert.equal((await main.backend.steer("c-1", "x")).outcome, "unknown_target");

  assert.equal((await main.backend.stop("b-1")).outcome === "refused", false);
  assert.equal(await b.exit, null, "ended by a signal, as Node is without a handler");
  assert.equal(a.process.exitCode, null);
  a.release();
  assert.equal(await a.exit, 0);
});

test("what is changed in the main session for this run is put into effect in its processes", async (t) => {
  const main = new TestMain(t);
  const child = new LinkedProcess(t, "changed-1", 1, 1, true);
  await main.when(([target]) => target?.toolCallCount === 1, "the child");
  main.session.config = { ...main.session.config, enabled: false };
  main.connection.refresh?.();
  await child.says("refreshed");
  child.release();
  assert.equal(await child.exit, 0);
});

test("a killed process ends as an error; a frozen one is out of contact, cannot be steered, and goes on when it thaws", async (t) => {
  const main = new TestMain(t);
  const [killed, frozen] = [new LinkedProcess(t, "killed-1", 5, 1, true), new LinkedProcess(t, "frozen-1", 5, 1, true)];
  await main.when(
    (targets) => targets.length === 2 && targets.every(({ toolCallCount }) => toolCallCount === 5),
    "both",
  );
  killed.process.kill("SIGKILL");
  frozen.process.kill("SIGSTOP");
  const delivery = await main.backend.steer("frozen-1", "Wake up.");
  assert.equal(delivery.outcome, "unknown", "sent, and nobody says what became of it");
  await main.when(ended(1), "the end of the killed one");
  assert.equal(main.target("killed-1").status, "error");
  await poll(
    () => (Date.now() - (main.target("frozen-1").remote?.contactAt ?? 0) > 5000 ? true : undefined),
    () => "silence",
  );
  assert.equal(main.target("frozen-1").endedAt, undefined, "it may go on");
  frozen.process.kill("SIGCONT");
  await frozen.says("steered");
  frozen.release();
  assert.equal(await frozen.exit, 0);
  await main.when(ended(2), "the end of the other");
  assert.deepEqual([main.target("frozen-1").status, main.target("frozen-1").remote?.lost], ["completed", 0]);
});

test("when the main session ends, its children go on by themselves, and their targets are ended", async (t) => {
  const main = new TestMain(t);
  const child = new LinkedProcess(t, "alone-1", 5, 1, true);
  await main.when(([target]) => target?.toolCallCount === 5, "the child");
  main.close();
  await child.says("lost");
  assert.equal(main.target("alone-1").status, "stopped");
  child.release();
  assert.equal(await child.exit, 0);
});

test("where no folder can be made, status says so in one line and everything else works", (t) => {
  const file = join(tmpdir(), `not-a-folder-${process.pid}`);
  writeFileSync(file, "");
  const { TMPDIR, XDG_RUNTIME_DIR } = process.env;
  t.after(() => {
    rmSync(file, { force: true });
    for (const [name, value] of Object.entries({ TMPDIR, XDG_RUNTIME_DIR })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  process.env.TMPDIR = file;
  delete process.env.XDG_RUNTIME_DIR;
  const main = new TestMain(t);
  const [report, ...others] = main.connection.report();
  assert.equal(report?.state, "unusable");
  assert.match(report?.detail ?? "", /no socket \(ENOTDIR\)/);
  assert.deepEqual([others, main.faults, process.env.PI_WATCHDOG_LINK], [[], [], undefined]);
});

function handleOf(main: TestMain, id: string): number {
  const found = store.resolve(id, main.id);
  return found.ok ? found.handle : 0;
}
