// Agents that work well and then get stuck, each in another way of detection. Begins where a healthy scenario ends.

import { source } from "./outputs.ts";
import { scenarios } from "./scenarios/index.ts";
import { type Scenario, shell, Trace } from "./trace.ts";

export interface Sickness {
  name: string;
  /** Name of the healthy scenario before it. */
  after: string;
  /** Evidence that must be among what is told; any one of these. */
  evidence: readonly string[];
  /** The verdict must come in these laps of the sickness (1: the first). */
  from: number;
  by: number;
  /** One lap. */
  lap(t: Trace, n: number): void;
}

function after(name: string): Scenario {
  const scenario = scenarios.find((candidate) => candidate.name === name);
  if (!scenario) throw new Error(`no scenario is named ${name}`);
  return scenario;
}

export interface Illness {
  trace: Trace;
  /** Event index at which each lap ends, the first at 0. */
  lapEnds: number[];
  /** Event index at which the recovery begins. */
  recovery: number;
}

/** Healthy work, then so many laps of the sickness, then healthy work again. */
export function fallIll(sickness: Sickness, laps: number): Illness {
  const trace = new Trace(4711);
  after(sickness.after).build(trace);
  trace.user("Now the next thing, please.");
  const lapEnds = [];
  for (let n = 0; n < laps; n++) {
    sickness.lap(trace, n);
    lapEnds.push(trace.events.length - 1);
  }
  const recovery = trace.events.length;
  for (let n = 0; n < 12; n++) {
    trace.read(`src/recovery_${n}.ts`, source(`recovery_${n}.ts`, 30));
    trace.edit(`src/recovery_${n}.ts`, "before", `after ${n}`);
  }
  trace.say("That is done now.");
  return { trace, lapEnds, recovery };
}

const REFACTORING = "a refactoring over 80 files with the same edit in each";
const TDD = "test-driven work with many reds that differ";
const GIT = "a commit for every step, with the same clean status after each";
const LOG = "a log searched with tail, grep and sed for an hour";
const CHAT = "a chat in which every answer offers more";
const REVIEW = "a code review that reads 60 files and comes back to the central ones";
const CI = "a CI run watched for forty minutes with a sleep in the command";
const RESEARCH = "research with many searches, some empty, pages in between";

export const sicknesses: readonly Sickness[] = [
  {
    name: "the same failing test again and again",
    after: TDD,
    evidence: ["repeated_command"],
    from: 3,
    by: 4,
    lap: (t) =>
      t.bash("npm test -- payment", `✗ pays twice (expected 1, got 2)\n  ${t.noise.seconds(1, 4)}`, { code: 1 }),
  },
  {
    name: "a failing test shortened by tail",
    after: REFACTORING,
    evidence: ["repeated_command"],
    from: 3,
    by: 4,
    lap: (t) =>
      t.bash("npm test 2>&1 | tail -20", `Tests: 1 failed, 40 passed\nTime: ${t.noise.seconds(2, 9)}`, { code: 1 }),
  },
  {
    name: "a successful look again and again, its noise differing",
    after: GIT,
    evidence: ["repeated_command", "repeated_output"],
    from: 3,
    by: 5,
    lap: (t) =>
      t.bash("./scripts/doctor.sh", `[${t.noise.time()}] pid ${t.noise.pid()} all good in ${t.noise.int(20, 90)}ms`),
  },
  {
    name: "the same parallel batch each round",
    after: REVIEW,
    evidence: ["repeated_command"],
    from: 3,
    by: 5,
    lap: (t) => t.batch([shell("ls src", "a.ts\nb.ts"), shell("cat VERSION", "4.1"), shell("wc -l a.ts", "40 a.ts")]),
  },
  {
    name: "one command whose results differ each time, and nothing else",
    after: LOG,
    evidence: ["repeated_command"],
    from: 10,
    by: 12,
    lap: (t) =>
      t.bash(
        "./fuzz --once",
        `crash in ${t.noise.id(6)} after input ${t.noise.id(9)}: ${t.noise.pick(["overflow", "null", "hang", "assert"])}`,
      ),
  },
  {
    name: "two looks in turn",
    after: GIT,
    evidence: ["alternating"],
    from: 3,
    by: 5,
    lap: (t) =>
      t.bash("git diff HEAD~1 --stat", " src/a.ts | 2 +-").bash("git show --stat HEAD", "commit 12 src/a.ts | 2 +-"),
  },
  {
    name: "three steps in a circle",
    after: REFACTORING,
    evidence: ["cycle"],
    from: 2,
    by: 4,
    lap: (t) =>
      t
        .read("src/core/a.ts", source("a.ts", 20))
        .call("grep", { pattern: "useCore", path: "src" }, "src/core/b.ts:4: useCore()")
        .bash("npx tsc --noEmit -p core", "core/b.ts(4,1): error TS2304: Cannot find name 'useCore'.", { code: 2 }),
  },
  {
    name: "six steps in a circle",
    after: RESEARCH,
    evidence: ["cycle", "repeated_command"],
    from: 2,
    by: 4,
    lap: (t) => {
      for (let i = 0; i < 6; i++) t.call("web_fetch", { url: `https://docs.example/${i}` }, source(`docs_${i}`, 9));
    },
  },
  {
    name: "one missing module, whatever the arguments",
    after: TDD,
    evidence: ["error_loop"],
    from: 3,
    by: 6,
    lap: (t, n) =>
      t.bash(
        `python tools/export.py --format f${n} --out /tmp/x${n}`,
        `Traceback (most recent call last):\n  File "tools/export.py", line 3, in <module>\n    import yaml\nModuleNotFoundError: No module named 'yaml'`,
        { code: 1 },
      ),
  },
  {
    name: "tools that do not exist, under several names",
    after: REVIEW,
    evidence: ["unknown_tool"],
    from: 2,
    by: 4,
    lap: (t, n) => {
      const tool = ["open_file", "read_file", "cat_file", "view_file", "show_file", "load_file"][n % 6]!;
      t.call(tool, { path: `a${n}` }, `Tool ${tool} not found`, { error: true });
    },
  },
  {
    name: "a refused command, reworded",
    after: "permission prompts, some answered with no",
    evidence: ["denied"],
    from: 2,
    by: 5,
    lap: (t, n) =>
      t.bash(
        `git push ${["--force", "-f", "--force-with-lease", "origin +main"][n % 4]} # ${n}`,
        "The user rejected this command: not allowed by policy",
        { error: true },
      ),
  },
  {
    name: "searches that find nothing, one after the other",
    after: RESEARCH,
    evidence: ["empty_results"],
    from: 4,
    by: 10,
    lap: (t, n) => t.call("grep", { pattern: `legacyToken${n}`, path: "src" }, "No matches found"),
  },
  {
    name: "edits of one file that do not apply, with reads in between",
    after: "failing edits that are healed by reading the file again",
    evidence: ["failing_edit", "alternating", "repeated_command"],
    from: 3,
    by: 5,
    lap: (t, n) =>
      t.failedEdit("src/form.tsx", `<Field name="${n}">`, "<Field>").read("src/form.tsx", source("form.tsx", 40)),
  },
  {
    name: "an edit made and taken back, over and over",
    after: "print debugging: the same line added and removed around real fixes",
    evidence: ["edit_revert", "alternating"],
    from: 2,
    by: 2,
    lap: (t) => t.edit("src/round.ts", "floor(x)", "round(x)").edit("src/round.ts", "round(x)", "floor(x)"),
  },
  {
    name: "a type check that fails in the same way, nothing changed",
    after: REFACTORING,
    evidence: ["typecheck_loop"],
    from: 2,
    by: 3,
    lap: (t) => t.bash("npx tsc --noEmit", "src/a.ts(3,1): error TS2304: Cannot find name 'x'.", { code: 2 }),
  },
  {
    name: "an edit each time, and the same failure each time",
    after: "a stubborn bug: the same red after three edits, then a fix, over and over",
    evidence: ["persistent_failure"],
    from: 4,
    by: 6,
    lap: (t, n) =>
      t
        .read(`app/helper_${n}.py`, source(`helper_${n}.py`, 20))
        .edit("app/money.py", `round_${n}(x)`, `round_${n + 1}(x)`)
        .bash(
          "python -m pytest -q tests/test_money.py",
          `FAILED tests/test_money.py::test_vat - assert 3 == 4\n1 failed in ${t.noise.seconds(0, 1)}`,
          { code: 1 },
        ),
  },
  {
    name: "one file read in ever other ranges, all seen before",
    after: REVIEW,
    evidence: ["reread"],
    from: 4,
    by: 9,
    lap: (t, n) => {
      const offset = n === 0 ? 1 : ((n * 37) % 150) + 1;
      const limit = n === 0 ? 200 : 50;
      t.read("AGENTS.md", source("AGENTS.md", limit, offset), { offset, limit });
    },
  },
  {
    name: "an unchanged answer to a program's nudge",
    after: CHAT,
    evidence: ["repeated_llm_output", "repeated_llm_input"],
    from: 3,
    by: 4,
    lap: (t) => t.program("You have open todos. Continue.").say("All todos are done."),
  },
  {
    name: "work announced and not taken up",
    after: "a plan announced once, then done",
    evidence: ["narration"],
    from: 2,
    by: 4,
    lap: (t, n) => {
      t.say(
        [
          "I'll edit the parser now.",
          "Now I will start with the parser.",
          "Proceeding with the parser.",
          "I am working on the parser.",
        ][n % 4]!,
      );
      t.user("continue");
    },
  },
  {
    name: "empty answers",
    after: CHAT,
    evidence: ["empty_turns", "repeated_llm_input"],
    from: 2,
    by: 4,
    lap: (t) => t.program("Your last answer was empty.").say(""),
  },
  {
    name: "a job asked without a pause",
    after: CI,
    evidence: ["repeated_command"],
    from: 20,
    by: 20,
    lap: (t) => t.bash("gh run view 99 --json status -q .status", "in_progress"),
  },
  {
    name: "known things looked at again in no order",
    after: LOG,
    evidence: ["stale_revisits"],
    from: 45,
    by: 60,
    lap: (t, n) => {
      // The first 20 are news; then each comes back, in another order each time.
      const which = n < 20 ? n : (n * 7 + Math.floor(n / 20) * 3) % 20;
      t.bash(`cat notes/${which}.md`, source(`notes_${which}`, 4));
    },
  },
];
