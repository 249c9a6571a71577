// The scoring rules of `npm run eval`, and the document that it writes.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  evaluationText,
  judge,
  keyFigures,
  type Result,
  scoreTable,
  tallies,
  writtenFigures,
} from "../../scripts/lib/evaluation.mjs";
import { type Case, type Detection, isRight, score } from "../../scripts/lib/score.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "pi-watchdog-eval-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const found = (eventIndex: number, severity = "warning", rule = "repeated_command"): Detection => ({
  eventIndex,
  rule,
  severity,
});
const labelled = (label: Case["label"], more: Partial<Case> = {}): Case => ({
  id: "x",
  class: "c",
  label,
  events: Array.from({ length: 20 }, () => ({})),
  ...more,
});

const OUTCOMES: [outcome: string, labelled: Case, detections: Detection[]][] = [
  ["hit", labelled("stuck"), [found(3)]],
  ["missed", labelled("stuck"), []],
  ["missed", labelled("stuck"), [found(3, "info"), found(4, "warning", "intervention:polling")]],
  ["premature", labelled("stuck", { notBefore: 4 }), [found(3), found(5)]],
  ["late", labelled("stuck", { latest: 7 }), [found(8)]],
  ["hit", labelled("stuck", { notBefore: 4, latest: 7 }), [found(9), found(7)]],
  ["silent_after_first", labelled("stuck", { latest: 7, redetectBy: 12 }), [found(5), found(13)]],
  ["hit", labelled("stuck", { latest: 7, redetectBy: 12 }), [found(5), found(6)]],
  ["hit", labelled("stuck", { evalFrom: 6 }), [found(5), found(9)]],
  ["missed", labelled("stuck", { evalFrom: 6 }), [found(5)]],
  ["missed", labelled("stuck", { judge: "end" }), [found(17)]],
  ["hit", labelled("stuck", { judge: "end" }), [found(17), found(18)]],
  ["quiet", labelled("not_stuck"), [found(3, "info")]],
  ["false_alarm", labelled("not_stuck"), [found(3)]],
  ["quiet", labelled("not_stuck", { evalFrom: 4 }), [found(3)]],
  ["either", labelled("either"), [found(3, "critical")]],
  ["either", labelled("either", { maxSeverity: "warning" }), [found(3)]],
  ["too_hard", labelled("either", { maxSeverity: "warning" }), [found(3, "critical")]],
  [
    "right",
    labelled("intervention", { intervention: "polling", latest: 9 }),
    [found(9, "info", "intervention:polling")],
  ],
  ["right", labelled("intervention", { intervention: "denied" }), [found(9, "warning", "intervention:polling,denied")]],
  [
    "mistimed",
    labelled("intervention", { intervention: "polling", latest: 9 }),
    [found(10, "info", "intervention:polling")],
  ],
  ["none", labelled("intervention", { intervention: "polling" }), [found(9, "info", "intervention:denied")]],
  ["none+wrong_stuck", labelled("intervention", { intervention: "polling", stuckVerdict: "wrong" }), [found(9)]],
  ["none", labelled("intervention", { intervention: "polling", stuckVerdict: "acceptable" }), [found(9)]],
];

for (const [outcome, one, detections] of OUTCOMES) {
  const { label, class: _, id: __, events: ___, ...rest } = one;
  test(`${outcome}: ${label} ${JSON.stringify(rest)}, detections ${JSON.stringify(detections)}`, () => {
    assert.equal(score(one, detections).outcome, outcome);
  });
}

const RESULTS: Result[] = OUTCOMES.map(([, one, detections], index) => ({
  set: index % 2 === 0 ? "here/even" : "here/odd",
  labelled: { ...one, id: `k${index}`, class: `class ${index % 5}` },
  scored: score(one, detections),
}));
const wrongOf = (results: readonly Result[]) => results.filter(({ scored }) => !isRight(scored.outcome));

test("the document holds its own figures, and keeps what people wrote about wrong cases", () => {
  const first = evaluationText(RESULTS, wrongOf(RESULTS), "");
  assert.deepEqual(writtenFigures(first), keyFigures(RESULTS));
  assert.ok(Object.keys(keyFigures(RESULTS)).length >= 5);
  assert.match(first, /\| k1 \|.*\| not looked into \|/);
  const explained = first.replace(/(\| k1 \|.*\|) not looked into \|/, "$1 a reason |");
  const second = evaluationText(RESULTS, wrongOf(RESULTS), explained);
  assert.match(second, /\| k1 \|.*\| a reason \|/);
  assert.equal(second, explained);
});

test("a figure below what is required or stood there before does not hold", () => {
  const fine = { "precision, all": 1, "recall, all": 0.97, interventions: 0.9 };
  const fails = (now: Record<string, number>, committed: Record<string, number> = {}) =>
    judge(now, committed)
      .filter(({ holds }) => !holds)
      .map(({ text }) => text);
  assert.deepEqual(fails(fine, fine), []);
  assert.match(fails({ ...fine, "precision, all": 0.979 }).join(), /precision, all: 0\.979 \(required: 0\.980\)/);
  assert.match(fails({ ...fine, "recall, all": 0.949 }).join(), /required: 0\.950/);
  assert.match(fails({ ...fine, interventions: 0.89 }).join(), /required: 0\.900/);
  assert.match(fails(fine, { ...fine, "recall, all": 0.98 }).join(), /recall, all: 0\.970 \(before: 0\.980\)/);
  assert.match(fails(fine, { "recall, gone": 1 }).join(), /recall, gone: no cases/);
});

const scorer = join(root, "..", "shared", "tools", "score.py");
const cases = ["reports", "scenarios"].map((name) => join(root, "..", "shared", "cases", `${name}.jsonl`));
const python = spawnSync("python3", ["--version"]).status === 0;
const skip =
  !(python && [scorer, ...cases].every((file) => existsSync(file))) && "python3 or the reference scorer is not here";

test("scores are those of the reference scorer, in every set and class, whatever was detected", { skip }, () => {
  // The same at every run; what is detected does not matter here, so it need not be what the detector says.
  let state = 7;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const severities = ["info", "warning", "critical"];
  const lines: string[] = [];
  const results: Result[] = [];
  for (const file of cases) {
    const set = `${basename(dirname(file))}/${basename(file, ".jsonl")}`;
    for (const line of readFileSync(file, "utf8").trimEnd().split("\n")) {
      const one: Case = JSON.parse(line);
      const rules = ["cycle", "reread", `intervention:${one.intervention ?? "polling"}`, "intervention:x,polling"];
      const detections = Array.from({ length: below(4) }, () =>
        found(below(one.events.length), severities[below(3)], rules[below(rules.length)]),
      );
      // Some near the window, where outcomes differ.
      if (below(2) === 0) detections.push(found((one.latest ?? one.events.length - 1) - below(2)));
      lines.push(JSON.stringify({ id: one.id, detections }));
      results.push({ set, labelled: one, scored: score(one, detections) });
    }
  }
  const file = join(directory, "detections.jsonl");
  writeFileSync(file, `${lines.join("\n")}\n`);
  const reference = spawnSync("python3", [scorer, "--per-class", file, ...cases], { encoding: "utf8" });
  assert.equal(reference.stderr, "");
  const own = [
    scoreTable(new Map([...tallies(results, ({ set }) => set), ...tallies(results, () => "all")])),
    scoreTable(tallies(results, ({ set, labelled: { class: name } }) => `${set} · ${name}`)),
  ].join("\n");
  const rows = (table: string) =>
    new Set(
      table
        .replaceAll("nan", "–")
        .split("\n")
        .filter((line) => line.startsWith("| ") && !line.startsWith("| set")),
    );
  assert.ok(rows(own).size > 100);
  assert.deepEqual(rows(own), rows(reference.stdout));
});

test("without cases the command says so and skips; a named folder must have some", {
  skip: process.platform === "win32",
}, () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(root, "scripts", "eval.mjs"), ...args], { encoding: "utf8" });
  const none = run("--check", "--cases", mkdtempSync(join(directory, "none-")));
  assert.equal(none.status, 1);
  assert.match(none.stdout, /there are no labelled cases here/);
  assert.match(none.stdout, /0 passed, 0 failed, 1 skipped\n$/);
  const events = [1, 2, 3].flatMap((turn) => [
    { at: turn, type: "tool_call", turn, callId: `c${turn}`, tool: "bash", args: { command: "ls" } },
    { at: turn, type: "tool_result", turn, callId: `c${turn}`, tool: "bash", output: "gone", isError: true },
  ]);
  const folder = mkdtempSync(join(directory, "cases-"));
  const content = [
    { id: "a", class: "loop", label: "stuck", events },
    { id: "b", class: "calm", label: "not_stuck", events },
  ];
  writeFileSync(join(folder, "own.jsonl"), `${content.map((one) => JSON.stringify(one)).join("\n")}\n`);
  const failing = run("--check", "--cases", folder);
  assert.equal(failing.status, 1);
  assert.match(failing.stdout, /FAILED precision, all: 0\.500/);
  assert.match(failing.stdout, /b \(calm\): false_alarm, verdicts at 5/);
});
