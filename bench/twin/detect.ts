// The JS twin of src/detect, without its increments: reads the whole buffer again at each event and plays the rules over
// it. Covers the rule of repetitions, on calls and their results: the rival does less than what it is measured against. What
// the other rules find is held by src/detect/naive.rs.

import type { EvidenceType, WatchdogConfig } from "../../index.js";
import type { TwinAction } from "./action.ts";

/** A compact event in the twin's buffer. */
export interface TwinEvent {
  id: string;
  type: "tool_call" | "tool_result" | "edit";
  at: number;
  turn: number;
  callId: string;
  action: TwinAction;
  commandKey: string;
  summary: string;
  outputHash?: string;
  outputPreview?: string;
  isError?: boolean;
  /** Noise-masked result, and the same with its numbers masked. */
  outcome?: string;
  shape?: string;
  /** Action and outcome together. */
  pair?: string;
}

export interface TwinEvidence {
  type: EvidenceType;
  count: number;
  period: number;
  command: string;
  firstAt: number;
  lastAt: number;
  trigger: string;
}

interface Report {
  evidence: TwinEvidence;
  members: string[];
}

interface Round {
  number: number;
  turn: number;
  pairs: string[];
}

interface Streak {
  epoch: number;
  outcome: string;
  shape: string;
  count: number;
  firstAt: number;
  lastAt: number;
  lastRound: number;
  newsBefore: number;
  newsAtStart: number;
  interleaved: boolean;
  changes: number;
  changesFirstAt: number;
}

interface Incident {
  active: boolean;
  members: string[];
  triggers: string[];
  evidence: TwinEvidence[];
  lastRound: number;
  patience: number;
}

const LONG_AGO = 5;
const INCIDENT_PATIENCE = 3;
const ORDER: EvidenceType[] = ["repeated_command", "repeated_output"];

/** The evidence that holds after the last event of `buffer`. */
export function rescan(buffer: readonly TwinEvent[], config: WatchdogConfig): TwinEvidence[] {
  const scan = new Scan(config);
  for (const event of buffer) {
    if (event.type === "tool_result") scan.result(event);
    else scan.call(event);
  }
  return scan.evidence();
}

class Scan {
  readonly #config: WatchdogConfig;
  #round: Round = newRound(0, 0);
  #epoch = 0;
  #newsRounds = 0;
  #newsRound = 0;
  readonly #outcomes = new Set<string>();
  readonly #states = new Set<string>();
  readonly #streaks = new Map<string, Streak>();
  readonly #incidents: Incident[] = [];

  constructor(config: WatchdogConfig) {
    this.#config = config;
  }

  evidence(): TwinEvidence[] {
    return this.#incidents
      .filter(({ active }) => active)
      .flatMap(({ evidence }) => evidence)
      .sort((a, b) => ORDER.indexOf(a.type) - ORDER.indexOf(b.type) || a.firstAt - b.firstAt);
  }

  call(event: TwinEvent): void {
    if (this.#round.turn !== event.turn || this.#round.number === 0) {
      if (this.#round.pairs.length > 0) this.#age();
      this.#round = newRound(this.#round.number + 1, event.turn);
    }
  }

  result(event: TwinEvent): void {
    const { action, pair = "", isError = false } = event;
    const round = this.#round;
    const news = !this.#outcomes.has(pair);
    if (news) this.#outcomes.add(pair);
    if (!isError && this.#changesWorld(action, news)) {
      this.#epoch += 1;
      for (const incident of this.#incidents) {
        incident.active = false;
        incident.evidence = [];
      }
    }
    const fresh = !round.pairs.includes(pair);
    const reports: Report[] = [];
    if (fresh) {
      round.pairs.push(pair);
      this.#repeat(event, news, reports);
    }
    for (const report of reports) this.#take(report);
  }

  #changesWorld(action: TwinAction, news: boolean): boolean {
    if (!action.isEdit) return action.mutates && news;
    const { forward = action.hash, backward } = action;
    const reverts = backward !== undefined && backward !== forward && this.#states.has(`${action.path}\0${backward}`);
    const state = `${action.path}\0${forward}`;
    const known = this.#states.has(state);
    this.#states.add(state);
    return !known && !reverts;
  }

  #repeat(event: TwinEvent, isNews: boolean, reports: Report[]): void {
    const { action, outcome = "", shape = "", at, pair = "" } = event;
    const round = this.#round.number;
    const news = this.#newsRounds - (this.#newsRound === round ? 1 : 0);
    const known = this.#streaks.get(action.hash);
    const restarted = known === undefined || known.epoch !== this.#epoch || news - known.newsBefore > LONG_AGO;
    let streak: Streak;
    if (restarted || known.outcome !== outcome) {
      const material = !restarted && known.shape !== shape && round - known.lastRound === 1;
      streak = {
        epoch: this.#epoch,
        outcome,
        shape,
        count: 1,
        firstAt: at,
        lastAt: at,
        lastRound: round,
        newsBefore: 0,
        newsAtStart: 0,
        interleaved: false,
        changes: material ? known.changes + 1 : 1,
        changesFirstAt: material ? known.changesFirstAt : at,
      };
      this.#streaks.set(action.hash, streak);
    } else {
      streak = known;
      if (round !== streak.lastRound) {
        streak.count += 1;
        streak.interleaved ||= round - streak.lastRound > 1;
        streak.changes = 1;
      }
      streak.lastAt = at;
      streak.lastRound = round;
    }
    if (isNews && this.#newsRound !== round) {
      this.#newsRounds += 1;
      this.#newsRound = round;
    }
    // What it says itself is no news between its repetitions.
    streak.newsBefore = this.#newsRounds;
    if (streak.count === 1) streak.newsAtStart = this.#newsRounds;
    const base = this.#config.repeatThreshold;
    let threshold = base + (streak.interleaved ? 1 : 0);
    if (news > streak.newsAtStart && streak.interleaved) threshold = base * 2;
    const changing = this.#config.changingOutputThreshold;
    const common = { period: 1, command: action.key, lastAt: at };
    const members = [action.hash];
    if (base > 0 && streak.count >= Math.max(threshold, 2)) {
      const { count, firstAt } = streak;
      const same = { ...common, count, firstAt };
      reports.push({ evidence: { type: "repeated_command", ...same, trigger: action.hash }, members });
      reports.push({ evidence: { type: "repeated_output", ...same, trigger: pair }, members });
    } else if (changing > 0 && streak.changes >= Math.max(changing, 2)) {
      const changed = { ...common, count: streak.changes, firstAt: streak.changesFirstAt, trigger: action.hash };
      reports.push({ evidence: { type: "repeated_command", ...changed }, members });
    }
  }

  #take({ evidence, members }: Report): void {
    const belongs = (incident: Incident) =>
      incident.triggers.includes(evidence.trigger) || members.some((member) => incident.members.includes(member));
    let incident = this.#incidents.find((one) => one.active && belongs(one)) ?? this.#incidents.find(belongs);
    if (incident === undefined) {
      incident = { active: true, members: [], triggers: [], evidence: [], lastRound: 0, patience: INCIDENT_PATIENCE };
      this.#incidents.push(incident);
    }
    incident.active = true;
    incident.lastRound = this.#round.number;
    incident.patience = INCIDENT_PATIENCE;
    for (const member of members) if (!incident.members.includes(member)) incident.members.push(member);
    if (!incident.triggers.includes(evidence.trigger)) incident.triggers.push(evidence.trigger);
    const known = incident.evidence.findIndex(({ type }) => type === evidence.type);
    if (known < 0) incident.evidence.push(evidence);
    else incident.evidence[known] = evidence;
  }

  #age(): void {
    for (const incident of this.#incidents) {
      if (incident.active && this.#round.number - incident.lastRound > incident.patience) {
        incident.active = false;
        incident.evidence = [];
      }
    }
  }
}

function newRound(number: number, turn: number): Round {
  return { number, turn, pairs: [] };
}
