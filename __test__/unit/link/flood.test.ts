// What holders of the token can bring over one main session, however they go about it: by more reports, connections,
// lives, sessions, levels or processes. Each kind has one bound for the main session, and what is held back is counted.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { ledgerOf } from "../../../extension/link/ledger.ts";
import {
  DEEP,
  JOINS_AT_ONCE,
  MAX_ALL_SESSIONS,
  MAX_SESSIONS,
  NAMES_AT_ONCE,
  NESTED_AT_ONCE,
  NOTICES_AT_ONCE,
  TREE_NOTICES_AT_ONCE,
} from "../../../extension/link/limits.ts";
import { publishLive } from "../../../extension/root.ts";
import { type Notice, store } from "../../../index.js";
import { TestMain } from "../../support/link/main.ts";
import { type Line, Peer, stuck } from "../../support/link/peer.ts";
import { Stranger } from "../../support/link/stranger.ts";
import { poll } from "../../support/wait.ts";

/** Levels of a cost limit at once; more come as minutes pass. */
const LEVELS_AT_ONCE = 8;
const freshRun = () => randomBytes(16).toString("hex");

/** What would be reported of the tree by now. */
function due(main: TestMain): Notice[] {
  const notices: Notice[] = [];
  for (
    let next = store.takeTreeNotice(main.id, Date.now());
    next !== null;
    next = store.takeTreeNotice(main.id, Date.now())
  )
    notices.push(next);
  return notices;
}

const doubled = (s: string): Line[] =>
  Array.from({ length: 40 }, (_, n) => ({ t: "state", s, d: { usage: { input: 10 * n, usd: 0.001 * 2 ** n } } }));

function costly(main: TestMain): void {
  const config = { ...main.session.config, costLimitUsd: 1 };
  main.session.config = config;
  store.configure(main.session.handle, config);
}

test("usage that doubles brings a few reports, over however many connections, lives, sessions and processes", async (t) => {
  const main = new TestMain(t);
  costly(main);
  const notices: Notice[] = [];
  let peer = await Peer.join(main.address);
  await peer.open("spender-0");
  for (const frame of doubled("spender-0")) {
    peer.send(frame);
    await peer.barrier("spender-0");
    notices.push(...due(main));
  }
  for (let life = 1; life <= 30; life += 1) {
    peer.socket.destroy();
    peer = await Peer.join(main.address, freshRun());
    const s = `spender-${life}`;
    await peer.open(s);
    for (const frame of doubled(s).slice(8)) peer.send(frame);
    await peer.barrier(s);
    notices.push(...due(main));
  }
  const other = Stranger.start(t);
  const as = await other.join();
  for (let n = 0; n < 60; n += 1) {
    await other.open(as, `nested-${n}`, { parent: `nested-${n - 1}` });
    other.send(as, ...doubled(`nested-${n}`).slice(8));
  }
  await other.barrier(as);
  notices.push(...due(main));
  const costs = notices.filter(({ intervention }) => intervention?.kind === "excessive_cost");
  assert.ok(costs.length >= 3, "what is too much is reported");
  assert.ok(costs.length <= LEVELS_AT_ONCE + 4, `${costs.length}`);
  assert.deepEqual(main.faults, []);
});

test("what no agents can use is not shown as used, and a figure that falls is none", async (t) => {
  const main = new TestMain(t);
  const peer = await Peer.join(main.address);
  await peer.open("rich-1");
  const state = (usage: Line, more: Line = {}) => peer.send({ t: "state", s: "rich-1", d: { usage, ...more } });
  state({ input: 5, usd: 1 }, { toolCallCount: 7 });
  state({ input: 1, usd: 0.5 }, { toolCallCount: 2 });
  await peer.barrier("rich-1");
  assert.deepEqual([main.target("rich-1").usage.usd, main.target("rich-1").toolCallCount], [1, 7]);
  for (const usd of [1e300, -1, Number.MAX_VALUE, "1", null]) state({ input: usd, usd });
  state({ input: 1e300, usd: 1e300 }, { toolCallCount: Number.MAX_SAFE_INTEGER, repeatedCommandCount: 1e15 });
  await peer.barrier("rich-1");
  const { usage, toolCallCount } = main.target("rich-1");
  assert.ok(usage.usd >= 1 && usage.usd < 200 && usage.input < 1e9 && toolCallCount <= 2e6, JSON.stringify(usage));
});

test("notices of all processes together are a few; shown and held back are what was sent", async (t) => {
  const main = new TestMain(t);
  let sent = 0;
  const flood = (s: string) => Array.from({ length: 30 }, (_, n) => ({ t: "notice", s, n: n + 1, notice: stuck() }));
  for (let life = 0; life < 10; life += 1) {
    const peer = await Peer.join(main.address, freshRun());
    for (const s of [`loud-${life}-a`, `loud-${life}-b`]) {
      await peer.open(s);
      for (const frame of flood(s)) peer.send(frame);
      sent += 30;
    }
    await peer.open(`barrier-${life}`);
    peer.socket.destroy();
  }
  const own = main.told.length;
  assert.ok(own >= NOTICES_AT_ONCE && own <= NOTICES_AT_ONCE + 2, "one process, whatever it calls itself");
  for (let n = 0; n < 6; n += 1) {
    const other = Stranger.start(t);
    const as = await other.join();
    await other.open(as, `loud-process-${n}`);
    other.send(as, ...flood(`loud-process-${n}`));
    sent += 30;
    await other.barrier(as);
  }
  assert.ok(
    main.told.length >= TREE_NOTICES_AT_ONCE && main.told.length <= TREE_NOTICES_AT_ONCE + 4,
    `${main.told.length}`,
  );
  const held = Number(/(\d+) notices held back/.exec(main.connection.report()[0]?.detail ?? "")?.[1]);
  assert.equal(main.told.length + held, sent);
  main.reload();
  const again = await Peer.join(main.address);
  await again.open("loud-reloaded");
  for (const frame of flood("loud-reloaded")) again.send(frame);
  await again.open("barrier-reloaded");
  assert.ok(main.told.length <= TREE_NOTICES_AT_ONCE + 4, "a reload brings nothing anew");
});

test("whoever floods does not silence the sessions that a package vouches for", async (t) => {
  const main = new TestMain(t);
  const child = Stranger.start(t);
  const as = await child.join();
  const none = async () => ({ outcome: "refused" as const, reason: "never" });
  main.session.backends.push({
    name: "some package",
    capabilities: { list: true, steer: false, stop: false, resume: false },
    list: () => [
      {
        agentId: "a",
        sessionId: "vouched-1",
        link: "exact",
        type: "t",
        description: "d",
        status: "running",
        pid: child.pid(as),
      },
    ],
    steer: none,
    stop: none,
    dispose: () => {},
  });
  store.open("vouched-1", Date.now(), { rootId: main.id, backend: "some package", link: "exact" }, main.session.config);
  await child.open(as, "vouched-1");
  for (let n = 0; n < 4; n += 1) {
    const other = Stranger.start(t);
    const loud = await other.join();
    await other.open(loud, `loud-${n}`);
    other.send(
      loud,
      ...Array.from({ length: 20 }, (_, at) => ({ t: "notice", s: `loud-${n}`, n: at + 1, notice: stuck() })),
    );
    await other.barrier(loud);
  }
  child.send(as, { t: "notice", s: "vouched-1", n: 1, notice: stuck() });
  await child.barrier(as);
  assert.ok(main.told.some(({ notice }) => notice.targetId === "vouched-1"));
});

test("sessions are bounded for a process over all its connections, and for all processes", async (t) => {
  const main = new TestMain(t);
  const many = (peer: Peer, name: string) => {
    for (let n = 0; n < 100; n += 1) peer.send({ t: "open", s: `${name}-${n}` });
    return peer.line("denied", ({ s }) => s === `${name}-99`);
  };
  const [one, two] = [await Peer.join(main.address), await Peer.join(main.address)];
  assert.equal((await many(one, "one")).why, "too many sessions of one process");
  assert.equal((await many(two, "two")).why, "too many sessions of one process");
  const open = () => main.targets().filter(({ endedAt }) => endedAt === undefined).length;
  assert.equal(open(), MAX_SESSIONS);
  // One of them ends: there is room for another, on either connection.
  one.send({ t: "end", s: "one-0", status: "completed" });
  await one.open("barrier-1");
  assert.equal(open(), MAX_SESSIONS);
  for (let n = 0; n < 5; n += 1) {
    const other = Stranger.start(t);
    const as = await other.join();
    other.send(as, ...Array.from({ length: 70 }, (_, at) => ({ t: "open", s: `other-${n}-${at}` })));
    await other.line(as, "denied", ({ s }) => s === `other-${n}-69`);
  }
  assert.ok(open() > MAX_ALL_SESSIONS - 5 && open() <= MAX_ALL_SESSIONS, `${open()}`);
  assert.deepEqual(main.faults, []);
});

test("sessions that begin and end again and again come to an end", async (t) => {
  const main = new TestMain(t);
  const peer = await Peer.join(main.address);
  for (let n = 0; n < 400; n += 1) {
    peer.send({ t: "open", s: `brief-${n}` });
    peer.send({ t: "end", s: `brief-${n}`, status: "completed" });
  }
  const last = await peer.line("denied", ({ s }) => s === "brief-399");
  assert.deepEqual([last.why, last.again], ["too many sessions of processes", true]);
  assert.ok(peer.lines.filter(({ t }) => t === "opened").length <= 260);
});

test("sessions nested ever deeper hang under the main session after a few", async (t) => {
  const main = new TestMain(t);
  const peer = await Peer.join(main.address);
  for (let n = 0; n < 50; n += 1) await peer.open(`deep-${n}`, { parent: `deep-${n - 1}` });
  const depth = (id: string): number => (id === main.id ? 0 : 1 + depth(main.target(id).parentId ?? main.id));
  const depths = Array.from({ length: 50 }, (_, n) => depth(`deep-${n}`));
  const deep = depths.filter((level) => level >= DEEP).length;
  assert.ok(deep >= NESTED_AT_ONCE && deep <= NESTED_AT_ONCE + 2, JSON.stringify(depths));
});

test("a name that changes with every report changes a few times", async (t) => {
  const main = new TestMain(t);
  const peer = await Peer.join(main.address);
  await peer.open("named-1");
  const names = new Set<string>();
  for (let n = 0; n < 40; n += 1) {
    peer.send({ t: "state", s: "named-1", d: { name: `name ${n} ${"x".repeat(500)}` } });
    await peer.barrier("named-1");
    names.add(main.target("named-1").name);
  }
  assert.ok(names.size <= NAMES_AT_ONCE + 2, `${names.size}`);
  assert.ok([...names].every((name) => name.length <= 80));
});

test("verdicts and figures that come too fast are taken a little later, and the latest is what counts", async (t) => {
  const main = new TestMain(t);
  let refreshed = 0;
  const live = {
    id: main.id,
    rootId: main.id,
    file: undefined,
    steer: () => true,
    refresh: () => {
      refreshed += 1;
    },
  };
  t.after(publishLive(live, () => {}));
  const peer = await Peer.join(main.address);
  await peer.open("fast-1");
  const before = main.tended;
  const began = performance.now();
  for (let n = 1; n <= 3000; n += 1) {
    const evidence = n % 2 === 0 ? stuck().analysis.evidence : [];
    const analysis = { likelyStuck: n % 2 === 0, confidence: "low", evidence, evidenceKey: "" };
    peer.send({ t: "state", s: "fast-1", d: { toolCallCount: n, analysis, status: n % 3 ? "running" : "idle" } });
  }
  await peer.barrier("fast-1");
  await main.when((targets) => targets.find(({ id }) => id === "fast-1")?.toolCallCount === 3000, "the latest");
  assert.equal(main.target("fast-1").likelyStuck, true);
  const most = (performance.now() - began) / 50 + 5;
  assert.ok(main.tended - before <= most, `${main.tended - before} of ${most}`);
  await poll(
    () => (refreshed >= 1 ? true : undefined),
    () => "a refresh of the screen",
  );
  assert.ok(refreshed <= most, `${refreshed} of ${most}`);
});

test("events of a liar are counted to the event: taken and lost are what was sent", async (t) => {
  const main = new TestMain(t);
  const peer = await Peer.join(main.address);
  await peer.open("liar-1");
  let q = 0;
  for (let batch = 0; batch < 40; batch += 1) {
    const e = Array.from({ length: 50 }, (_, n): unknown => {
      q += 1;
      if (n % 10 === 3) return { q, at: "never", type: "tool_call" };
      if (n % 10 === 4) return { q, at: 1, type: "nothing that is known" };
      if (n % 10 === 5) return null;
      return { q, at: 1, type: "llm_output", summary: "x" };
    });
    peer.send({ t: "events", s: "liar-1", e });
    // Sent again, as after a reconnect.
    if (batch % 7 === 0) peer.send({ t: "events", s: "liar-1", e });
  }
  await peer.line("ack", (line) => line.q === q);
  const target = main.target("liar-1");
  assert.equal(target.remote?.lost, (q * 3) / 10);
});

test("processes that connect again and again are let in for a while only", async (t) => {
  // Time stands still: however slow the machine is, nobody is let in again meanwhile.
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const main = new TestMain(t);
  const early = await Peer.join(main.address);
  const ledger = ledgerOf(main.id);
  let more = 1;
  while (ledger.joins.take(Date.now())) more += 1;
  assert.ok(more >= JOINS_AT_ONCE, `${more}`);
  const late = await Peer.connect(main.address.path);
  await late.greet(main.address.token);
  await late.isClosed();
  assert.ok(!late.lines.some(({ t }) => t === "welcome"));
  assert.equal((await early.open("early-1")).t, "opened");
  assert.equal(ledgerOf(main.id), ledger);
  main.close();
  assert.notEqual(ledgerOf(main.id), ledger, "nothing of it is kept");
});
