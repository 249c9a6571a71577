// The summary of a scan as text for people. Every string that came from a file goes through plain().

import { count, duration, money, plural, spent } from "./figures.mjs";
import { plain } from "./plain.mjs";

/**
 * @typedef {import("../../index.js").ScanReport} Report
 * @typedef {import("./people.mjs").Paint} Paint
 */

/**
 * @param {Report} report
 * @param {number | undefined} since ms
 * @param {Paint} paint
 */
export function summaryText(report, since, paint) {
  const about = [
    plural(report.sessions, "session"),
    plural(report.events, "event"),
    ...spent(report.usage),
    ...(report.older > 0 ? [`${count(report.older)} ${since === undefined ? "empty" : "older or empty"}`] : []),
    ...(report.unreadable > 0 ? [`${count(report.unreadable)} unreadable`] : []),
  ];
  // Swedish dates are year-month-day, and sort.
  const from = since === undefined ? "" : ` since ${new Date(since).toLocaleString("sv-SE")}`;
  const lines = [`${paint("bold", plain(report.folder, 500))}${from}`, `  ${about.join(" · ")}`, ""];
  lines.push(...incidents(report, paint), ...interventions(report, paint), ...costliest(report, paint));
  return `${lines.join("\n")}\n`;
}

/**
 * @param {Report} report
 * @param {Paint} paint
 */
function incidents({ incidents, sessions, stuckSessions, remarks }, paint) {
  const noted = remarks > 0 ? ` ${plural(remarks, "remark")} besides; pi-watchdog replay shows them.` : "";
  if (incidents.length === 0) {
    return [`  ${sessions === 0 ? "There is no session to look at." : `No agent was stuck.${noted}`}`];
  }
  const sum = total(incidents);
  const rows = incidents.map(({ rule, count, sessions, cost }) => [rule, count, sessions, ...costCells(cost)]);
  const table = [
    ["stuck", "incidents", "sessions", "rounds", "tokens", "cost", "time"],
    ...rows,
    ["all", sum.count, stuckSessions, ...costCells(sum.cost)],
  ];
  return [...tableLines(table, paint), "", `  Cost and time are those of the repeated rounds.${noted}`];
}

/**
 * @param {Report} report
 * @param {Paint} paint
 */
function interventions({ interventions }, paint) {
  if (interventions.length === 0) return [];
  const rows = interventions.map(({ rule, count, sessions }) => [rule.replace(/^intervention:/, ""), count, sessions]);
  return ["", ...tableLines([["called for a hand", "times", "sessions"], ...rows], paint)];
}

/**
 * @param {Report} report
 * @param {Paint} paint
 */
function costliest({ costliest }, paint) {
  if (costliest.length === 0) return [];
  const lines = ["", `  ${paint("bold", "Costliest sessions")}`];
  for (const { file, incidents, rules, cost, usage } of costliest) {
    const price = [
      plural(cost.rounds, "repeated round"),
      ...(usage.tokens > 0 ? [`${count(cost.tokens)} of ${plural(usage.tokens, "token")}`] : []),
      ...(usage.usd > 0 ? [`${money(cost.usd)} of ${money(usage.usd)}`] : []),
      duration(cost.wallMs),
    ];
    lines.push(`  ${plain(file, 500)}`);
    lines.push(
      `    ${plural(incidents, "incident")} (${rules.map((rule) => plain(rule)).join(", ")}): ${price.join(", ")}`,
    );
  }
  return lines;
}

/** @param {Report["incidents"]} rows */
function total(rows) {
  const sum = { count: 0, cost: { rounds: 0, tokens: 0, usd: 0, wallMs: 0 } };
  for (const { count, cost } of rows) {
    sum.count += count;
    sum.cost.rounds += cost.rounds;
    sum.cost.tokens += cost.tokens;
    sum.cost.usd += cost.usd;
    sum.cost.wallMs += cost.wallMs;
  }
  return sum;
}

/** @param {Report["incidents"][number]["cost"]} cost */
function costCells({ rounds, tokens, usd, wallMs }) {
  return [rounds, tokens, money(usd), duration(wallMs)];
}

/**
 * The first row is the head, the first column words, the others figures.
 * @param {readonly (readonly (string | number)[])[]} rows
 * @param {Paint} paint
 */
function tableLines(rows, paint) {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === "number" ? count(cell) : plain(cell))));
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  return cells.map((row, index) => {
    const line = row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])));
    return `  ${index === 0 ? paint("dim", line.join("  ")) : line.join("  ")}`;
  });
}
