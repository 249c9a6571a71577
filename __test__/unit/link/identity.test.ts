// Who a process is and what it may speak for: shown by real processes that hold the token and say that they are others.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { publishLive } from "../../../extension/root.ts";
import type { SubagentBackend, SubagentRecord } from "../../../extension/subagents/backend.ts";
import { defaultConfig, store } from "../../../index.js";
import { adopt } from "../../support/cleanup.ts";
import { TestMain } from "../../support/link/main.ts";
import { LinkedProcess } from "../../support/link/spawn.ts";
import { Stranger } from "../../support/link/stranger.ts";

const proven = { skip: process.platform === "linux" ? false : "the proof is Linux's" };
const PACKAGE = "some package";

/** A package of the main session, with these agents. */
function packageOf(main: TestMain, ...records: Partial<SubagentRecord>[]): SubagentBackend {
  const none = async () => ({ outcome: "refused" as const, reason: "never" });
  const backend: SubagentBackend = {
    name: PACKAGE,
    capabilities: { list: true, steer: false, stop: false, resume: false },
    list: () =>
      records.map((record) => ({
        ...{ agentId: "agent", link: "exact", type: "t", description: "d", status: "running" },
        ...record,
      })) as SubagentRecord[],
    steer: none,
    stop: none,
    dispose: () => {},
  };
  main.session.backends.push(backend);
  return backend;
}

/** A target that something other than the link has opened. */
function opened(main: TestMain, id: string, backend: string | undefined, more = {}): number {
  const info = { rootId: main.id, name: "owned", kind: "task", status: "running", link: "exact", ...more } as const;
  return store.open(id, Date.now(), { ...info, ...(backend ? { backend } : {}) }, defaultConfig());
}

async function stranger(t: TestContext, how = {}): Promise<{ one: Stranger; as: string; pid: number }> {
  const one = Stranger.start(t, how);
  const as = await one.join();
  return { one, as, pid: one.pid(as) };
}

test("a declared process id is never kept: what is kept is the process that connected", proven, async (t) => {
  const main = new TestMain(t);
  const victim = spawn("sleep", ["60"], { stdio: "ignore" });
  adopt(victim);
  t.after(() => victim.kill("SIGKILL"));
  const one = Stranger.start(t);
  const as = await one.join(undefined, victim.pid);
  await one.open(as, "pid-1");
  const record = main.session.backends.flatMap((backend) => backend.list()).find(({ agentId }) => agentId === "pid-1");
  assert.equal(record?.pid, one.pid(as));
  assert.notEqual(record?.pid, victim.pid);
});

test(
  "what a package started is reported by the process that the package started, and by no other",
  proven,
  async (t) => {
    const main = new TestMain(t);
    const own = await stranger(t);
    const other = await stranger(t, { by: "shell" });
    for (const [id, ended] of [
      ["running-1", false],
      ["ended-1", true],
    ] as const) {
      const handle = opened(main, id, PACKAGE);
      if (ended) store.end(handle, Date.now(), "completed");
      packageOf(main, { agentId: `agent-${id}`, sessionId: id, pid: own.pid });
      const before = JSON.stringify(main.target(id));
      assert.deepEqual(await other.one.open(other.as, id), {
        t: "denied",
        s: id,
        why: "a package started it, and nothing proves that this process runs it",
        again: false,
      });
      other.one.send(
        other.as,
        { t: "events", s: id, e: [{ q: 1, at: 1, type: "tool_call", tool: "bash", commandKey: "x", turn: 1 }] },
        { t: "state", s: id, d: { name: "stolen", usage: { usd: 50 }, status: "idle" } },
        { t: "end", s: id, status: "completed" },
      );
      await other.one.barrier(other.as);
      assert.equal(JSON.stringify(main.target(id)), before, "nothing of it has changed");
      assert.equal((await own.one.open(own.as, id)).t, "opened");
      assert.equal(main.target(id).remote?.connected, true);
    }
  },
);

test("a session or an agent of a package without a proof cannot be taken, whatever names it", proven, async (t) => {
  const main = new TestMain(t);
  const { one, as, pid } = await stranger(t);
  packageOf(
    main,
    { agentId: "agent-7", sessionId: "no-pid-1" },
    { agentId: "agent-8", sessionId: "inferred-1", link: "inferred", pid },
    { agentId: "agent-9", runId: "run-9", pid },
    // Two records, one of them a forgery that names the stranger.
    { agentId: "agent-10", sessionId: "twice-1", pid: process.pid },
    { agentId: "agent-11", sessionId: "twice-1", pid },
    { agentId: "agent-12", sessionId: "below-nobody-1", parentId: "somebody else" },
    { agentId: "agent-13", sessionId: "below-itself-1", parentId: "below-itself-1" },
  );
  for (const id of [
    "no-pid-1",
    "inferred-1",
    "agent-7",
    "agent-9",
    "run-9",
    "twice-1",
    "below-nobody-1",
    "below-itself-1",
  ])
    assert.equal((await one.open(as, id)).t, "denied", id);

  store.alias(opened(main, "named-1", PACKAGE), "agent-20");
  assert.equal((await one.open(as, "agent-20")).why, "an agent has this name");
  for (const [id, backend, more] of [
    ["unlisted-1", PACKAGE, {}],
    ["unlisted-2", undefined, {}],
  ] as const) {
    const handle = opened(main, id, backend, more);
    assert.equal((await one.open(as, id)).t, "denied", id);
    store.end(handle, Date.now(), "completed");
    assert.equal((await one.open(as, id)).t, "denied", `${id}, ended`);
  }
  assert.equal((await one.open(as, "unlist")).t, "opened", "the beginning of another id is an id of its own");
});

test("an agent below one that a process reports is that process's to report", proven, async (t) => {
  const main = new TestMain(t);
  const { one, as, pid } = await stranger(t);
  const other = await stranger(t);
  packageOf(
    main,
    { agentId: "a", sessionId: "runner-1", pid },
    { agentId: "b", sessionId: "within-1", parentId: "runner-1" },
  );
  assert.equal((await other.one.open(other.as, "within-1")).t, "denied");
  assert.equal((await one.open(as, "within-1")).t, "denied", "its parent is not here yet");
  assert.equal((await one.open(as, "runner-1")).t, "opened");
  assert.equal((await other.one.open(other.as, "within-1")).t, "denied");
  assert.equal((await one.open(as, "within-1")).t, "opened");
});

test(
  "who took a session before its package named it loses it, and the package's process gets it",
  proven,
  async (t) => {
    const main = new TestMain(t);
    const thief = await stranger(t);
    const own = await stranger(t);
    for (const id of ["early-1", "early-2"]) assert.equal((await thief.one.open(thief.as, id)).t, "opened");
    const record = { pid: own.pid };
    packageOf(
      main,
      { ...record, agentId: "e1", sessionId: "early-1" },
      { ...record, agentId: "e2", sessionId: "early-2" },
    );
    assert.equal((await own.one.open(own.as, "early-1")).t, "opened", "it need not wait");
    // Nobody else asks for the other one.
    await thief.one.line(thief.as, "denied", ({ s }) => s === "early-2");
    const before = main.target("early-2").toolCallCount;
    thief.one.send(thief.as, { t: "state", s: "early-2", d: { toolCallCount: 99 } });
    await thief.one.barrier(thief.as);
    assert.equal(main.target("early-2").toolCallCount, before);
    assert.deepEqual(main.faults, []);
  },
);

test(
  "the name of a life is no proof where the system has one: another process with it is another process",
  proven,
  async (t) => {
    const main = new TestMain(t);
    const run = "b".repeat(32);
    const child = Stranger.start(t);
    const first = await child.join(run);
    await child.open(first, "kept-1");
    const thief = Stranger.start(t);
    const as = await thief.join(run);
    assert.equal((await thief.open(as, "kept-1")).why, "another connection reports it");
    await child.drop(first);
    await main.when(([one]) => one?.remote?.connected === false, "the lost connection");
    assert.equal((await thief.open(as, "kept-1")).why, "another process reports it");
    const back = await child.join(run);
    assert.equal((await child.open(back, "kept-1")).t, "opened");
  },
);

test(
  "after a reload a session still belongs to its process, and one whose process has gone is ended",
  proven,
  async (t) => {
    const main = new TestMain(t);
    const child = new LinkedProcess(t, "reloaded-1", 5, 1, true);
    const gone = new LinkedProcess(t, "reloaded-2", 5, 1, true);
    await main.when((all) => all.length === 2 && all.every(({ toolCallCount }) => toolCallCount === 5), "both");
    child.process.kill("SIGSTOP");
    gone.process.kill("SIGKILL");
    await gone.exit;
    main.reload();
    const { one, as } = await stranger(t);
    assert.equal((await one.open(as, "reloaded-1")).why, "another process reports it");
    child.process.kill("SIGCONT");
    await main.when(
      (all) => all.some(({ id, remote }) => id === "reloaded-1" && remote?.connected === true),
      "its return",
    );
    await main.when(
      (all) => all.some(({ id, status }) => id === "reloaded-2" && status === "error"),
      "the end of the other",
    );
    child.release();
    assert.equal(await child.exit, 0);
  },
);

test(
  "a process hangs where it was started, whatever it says; where that cannot be seen, below a session that is there",
  proven,
  async (t) => {
    const main = new TestMain(t);
    const sibling = await stranger(t);
    await sibling.one.open(sibling.as, "sibling-1");
    const parent = (id: string) => main.target(id).parentId;

    const child = await stranger(t, { by: "shell" });
    await child.one.open(child.as, "seen-1", { parent: "sibling-1" });
    assert.equal(parent("seen-1"), main.id, "it did not come from there");
    await child.one.open(child.as, "seen-2", { parent: "seen-1" });
    assert.equal(parent("seen-2"), "seen-1", "within its own process");
    await child.one.open(child.as, "seen-3", { parent: "no such session" });
    assert.equal(parent("seen-3"), main.id);

    const orphan = await stranger(t, { by: "orphan" });
    await orphan.one.open(orphan.as, "orphan-1", { parent: "sibling-1" });
    assert.equal(parent("orphan-1"), "sibling-1", "nobody knows better");
    const foreign = opened(main, "package-1", PACKAGE);
    await orphan.one.open(orphan.as, "orphan-2", { parent: "package-1" });
    assert.equal(parent("orphan-2"), main.id, "a package's own agent in another process");
    await orphan.one.open(orphan.as, "orphan-3", { parent: "orphan-3" });
    assert.equal(parent("orphan-3"), main.id);
    store.end(foreign, Date.now(), "completed");
  },
);

test("sessions cannot be hung in a ring, and stay where they were when their process comes back", proven, async (t) => {
  const main = new TestMain(t);
  const one = Stranger.start(t);
  const run = "c".repeat(32);
  const as = await one.join(run);
  await one.open(as, "ring-1");
  await one.open(as, "ring-2", { parent: "ring-1" });
  await one.open(as, "ring-3", { parent: "ring-2" });
  one.send(as, { t: "end", s: "ring-1", status: "completed" });
  await one.open(as, "ring-1", { parent: "ring-3" });
  assert.equal(main.target("ring-1").parentId, main.id);
  await one.drop(as);
  const back = await one.join(run);
  await one.open(back, "ring-3", { parent: "ring-1" });
  assert.equal(main.target("ring-3").parentId, "ring-2");
});

test("of several sessions in this process the one whose call runs the process is its parent", proven, async (t) => {
  const main = new TestMain(t);
  const agents = ["local-1", "local-2"].map((id) => {
    const live = { id, rootId: main.id, file: undefined, steer: () => true, refresh: () => {} };
    t.after(publishLive(live, () => {}));
    return opened(main, id, PACKAGE, { parentId: main.id });
  });
  const call = (handle: number | undefined, id: string, command: string) =>
    store.observeToolCall(handle ?? 0, Date.now(), 1, id, "bash", JSON.stringify({ command }));
  const done = (handle: number | undefined, id: string) =>
    store.observeToolResult(handle ?? 0, Date.now(), 1, id, "bash", "x", false, "", "");
  const line = "echo of the second one";
  call(agents[0], "a", "sleep 100");
  call(agents[1], "b", line);
  const named = await stranger(t, { by: "shell", line });
  await named.one.open(named.as, "called-1", { parent: "local-1" });
  assert.equal(main.target("called-1").parentId, "local-2", "by the line of the call");
  const unclear = await stranger(t, { by: "shell", line: "echo something else" });
  await unclear.one.open(unclear.as, "called-2", { parent: "local-1" });
  assert.equal(main.target("called-2").parentId, "local-1", "by what the environment says, when both call");
  await unclear.one.open(unclear.as, "called-3");
  assert.equal(main.target("called-3").parentId, main.id, "nothing tells them apart");
  done(agents[0], "a");
  await unclear.one.open(unclear.as, "called-4", { parent: "local-1" });
  assert.equal(main.target("called-4").parentId, "local-2", "the only one that calls");
  done(agents[1], "b");
  await unclear.one.open(unclear.as, "called-5", { parent: "local-1" });
  assert.equal(main.target("called-5").parentId, "local-1");
});

test("what the process of a child started hangs below that child, and not where it says", proven, async (t) => {
  const main = new TestMain(t);
  const sibling = await stranger(t);
  await sibling.one.open(sibling.as, "beside-1");
  const outer = Stranger.start(t, { by: "shell" });
  const inner = await outer.join(undefined, undefined, "below");
  await outer.open(inner, "inner-1", { parent: "beside-1" });
  assert.equal(main.target("inner-1").parentId, main.id, "the process above has nothing on the link yet");
  const as = await outer.join();
  await outer.open(as, "outer-1");
  await outer.open(as, "outer-2", { parent: "outer-1" });
  for (const [id, said, expected] of [
    ["inner-2", "beside-1", "outer-1"],
    ["inner-3", main.id, "outer-1"],
    ["inner-4", "outer-2", "outer-2"],
    ["inner-5", "inner-4", "inner-4"],
  ] as const) {
    await outer.open(inner, id, { parent: said });
    assert.equal(main.target(id).parentId, expected, id);
  }
});

test("without a proof nothing is ended by its process id, and packages' sessions stay theirs", async (t) => {
  const main = new TestMain(t, { processes: undefined });
  const child = new LinkedProcess(t, "unproven-1", 1, 1, true);
  await main.when(([one]) => one?.toolCallCount === 1, "the child");
  const [record] = main.session.backends.flatMap((backend) => backend.list());
  assert.equal(record?.pid, undefined);
  opened(main, "unproven-2", PACKAGE);
  packageOf(main, { sessionId: "unproven-2", pid: process.pid });
  const { one, as } = await stranger(t);
  assert.equal((await one.open(as, "unproven-2")).t, "denied");
  child.release();
  assert.equal(await child.exit, 0);
  const stopped = new LinkedProcess(t, "unproven-3", 1, 1, true);
  await main.when((all) => all.some(({ id, toolCallCount }) => id === "unproven-3" && toolCallCount === 1), "the next");
  // It ends itself: nobody needs to know its process.
  await main.backend.stop("unproven-3");
  await once(stopped.process, "close");
});
