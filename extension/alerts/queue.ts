// What one main session has to hear about its agents: the present state of each matter, not a list of messages. A matter
// is one incident of one target. Pure: knows neither Pi nor the store, keeps plain data, and can be written down and
// taken up again across a reload.
//
// The screen hears of every state at once. The model hears when its next call is about to be made, of what holds then:
// `pending` looks at the targets as they are, `heard` marks what was put into a message.

import type { Notice, Severity } from "../../index.js";
import { AT_THE_END } from "../generated/kinds.ts";
import { infoOf } from "./words.ts";

/** What became of a message that the watchdog sent to a child because of a matter. */
export interface Receipt {
  /** The rescue message, or a word about a matter that concerns the agent. */
  what: "rescue" | "message";
  /** Label of the agent that it was sent to. */
  to: string;
  /** ms; when it was sent. */
  at: number;
  /** `pending` while the sub-agent package has not answered. */
  outcome: "pending" | "delivered" | "queued" | "refused" | "unknown";
  /** Why it was refused, or why nothing is known of it. */
  reason?: string;
}

/** What a model wrote about a target. */
export interface Note {
  text: string;
  /** Label of the agent that wrote it; absent: the main agent itself. */
  author?: string;
}

export interface Matter {
  readonly key: string;
  /** The latest notice; of the gravest severity that was not delivered yet. */
  notice: Notice;
  note?: Note;
  /** The incident is over: the agent goes on with other things. */
  over: boolean;
  /** ms; when it was first reported, and when last. */
  readonly since: number;
  at: number;
  /** What the model was told of it. */
  heard?: { severity: Severity; ordinal: number; note?: string };
  /** The model was told that it is over, or that the agent ended. */
  closed: boolean;
  /** The main agent was woken for it. */
  woken: boolean;
  /** Something remote or written by a child brought it about: it does not wake, and comes out of a budget. */
  foreign: boolean;
  /** Only the child was told of it, as the user configured. */
  childOnly: boolean;
  receipts: Receipt[];
}

/** What a target is doing when a message is made. */
export interface TargetState {
  /** How it ended; absent while it goes on. */
  ended?: string;
  /** Its run is over, and it may be asked again. */
  idle?: boolean;
  /** The rules and clocks still call it stuck. */
  stuck: boolean;
  /** ms; its latest event. */
  activeAt: number;
}

export interface Item {
  matter: Matter;
  state: "holds" | "over" | "ended";
  /** How the target ended. */
  ended?: string;
}

export interface Reported {
  matter: Matter;
  /** The screen has not shown this state of the matter. */
  news: boolean;
}

/** The others are for the main agent's model as well, because it has to act, or to ask. */
export function isForPeople({ intervention }: Notice): boolean {
  return intervention !== undefined && (infoOf(intervention.kind)?.audience ?? "people") === "people";
}

const GRAVITY: Record<Severity, number> = { info: 0, warning: 1, critical: 2 };

/** Matters remembered; the mildest that went longest without a word is dropped. */
const MAX_MATTERS = 256;

export class AlertQueue {
  readonly #matters = new Map<string, Matter>();

  /** Takes up what holds now. `foreign`: see {@link Matter.foreign}. */
  report(notice: Notice, at: number, { note, foreign = false }: { note?: Note; foreign?: boolean } = {}): Reported {
    const key = keyOf(notice, note);
    const known = this.#matters.get(key);
    if (notice.kind === "over") return this.#over(key, notice, at);
    if (known === undefined || known.over || known.closed) {
      const matter: Matter = { ...newMatter(key, notice, at), foreign, ...(note === undefined ? {} : { note }) };
      this.#matters.delete(key);
      this.#matters.set(key, matter);
      this.#trim();
      return { matter, news: true };
    }
    const news = isNews(notice, note, known);
    // What is milder than what waits to be delivered does not make it milder.
    const severity = isHeard(known) ? notice.severity : graver(notice.severity, known.notice.severity);
    known.notice = { ...notice, severity };
    if (note !== undefined) known.note = note;
    known.at = at;
    known.foreign &&= foreign;
    return { matter: known, news };
  }

  #over(key: string, notice: Notice, at: number): Reported {
    const known = this.#matters.get(key);
    if (known === undefined) {
      return { matter: { ...newMatter(key, notice, at), over: true, closed: true }, news: true };
    }
    const news = !known.over && !known.closed;
    known.over = true;
    known.at = at;
    return { matter: known, news };
  }

  /** What the model should hear now, the gravest first. Matters of which nothing remains to be said are dropped. */
  pending(stateOf: (targetId: string) => TargetState): Item[] {
    const items: Item[] = [];
    for (const matter of [...this.#matters.values()]) {
      const item = itemOf(matter, stateOf(matter.notice.targetId));
      if (item !== undefined) items.push(item);
    }
    return items.sort((a, b) => rank(b) - rank(a) || a.matter.since - b.matter.since);
  }

  /** These were put into a message for the model. */
  heard(items: readonly Item[]): void {
    for (const { matter, state } of items) {
      const { severity, ordinal } = matter.notice;
      matter.heard = { severity, ordinal, ...(matter.note === undefined ? {} : { note: matter.note.text }) };
      if (state !== "holds") matter.closed = true;
    }
  }

  /** Matters that the model never heard of, oldest first. */
  unheard(): Matter[] {
    return [...this.#matters.values()].filter((matter) => matter.heard === undefined);
  }

  /** Drops what `fits`: it was answered. */
  drop(fits: (matter: Matter) => boolean): void {
    for (const matter of [...this.#matters.values()]) if (fits(matter)) this.#matters.delete(matter.key);
  }

  all(): Iterable<Matter> {
    return this.#matters.values();
  }

  /** Plain data, for the instance of the extension that goes on with the session. */
  snapshot(): Matter[] {
    return structuredClone([...this.#matters.values()]);
  }

  restore(matters: readonly Matter[]): void {
    for (const matter of matters) this.#matters.set(matter.key, matter);
  }

  #trim(): void {
    while (this.#matters.size > MAX_MATTERS) {
      let least: Matter | undefined;
      for (const matter of this.#matters.values())
        if (least === undefined || worth(matter) < worth(least)) least = matter;
      if (least !== undefined) this.#matters.delete(least.key);
    }
  }
}

function newMatter(key: string, notice: Notice, at: number): Matter {
  return {
    key,
    notice,
    over: false,
    since: at,
    at,
    closed: false,
    woken: false,
    foreign: false,
    childOnly: false,
    receipts: [],
  };
}

/** What a model writes about a target is a matter of its own, one for each author. */
function keyOf({ targetId, incident }: Notice, note: Note | undefined): string {
  return note === undefined ? `${targetId}\n${incident}` : `${targetId}\nnote\n${note.author ?? ""}`;
}

function isNews(notice: Notice, note: Note | undefined, known: Matter): boolean {
  if (note !== undefined) return note.text !== known.note?.text;
  return notice.ordinal > known.notice.ordinal || GRAVITY[notice.severity] > GRAVITY[known.notice.severity];
}

const graver = (a: Severity, b: Severity): Severity => (GRAVITY[a] >= GRAVITY[b] ? a : b);

/** The model knows the present state. */
function isHeard({ heard, notice, note }: Matter): boolean {
  if (heard === undefined) return false;
  if (note !== undefined && note.text !== heard.note) return false;
  return heard.ordinal >= notice.ordinal && GRAVITY[heard.severity] >= GRAVITY[notice.severity];
}

function itemOf(matter: Matter, target: TargetState): Item | undefined {
  const { notice, note, heard, childOnly, closed, over } = matter;
  // Remarks of the rules are for people; what a model takes the trouble to write is for the main agent.
  const forPeople = note === undefined && (notice.severity === "info" || isForPeople(notice));
  if (closed || childOnly || forPeople) return undefined;
  // A run that is over with nothing else done has ended in it, also where no package says that the agent has.
  const ended = target.ended ?? (target.idle === true && !target.stuck ? "idle" : undefined);
  // What passed before the model heard of it is not worth its while.
  if (heard === undefined && (over || (ended === undefined && isGone(matter, target)))) return undefined;
  if (ended !== undefined) return { matter, state: "ended", ended };
  if (over || isGone(matter, target)) return { matter, state: "over" };
  return isHeard(matter) ? undefined : { matter, state: "holds" };
}

/** It no longer holds, also where nobody said so. A model may see what rules do not. */
function isGone({ notice, note, at }: Matter, target: TargetState): boolean {
  if (note !== undefined) return false;
  if (notice.intervention === undefined) {
    // What an agent ends its run with holds until it does something.
    const atItsEnd = notice.analysis.evidence.some(({ type }) => AT_THE_END.has(type));
    return !target.stuck && !(atItsEnd && target.activeAt <= at);
  }
  return infoOf(notice.intervention.kind)?.untilActive === true && target.activeAt > at;
}

/** What goes on comes before what ended, the grave before the mild. */
function rank({ matter, state }: Item): number {
  return (state === "holds" ? 10 : 0) + GRAVITY[matter.notice.severity];
}

/** What may be forgotten first: what is done with, then the mild, then the old. */
function worth(matter: Matter): number {
  const done = matter.closed || matter.over;
  return (done ? 0 : 1e15) + (matter.foreign ? 0 : 1e14) + GRAVITY[matter.notice.severity] * 1e13 + matter.at / 1e3;
}
