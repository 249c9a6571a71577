// Watching costs nothing: the same run with the package and without it makes the same model calls and ends with the same
// answer. Real Pi, scripted models, children of every kind.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { compare, type Outcome, type Scene } from "../support/compare.ts";
import { STAND_IN } from "../support/gotgenes/family.ts";
import { MODEL, type ModelRequest, piCli, provider, type Reply } from "../support/pi.ts";
import { bash, call, edit, RESCUE, read } from "../support/scripts.ts";
import { TINTINWEB } from "../support/tintinweb/kit.ts";

const HOLD = fileURLToPath(new URL("../support/hold.ts", import.meta.url));

/** Fails six times at the same command, finds another way and reports. */
const recovers = ({ turn }: ModelRequest): Reply =>
  turn < 6 ? bash("cat missing.txt") : turn === 6 ? bash("ls -a") : { text: "The child's report." };

/** Goes round until it gives up. */
const loops =
  (rounds: number) =>
  ({ turn }: ModelRequest): Reply =>
    turn < rounds ? bash("grep -n TOKEN src.txt") : { text: "The child gives up." };

const spawn = (tool: string, child: string, background = false): Reply => ({
  toolCalls: [
    call(tool, {
      subagent_type: "Explore",
      description: `job of ${child}`,
      prompt: `TASK ${child}`,
      ...(background ? { run_in_background: true } : {}),
    }),
  ],
});

const together = (...replies: Reply[]): Reply => ({ toolCalls: replies.flatMap(({ toolCalls }) => toolCalls ?? []) });

/** Gives these, then reports what the last result was. */
const inTurn =
  (...replies: Reply[]): Scene["main"] =>
  ({ toolResults }, step) =>
    replies[step] ?? { text: `The report: ${SAID.exec(toolResults.at(-1)?.text ?? "")?.[0] ?? "all is done"}` };

/** What a child says at its end; ids and times differ in each run. */
const SAID = /The child's report\.|The child gives up\.|\S+ is done/;

const files = { "src.txt": "nothing here\n", "a.txt": "a\n", "b.txt": "b\n", "long.txt": "line\n".repeat(300) };

/** Model calls, course and answer are those of a run without the watchdog. */
function same(run: { without: Outcome; with: Outcome }): void {
  const { without, with: watched } = run;
  assert.equal(
    watched.mainCalls,
    without.mainCalls,
    `model calls of the main agent; told: ${watched.ours.join("\n---\n")}`,
  );
  assert.deepEqual(watched.childCalls, without.childCalls, "model calls of the children");
  assert.equal(watched.answer, without.answer);
  assert.deepEqual(watched.course, without.course);
  assert.equal(watched.code, without.code);
}

/** Nothing of the watchdog is anywhere. */
function unseen(run: { without: Outcome; with: Outcome }): void {
  same(run);
  assert.deepEqual(run.with.ours, []);
  assert.deepEqual(run.with.lines, []);
  if (run.without.records.length === 0) assert.equal(run.with.stdout, run.without.stdout);
  assert.equal(run.with.input, run.without.input, "characters that the main agent's model was sent");
}

for (const [name, packages, tool] of [
  ["tintinweb", [TINTINWEB.package], "Agent"],
  ["stand-in", [STAND_IN], "subagent"],
] as const) {
  const scene: Omit<Scene, "mode"> = {
    packages: [...packages],
    files,
    main: inTurn(spawn(tool, "a")),
    children: { a: recovers },
  };

  test(`print: a foreground child fails six times and recovers: stdout is the report, and stderr has one line (${name})`, async (t) => {
    const run = await compare(t, { ...scene, mode: "print" });
    same(run);
    assert.equal(run.with.stdout, run.without.stdout);
    assert.equal(run.without.mainCalls, 2);
    assert.equal(run.with.input, run.without.input);
    assert.equal(run.with.lines.length, 1, run.with.lines.join("\n"));
    assert.match(run.with.lines[0] ?? "", /job of a .*repeated 6 times.*recovered/);
    assert.deepEqual(run.without.lines, []);
  });

  for (const mode of ["json", "rpc"] as const) {
    test(`${mode}: a foreground child fails six times and recovers: the main agent hears nothing of it (${name})`, async (t) => {
      const run = await compare(t, { ...scene, mode });
      same(run);
      assert.deepEqual(run.with.ours, []);
      assert.equal(run.with.input, run.without.input);
      assert.equal(run.with.lines.length, mode === "json" ? 1 : 0, run.with.lines.join("\n"));
    });
  }
}

for (const count of [4, 32]) {
  for (const mode of ["print", "rpc"] as const) {
    test(`${mode}: ${count} background children loop while one long tool runs: one message, and no call more`, async (t) => {
      const names = Array.from({ length: count }, (_, n) => `c${n}`);
      const run = await compare(t, {
        mode,
        packages: [STAND_IN],
        extensions: [HOLD],
        files,
        main: inTurn(together(...names.map((child) => spawn("subagent", child, true))), {
          toolCalls: [call("hold", { agents: count })],
        }),
        children: Object.fromEntries(names.map((child) => [child, loops(8)])),
      });
      same(run);
      if (mode !== "rpc") return;
      assert.equal(run.with.ours.length, 1, run.with.ours.join("\n---\n"));
      const [text = ""] = run.with.ours;
      for (const child of names.slice(0, 20)) assert.ok(text.includes(`"job of ${child}"`), `${child}: ${text}`);
      assert.match(text, /ended \(completed\)/);
      assert.doesNotMatch(text, /likely stuck/, "nobody is said to go on who has ended");
      assert.ok(text.length < 7000, `${text.length} characters`);
    });
  }
}

test("print: a nested child loops and recovers", async (t) => {
  const run = await compare(t, {
    mode: "print",
    packages: [STAND_IN],
    env: { PI_SUBAGENTS_STAND_IN: "nested" },
    files,
    main: inTurn(spawn("subagent", "outer")),
    children: {
      outer: ({ turn }) => (turn === 0 ? spawn("subagent", "inner") : { text: "outer is done" }),
      inner: recovers,
    },
  });
  same(run);
  assert.equal(run.with.stdout, run.without.stdout);
});

test("print: a child that is a process of its own loops and recovers", async (t) => {
  const words = [
    process.execPath,
    piCli(),
    "-p",
    "--no-session",
    "--model",
    `${provider("openai-completions")}/${MODEL}`,
  ];
  const run = await compare(t, {
    mode: "print",
    files,
    main: inTurn(bash(`${words.join(" ")} 'TASK a'`)),
    children: { a: recovers },
  });
  same(run);
  assert.equal(run.with.stdout, run.without.stdout);
});

const HEALTHY: Record<string, Scene["main"]> = {
  "a file is paged": inTurn(...Array.from({ length: 8 }, (_, n) => read("long.txt", 1 + 30 * n, 30))),
  "a state is polled with pauses": inTurn(
    ...Array.from({ length: 6 }, (_, n) => bash(`sleep 0.1; echo "build running, step ${n} of 6"`)),
  ),
  "test, fix, test": inTurn(
    bash("cat a.txt; echo '3 failed'; exit 1"),
    edit("a.txt", "a\n", "a2\n"),
    bash("cat a.txt; echo '1 failed'; exit 1"),
    edit("a.txt", "a2\n", "a3\n"),
    bash("cat a.txt; echo 'all passed'"),
  ),
  "a question is answered without a tool": inTurn(),
};

for (const [what, main] of Object.entries(HEALTHY)) {
  for (const mode of ["print", "json"] as const) {
    test(`${mode}: ${what}: nothing of the watchdog is anywhere`, async (t) => {
      unseen(await compare(t, { mode, files, main }));
    });
  }
}

test("print: two children change different files: nothing of the watchdog is anywhere", async (t) => {
  const edits =
    (file: string, from: string): ((request: ModelRequest) => Reply) =>
    ({ turn }) =>
      [read(file), edit(file, from, `${from}2`)][turn] ?? { text: `${file} is done` };
  unseen(
    await compare(t, {
      mode: "print",
      packages: [STAND_IN],
      files,
      main: inTurn(spawn("subagent", "a"), spawn("subagent", "b")),
      children: { a: edits("a.txt", "a"), b: edits("b.txt", "b") },
    }),
  );
});

test("rpc: a child's provider fails once and is asked again", async (t) => {
  let failures = 0;
  const run = await compare(t, {
    mode: "rpc",
    packages: [STAND_IN],
    settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 10 } },
    files,
    main: inTurn(spawn("subagent", "a")),
    children: {
      a: ({ turn }) => {
        if (turn === 0) return bash("echo one");
        failures += 1;
        return failures % 2 === 1 ? { error: { status: 529, message: "overloaded" } } : { text: "a is done" };
      },
    },
  });
  same(run);
  assert.deepEqual(run.with.ours, []);
});

test("the main agent repeats itself and recovers: its rescue comes with a call that it makes anyway", async (t) => {
  for (const mode of ["print", "rpc"] as const) {
    const run = await compare(t, {
      mode,
      config: { rescueMessage: RESCUE },
      files,
      main: inTurn(bash("cat a.txt"), bash("cat a.txt"), bash("cat a.txt"), bash("cat b.txt")),
    });
    same(run);
    if (mode === "print") assert.equal(run.with.stdout, run.without.stdout);
    else assert.equal(run.with.ours.filter((text) => text.includes(RESCUE)).length, 1);
    assert.deepEqual(run.with.lines, [], "it was heard");
  }
});

test("the main agent gives the same answer again and again: no run that ended is started again", async (t) => {
  for (const mode of ["print", "rpc"] as const) {
    const run = await compare(t, {
      mode,
      prompts: ["one", "two", "three", "four", "five", "six"],
      main: () => ({ text: "There is nothing to do." }),
    });
    same(run);
    assert.equal(run.with.mainCalls, 6);
  }
});

test("the main agent loops until its final answer: the rescue that came too late starts nothing", async (t) => {
  const run = await compare(t, {
    mode: "rpc",
    files,
    main: ({ toolResults }, step) =>
      step < 2
        ? bash("cat a.txt")
        : step === 2
          ? together(bash("cat a.txt"), bash("cat a.txt"))
          : { text: `done after ${toolResults.length} results` },
  });
  same(run);
});

test("rpc: the user steers in mid-run and queues a follow-up while a child loops", async (t) => {
  for (const settings of [{}, { steeringMode: "all", followUpMode: "all" }]) {
    const run = await compare(t, {
      mode: "rpc",
      packages: [STAND_IN],
      extensions: [HOLD],
      settings,
      files,
      main: inTurn(spawn("subagent", "a", true), { toolCalls: [call("hold", { agents: 1 })] }),
      children: { a: loops(8) },
      drive: async (pi, lab) => {
        await pi.send({ type: "prompt", message: "begin" });
        await lab.server.request(({ prompt, turn }) => prompt === "TASK a" && turn >= 2, "the child's third turn");
        await pi.send({ type: "steer", message: "Mind the tests." });
        await pi.send({ type: "follow_up", message: "Then sum up." });
        await pi.waitFor(({ type }) => type === "agent_settled", "the end");
      },
    });
    same(run);
    assert.ok(run.with.ours.length <= 1, run.with.ours.join("\n---\n"));
  }
});

test("rpc: the user stops the main agent in its loop: nothing is said of it until the user speaks", async (t) => {
  const run = await compare(t, {
    mode: "rpc",
    config: { rescueMessage: RESCUE },
    extensions: [HOLD],
    files,
    main: (request, step) => {
      if (request.newUserTexts.includes("go on")) return { text: "I do something else." };
      return step < 3 ? bash("cat a.txt") : { toolCalls: [call("hold", { agents: 99 })] };
    },
    drive: async (pi) => {
      await pi.send({ type: "prompt", message: "begin" });
      await pi.waitFor(({ type, toolName }) => type === "tool_execution_start" && toolName === "hold", "the long call");
      const from = pi.records.length;
      await pi.send({ type: "abort" });
      await pi.waitFor(({ type }) => type === "agent_settled", "the end", { from });
      await pi.prompt("go on");
    },
  });
  same(run);
  const aborted = run.with.records.findIndex(({ type }) => type === "agent_settled");
  const after = run.with.records.slice(aborted);
  const told = after.filter(({ type, method, message }) => {
    return type === "extension_ui_request" && method === "notify" && /main/.test(String(message));
  });
  assert.deepEqual(told, []);
  assert.ok(
    !after.some(({ message }) => message?.role === "custom" && rescuedBy(message)),
    "no rescue after the abort",
  );
});

const rescuedBy = (message: { content: unknown }): boolean => JSON.stringify(message.content).includes(RESCUE);
