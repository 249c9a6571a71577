// Interventions in words: what state a kind is, and what can be done about it. Pure; the reason is the core's.

import type { Intervention, InterventionKind } from "../../index.js";
import { oneLine } from "../sanitize.ts";

/** Reads after "is". */
const STATES: Record<InterventionKind, string> = {
  timeout: "not responding",
  excessive_cost: "over its cost limit",
  file_conflict: "in a file conflict",
  deadlock: "in a deadlock",
  orphan: "left without an owner",
  stream_loop: "going round in one message",
  compaction_loop: "compacting again and again",
  provider_failure: "failed by its provider",
  spawn_depth: "nested too deep",
  empty_result: "without a result",
  polling: "polling instead of waiting",
  denied: "refused again and again",
  plan_lag: "working past its plan",
};

/** The state that an intervention is about, e.g. `not responding`. A kind of another version is named as it is. */
export function stateOf({ kind, suggestedAction }: Pick<Intervention, "kind" | "suggestedAction">): string {
  // Who runs for too long need not be silent, and only then is an end proposed.
  if (kind === "timeout" && suggestedAction === "kill") return "past its time limit";
  return Object.hasOwn(STATES, kind) ? STATES[kind] : `in need of a hand (${oneLine(String(kind), 40)})`;
}

/** The state in a word or two, for columns. */
const BRIEF: Record<InterventionKind, string> = {
  timeout: "silent",
  excessive_cost: "cost limit",
  file_conflict: "conflict",
  deadlock: "deadlock",
  orphan: "orphan",
  stream_loop: "going round",
  compaction_loop: "compacting",
  provider_failure: "provider",
  spawn_depth: "too deep",
  empty_result: "no result",
  polling: "polling",
  denied: "refused",
  plan_lag: "past plan",
};

export function briefStateOf({ kind, suggestedAction }: Pick<Intervention, "kind" | "suggestedAction">): string {
  if (kind === "timeout" && suggestedAction === "kill") return "too long";
  return Object.hasOwn(BRIEF, kind) ? BRIEF[kind] : oneLine(String(kind), 12);
}

export interface Whom {
  /** Session id, as commands take it. */
  id: string;
  /** The target is the main session itself, whose agent reads this. */
  itself: boolean;
  /** A call of the sub-agent package's own tool that steers it. */
  steer?: string | undefined;
}

/** What whoever reads it should do, in a few lines. */
export function suggestion({ kind, suggestedAction }: Intervention, whom: Whom): string[] {
  // What a kind asks for by its nature says more than a warning.
  const own = Object.hasOwn(OWN, kind) ? OWN[kind]?.(whom) : undefined;
  if (own !== undefined && suggestedAction === "warn") return own;
  const action = Object.hasOwn(ADVICE, suggestedAction) ? suggestedAction : "warn";
  return [...ADVICE[action](whom), ...(own ?? [])];
}

type Advice = (whom: Whom) => string[];

const steering = ({ id, steer }: Whom): string =>
  steer === undefined ? `the user can type /watchdog steer ${oneLine(id, 80)} <message>` : `call ${steer}`;
const stop = (id: string): string => `/watchdog stop ${oneLine(id, 80)}`;

const ADVICE: Record<Intervention["suggestedAction"], Advice> = {
  warn: ({ id, itself }) => [
    itself
      ? "Take this into account before you go on."
      : `Look at what it did with watchdog_read_events. The user can end it by ${stop(id)}`,
  ],
  steer: (whom) => [whom.itself ? "Change the approach." : `Tell it what to do instead: ${steering(whom)}`],
  restart: ({ id, itself }) => [
    itself
      ? "Sum up what is done and what is left, and propose to the user to go on in a new session."
      : `Start the task anew in a fresh agent; the user can end this one by ${stop(id)}`,
  ],
  kill: ({ id, itself }) => [
    itself ? "Ask the user whether to stop here." : `If it is of no use any more, the user can type ${stop(id)}`,
  ],
  skip: ({ itself }) => [itself ? "Leave this out and go on." : "Go on without its result."],
};

const OWN: Partial<Record<InterventionKind, Advice>> = {
  excessive_cost: ({ id, itself }) => [
    itself
      ? "Tell the user what was spent and ask whether to go on before you spend more."
      : `Tell the user what was spent and ask whether it shall go on. The user can end it by ${stop(id)}`,
    "The user can raise the limit: /watchdog set costLimitUsd <dollars>",
  ],
  file_conflict: ({ itself }) => [
    itself
      ? "Agree on who changes the file, and read it again before your next change."
      : "Decide which agent changes the file, and have it read again before the next change.",
  ],
  deadlock: (whom) => [
    whom.itself
      ? "Do not go on waiting: answer, or end what you wait for."
      : `Answer what it waits for, or end the wait: ${steering(whom)}. The user can end it by ${stop(whom.id)}`,
  ],
  spawn_depth: () => ["Do the work where it is instead of starting another agent for it."],
};
