// The history as text for people. Every string that came from the database goes through plain().

import { duration, plural, spent } from "./figures.mjs";
import { plain } from "./plain.mjs";

/**
 * @typedef {import("../../index.js").HistoryReport} Report
 * @typedef {import("../../index.js").HistoryIncident} Incident
 * @typedef {import("../../index.js").HistorySession} Session
 * @typedef {import("./people.mjs").Paint} Paint
 */

const OUTCOMES = {
  over: "the agent went on",
  answered: "answered by a person",
  ended: "until the session's end",
};

/**
 * @param {Report} report
 * @param {Paint} paint
 */
export function historyText({ incidents, incidentCount }, paint) {
  if (incidents.length === 0) return "No incident.\n";
  const lines = incidents.flatMap((incident) => [...incidentLines(incident, paint), ""]);
  lines.push(sum(plural(incidentCount, "incident"), incidents.length < incidentCount));
  return `${lines.join("\n")}\n`;
}

/**
 * @param {Incident} incident
 * @param {Paint} paint
 */
function incidentLines(incident, paint) {
  const { severity, cost, notices, summary, lastCommand, overAt, outcome } = incident;
  const over = overAt === undefined ? "not over" : (OUTCOMES[outcome ?? "ended"] ?? "over");
  const price = [
    ...(cost.rounds > 0 ? [plural(cost.rounds, "round")] : []),
    ...spent(cost),
    ...(cost.wallMs >= 1000 ? [duration(cost.wallMs)] : []),
  ];
  const colour = severity === "critical" ? "red" : severity === "warning" ? "yellow" : "dim";
  const told = notices > 1 ? `told ${notices} times from ${time(incident.firstAt)}` : "told once";
  return [
    `${time(incident.lastAt)}  ${paint(colour, plain(severity))}  ${paint("bold", plain(incident.rule))}`,
    `  ${[...who(incident), told, over].join(" · ")}`,
    ...(price.length > 0 ? [`  cost ${price.join(", ")}`] : []),
    ...(summary ? [`  ${plain(summary)}`] : []),
    ...(lastCommand ? [`  ${paint("dim", "last command")} ${plain(lastCommand)}`] : []),
  ];
}

/**
 * @param {Report} report
 * @param {Paint} paint
 */
export function sessionsText({ sessions, sessionCount }, paint) {
  if (sessions.length === 0) return "No session.\n";
  const lines = sessions.flatMap((session) => [...sessionLines(session, paint), ""]);
  lines.push(sum(plural(sessionCount, "session"), sessions.length < sessionCount));
  return `${lines.join("\n")}\n`;
}

/**
 * @param {Session} session
 * @param {Paint} paint
 */
function sessionLines(session, paint) {
  const { usage, status, incidents, toolCalls, parentId, project } = session;
  const tokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  const used = [plural(toolCalls, "tool call"), ...spent({ tokens, usd: usage.usd })];
  return [
    `${time(session.lastAt)}  ${paint("bold", plain(session.name ?? session.agentType ?? session.sessionId, 80))}  ${plain(status)}`,
    `  session ${plain(session.sessionId)}${parentId ? ` · of ${plain(parentId)}` : ""}${project ? ` · ${plain(project)}` : ""}`,
    `  ${used.join(", ")} · ${incidents > 0 ? paint("yellow", plural(incidents, "incident")) : "no incident"}`,
  ];
}

/** @param {Incident} incident */
function who({ name, agentType, sessionId, project }) {
  const known = [name, agentType].filter((text) => text !== undefined).map((text) => plain(text, 80));
  return [...known, `session ${plain(sessionId)}`, ...(project ? [plain(project)] : [])];
}

/**
 * @param {string} all
 * @param {boolean} more
 */
function sum(all, more) {
  return more ? `${all} in all; --limit shows more.` : `${all}.`;
}

/** Swedish dates are year-month-day, and sort. @param {number} at */
function time(at) {
  return new Date(at).toLocaleString("sv-SE");
}
