// What the link allows to all processes of one main session together, and what it remembers of them. It outlives
// connections, and a reload of the main session: whoever comes back, or comes under another name, gets nothing anew.

import { Allowance } from "./budget.ts";
import {
  JOIN_EVERY_MS,
  JOINS_AT_ONCE,
  NESTED_AT_ONCE,
  NESTED_EVERY_MS,
  NOTICE_EVERY_MS,
  NOTICES_AT_ONCE,
  OPEN_EVERY_MS,
  OPENS_AT_ONCE,
  TREE_NOTICE_EVERY_MS,
  TREE_NOTICES_AT_ONCE,
} from "./limits.ts";
import type { Peer } from "./peer.ts";

/** A session whose process may come back after a reload of the main session. */
export interface Left {
  readonly id: string;
  readonly handle: number;
  readonly run: string;
  readonly pid: number;
  readonly process: Peer | undefined;
  readonly startedAt: number;
  readonly name: string;
  readonly type: string;
  readonly parentId: string;
  readonly told: number;
}

/** Processes whose notices are counted one by one. */
const MAX_SPEAKERS = 1000;

export class Ledger {
  /** Connections that proved that they belong here. */
  readonly joins = new Allowance(JOINS_AT_ONCE, JOIN_EVERY_MS);
  /** Sessions that were not known before. */
  readonly opens = new Allowance(OPENS_AT_ONCE, OPEN_EVERY_MS);
  /** Sessions deep below the main session. */
  readonly nested = new Allowance(NESTED_AT_ONCE, NESTED_EVERY_MS);
  left: Left[] = [];
  /** Notices that were not shown because there were too many. */
  muted = 0;
  /** Sessions of packages, and others: what somebody's shell started must not silence those. */
  readonly #notices = {
    known: new Allowance(TREE_NOTICES_AT_ONCE, TREE_NOTICE_EVERY_MS),
    other: new Allowance(TREE_NOTICES_AT_ONCE, TREE_NOTICE_EVERY_MS),
  };
  readonly #speakers = new Map<string, Allowance>();

  /** Whether a notice of a process may be shown. `known`: a package vouches for its session. */
  notice(speaker: string, known: boolean, now: number): boolean {
    const taken = this.#speaker(speaker).take(now) && this.#notices[known ? "known" : "other"].take(now);
    if (!taken) this.muted += 1;
    return taken;
  }

  #speaker(name: string): Allowance {
    const allowance = this.#speakers.get(name) ?? new Allowance(NOTICES_AT_ONCE, NOTICE_EVERY_MS);
    this.#speakers.delete(name);
    this.#speakers.set(name, allowance);
    const [oldest] = this.#speakers.keys();
    if (this.#speakers.size > MAX_SPEAKERS && oldest !== undefined) this.#speakers.delete(oldest);
    return allowance;
  }
}

const KEY = Symbol.for("pi-watchdog-supervisor:link-ledgers/v1");

function ledgers(): Map<string, Ledger> {
  const shared = globalThis as unknown as Record<symbol, Map<string, Ledger> | undefined>;
  shared[KEY] ??= new Map();
  return shared[KEY];
}

/** Of a main session; the same one for as long as it lasts. */
export function ledgerOf(rootId: string): Ledger {
  const ledger = ledgers().get(rootId) ?? new Ledger();
  ledgers().set(rootId, ledger);
  return ledger;
}

/** The main session has ended. */
export const closeLedger = (rootId: string): boolean => ledgers().delete(rootId);
