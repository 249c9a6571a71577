// What other programs are given of a finding: one shape for the bus, the command and the log. Texts of models, processes
// and files in it are data: one line each, without control characters, and bounded.

import type { Severity } from "../../index.js";
import { oneLine } from "../sanitize.ts";

/** `finding`: a matter is new or graver. `over`: it is no more. `rescue`: a rescue message was sent for it. */
export type ReportState = "finding" | "over" | "rescue";

export interface Report {
  state: ReportState;
  /** Names the matter: its later states carry the same text. */
  matter: string;
  target: { id: string; name: string; kind: string };
  severity: Severity;
  rule: string;
  summary: string;
  evidence: readonly string[];
  /** ms since the epoch. */
  at: number;
  /** USD that the matter has cost so far. */
  cost?: number;
}

/** Takes a report; returns at once and never throws. */
export type Outlet = (report: Report) => void;

/** Says a failure to the user. Called at most once by each outlet. */
export type Fail = (sentence: string) => void;

const MAX_EVIDENCE = 10;
const ID_CHARS = 120;

/** A copy that can be given away: safe texts, nothing but the documented fields, read-only. */
export function released(report: Report): Report {
  const { id, name, kind } = report.target;
  const copy: Report = {
    state: report.state,
    matter: oneLine(report.matter),
    target: Object.freeze({ id: oneLine(id, ID_CHARS), name: oneLine(name), kind: oneLine(kind, ID_CHARS) }),
    severity: report.severity,
    rule: oneLine(report.rule, ID_CHARS),
    summary: oneLine(report.summary),
    evidence: Object.freeze(report.evidence.slice(0, MAX_EVIDENCE).map((line) => oneLine(line))),
    at: report.at,
  };
  if (report.cost !== undefined && Number.isFinite(report.cost)) copy.cost = report.cost;
  return Object.freeze(copy);
}

/** `fail` for one outlet: the first failure is said, the others are not, and saying it cannot fail. */
export function failOnce(fail: Fail): Fail {
  let failed = false;
  return (sentence) => {
    if (failed) return;
    failed = true;
    try {
      fail(oneLine(sentence, 300));
    } catch {
      // The session that would show it has ended.
    }
  };
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
