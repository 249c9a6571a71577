// The sub-agents of a main session that have sub-agents of their own, as the main session meets them. Children run other
// instances of the extension, so what they share lies on `globalThis`; weakly, because a child ends without a word.

import type { ChildLink } from "../runtime.ts";
import type { Delivery, SubagentRecord } from "./backend.ts";

/** A child session whose agents, by the same package, are known. */
export interface Nest {
  /** Session id of the child. */
  readonly sessionId: string;
  readonly rootId: string;
  /** Called within the `session_start` of a session that is perhaps one of them. */
  child(sessionId: string): ChildLink | undefined;
  list(): SubagentRecord[];
  steer(agentId: string, message: string): Delivery;
  stop(agentId: string): Promise<Delivery>;
  /** The main session has ended, and with it what runs here. */
  close(): void;
}

const KEY = Symbol.for("pi-watchdog-supervisor:tintinweb-nests/v1");

function nests(): Map<string, WeakRef<Nest>> {
  const shared = globalThis as unknown as Record<symbol, Map<string, WeakRef<Nest>> | undefined>;
  shared[KEY] ??= new Map();
  return shared[KEY];
}

export function publishNest(nest: Nest): void {
  const all = nests();
  for (const [id, ref] of all) if (ref.deref() === undefined) all.delete(id);
  all.set(nest.sessionId, new WeakRef(nest));
}

export function retractNest(nest: Nest): void {
  if (nests().get(nest.sessionId)?.deref() === nest) nests().delete(nest.sessionId);
}

export function nestsOf(rootId: string): Nest[] {
  return [...nests().values()].flatMap((ref) => ref.deref() ?? []).filter((nest) => nest.rootId === rootId);
}
