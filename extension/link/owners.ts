// Whose a session is before a process on the link says so: a main session's, this process's, a package's, another
// connection's. Only who proves that it runs a session may report it. Asks the store and the packages; changes nothing.

import type { TargetSummary, WatchdogStore } from "../../index.js";
import { findLive, findMain, type LiveSession } from "../root.ts";
import type { WatchedSession } from "../runtime.ts";
import type { SubagentRecord } from "../subagents/backend.ts";
import type { Peer } from "./peer.ts";

/** Named as the package that such children came from. */
export const LINK = "process (link)";

export interface Refusal {
  why: string;
  /** It may be tried later. */
  again: boolean;
}

/** Who asks to report a session. */
export interface Claimant {
  readonly run: string;
  readonly process: Peer | undefined;
  /** Whether it reports the session of this id now. */
  reports(sessionId: string): boolean;
}

/** Who reported the session last over the link. */
export interface Holder {
  readonly run: string;
  readonly live: LiveSession;
}

export interface OwnersHost {
  readonly store: WatchdogStore;
  readonly session: WatchedSession;
}

/** What packages say of their agents. */
export function recordsOf({ session }: OwnersHost): SubagentRecord[] {
  return session.backends.filter(({ name }) => name !== LINK).flatMap((backend) => backend.list());
}

/** Of the session, or of an agent that has its id. */
const about = (records: readonly SubagentRecord[], id: string): SubagentRecord[] =>
  records.filter(({ sessionId, agentId, runId }) => sessionId === id || agentId === id || runId === id);

/** The package started the process itself, or the agent below one that the process reports. */
function proves({ process, reports }: Claimant, id: string, record: SubagentRecord): boolean {
  if (record.sessionId !== id || record.link !== "exact") return false;
  if (record.pid !== undefined) return process !== undefined && process.pid === record.pid;
  return record.parentId !== undefined && record.parentId !== id && reports(record.parentId);
}

/** A package knows the session, and what it says does not fit who reports it. */
export function disputed(records: readonly SubagentRecord[], id: string, claimant: Claimant): Refusal | undefined {
  if (about(records, id).every((record) => proves(claimant, id, record))) return undefined;
  return { why: "a package started it, and nothing proves that this process runs it", again: false };
}

/** Why the session is not the claimant's to report; `undefined`: it may be. */
export function refusal(
  host: OwnersHost,
  records: readonly SubagentRecord[],
  id: string,
  claimant: Claimant,
  holder?: Holder,
): Refusal | undefined {
  const { session, store } = host;
  if (id === session.id || findMain(id) !== undefined) return { why: "it is a main session", again: false };
  const live = findLive(id);
  if (live !== undefined && live !== holder?.live) return { why: "it runs in another process", again: false };
  const dispute = disputed(records, id, claimant);
  if (dispute !== undefined) return dispute;
  const found = store.resolve(id);
  const target = found.ok ? store.target(found.handle) : null;
  if (target === null) return undefined;
  // The beginning of another id says nothing.
  if (target.id !== id && !target.aliases.includes(id)) return undefined;
  if (target.id !== id) return { why: "an agent has this name", again: false };
  return about(records, id).length > 0 || holder?.run === claimant.run
    ? foreign(host, target)
    : taken(host, target, claimant);
}

function foreign({ session }: OwnersHost, target: TargetSummary): Refusal | undefined {
  if (target.rootId === session.id || target.endedAt !== undefined) return undefined;
  return { why: "it belongs to another main session", again: false };
}

/** Nobody vouches for the claimant: a session that somebody else brought is not its own. */
function taken(host: OwnersHost, target: TargetSummary, { run }: Claimant): Refusal | undefined {
  if (target.backend !== LINK)
    return {
      why: "it was not reported over the link before, and nothing proves that this process runs it",
      again: false,
    };
  if (target.endedAt === undefined && target.remote !== undefined && target.remote.run !== run)
    return { why: "another process reports it", again: true };
  return foreign(host, target);
}
