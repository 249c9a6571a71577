// Interventions in words: what state a kind is, and what can be done about it. Pure; the reason is the core's.

import type { Intervention, InterventionKind } from "../../index.js";
import { INTERVENTIONS, type InterventionInfo } from "../generated/kinds.ts";
import { oneLine } from "../sanitize.ts";

/** The state that an intervention is about, e.g. `not responding`. A kind of another version is named as it is. */
export function stateOf({ kind, suggestedAction }: Pick<Intervention, "kind" | "suggestedAction">): string {
  // Who runs for too long need not be silent, and only then is an end proposed.
  if (kind === "timeout" && suggestedAction === "kill") return "past its time limit";
  return infoOf(kind)?.state ?? `in need of a hand (${JSON.stringify(oneLine(String(kind), 40))})`;
}

/** The state in a word or two, for columns. */
export function briefStateOf({ kind, suggestedAction }: Pick<Intervention, "kind" | "suggestedAction">): string {
  if (kind === "timeout" && suggestedAction === "kill") return "too long";
  return infoOf(kind)?.brief ?? oneLine(String(kind), 12);
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
  const own = adviceOf(kind, whom);
  if (own.length > 0 && suggestedAction === "warn") return own;
  const action = Object.hasOwn(ADVICE, suggestedAction) ? suggestedAction : "warn";
  return [...ADVICE[action](whom), ...own];
}

function adviceOf(kind: InterventionKind, whom: Whom): string[] {
  const info = infoOf(kind);
  const lines = (whom.itself ? info?.itself : info?.others) ?? [];
  return lines.map((line) => line.replace("{steer}", () => steering(whom)).replace("{stop}", () => stop(whom.id)));
}

/** Undefined for a kind of another version. */
export function infoOf(kind: InterventionKind): InterventionInfo | undefined {
  return Object.hasOwn(INTERVENTIONS, kind) ? INTERVENTIONS[kind] : undefined;
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
