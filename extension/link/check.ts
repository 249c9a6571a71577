// What a child process says, read with distrust: every field is looked at and every text cut, here and nowhere else.
// A notice that comes out of here is data for people; it cannot ask for anything to be done, and its sentences are in
// quotes: the watchdog of this process did not write them.

import type {
  Confidence,
  Evidence,
  EvidenceType,
  Intervention,
  InterventionKind,
  Notice,
  Severity,
  StuckAnalysis,
  TargetKind,
  TargetStatus,
} from "../../index.js";
import { cut, oneLine } from "../sanitize.ts";
import { MAX_MESSAGE } from "./limits.ts";

const MAX_EVIDENCE = 12;
const SENTENCE_CHARS = 400;

type Fields = Record<string, unknown>;

const WORD = /^[a-z_]{1,40}$/;
const LIVE: ReadonlySet<string> = new Set<TargetStatus>(["queued", "running", "idle", "paused"]);
const ENDED: ReadonlySet<string> = new Set<TargetStatus>(["completed", "aborted", "stopped", "error"]);
const KINDS: ReadonlySet<string> = new Set<TargetKind>(["task", "watchdog", "unknown"]);
const SEVERITIES: ReadonlySet<string> = new Set<Severity>(["info", "warning", "critical"]);
const CONFIDENCES: ReadonlySet<string> = new Set<Confidence>(["low", "medium", "high"]);
const ACTIONS: ReadonlySet<string> = new Set<Intervention["suggestedAction"]>([
  "warn",
  "steer",
  "restart",
  "kill",
  "skip",
]);

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function line(value: unknown, max: number): string {
  return typeof value === "string" ? oneLine(value, max) : "";
}

/** A sentence of the process, in quotes that it cannot close; empty when it says nothing. */
function said(value: unknown): string {
  const text = line(value, SENTENCE_CHARS);
  return text === "" ? "" : JSON.stringify(text);
}

export function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

function oneOf<T extends string>(value: unknown, known: ReadonlySet<string>, otherwise: T): T {
  return typeof value === "string" && known.has(value) ? (value as T) : otherwise;
}

export const liveStatus = (value: unknown): TargetStatus => oneOf<TargetStatus>(value, LIVE, "running");
export const endStatus = (value: unknown): TargetStatus => oneOf<TargetStatus>(value, ENDED, "completed");
export const targetKind = (value: unknown): TargetKind => oneOf<TargetKind>(value, KINDS, "unknown");

export function note(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? cut(value, MAX_MESSAGE) : undefined;
}

/** The notice about the session that the connection is known to speak for; undefined when there is nothing in it. */
export function readNotice(value: unknown, targetId: string, targetName: string): Notice | undefined {
  const given = fieldsOf(value);
  const intervention = readIntervention(given.intervention);
  const analysis = readAnalysis(given.analysis);
  const kind = given.kind === "over" ? "over" : intervention === undefined ? "stuck" : "intervention";
  if (kind === "stuck" && analysis.evidence.length === 0 && given.note === undefined) return undefined;
  const cost = fieldsOf(given.cost);
  const lastCommand = line(given.lastCommand, 400);
  return {
    kind,
    targetId,
    targetName,
    severity: oneOf<Severity>(given.severity, SEVERITIES, "warning"),
    incident: line(given.incident, 64),
    analysis,
    ...(lastCommand === "" ? {} : { lastCommand }),
    cost: { rounds: count(cost.rounds), tokens: count(cost.tokens), usd: count(cost.usd), wallMs: count(cost.wallMs) },
    ordinal: Math.max(1, Math.min(1e6, Math.floor(count(given.ordinal)))),
    ...(kind === "intervention" && intervention !== undefined ? { intervention } : {}),
  };
}

function readIntervention(value: unknown): Intervention | undefined {
  const given = fieldsOf(value);
  const reason = said(given.reason);
  if (typeof given.kind !== "string" || !WORD.test(given.kind) || reason === "") return undefined;
  return {
    kind: given.kind as InterventionKind,
    reason,
    suggestedAction: oneOf<Intervention["suggestedAction"]>(given.suggestedAction, ACTIONS, "warn"),
    // Another process has no say in what is done here.
    autoExecute: false,
  };
}

function readAnalysis(value: unknown): StuckAnalysis {
  const given = fieldsOf(value);
  const list: unknown[] = Array.isArray(given.evidence) ? given.evidence.slice(0, MAX_EVIDENCE) : [];
  const evidence = list.map(readEvidence).filter((one) => one !== undefined);
  return {
    likelyStuck: given.likelyStuck === true && evidence.length > 0,
    confidence: oneOf<Confidence>(given.confidence, CONFIDENCES, "low"),
    reasons: evidence.map(({ summary }) => summary),
    evidence,
    evidenceKey: line(given.evidenceKey, 16),
  };
}

function readEvidence(value: unknown): Evidence | undefined {
  const given = fieldsOf(value);
  const summary = said(given.summary);
  if (typeof given.type !== "string" || !WORD.test(given.type) || summary === "") return undefined;
  const command = line(given.command, 400);
  return {
    type: given.type as EvidenceType,
    summary,
    count: Math.floor(count(given.count)),
    ...(count(given.period) > 0 ? { period: Math.floor(count(given.period)) } : {}),
    ...(command === "" ? {} : { command }),
    firstAt: count(given.firstAt),
    lastAt: count(given.lastAt),
  };
}
