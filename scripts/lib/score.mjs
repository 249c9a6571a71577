// The rules by which detections are scored against labelled cases (docs/evaluation.md). Pure: no file, no detector.

/**
 * @typedef {object} Case what a label says, see docs/trace.md
 * @property {string} id
 * @property {string} class
 * @property {"stuck" | "not_stuck" | "either" | "intervention"} label
 * @property {unknown[]} events
 * @property {number} [notBefore]
 * @property {number} [latest]
 * @property {number} [redetectBy]
 * @property {number} [evalFrom]
 * @property {"end"} [judge]
 * @property {"warning"} [maxSeverity]
 * @property {string} [intervention]
 * @property {"wrong" | "acceptable"} [stuckVerdict]
 *
 * @typedef {{ eventIndex: number, rule: string, severity: string }} Detection
 *
 * @typedef {object} Scored
 * @property {string} outcome
 * @property {number[]} verdicts event indices, the first first
 * @property {[number, number]} window
 *
 * @typedef {Record<string, number>} Tally how often there was which outcome
 */

const PREFIX = "intervention:";
const RIGHT = new Set(["hit", "quiet", "either", "right"]);

/** @param {string} outcome */
export function isRight(outcome) {
  return RIGHT.has(outcome);
}

/** @param {Case} labelled @param {readonly Detection[]} detections @returns {Scored} */
export function score(labelled, detections) {
  const { label, events, notBefore = 0, latest = events.length - 1, evalFrom = 0 } = labelled;
  const counted = detections.filter(({ eventIndex }) => eventIndex >= evalFrom);
  const from = labelled.judge === "end" ? events.length - 2 : 0;
  const verdicts = counted
    .filter(({ severity, rule }) => severity !== "info" && !rule.startsWith(PREFIX))
    .map(({ eventIndex }) => eventIndex)
    .filter((eventIndex) => eventIndex >= from)
    .sort((a, b) => a - b);
  /** @param {string} outcome @returns {Scored} */
  const scored = (outcome) => ({ outcome, verdicts, window: [notBefore, latest] });
  switch (label) {
    case "stuck":
      return scored(stuckOutcome(verdicts, notBefore, latest, labelled.redetectBy));
    case "not_stuck":
      return scored(verdicts.length > 0 ? "false_alarm" : "quiet");
    case "either": {
      const tooHard = labelled.maxSeverity === "warning" && counted.some(({ severity }) => severity === "critical");
      return scored(tooHard ? "too_hard" : "either");
    }
    default: {
      const given = counted.filter(({ rule }) => kindsOf(rule).includes(labelled.intervention ?? ""));
      const inTime = given.some(({ eventIndex }) => notBefore <= eventIndex && eventIndex <= latest);
      const outcome = inTime ? "right" : given.length > 0 ? "mistimed" : "none";
      const alsoStuck = labelled.stuckVerdict === "wrong" && verdicts.length > 0;
      return scored(alsoStuck ? `${outcome}+wrong_stuck` : outcome);
    }
  }
}

/**
 * @param {readonly number[]} verdicts
 * @param {number} notBefore
 * @param {number} latest
 * @param {number | undefined} redetectBy
 */
function stuckOutcome([first, ...later], notBefore, latest, redetectBy) {
  if (first === undefined) return "missed";
  if (first < notBefore) return "premature";
  if (first > latest) return "late";
  if (redetectBy === undefined) return "hit";
  return later.some((at) => at > first && at <= redetectBy) ? "hit" : "silent_after_first";
}

/** An intervention may be of several kinds. @param {string} rule */
function kindsOf(rule) {
  return rule.startsWith(PREFIX) ? rule.slice(PREFIX.length).split(",") : [];
}

/** @param {Tally} tally */
export function figures(tally) {
  /** @param {...string} outcomes */
  const sum = (...outcomes) => outcomes.reduce((total, outcome) => total + (tally[outcome] ?? 0), 0);
  const hit = sum("hit");
  const wrong = sum("false_alarm", "premature");
  const unseen = sum("missed", "late", "premature", "silent_after_first");
  const precision = hit / (hit + wrong);
  const recall = hit / (hit + unseen);
  const interventions = Object.entries(tally).filter(([outcome]) => /^(right|mistimed|none)(\+|$)/.test(outcome));
  return {
    hit,
    missed: sum("missed"),
    late: sum("late"),
    premature: sum("premature"),
    silentAfterFirst: sum("silent_after_first"),
    falseAlarm: sum("false_alarm"),
    quiet: sum("quiet"),
    tooHard: sum("too_hard"),
    precision,
    recall,
    f1: (2 * precision * recall) / (precision + recall),
    right: sum("right"),
    interventions: interventions.reduce((total, [, count]) => total + count, 0),
  };
}
