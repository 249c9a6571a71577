// `npm run eval [-- --check] [-- --cases FOLDER]`: scores the detector on labelled cases and writes docs/evaluation.md.
// The last line counts the figures that hold. Runs on a Node that Pi runs on (scripts/run.mjs sees to it).

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { replayCases } from "../index.js";
import { closingLine } from "./lib/count.mjs";
import { evaluationText, judge, keyFigures, scoreTable, tallies, writtenFigures } from "./lib/evaluation.mjs";
import { root } from "./lib/native.mjs";
import { isRight, score } from "./lib/score.mjs";

/** @typedef {import("./lib/evaluation.mjs").Result} Result */

const DOCUMENT = join(root, "docs", "evaluation.md");

const { values } = parseArgs({ options: { check: { type: "boolean" }, cases: { type: "string" } } });
const folder = values.cases === undefined ? join(root, "..", "shared", "cases") : resolve(values.cases);
const files = existsSync(folder)
  ? readdirSync(folder)
      .filter((name) => name.endsWith(".jsonl"))
      .sort()
  : [];

if (files.length > 0) await evaluate();
else {
  console.log("there are no labelled cases here (../shared/cases, or --cases FOLDER): nothing is scored");
  console.log(closingLine({ passed: 0, failed: 0, skipped: 1 }));
  // A folder that was named is expected to have some.
  process.exitCode = values.cases === undefined ? 0 : 1;
}

async function evaluate() {
  const results = (await Promise.all(files.map(resultsOf))).flat();
  const wrong = results.filter(({ scored }) => !isRight(scored.outcome));
  const sets = tallies(results, ({ set }) => set);
  console.log(scoreTable(new Map([...sets, ...tallies(results, () => "all")])));
  console.log(
    `\n${scoreTable(
      tallies(results, ({ set, labelled }) => `${set} · ${labelled.class}`),
      "class",
    )}\n`,
  );
  for (const { set, labelled, scored } of wrong) {
    const kind = labelled.label === "intervention" ? `${labelled.intervention} ` : "";
    const at = scored.verdicts.length > 0 ? `, verdicts at ${scored.verdicts.slice(0, 3).join(" ")}` : "";
    console.log(`${set} ${labelled.id} (${labelled.class}): ${kind}${scored.outcome}${at}`);
  }
  const before = existsSync(DOCUMENT) ? readFileSync(DOCUMENT, "utf8") : "";
  // Other cases have other figures.
  const committed = values.cases === undefined ? writtenFigures(before) : {};
  const verdicts = judge(keyFigures(results), committed);
  if (!values.check && values.cases === undefined) writeFileSync(DOCUMENT, evaluationText(results, wrong, before));
  const failed = verdicts.filter(({ holds }) => !holds);
  console.log(`\n${verdicts.map(({ holds, text }) => `${holds ? "ok    " : "FAILED"} ${text}`).join("\n")}`);
  console.log(closingLine({ passed: verdicts.length - failed.length, failed: failed.length, skipped: 0 }));
  process.exitCode = values.check && failed.length > 0 ? 1 : 0;
}

/** @param {string} name @returns {Promise<Result[]>} */
async function resultsOf(name) {
  const file = join(folder, name);
  const set = `${basename(folder)}/${basename(name, ".jsonl")}`;
  const { results, warnings } = await replayCases(file).catch((error) => {
    throw new Error(`${name}: ${error.message}`, { cause: error });
  });
  for (const { line, message } of warnings) console.error(`${name}: line ${line}: ${message}`);
  const detections = new Map(results.map(({ id, detections }) => [id, detections]));
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      /** @type {import("./lib/score.mjs").Case} */
      const labelled = JSON.parse(line);
      return { set, labelled, scored: score(labelled, detections.get(labelled.id) ?? []) };
    });
}
