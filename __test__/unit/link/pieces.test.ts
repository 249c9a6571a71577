// Single pieces of the link, each alone and fast: places, connections, requests, what is read of a frame, whose a session is.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { forgetParent, isSessionId, nameParent, publishAddress, readAddress } from "../../../extension/link/address.ts";
import { Allowance, Budget } from "../../../extension/link/budget.ts";
import { count, endStatus, line, liveStatus, note, readNotice, targetKind } from "../../../extension/link/check.ts";
import { Connection } from "../../../extension/link/connection.ts";
import { isNonce, isRun, sameProof } from "../../../extension/link/handshake.ts";
import { closeLedger, Ledger, ledgerOf } from "../../../extension/link/ledger.ts";
import {
  JOINS_AT_ONCE,
  LINE_COST,
  MAX_MESSAGE,
  NOTICE_EVERY_MS,
  NOTICES_AT_ONCE,
  TREE_NOTICES_AT_ONCE,
} from "../../../extension/link/limits.ts";
import { peerOf, runsOn, samePeer, wayUp } from "../../../extension/link/peer.ts";
import { isAlive, isThere, isTrusted, makePlace, removePlace, restore } from "../../../extension/link/place.ts";
import { Requests } from "../../../extension/link/requests.ts";
import { encode, LineReader, parseFrame } from "../../../extension/link/wire.ts";
import { processes } from "../../../index.js";
import { TestMain } from "../../support/link/main.ts";
import { Peer, stuck } from "../../support/link/peer.ts";
import { LinkedProcess } from "../../support/link/spawn.ts";
import { poll } from "../../support/wait.ts";

const root = { skip: process.getuid?.() === 0 ? false : "only root can give a folder away" };

function folder(t: TestContext, mode = 0o700): string {
  const path = mkdtempSync(join(tmpdir(), "pieces-"));
  chmodSync(path, mode);
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test("a socket is trusted in a folder that only its user can enter", (t) => {
  assert.equal(isTrusted(join(folder(t), "s")), true);
  for (const mode of [0o755, 0o710, 0o701, 0o770])
    assert.equal(isTrusted(join(folder(t, mode), "s")), false, `${mode}`);
  assert.equal(isTrusted(join(folder(t), "missing", "s")), false);
  const file = join(folder(t), "file");
  writeFileSync(file, "", { mode: 0o600 });
  assert.equal(isTrusted(join(file, "s")), false, "no folder");
});

test("a folder of another user is not trusted, not used again and not swept", root, (t) => {
  const foreign = folder(t);
  chownSync(foreign, 65_534, 65_534);
  assert.equal(isTrusted(join(foreign, "s")), false);
  assert.throws(() => restore({ path: join(foreign, "s"), folder: foreign }), /is not ours/);
  const left = join(dirname(makeAndRemove()), "pi-wd-4000000000-aaaaaa");
  mkdirSync(left, { mode: 0o700 });
  t.after(() => rmSync(left, { recursive: true, force: true }));
  chownSync(left, 65_534, 65_534);
  makeAndRemove();
  assert.ok(existsSync(left), "another user's");
  chownSync(left, 0, 0);
  makeAndRemove();
  assert.ok(!existsSync(left), "ours, of a process that is gone");
});

function makeAndRemove(): string {
  const place = makePlace();
  removePlace(place);
  return place.folder ?? assert.fail();
}

test("a place is made, found missing, made again and removed", () => {
  const place = makePlace();
  const own = place.folder ?? assert.fail();
  assert.equal(statSync(own).mode & 0o777, 0o700);
  assert.equal(isThere(place), false, "nobody listens yet");
  writeFileSync(place.path, "");
  assert.equal(isThere(place), true);
  restore(place);
  assert.equal(isThere(place), false, "what was there is in the way");
  rmSync(own, { recursive: true });
  restore(place);
  assert.equal(statSync(own).mode & 0o777, 0o700);
  chmodSync(own, 0o755);
  assert.throws(() => restore(place), /is not ours/);
  removePlace(place);
  assert.ok(!existsSync(own));
  removePlace(place);
  assert.equal(isThere({ path: "pipe", folder: undefined }), true);
  assert.deepEqual([isAlive(process.pid), isAlive(1), isAlive(4_000_000)], [true, true, false]);
});

test("a child does not connect where others could listen", async (t) => {
  const place = folder(t, 0o755);
  const server = createServer();
  let connected = 0;
  server.on("connection", (socket) => {
    connected += 1;
    socket.destroy();
  });
  server.listen(join(place, "s"));
  t.after(() => server.close());
  const before = process.env.PI_WATCHDOG_LINK;
  process.env.PI_WATCHDOG_LINK = JSON.stringify({ path: join(place, "s"), rootId: "r", token: "t", pid: process.pid });
  const child = new LinkedProcess(t, "careful-1", 1, 0, true);
  if (before === undefined) delete process.env.PI_WATCHDOG_LINK;
  else process.env.PI_WATCHDOG_LINK = before;
  await child.says("made");
  chmodSync(place, 0o700);
  await poll(
    () => (connected > 0 ? true : undefined),
    () => "a connection once the folder is private",
  );
  chmodSync(place, 0o755);
  const then = connected;
  await child.says("lost");
  assert.ok(connected <= then + 1, `${connected - then} more`);
});

/** Both ends of a real local socket. */
async function pair(t: TestContext): Promise<[Socket, Peer]> {
  const path = join(folder(t), "s");
  const server = createServer();
  server.listen(path);
  t.after(() => server.close());
  const [[socket], peer] = await Promise.all([once(server, "connection"), Peer.connect(path)]);
  t.after(() => peer.socket.destroy());
  return [socket as Socket, peer];
}

async function connection(t: TestContext, take: (amount: number) => number) {
  const [socket, peer] = await pair(t);
  const frames: unknown[] = [];
  const taken: number[] = [];
  const counting = (amount: number) => {
    taken.push(amount);
    return take(amount);
  };
  const budget = { take: counting } as unknown as Budget;
  let closed = 0;
  const made = new Connection(socket, {
    token: "token",
    process: undefined,
    budgets: [budget],
    proved: (proven) => void proven.send({ t: "welcome" }),
    frame: (_, frame) => frames.push(frame),
    closed: () => {
      closed += 1;
    },
    run: (work) => work(),
  });
  return { made, peer, frames, taken, closed: () => closed };
}

test("a connection takes what its budget allows, a line costs something however short, and what is left waits", async (t) => {
  let wait = 0;
  const { made, peer, frames, taken } = await connection(t, () => wait);
  const run = randomBytes(16).toString("hex");
  await peer.greet("token", run, 4711);
  await peer.line("welcome");
  assert.deepEqual([made.proved, made.run, made.pid, made.speaker], [true, run, 4711, run]);
  taken.length = 0;
  wait = 300;
  const text = `${JSON.stringify({ t: "beat" })}\n`;
  peer.raw(text.repeat(3));
  await poll(
    () => (frames.length === 3 ? true : undefined),
    () => "three frames",
  );
  assert.equal(
    taken.reduce((sum, amount) => sum + amount, 0),
    3 * (text.length + LINE_COST),
  );
  const began = performance.now();
  wait = 0;
  peer.raw(text);
  await poll(
    () => (frames.length === 4 ? true : undefined),
    () => "the fourth",
  );
  assert.ok(performance.now() - began > 100, "it had to wait");
});

test("a connection ends once, at the first line that is none, and sends nothing more", async (t) => {
  for (const bad of ["{", "[]", "7", '{"t":7}', '{"a":1}', "null"]) {
    const { made, peer, closed } = await connection(t, () => 0);
    await peer.greet("token");
    await peer.line("welcome");
    peer.raw(`${bad}\n`);
    await peer.isClosed();
    made.close();
    assert.deepEqual([closed(), made.send({ t: "x" })], [1, false], bad);
    made.end({ t: "bye" });
  }
  for (const hello of [
    { t: "hello", v: 2, n: "a".repeat(32), run: "b".repeat(32) },
    { t: "hullo", v: 1, n: "a".repeat(32), run: "b".repeat(32) },
    { t: "hello", v: 1, n: "a".repeat(31), run: "b".repeat(32) },
    { t: "hello", v: 1, n: "a".repeat(32), run: "B".repeat(32) },
  ]) {
    const { peer } = await connection(t, () => 0);
    peer.send(hello);
    await peer.isClosed();
    assert.deepEqual(peer.lines, [], JSON.stringify(hello));
  }
  for (const pid of [0, -1, 1.5, "7", undefined]) {
    const { made, peer } = await connection(t, () => 0);
    peer.send({ t: "hello", v: 1, n: "a".repeat(32), run: "b".repeat(32), pid });
    await peer.line("challenge");
    assert.equal(made.pid, 0);
    peer.send({ t: "proof", p: "0".repeat(64) });
    await peer.isClosed();
    assert.equal(made.proved, false);
  }
  const { made, peer } = await connection(t, () => 0);
  made.end({ t: "bye", back: true });
  assert.deepEqual((await peer.line("bye")).back, true);
  await peer.isClosed();
});

test("a request is answered by the one who was asked, once; another's answer is none", async () => {
  const sent: Record<string, unknown>[] = [];
  const to = () => ({ send: (frame: Record<string, unknown>) => sent.push(frame) > 0 }) as unknown as Connection;
  const [asked, other] = [to(), to()];
  const requests = new Requests();
  const answer = requests.ask(asked, { t: "steer", s: "x" }, 10_000, 0);
  requests.answered(other, { t: "did", r: 1, outcome: "delivered" });
  requests.answered(asked, { t: "did", r: 2, outcome: "delivered" });
  requests.answered(asked, { t: "did", r: "1", outcome: "delivered" });
  requests.lost(other);
  requests.answered(asked, { t: "did", r: 1, outcome: "refused", reason: "because\nof it" });
  requests.answered(asked, { t: "did", r: 1, outcome: "delivered" });
  assert.deepEqual(await answer, { outcome: "refused", reason: "because of it" });
  assert.deepEqual(sent, [{ t: "steer", s: "x", r: 1 }]);

  const queued = requests.ask(asked, { t: "steer" }, 10_000, 5);
  requests.answered(asked, { t: "did", r: 2, outcome: "queued" });
  assert.deepEqual(await queued, { outcome: "queued" }, "no better one came");
  const better = requests.ask(asked, { t: "steer" }, 10_000, 10_000);
  requests.answered(asked, { t: "did", r: 3, outcome: "queued" });
  requests.answered(asked, { t: "did", r: 3, outcome: "delivered" });
  assert.deepEqual(await better, { outcome: "delivered" });
  const final = requests.ask(asked, { t: "stop" }, 10_000, 0);
  requests.answered(asked, { t: "did", r: 4, outcome: "queued" });
  assert.deepEqual(await final, { outcome: "queued" });
  const strange = requests.ask(asked, { t: "stop" }, 10_000, 0);
  requests.answered(asked, { t: "did", r: 5, outcome: "done and more" });
  assert.deepEqual(await strange, { outcome: "refused", reason: "its process refused" });
  const [lost, waiting] = [
    requests.ask(asked, { t: "stop" }, 10_000, 0),
    requests.ask(asked, { t: "x" }, 10_000, 10_000),
  ];
  requests.answered(asked, { t: "did", r: 7, outcome: "queued" });
  requests.lost(asked);
  assert.deepEqual(await lost, { outcome: "unknown", reason: "its process ended or went out of contact" });
  assert.deepEqual(await waiting, { outcome: "queued" });
  assert.deepEqual(await requests.ask(asked, { t: "x" }, 1, 0), {
    outcome: "unknown",
    reason: "its process did not answer in time",
  });
  const gone = { send: () => false } as unknown as Connection;
  assert.equal((await requests.ask(gone, { t: "x" }, 10_000, 0)).outcome, "refused");
});

test("a notice that is sent again is shown once, in the order of its numbers", async (t) => {
  const main = new TestMain(t);
  const child = await Peer.join(main.address);
  await child.open("twice-1");
  for (const n of [1, 1, 3, 2, 3, 1]) child.send({ t: "notice", s: "twice-1", n, notice: stuck(`number ${n}`) });
  await child.barrier("twice-1");
  assert.deepEqual(
    main.told.map(({ notice }) => notice.analysis.reasons[0]),
    [`"number 1"`, `"number 3"`],
  );
  assert.deepEqual(
    child.lines.filter(({ t }) => t === "told").map(({ n }) => n),
    [1, 1, 3, 2, 3, 1],
    "each is answered, or it would be sent for ever",
  );
  for (const n of [0, -1, "9", 1.5, null]) child.send({ t: "notice", s: "twice-1", n, notice: stuck("no number") });
  await child.barrier("twice-1");
  assert.equal(main.told.length, 2);
});

test("budgets and allowances neither gain nor lose by a clock that is set back", () => {
  let now = 1_000_000;
  const budget = new Budget(1000, () => now);
  assert.equal(budget.take(1000), 0);
  now -= 500_000;
  assert.equal(budget.take(10), 10);
  now += 10;
  assert.equal(budget.take(0), 0);
  const allowance = new Allowance(2, 1000);
  assert.deepEqual(
    [1e6, 1e6, 1e6].map((at) => allowance.take(at)),
    [true, true, false],
  );
  assert.equal(allowance.take(5000), false);
  assert.equal(allowance.take(6000), true, "it goes on from there");
});

test("a ledger belongs to a main session, counts by process and in all, and keeps those apart that a package vouches for", () => {
  const ledger = new Ledger();
  const take = (speaker: string, known: boolean, times: number, now = 1e6) =>
    Array.from({ length: times }, () => ledger.notice(speaker, known, now)).filter(Boolean).length;
  assert.equal(take("a", false, 100), NOTICES_AT_ONCE);
  assert.equal(take("b", false, 100), NOTICES_AT_ONCE);
  assert.equal(take("c", false, 100), TREE_NOTICES_AT_ONCE - 2 * NOTICES_AT_ONCE);
  assert.equal(take("d", true, 100), NOTICES_AT_ONCE);
  assert.equal(ledger.muted, 400 - TREE_NOTICES_AT_ONCE - NOTICES_AT_ONCE);
  assert.equal(take("a", false, 3, 1e6 + NOTICE_EVERY_MS), 1);
  const other = ledgerOf("ledger-main");
  assert.equal(ledgerOf("ledger-main"), other);
  assert.notEqual(ledgerOf("ledger-other"), other);
  let joins = 0;
  while (other.joins.take(1e6)) joins += 1;
  assert.equal(joins, JOINS_AT_ONCE);
  assert.ok(closeLedger("ledger-main"));
  assert.notEqual(ledgerOf("ledger-main"), other);
});

test("an address is what was published, and nothing that only looks like one", (t) => {
  const saved = { link: process.env.PI_WATCHDOG_LINK, parent: process.env.PI_WATCHDOG_LINK_PARENT };
  t.after(() => {
    delete process.env.PI_WATCHDOG_LINK;
    delete process.env.PI_WATCHDOG_LINK_PARENT;
    if (saved.link !== undefined) process.env.PI_WATCHDOG_LINK = saved.link;
    if (saved.parent !== undefined) process.env.PI_WATCHDOG_LINK_PARENT = saved.parent;
  });
  delete process.env.PI_WATCHDOG_LINK;
  nameParent("nobody");
  assert.equal(process.env.PI_WATCHDOG_LINK_PARENT, undefined, "no address, no parent");
  assert.equal(readAddress(), undefined);
  const address = { path: "/p", rootId: "root", token: "t", pid: 7 };
  const retract = publishAddress(address);
  assert.deepEqual(readAddress(), { address, parentId: "root" });
  nameParent("session-1");
  assert.equal(readAddress()?.parentId, "session-1");
  process.env.PI_WATCHDOG_LINK_PARENT = "not an id";
  assert.equal(readAddress()?.parentId, "root");
  forgetParent();
  assert.equal(process.env.PI_WATCHDOG_LINK_PARENT, undefined);
  nameParent("session-2");
  const later = publishAddress({ ...address, token: "u" });
  assert.equal(readAddress()?.parentId, "root");
  retract();
  assert.equal(readAddress()?.address.token, "u", "not its own any more");
  nameParent("session-3");
  later();
  assert.deepEqual([process.env.PI_WATCHDOG_LINK, process.env.PI_WATCHDOG_LINK_PARENT], [undefined, undefined]);
  for (const broken of [
    "",
    "{",
    "null",
    JSON.stringify({ ...address, path: "" }),
    JSON.stringify({ ...address, path: 1 }),
    JSON.stringify({ ...address, rootId: "a b" }),
    JSON.stringify({ ...address, token: "" }),
    JSON.stringify({ ...address, token: 5 }),
    JSON.stringify({ ...address, pid: 0 }),
    JSON.stringify({ ...address, pid: 1.5 }),
    JSON.stringify({ ...address, pid: "7" }),
    JSON.stringify({ ...address, token: "x".repeat(3000) }),
  ]) {
    process.env.PI_WATCHDOG_LINK = broken;
    assert.equal(readAddress(), undefined, broken.slice(0, 80));
  }
  assert.deepEqual(["a", "a.b:c-d_1", "x".repeat(200)].map(isSessionId), [true, true, true]);
  assert.deepEqual(["", "a b", "x".repeat(201), 7, null, "ü"].map(isSessionId), [
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
});

test("what is read of a frame is of its kind, cut, and never more than was said", () => {
  assert.deepEqual(["running", "idle", "completed", "x", 7].map(liveStatus), [
    "running",
    "idle",
    "running",
    "running",
    "running",
  ]);
  assert.deepEqual(["error", "stopped", "running", "x", 7].map(endStatus), [
    "error",
    "stopped",
    "completed",
    "completed",
    "completed",
  ]);
  assert.deepEqual(["task", "watchdog", "boss", 1].map(targetKind), ["task", "watchdog", "unknown", "unknown"]);
  assert.deepEqual([1.5, 0, -1, Number.NaN, Number.POSITIVE_INFINITY, "3"].map(count), [1.5, 0, 0, 0, 0, 0]);
  assert.deepEqual([line("a\nb", 10), line("abcdef", 3).length <= 3, line(7, 3)], ["a b", true, ""]);
  assert.deepEqual([note("  "), note(7), note("x")], [undefined, undefined, "x"]);
  assert.ok((note("y".repeat(2 * MAX_MESSAGE))?.length ?? 0) <= MAX_MESSAGE + 1);
  const given = stuck();
  const read = readNotice({ ...given, ordinal: 2.9, lastCommand: "ls\n-l" }, "id", "name");
  assert.deepEqual(
    [read?.kind, read?.targetId, read?.targetName, read?.severity, read?.ordinal, read?.lastCommand],
    ["stuck", "id", "name", "critical", 2, "ls -l"],
  );
  assert.deepEqual(read?.cost, given.cost);
  assert.deepEqual([read?.analysis.likelyStuck, read?.analysis.confidence], [true, "medium"]);
  const [sentence] = given.analysis.evidence;
  // Its sentences are data here.
  assert.deepEqual(read?.analysis.evidence[0], { ...sentence, summary: JSON.stringify(sentence?.summary) });
  assert.equal(readNotice({ ...given, ordinal: 1e9 }, "id", "name")?.ordinal, 1e6);
  assert.equal(readNotice({ ...given, ordinal: -4 }, "id", "name")?.ordinal, 1);
  assert.equal(readNotice({ ...given, severity: "fatal" }, "id", "name")?.severity, "warning");
  assert.equal(readNotice({ ...given, kind: "over" }, "id", "name")?.kind, "over");
  const many = { ...given.analysis, evidence: Array.from({ length: 100 }, () => given.analysis.evidence[0]) };
  assert.equal(readNotice({ ...given, analysis: many }, "id", "name")?.analysis.evidence.length, 12);
  const doubtful = {
    ...given.analysis,
    likelyStuck: "yes",
    evidence: [{ ...given.analysis.evidence[0], period: 2, command: "x" }],
  };
  const second = readNotice({ ...given, analysis: doubtful }, "id", "name");
  assert.deepEqual([second?.analysis.likelyStuck, second?.analysis.evidence[0]?.period], [false, 2]);
  for (const evidence of [{ type: "Bad Type", summary: "x" }, { type: "ok", summary: "" }, { summary: "x" }, 7, null])
    assert.equal(readNotice({ analysis: { evidence: [evidence] } }, "id", "name"), undefined);
  assert.equal(readNotice({ note: "x" }, "id", "name")?.kind, "stuck", "a note says something");
  const intervention = { kind: "timeout", reason: "r", suggestedAction: "explode", autoExecute: true };
  assert.deepEqual(readNotice({ intervention }, "id", "name")?.intervention, {
    ...{ kind: "timeout", reason: `"r"`, suggestedAction: "warn", autoExecute: false },
  });
  assert.equal(readNotice({ intervention: { ...intervention, reason: "" } }, "id", "name"), undefined);
  assert.equal(readNotice({ intervention: { ...intervention, kind: "A B" } }, "id", "name"), undefined);
});

test("a frame is an object with a type, one a line; numbers and proofs of the handshake have their form", () => {
  assert.deepEqual(parseFrame('{"t":"x","a":1}'), { t: "x", a: 1 });
  for (const bad of ["", "{", "7", "null", "[]", '[{"t":"x"}]', '{"t":1}', "{}"])
    assert.equal(parseFrame(bad), undefined, bad);
  assert.equal(encode({ t: "x" }), '{"t":"x"}\n');
  const reader = new LineReader(4);
  assert.equal(
    reader.feed(Buffer.from("12345"), () => true),
    false,
  );
  const grown = new LineReader(4);
  grown.allow(8);
  const lines: string[] = [];
  assert.equal(
    grown.feed(Buffer.from("12345678\n1\n"), (text) => lines.push(text) > 0),
    true,
  );
  assert.deepEqual(lines, ["12345678", "1"]);
  assert.equal(
    grown.feed(Buffer.from("a\nb\n"), () => false),
    false,
  );
  for (const check of [isNonce, isRun]) {
    assert.deepEqual(["a".repeat(32), "A".repeat(32), "a".repeat(33), 7].map(check), [true, false, false, false]);
  }
  assert.equal(sameProof("f".repeat(64), "f".repeat(64)), true);
  assert.equal(sameProof("f".repeat(63), "f".repeat(64)), false);
});

test("where the system does not tell, nothing is proven and nothing fails", () => {
  const broken = {
    peer: () => {
      throw new Error("no");
    },
    start: () => {
      throw new Error("no");
    },
    ancestry: () => {
      throw new Error("no");
    },
  };
  const socket = (fd: unknown) => ({ _handle: { fd } }) as unknown as Socket;
  const known = () => true;
  for (const given of [undefined, {}, broken]) {
    assert.equal(peerOf(given, socket(3)), undefined);
    assert.equal(runsOn(given, { pid: 1, start: "1" }), false);
    assert.equal(wayUp(given, { pid: 1, start: "1" }, known), undefined);
  }
  for (const fd of [undefined, -1, "3", Number.NaN])
    assert.equal(peerOf({ peer: () => assert.fail() }, socket(fd)), undefined);
  assert.equal(peerOf({ peer: () => assert.fail() }, {} as Socket), undefined);
  assert.deepEqual(peerOf({ peer: (fd) => ({ pid: fd, start: "9", command: "" }) }, socket(0)), { pid: 0, start: "9" });
  const one = { pid: 5, start: "9" };
  assert.deepEqual(
    [
      samePeer(one, { ...one }),
      samePeer(one, { pid: 5, start: "8" }),
      samePeer(one, { pid: 4, start: "9" }),
      samePeer(undefined, undefined),
    ],
    [true, false, false, false],
  );
  const line = [
    { pid: 9, start: "4", command: "pi" },
    { pid: 8, start: "3", command: "bash" },
    { pid: 7, start: "2", command: "node" },
    { pid: 1, start: "1", command: "init" },
  ];
  const ancestry = () => line;
  assert.deepEqual(
    wayUp({ ancestry }, { pid: 9, start: "4" }, (pid) => pid === 7),
    {
      above: { pid: 7, start: "2" },
      command: "bash",
    },
  );
  assert.equal(
    wayUp({ ancestry }, { pid: 9, start: "5" }, (pid) => pid === 7),
    undefined,
    "another process by now",
  );
  assert.equal(
    wayUp({ ancestry }, { pid: 9, start: "4" }, (pid) => pid === 9),
    undefined,
    "not itself",
  );
  assert.deepEqual(wayUp({ ancestry }, { pid: 9, start: "4" }, () => true)?.above.pid, 8, "the nearest");
  assert.equal(runsOn(processes, { pid: process.pid, start: processes.start(process.pid) ?? "" }), true);
});
