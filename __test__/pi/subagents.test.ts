// Sub-agents on real Pi: children are real sessions in Pi's process that load the watchdog as a user's would. What the
// watchdog does to a child is read from the child's own model requests.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Child, Family, type FamilyOptions, Gates } from "../support/gotgenes/family.ts";
import { Lab, poll } from "../support/pi.ts";
import { bash, RESCUE, rescued, rescues } from "../support/scripts.ts";

const files = { "src.txt": "TOKEN\n" };
const GREP = "grep -n TOKEN src.txt";

/** Does the same again and again: until it is rescued, or `bound` times. */
const looping =
  (bound: number): Child =>
  (request) =>
    rescued(request) || request.turn >= bound ? { text: "I stop here." } : bash(GREP);

/** Two different steps, each when the test opens its gate; then an answer. */
const working =
  (name: string, gates: Gates): Child =>
  async ({ turn }) => {
    if (turn < 2) {
      await gates.pass(`${name}${turn}`);
      return bash(`echo ${name} step ${turn}`);
    }
    await gates.pass(`${name}-end`);
    return { text: `${name} is done` };
  };

/** What version of the package a test runs on. */
const versions = new WeakMap<TestContext, string>();

/** On the version that was observed, and on what is known of the later ones. */
function both(name: string, run: (t: TestContext) => Promise<void>): void {
  for (const version of ["v18", "v23"])
    test(`${name} (${version})`, (t) => {
      versions.set(t, version);
      return run(t);
    });
}

const open = (t: TestContext, { quirks = "", config, ...options }: FamilyOptions) =>
  Family.open(t, {
    files,
    ...options,
    quirks: [versions.get(t) ?? "", quirks].join(),
    config: { rescueMessage: RESCUE, ...(config as object) },
  });

const endsInOrder = async ({ pi }: Family) => {
  assert.deepEqual(await pi.close(), { code: 0, signal: null });
  assert.doesNotMatch(pi.stderr, /stale|Error|panick/);
};

both(
  "of three children at once that end out of order the looping one is named, and main_only sends it nothing",
  async (t) => {
    const gates = new Gates();
    const family = await open(t, {
      children: { a: working("a", gates), b: looping(6), c: working("c", gates) },
    });
    const a = await family.spawn("a");
    await family.asks("a");
    const b = await family.spawn("b");
    const c = await family.spawn("c");
    await family.asks("c");
    gates.open("c0", "c1", "a0");
    await family.ended(b);
    gates.open("c-end");
    await family.ended(c);
    gates.open("a1", "a-end");
    await family.ended(a);

    const alert = await family.alert("job of b");
    const targets = await family.targets();
    const sessionId = targets.get("job of b").id;
    assert.ok(alert.includes(`Target: "job of b" (`) && alert.includes(sessionId), alert);
    assert.match(
      alert,
      /^\[Watchdog Alert\]\n\nTarget: .*\n(?:Session: .*\n)?Status: (likely stuck|ended \(completed\))\nConfidence: \w+\n\nEvidence:\n- /,
    );
    assert.ok(alert.includes(GREP), alert);
    assert.ok(
      family.alerts().every((text) => text.includes("job of b")),
      "no other child is named",
    );
    for (const child of ["a", "b", "c"]) {
      assert.deepEqual(
        family.requestsOf(child).map(rescues),
        family.requestsOf(child).map(() => 0),
        child,
      );
      assert.equal(targets.get(`job of ${child}`).link, "exact");
      assert.equal(targets.get(`job of ${child}`).status, "completed");
    }
    assert.deepEqual(
      ["a", "b", "c"].map((child) => targets.get(`job of ${child}`).aliases.includes({ a, b, c }[child])),
      [true, true, true],
    );

    const inspected = await family.command(`/watchdog inspect ${b}`);
    assert.ok(inspected.includes(GREP), inspected);
    assert.ok(inspected.includes(sessionId), inspected);
    assert.match(inspected, /subagent_created[^\n]*Explore: job of b/);
    assert.match(inspected, /subagent_completed[^\n]*completed after 6 tool uses/);
    const other = await family.command(`/watchdog inspect ${a}`);
    assert.ok(other.includes("echo a step 1") && !other.includes(GREP), other);
    await endsInOrder(family);
  },
);

both("with both, the looping child gets the rescue before its next model call, and no other does", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    config: { alertMode: "both" },
    children: { a: working("a", gates), b: looping(12), c: working("c", gates) },
  });
  const a = await family.spawn("a");
  const c = await family.spawn("c");
  gates.open("a0", "c0");
  await family.asks("c", 1);
  const b = await family.spawn("b");
  assert.match(await family.ended(b), /I stop here/);
  gates.open("a1", "c1", "c-end", "a-end");
  await family.ended(c);
  await family.ended(a);

  assert.deepEqual(family.requestsOf("b").map(rescues), [0, 0, 0, 1], "after the third equal result");
  assert.equal(rescues(family.requestsOf("a").at(-1)), 0);
  assert.equal(rescues(family.requestsOf("c").at(-1)), 0);
  await family.alert("job of b");
  assert.match(await family.command(`/watchdog inspect ${b}`), /subagent_steered/);
  await endsInOrder(family);
});

both(
  "steering by the tool is dry by default, refused in main_only and on an unknown or ambiguous target",
  async (t) => {
    const gates = new Gates();
    const family = await open(t, { children: { a: working("a", gates) } });
    const a = await family.spawn("a");
    await family.asks("a");

    const dry = await family.call("watchdog_steer_subagent", { targetId: a, message: "Look elsewhere." });
    assert.equal(dry.data.outcome, "dry_run");
    assert.match(dry.text, /^Dry run[^\n]* nothing was sent[^\n]*\n> Look elsewhere\.$/);
    const real = { targetId: a, message: "Look elsewhere.", dryRun: false };
    const refused = await family.call("watchdog_steer_subagent", real);
    assert.equal(refused.isError, true);
    assert.match(refused.text, /main_only/);
    const unknown = await family.call("watchdog_steer_subagent", { ...real, targetId: "nobody" });
    assert.equal(unknown.isError, true);
    assert.match(unknown.text, /nobody/);
    const [first = ""] = (await family.targets()).get("job of a").id.split("-");
    const ambiguous = await family.call("watchdog_steer_subagent", { ...real, targetId: first.slice(0, 4) });
    assert.equal(ambiguous.isError, true);
    assert.match(ambiguous.text, /ambiguous/);

    gates.open("a0", "a1", "a-end");
    await family.ended(a);
    assert.ok(!JSON.stringify(family.requestsOf("a").at(-1)?.messages).includes("Look elsewhere."));
  },
);

both("steering by the tool reaches exactly the named agent, by agent id or session id", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    config: { alertMode: "both" },
    children: { a: working("a", gates), b: working("b", gates) },
  });
  const a = await family.spawn("a");
  const b = await family.spawn("b");
  await family.asks("a");
  await family.asks("b");
  const bySession = (await family.targets()).get("job of b").id;

  const one = await family.call("watchdog_steer_subagent", { targetId: a, message: "ONE", dryRun: false });
  assert.equal(one.data.outcome, "queued", one.text);
  const two = await family.call("watchdog_steer_subagent", { targetId: bySession, message: "TWO", dryRun: false });
  assert.equal(two.data.outcome, "queued", two.text);
  gates.open("b0", "a0");
  assert.deepEqual((await family.asks("a", 1)).newUserTexts, ["ONE"]);
  assert.deepEqual((await family.asks("b", 1)).newUserTexts, ["TWO"]);

  gates.open("a1", "a-end", "b1", "b-end");
  await family.ended(a);
  await family.ended(b);
  const late = await family.call("watchdog_steer_subagent", { targetId: a, message: "LATE", dryRun: false });
  assert.equal(late.isError, true);
  assert.match(late.text, /has ended \(completed\)/);
  await endsInOrder(family);
});

// From 20.1 on the record's file tells which agent it is.
test("where no exact link exists (v18), the child is watched and told of, and steering is refused with the reason", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    quirks: "detached",
    config: { alertMode: "both", steerDryRunDefault: false },
    children: { a: working("a", gates), b: looping(5) },
  });
  const a = await family.spawn("a");
  await family.asks("a");
  const targets = await family.targets();
  const only = [...targets.values()].find(({ link }) => link !== undefined);
  assert.equal(only.link, "inferred");
  const refused = await family.call("watchdog_steer_subagent", { targetId: only.id, message: "PSST" });
  assert.equal(refused.isError, true);
  assert.match(refused.text, /not identified beyond doubt \(link: inferred\)/);
  assert.equal((await family.call("watchdog_steer_subagent", { targetId: a, message: "PSST" })).isError, true);

  const b = await family.spawn("b");
  await family.ended(b);
  await family.alert("[Watchdog Alert]");
  gates.open("a0", "a1", "a-end");
  await family.ended(a);
  assert.ok(!JSON.stringify(family.requestsOf("a").at(-1)?.messages).includes("PSST"));
  await endsInOrder(family);
});

for (const [what, quirks, env] of [
  ["is published late", "late-slot", {}],
  ["is removed by each child that ends", "delete-slot", {}],
  ["queues its agents", "serial", {}],
  ["runs on a Node without async context frames", "", { NODE_OPTIONS: "--no-async-context-frame" }],
] as const) {
  both(`the link is exact also when the package's service ${what}`, async (t) => {
    const gates = new Gates();
    const children = { a: working("a", gates), b: working("b", gates), c: working("c", gates) };
    const family = await open(t, { quirks, env, children });
    const ids = new Map<string, string>();
    for (const child of ["a", "b", "c"]) ids.set(child, await family.spawn(child));
    for (const child of ["a", "c", "b"]) gates.open(`${child}0`, `${child}1`, `${child}-end`);
    for (const child of ["a", "b", "c"]) await family.ended(ids.get(child) ?? "");
    const targets = await family.targets();
    for (const child of ["a", "b", "c"]) {
      const target = targets.get(`job of ${child}`);
      assert.equal(target.link, "exact");
      assert.deepEqual(
        target.aliases.filter((id: string) => id !== target.id),
        [ids.get(child)],
      );
      assert.equal(target.toolCallCount, 2);
      const { data } = await family.call("watchdog_read_events", { targetId: ids.get(child) });
      assert.ok(JSON.stringify(data.events).includes(`echo ${child} step 1`));
    }
    await endsInOrder(family);
  });
}

test("of three children created outside of any context the saved session's file in the record tells which is which", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    saved: true,
    quirks: "v23,detached",
    children: { a: working("a", gates), b: working("b", gates), c: looping(8) },
    config: { alertMode: "both" },
  });
  const ids = new Map<string, string>();
  for (const child of ["a", "b", "c"]) ids.set(child, await family.spawn(child));
  await family.ended(ids.get("c") ?? "");
  gates.open("b0", "b1", "b-end");
  await family.ended(ids.get("b") ?? "");
  gates.open("a0", "a1", "a-end");
  await family.ended(ids.get("a") ?? "");
  const targets = await family.targets();
  for (const child of ["a", "b", "c"]) {
    const target = targets.get(`job of ${child}`);
    assert.equal(target.link, "exact");
    assert.ok(target.aliases.includes(ids.get(child)));
    assert.equal(family.requestsOf(child).some(rescued), child === "c");
  }
  await endsInOrder(family);
});

for (const saved of [true, false])
  both(
    `children that do not load the watchdog are seen from outside by the package's live records (${saved ? "saved" : "unsaved"})`,
    async (t) => {
      const gates = new Gates();
      const family = await open(t, {
        saved,
        watchdog: "extension",
        children: {
          a: working("a", gates),
          b: async (request) => {
            if (request.turn === 4) await gates.pass("b-told");
            return looping(8)(request);
          },
          c: ({ turn }) => (turn === 0 ? bash("while [ ! -e go ]; do sleep 0.05; done") : { text: "c is done" }),
        },
        config: { alertMode: "both" },
      });
      const ids = [await family.spawn("a"), await family.spawn("b"), await family.spawn("c")];
      await family.alert("job of b");
      gates.open("b-told");
      const running = await poll(
        async () => {
          const target = (await family.targets()).get("job of c");
          return target?.toolCallCount === 1 ? target : undefined;
        },
        () => "the open call of c",
      );
      assert.deepEqual([running.visibility, running.status], ["full", "running"], "a call that runs is seen");
      family.lab.home.writeFile("go", "");
      gates.open("a0", "a1", "a-end");
      for (const id of ids) await family.ended(id);
      const targets = await family.targets();
      for (const [child, calls, requests] of [
        ["a", 2, 3],
        ["b", family.requestsOf("b").length - 1, family.requestsOf("b").length],
        ["c", 1, 2],
      ] as const) {
        const target = targets.get(`job of ${child}`);
        assert.deepEqual(
          [target.link, target.status, target.toolCallCount, target.usage.input, target.visibility],
          ["exact", "completed", calls, requests * 100, "full"],
          child,
        );
      }
      assert.ok(family.requestsOf("b").some(rescued), "the looping one was steered");
      assert.ok(!family.requestsOf("a").some(rescued));
      assert.deepEqual(
        family.requestsOf("a")[0]?.tools.filter((tool) => JSON.stringify(tool).includes("watchdog_")),
        [],
        "the extension is not in it",
      );
      await endsInOrder(family);
    },
  );

test("a child that nothing shows says so in its row, with what to do, and is not called silent", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    quirks: "no-live",
    watchdog: "extension",
    config: { idleTimeoutSec: 1 },
    children: { a: working("a", gates) },
  });
  const id = await family.spawn("a");
  await family.asks("a");
  const row = await poll(
    async () => /.*nothing of it is seen.*/.exec(await family.command("/watchdog status"))?.[0],
    () => "the row of a",
  );
  assert.match(row, /job of a.*nothing of it is seen: .*pi install/);
  assert.equal((await family.targets()).get("job of a").visibility, "unseen");
  gates.open("a0", "a1", "a-end");
  await family.ended(id);
  assert.doesNotMatch(family.alerts().join("\n"), /job of a/);
  assert.equal((await family.targets()).get("job of a").status, "completed");
  await endsInOrder(family);
});

test("children that do not load the watchdog are followed by their saved sessions, and their open tools are not visible", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    saved: true,
    quirks: "v23,no-live",
    watchdog: "extension",
    children: {
      a: working("a", gates),
      b: async (request) => {
        if (request.turn === 4) await gates.pass("b-told");
        return looping(8)(request);
      },
    },
    config: { alertMode: "both" },
  });
  const a = await family.spawn("a");
  const b = await family.spawn("b");
  await family.alert("job of b");
  gates.open("b-told");
  await family.ended(b);
  gates.open("a0", "a1", "a-end");
  await family.ended(a);
  // What a session file holds is read after the package has told of the end.
  const targets = await poll(
    async () => {
      const now = await family.targets();
      return ["a", "b"].every((child) => now.get(`job of ${child}`).endedAt !== undefined) ? now : undefined;
    },
    () => "the end of both targets",
  );
  for (const [child, calls, requests] of [
    ["a", 2, 3],
    ["b", family.requestsOf("b").length - 1, family.requestsOf("b").length],
  ] as const) {
    const target = targets.get(`job of ${child}`);
    assert.deepEqual(
      [target.link, target.status, target.toolCallCount, target.usage.input],
      ["exact", "completed", calls, requests * 100],
      child,
    );
  }
  assert.ok(family.requestsOf("b").some(rescued), "the looping one was steered");
  assert.ok(!family.requestsOf("a").some(rescued));
  assert.deepEqual(
    family.alerts().filter((text) => text.includes("job of a")),
    [],
  );
  await endsInOrder(family);
});

both("what agents start themselves hangs under the agent that started it, however deep", async (t) => {
  const start = (child: string): Child => {
    const args = { subagent_type: "Explore", description: `job of ${child}`, prompt: `TASK ${child}` };
    return ({ turn }) => (turn === 0 ? { toolCalls: [{ name: "subagent", args }] } : { text: "done" });
  };
  const family = await open(t, {
    quirks: "nested",
    children: { a: start("b"), b: start("c"), c: looping(4), d: start("e"), e: looping(1) },
  });
  await family.call("subagent", family.task("a"));
  await family.call("subagent", family.task("d"));
  const { data } = await family.call("watchdog_list_targets", { includeCompleted: true });
  const targets = new Map<string, { name: string; parentId?: string; toolCallCount: number }>(
    data.targets.map((target: { id: string }) => [target.id, target]),
  );
  /** Names from a target up to the main session. */
  const lineage = (id: string | undefined): string[] => {
    const target = id === undefined ? undefined : targets.get(id);
    return target === undefined ? [] : [target.name, ...lineage(target.parentId)];
  };
  const lineages = [...targets.keys()].map((id) => lineage(id).join(" < ")).sort();
  assert.deepEqual(lineages, [
    "job of a < main",
    "job of d < main",
    "main",
    "sub-agent < job of a < main",
    "sub-agent < job of d < main",
    "sub-agent < sub-agent < job of a < main",
  ]);
  assert.match(await family.alert('Target: "sub-agent"'), /same command repeated/);
  await endsInOrder(family);
});

both("a foreground child ends with its call, and a resumed one is watched again", async (t) => {
  const family = await open(t, {
    children: {
      a: (request) => {
        const resumed = request.messages.some(({ text }) => text === "again");
        const turn = resumed ? request.turn - 2 : request.turn;
        if (!resumed && turn === 0) return bash("echo first");
        return resumed && turn < 4 ? bash(GREP) : { text: "done" };
      },
    },
  });
  const first = await family.call("subagent", family.task("a"));
  const id = /Agent (\S+) \(/.exec(first.text)?.[1] ?? "";
  assert.equal((await family.targets()).get("job of a").status, "completed");
  assert.deepEqual(family.alerts(), []);

  await family.call("subagent", { ...family.task("a"), prompt: "again", resume: id });
  const alert = await family.alert("job of a");
  assert.ok(alert.includes(GREP), alert);
  const target = (await family.targets()).get("job of a");
  assert.equal(target.status, "completed");
  assert.equal(target.toolCallCount, 5);
  const inspected = await family.command(`/watchdog inspect ${id}`);
  assert.match(inspected, /subagent_started[^\n]*resumed/);
  await endsInOrder(family);
});

both(
  "a child whose provider fails ends as the package says, and its history says that there was no answer",
  async (t) => {
    const family = await open(t, { children: { a: () => ({ error: { status: 400, message: "no such model" } }) } });
    const a = await family.spawn("a");
    await family.ended(a);
    assert.equal((await family.targets()).get("job of a").status, "completed");
    assert.match(await family.command(`/watchdog inspect ${a}`), /subagent_failed[^\n]*without an answer/);
    await endsInOrder(family);
  },
);

both("a disposed child breaks nothing", async (t) => {
  const family = await open(t, { config: { alertMode: "both" }, children: { a: looping(4), b: looping(12) } });
  const a = await family.spawn("a");
  await family.ended(a);
  await family.command(`/stand-in-dispose ${a}`);
  const late = await family.call("watchdog_steer_subagent", { targetId: a, dryRun: false });
  assert.equal(late.isError, true);
  assert.match(late.text, /has ended/);
  assert.match(await family.command(`/watchdog inspect ${a}`), /subagent_completed/);
  const b = await family.spawn("b");
  await family.ended(b);
  assert.ok(family.requestsOf("b").some(rescued), "the next child is watched");
  await endsInOrder(family);
});

both("the main session ends in order while its children run", async (t) => {
  const family = await open(t, {
    config: { alertMode: "both" },
    children: { a: () => ({ text: "so far", hang: true }), b: () => bash("sleep 600"), c: looping(500) },
  });
  for (const child of ["a", "b", "c"]) await family.spawn(child);
  await family.asks("a");
  await family.alert("job of c");
  await endsInOrder(family);
});

both("a foreground child that the user aborts ends as stopped", async (t) => {
  const family = await open(t, { children: { a: () => ({ text: "so far", hang: true }) } });
  const call = family.call("subagent", family.task("a"));
  await family.asks("a");
  await family.pi.send({ type: "abort" });
  await call;
  const target = (await family.targets()).get("job of a");
  assert.equal(target.status, "stopped");
  assert.match(
    await family.command(`/watchdog inspect ${target.id}`),
    /subagent_failed[^\n]*stopped after 0 tool uses/,
  );
  await endsInOrder(family);
});

both("after /reload in mid-run the old child has ended and the next one is linked", async (t) => {
  const gates = new Gates();
  const oddTools = fileURLToPath(new URL("../support/odd-tools.ts", import.meta.url));
  const family = await open(t, {
    extensions: [oddTools],
    children: { a: () => ({ text: "so far", hang: true }), b: working("b", gates) },
  });
  await family.spawn("a");
  await family.asks("a");
  await family.pi.prompt("/test-reload");
  const b = await family.spawn("b");
  gates.open("b0", "b1", "b-end");
  await family.ended(b);
  const targets = await family.targets();
  assert.equal(targets.get("job of a").status, "stopped");
  assert.equal(targets.get("job of b").link, "exact");
  assert.equal(targets.get("job of b").status, "completed");
  await endsInOrder(family);
});

both("a new main session starts with none of the old one's children", async (t) => {
  const gates = new Gates();
  const family = await open(t, { children: { a: working("a", gates), b: working("b", gates) } });
  await family.spawn("a");
  await family.asks("a");
  await family.pi.send({ type: "new_session" });
  assert.deepEqual([...(await family.targets()).keys()], ["main"]);
  const b = await family.spawn("b");
  gates.open("b0", "b1", "b-end");
  await family.ended(b);
  assert.equal((await family.targets()).get("job of b").link, "exact");
  await endsInOrder(family);
});

both("without the package the watchdog says that none was found, with it which", async (t) => {
  const alone = await (await Lab.open(t, { script: () => ({ text: "ok" }) })).rpc();
  const records = await alone.prompt("/watchdog status");
  assert.match(JSON.stringify(records), /no sub-agent package was found/i);
  const family = await open(t, { children: {} });
  assert.match(await family.command("/watchdog status"), /@gotgenes\/pi-subagents/);
});

both("stop: the circuit breaker ends the turn of a looping child, and the main session has the account", async (t) => {
  const family = await open(t, {
    config: { circuitBreaker: "stop", cooldownSec: 0 },
    children: { a: ({ turn }) => (turn < 30 ? bash(GREP) : { text: "never" }) },
  });
  const a = await family.spawn("a");
  await family.ended(a);
  const ended = await family.alert("the circuit breaker ended its turn");
  assert.ok(ended.includes("job of a"), ended);
  assert.ok(family.requestsOf("a").length < 10, `${family.requestsOf("a").length} requests of the child`);
  await endsInOrder(family);
});

both(
  "the agent's id and the call that the watchdog names work in the package's own tool; the session id does not",
  async (t) => {
    const gates = new Gates();
    const family = await open(t, { children: { a: working("a", gates), b: working("b", gates) } });
    const [a, b] = [await family.spawn("a"), await family.spawn("b")];
    await family.asks("a");
    await family.asks("b");
    const targets = await family.targets();
    const { agent, id: sessionId } = targets.get("job of b");
    assert.equal(agent.agentId, b);
    assert.equal(targets.get("job of a").agent.agentId, a);
    for (const tool of ["steer_subagent", "get_subagent_result"])
      assert.match((await family.call(tool, { agent_id: sessionId, message: "LOST" })).text, /Agent not found/);
    await family.callAsNamed(agent.steer, "LOOK ELSEWHERE");
    gates.open("a0", "b0");
    assert.match((await family.asks("b", 1)).newUserTexts.join("\n"), /LOOK ELSEWHERE/);
    assert.deepEqual((await family.asks("a", 1)).newUserTexts, []);
    gates.open("a1", "a-end", "b1", "b-end");
    await family.ended(b);
    assert.deepEqual((await family.targets()).get("job of b").agent, { agentId: b }, "nothing is to be said to it now");
    await endsInOrder(family);
  },
);
