// A report as text for people. Every string that came from a file goes through plain().

import { count, duration, plural, spent } from "./figures.mjs";
import { plain } from "./plain.mjs";

/**
 * @typedef {import("../../index.js").ReplayReport} Report
 * @typedef {import("../../index.js").ReplayFinding} Finding
 * @typedef {(format: "bold" | "dim" | "red" | "yellow" | "cyan", text: string) => string} Paint
 */

const LISTED_WARNINGS = 10;

/**
 * @param {Report} report
 * @param {Paint} paint
 */
export function reportText(report, paint) {
  const { kind, sessionId, findings } = report;
  const about = [
    kind === "session" ? `Pi session${sessionId ? ` ${plain(sessionId)}` : ""}` : "trace",
    plural(report.lines, "line"),
    plural(report.events, "event"),
    ...(report.branches > 1 ? [plural(report.branches, "branch", "branches")] : []),
    ...spent(report.usage),
  ];
  const lines = [paint("bold", plain(report.file)), `  ${about.join(" · ")}`];
  for (const finding of findings) lines.push("", ...findingLines(finding, report, paint));
  lines.push("", `  ${outcome(findings)}`, ...warningLines(report, paint));
  return `${lines.join("\n")}\n`;
}

/**
 * @param {Finding} finding
 * @param {Report} report
 * @param {Paint} paint
 */
function findingLines(finding, report, paint) {
  const { analysis, cost, rule } = finding;
  const place = [
    `line ${count(finding.line)}`,
    ...(finding.entryId ? [`entry ${plain(finding.entryId)}`] : []),
    moment(finding.at, report.kind),
    ...(finding.agent ? [`agent ${plain(finding.agent)}`] : []),
    ...(finding.branch ? [`branch ${plain(finding.branch)}`] : []),
  ];
  const lines = [`  ${verdict(finding, paint)}  ${paint("cyan", plain(rule))}  ${paint("dim", place.join(" · "))}`];
  const commands = new Set(analysis.evidence.flatMap(({ command }) => (command ? [plain(command)] : [])));
  for (const command of commands) lines.push(`    ${command}`);
  for (const reason of analysis.reasons) lines.push(`    - ${plain(reason)}`);
  const price = [plural(cost.rounds, "round"), ...spent(cost), duration(cost.wallMs)];
  if (cost.rounds > 0) lines.push(`    The repetition cost ${price.join(", ")}.`);
  return lines;
}

/**
 * @param {Finding} finding
 * @param {Paint} paint
 */
function verdict({ severity }, paint) {
  if (severity === "critical") return paint("red", "still stuck");
  return severity === "warning" ? paint("yellow", "stuck") : "note";
}

/** @param {readonly Finding[]} findings */
function outcome(findings) {
  if (findings.length === 0) return "Nothing found.";
  const incidents = new Set(findings.map(({ branch, agent, incident }) => [branch, agent, incident].join()));
  return `${plural(findings.length, "finding")} in ${plural(incidents.size, "incident")}.`;
}

/**
 * @param {Report} report
 * @param {Paint} paint
 */
function warningLines({ warnings, warningCount }, paint) {
  const lines = warnings
    .slice(0, LISTED_WARNINGS)
    .map(({ line, message }) => paint("dim", `  line ${count(line)}: ${plain(message)}`));
  const more = warningCount - lines.length;
  if (more > 0) lines.push(paint("dim", `  … and ${plural(more, "more line")} with a warning`));
  return lines;
}

/**
 * Session files hold moments, traces the time since their start.
 * @param {number} at ms
 * @param {Report["kind"]} kind
 */
function moment(at, kind) {
  if (kind === "trace") return `${Math.round(at / 100) / 10} s`;
  // Swedish dates are year-month-day, and sort.
  return new Date(at).toLocaleString("sv-SE");
}
