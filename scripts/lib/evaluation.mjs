// docs/evaluation.md: made of scores, and read back to compare with. Pure: no file.

import { TRACE_EVENTS } from "../../extension/generated/events.ts";
import { figures, isRight } from "./score.mjs";

/**
 * @typedef {import("./score.mjs").Tally} Tally
 *
 * @typedef {object} Result of one case
 * @property {string} set
 * @property {import("./score.mjs").Case} labelled
 * @property {import("./score.mjs").Scored} scored
 *
 * @typedef {Record<string, number>} Figures by name, those that must not drop
 */

/** What must be reached whatever was reached before. */
export const REQUIRED = { precision: 0.98, recall: 0.95, interventions: 0.9 };

const NOT_LOOKED_INTO = "not looked into";

/** @param {readonly Result[]} results @param {(result: Result) => string} key @returns {Map<string, Tally>} sorted */
export function tallies(results, key) {
  /** @type {Map<string, Tally>} */
  const found = new Map();
  for (const result of results) {
    const name = key(result);
    const tally = found.get(name) ?? {};
    tally[result.scored.outcome] = (tally[result.scored.outcome] ?? 0) + 1;
    found.set(name, tally);
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

const LIVE = "what Pi tells";
const TRACES = "with events that only traces have";

/**
 * Whether a case can be judged by what Pi tells of a running agent, or has what nothing tells live: certain lifecycle events,
 * the figures of a tick, and changes of files from outside.
 * @param {Result} result
 */
function sourceOf({ labelled }) {
  const onlyInTraces = labelled.events.some((event) => {
    const { type, event: name, ...fields } = /** @type {Record<string, unknown>} */ (event);
    if (type === "file_change") return true;
    if (type !== "lifecycle") return false;
    return (
      TRACE_EVENTS.has(String(name)) ||
      (name === "tick" && ["inFlight", "outputBytes", "cpuSec"].some((field) => field in fields))
    );
  });
  return onlyInTraces ? TRACES : LIVE;
}

/** @param {Result} result */
function isNamed({ labelled }) {
  return labelled.label === "intervention";
}

/** @param {readonly Result[]} results @returns {{ right: number, of: number }} */
function namedInterventions(results) {
  const named = results.filter(isNamed);
  return { right: named.filter(({ scored }) => scored.outcome === "right").length, of: named.length };
}

/** The figures that are compared. @param {readonly Result[]} results @returns {Figures} */
export function keyFigures(results) {
  /** @type {Figures} */
  const found = {};
  const sets = new Map([...tallies(results, ({ set }) => set), ...tallies(results, () => "all")]);
  for (const [set, tally] of sets) {
    const { precision, recall } = figures(tally);
    if (!Number.isNaN(precision)) found[`precision, ${set}`] = round(precision);
    if (!Number.isNaN(recall)) found[`recall, ${set}`] = round(recall);
  }
  const { right, of } = namedInterventions(results);
  if (of > 0) found.interventions = round(right / of);
  return found;
}

/** Every figure that must hold, and whether it does. @param {Figures} now @param {Figures} committed */
export function judge(now, committed) {
  const floors = {
    "precision, all": REQUIRED.precision,
    "recall, all": REQUIRED.recall,
    interventions: REQUIRED.interventions,
  };
  const required = Object.entries(floors).map(([name, floor]) => verdict(name, now[name], floor, "required"));
  const kept = Object.entries(committed).map(([name, before]) => verdict(name, now[name], before, "before"));
  return [...required, ...kept];
}

/**
 * @param {string} name
 * @param {number | undefined} value
 * @param {number} floor
 * @param {string} why
 */
function verdict(name, value, floor, why) {
  const text = `${name}: ${value === undefined ? "no cases" : value.toFixed(3)} (${why}: ${floor.toFixed(3)})`;
  return { holds: value !== undefined && value >= floor, text };
}

/** As in the tables, so that figures that look the same are the same. @param {number} value */
function round(value) {
  return Number(value.toFixed(3));
}

const HEAD = [
  "set",
  "hit",
  "missed",
  "late",
  "premature",
  "silent after first",
  "false alarm",
  "quiet",
  "P",
  "R",
  "F1",
  "interventions right",
  "of",
];

/** @param {string} name @param {Tally} tally */
function row(name, tally) {
  const f = figures(tally);
  const counts = [f.hit, f.missed, f.late, f.premature, f.silentAfterFirst, f.falseAlarm, f.quiet];
  const ratios = [f.precision, f.recall, f.f1].map((ratio) => (Number.isNaN(ratio) ? "–" : ratio.toFixed(3)));
  return [name, ...counts, ...ratios, f.right, f.interventions];
}

/** @param {Map<string, Tally>} found @param {string} first head of the first column */
export function scoreTable(found, first = "set") {
  return table(
    [first, ...HEAD.slice(1)],
    [...found].map(([name, tally]) => row(name, tally)),
  );
}

/** @param {readonly string[]} head @param {readonly (readonly (string | number)[])[]} rows */
function table(head, rows) {
  const line = (/** @type {readonly (string | number)[]} */ cells) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

/**
 * @param {readonly Result[]} results
 * @param {readonly Result[]} wrong
 * @param {string} before the document as it is; what people wrote into it stays
 */
export function evaluationText(results, wrong, before) {
  const reasons = writtenReasons(before);
  const known = /** @param {Result} result */ ({ labelled }) => labelled.label !== "intervention";
  const missed = wrong.filter((result) => known(result) || isNamed(result));
  const named = namedInterventions(results);
  const sets = tallies(results, ({ set }) => set);
  const byKind = tallies(
    results.filter(({ labelled }) => labelled.label === "intervention"),
    ({ labelled }) => labelled.intervention ?? "",
  );
  /** @param {(kind: string) => boolean} belongs */
  const kinds = (belongs) =>
    [...byKind]
      .filter(([kind]) => belongs(kind))
      .map(([kind, tally]) => {
        const { right, interventions } = figures(tally);
        return [`\`${kind}\``, right, interventions];
      });
  const perClass = [...sets.keys()].flatMap((set) => [`### ${set}`, "", classTable(results, set), ""]);
  return `${[
    "# Evaluation",
    "",
    "How often the detector is right on labelled traces. Written by `npm run eval`; only the last column of the table of",
    "wrong cases is written by hand, and kept.",
    "",
    "```",
    "npm run eval                     prints the scores and writes this file",
    "npm run eval -- --check          writes nothing; exit code 1 when a figure is below what is required or stands here",
    "npm run eval -- --cases FOLDER   other cases: .jsonl files of labelled cases, see trace.md",
    "```",
    "",
    "The cases are not part of the package. They are looked for in `../shared/cases`; without them the command says so and",
    "does nothing. Everything runs offline.",
    "",
    "## Rules",
    "",
    "Each case is one trace with a label. A finding of severity `info` is no verdict.",
    "",
    "- `stuck`: right (*hit*) is a first verdict within the case's window. Before it is *premature*, after it *late*, none",
    "  at all *missed*. Where the agent ignores the first verdict a second one must follow (*silent after first*).",
    "- `not_stuck`: any verdict is a *false alarm*, none is *quiet*.",
    "- `either`: a border case; wrong only when the verdict is `critical` and the label allows a warning at most.",
    "- `intervention`: right is an intervention of the kind in time, and no verdict where that would be wrong.",
    "",
    "Precision P = hit / (hit + false alarm + premature). Recall R = hit / (hit + missed + late + premature + silent after",
    `first). Required: P ≥ ${REQUIRED.precision}, R ≥ ${REQUIRED.recall}, and ${REQUIRED.interventions} of the interventions.`,
    "",
    "## Scores",
    "",
    scoreTable(new Map([...sets, ...tallies(results, () => "all")])),
    "",
    "The same cases by where their events come from. Some have events that nothing tells while an agent runs in Pi",
    "([trace.md](trace.md), *traces only*): what is found by them is not found in Pi.",
    "",
    scoreTable(tallies(results, sourceOf), "cases"),
    "",
    "## Interventions",
    "",
    `${named.right} of ${named.of} are right:`,
    "",
    table(
      ["kind", "right", "of"],
      kinds(() => true),
    ),
    "",
    "## What is wrong, and why",
    "",
    ...(missed.length === 0
      ? ["Nothing."]
      : [
          table(
            ["case", "class", "outcome", "verdicts at", "window", "why"],
            missed.map(({ labelled, scored }) => [
              labelled.id,
              labelled.class,
              scored.outcome,
              scored.verdicts.slice(0, 3).join(" ") || "none",
              scored.window.join("–"),
              reasons.get(labelled.id) ?? NOT_LOOKED_INTO,
            ]),
          ),
        ]),
    "",
    "## By class",
    "",
    ...perClass,
    "## Figures that must not drop",
    "",
    table(
      ["figure", "value"],
      Object.entries(keyFigures(results)).map(([name, value]) => [name, value.toFixed(3)]),
    ),
  ].join("\n")}\n`;
}

/**
 * Classes of a set. Those with a single case that is right share a row.
 * @param {readonly Result[]} results
 * @param {string} set
 */
function classTable(results, set) {
  const ofSet = results.filter((result) => result.set === set);
  const rows = [];
  let single = 0;
  for (const [name, tally] of tallies(ofSet, ({ labelled }) => labelled.class)) {
    const outcomes = Object.entries(tally);
    const cases = outcomes.reduce((total, [, count]) => total + count, 0);
    const right = outcomes.reduce((total, [outcome, count]) => total + (isRight(outcome) ? count : 0), 0);
    if (cases === 1 && right === 1) single += 1;
    else rows.push([name, right, cases, outcomes.map(([outcome, count]) => `${count} ${outcome}`).join(", ")]);
  }
  if (single > 0) rows.push([`${single} classes of one case each`, single, single, "right"]);
  return table(["class", "right", "of", "outcomes"], rows);
}

/** The last column of the table of wrong cases, by case. @param {string} document @returns {Map<string, string>} */
function writtenReasons(document) {
  const rows = section(document, "## What is wrong, and why").map(
    (cells) => /** @type {const} */ ([cells[0], cells[5]]),
  );
  return new Map(rows.filter(([, why]) => why !== undefined && why !== NOT_LOOKED_INTO));
}

/** The figures as they stand in the document. @param {string} document @returns {Figures} */
export function writtenFigures(document) {
  const rows = section(document, "## Figures that must not drop").map(([name, value]) => [name, Number(value)]);
  return Object.fromEntries(rows.filter(([, value]) => !Number.isNaN(value)));
}

/** Cells of the rows of a section's table. @param {string} document @param {string} heading */
function section(document, heading) {
  const [, body = ""] = document.split(`\n${heading}\n`);
  return body
    .split("\n## ")[0]
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(1)
    .map((line) => line.slice(2, -2).split(" | "));
}
