// Two agents and one file in real Pi: who is told of what, and when it is no conflict. A sweeping git command is told
// of, and refused where the user's configuration has the circuit breaker on.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Child, Family, type FamilyOptions, Gates } from "../support/gotgenes/family.ts";
import type { Reply } from "../support/pi.ts";
import { bash, edit, read, told, write } from "../support/scripts.ts";
import { TINTINWEB } from "../support/tintinweb/kit.ts";

const files = {
  "shared.txt": "alpha\nbeta\n",
  ".pi/subagents.json": JSON.stringify({ defaultJoinMode: "async" }),
};

/** An agent type that may change files. */
const WORKER = { subagent_type: "general-purpose" };

/** Its steps, each when the test opens its gate, e.g. `a0`; then `a-end` and an answer. */
const stepping =
  (name: string, gates: Gates, steps: readonly Reply[]): Child =>
  async ({ turn }) => {
    const step = steps[turn];
    await gates.pass(step === undefined ? `${name}-end` : `${name}${turn}`);
    return step ?? { text: `${name} is done` };
  };

const open = (t: TestContext, options: FamilyOptions) => Family.open(t, { kit: TINTINWEB, files, ...options });

/** Two children that are at work at the same time. */
async function pair(family: Family): Promise<[string, string]> {
  const a = await family.spawn("a", WORKER);
  const b = await family.spawn("b", WORKER);
  await family.asks("a");
  await family.asks("b");
  return [a, b];
}

/** A second file that both change blindly is found, so the watch was awake when the first was not. */
const PROOF = write("proof.txt", "mine\n");

const conflictsOf = (family: Family) => family.alerts().filter((text) => text.includes("Status: in a file conflict"));

test("two running children that change one file: the main session is told who, what and when", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    children: {
      a: stepping("a", gates, [edit("shared.txt", "alpha", "ALPHA")]),
      b: stepping("b", gates, [edit("shared.txt", "beta", "BETA")]),
    },
  });
  const [a, b] = await pair(family);
  gates.open("a0");
  await family.asks("a", 1);
  gates.open("b0");
  const alert = await family.alert("Status: in a file conflict");
  const path = join(family.lab.home.cwd, "shared.txt");
  assert.match(alert, /Target: "job of b"/);
  assert.match(
    alert,
    new RegExp(`"job of b" changed ${path} over what "job of a" had changed \\d+ s before, without reading it`),
  );
  assert.equal((await family.targets()).get("job of b").status, "running");
  gates.open("a-end", "b-end");
  await family.ended(a);
  await family.ended(b);
  assert.equal(readFileSync(path, "utf8"), "ALPHA\nBETA\n", "nothing was held up");
  await family.pi.close();
});

test("where the user lets children be told, both are told in their next request", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    config: { alertMode: "both" },
    children: {
      a: stepping("a", gates, [edit("shared.txt", "alpha", "ALPHA"), bash("echo a")]),
      b: stepping("b", gates, [edit("shared.txt", "beta", "BETA"), bash("echo b")]),
    },
  });
  const [a, b] = await pair(family);
  gates.open("a0");
  await family.asks("a", 1);
  gates.open("b0");
  await family.alert("Status: in a file conflict");
  await family.asks("b", 1);
  gates.open("a1", "b1");
  for (const child of ["a", "b"]) {
    const request = await family.asks(child, 2);
    assert.match(
      JSON.stringify(request.messages),
      /The watchdog saw: (?:you|\\\\*"job of b\\\\*") changed [^"]*shared\.txt/,
      child,
    );
  }
  gates.open("a-end", "b-end");
  await family.ended(a);
  await family.ended(b);
  await family.pi.close();
});

test("a link to the file is the file", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    children: {
      a: stepping("a", gates, [edit("shared.txt", "alpha", "ALPHA")]),
      b: stepping("b", gates, [edit("alias.txt", "beta", "BETA")]),
    },
  });
  symlinkSync("shared.txt", join(family.lab.home.cwd, "alias.txt"));
  await pair(family);
  gates.open("a0");
  await family.asks("a", 1);
  gates.open("b0");
  assert.match(await family.alert("Status: in a file conflict"), /shared\.txt over what "job of a" had changed/);
  gates.open("a-end", "b-end");
  await family.pi.close();
});

test("a child that has read what the other wrote, and one whose fellow has ended, are in no conflict", async (t) => {
  const gates = new Gates();
  const family = await open(t, {
    children: {
      a: stepping("a", gates, [edit("shared.txt", "alpha", "ALPHA"), PROOF]),
      b: stepping("b", gates, [read("shared.txt"), edit("shared.txt", "beta", "BETA"), PROOF]),
      c: stepping("c", gates, [write("left.txt", "c\n")]),
      d: stepping("d", gates, [write("left.txt", "d\n")]),
    },
  });
  await pair(family);
  const c = await family.spawn("c", WORKER);
  await family.spawn("d", WORKER);
  await family.asks("d");
  gates.open("c0", "c-end");
  await family.ended(c);
  gates.open("d0");
  await family.asks("d", 1);
  gates.open("a0");
  await family.asks("a", 1);
  gates.open("b0", "b1");
  await family.asks("b", 2);
  gates.open("a1");
  await family.asks("a", 2);
  gates.open("b2");
  await family.alert("proof.txt");
  gates.open("a-end", "b-end", "d-end");
  assert.equal(conflictsOf(family).length, 1, told(family.pi));
  await family.pi.close();
});

const git = (family: Family, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.invalid", ...args], {
    cwd: family.lab.home.cwd,
    encoding: "utf8",
  });

function repository(family: Family): void {
  git(family, "init", "-q");
  git(family, "add", ".");
  git(family, "commit", "-qm", "one");
}

test("children in worktrees of their own are in nobody's way", async (t) => {
  const gates = new Gates();
  const change = write("shared.txt", "changed\n");
  const family = await open(t, {
    children: {
      a: stepping("a", gates, [change]),
      b: stepping("b", gates, [change, bash("git checkout .")]),
      c: stepping("c", gates, [PROOF]),
      d: stepping("d", gates, [PROOF]),
    },
  });
  repository(family);
  for (const child of ["a", "b"]) await family.spawn(child, { ...WORKER, isolation: "worktree" });
  for (const child of ["c", "d"]) await family.spawn(child, WORKER);
  for (const child of ["a", "b", "c", "d"]) await family.asks(child);
  gates.open("a0");
  await family.asks("a", 1);
  gates.open("b0", "b1");
  await family.asks("b", 2);
  gates.open("c0");
  await family.asks("c", 1);
  gates.open("d0");
  await family.alert("proof.txt");
  assert.equal(conflictsOf(family).length, 1, told(family.pi));
  gates.open("a-end", "b-end", "c-end", "d-end");
  await family.pi.close();
});

for (const breaker of ["off", "block"] as const) {
  const what = breaker === "off" ? "is told of as it runs" : "is refused with the reason when the breaker is on";
  test(`a git command that would undo another child's unsaved work ${what}`, async (t) => {
    const gates = new Gates();
    const family = await open(t, {
      config: { circuitBreaker: breaker },
      children: {
        a: stepping("a", gates, [edit("shared.txt", "alpha", "ALPHA")]),
        b: stepping("b", gates, [bash("git checkout .")]),
      },
    });
    repository(family);
    await pair(family);
    gates.open("a0");
    await family.asks("a", 1);
    gates.open("b0");
    const alert = await family.alert("Status: in a file conflict");
    assert.match(alert, /Target: "job of b"/);
    assert.match(alert, /"git checkout \." would undo what "job of a" has not committed: \S*shared\.txt/);
    const answer = (await family.asks("b", 1)).toolResults.map(({ text }) => text).join();
    const text = readFileSync(join(family.lab.home.cwd, "shared.txt"), "utf8");
    if (breaker === "off") {
      assert.equal(text, "alpha\nbeta\n", "told of, not hindered");
    } else {
      assert.match(answer, /Refused by the watchdog: "git checkout \." would undo what "job of a" has not committed/);
      assert.equal(text, "ALPHA\nbeta\n");
    }
    gates.open("a-end", "b-end");
    await family.pi.close();
  });
}
