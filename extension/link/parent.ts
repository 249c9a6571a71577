// Whose child a session on the link is. What its process says counts where nothing better is known: its place among the
// processes of this machine shows which process started it, and the calls that run there show which session did.

import type { WatchdogEvent, WatchdogStore } from "../../index.js";
import { findLive } from "../root.ts";
import type { WatchedSession } from "../runtime.ts";
import type { Child } from "./children.ts";
import { DEEP } from "./limits.ts";
import { LINK } from "./owners.ts";
import { type Peer, type Processes, samePeer, wayUp } from "./peer.ts";

export interface ParentHost {
  readonly store: WatchdogStore;
  readonly session: WatchedSession;
  readonly processes: Partial<Processes> | undefined;
  /** All sessions on the link. */
  readonly children: readonly Child[];
  /** Whether one more may hang deep below the main session. */
  deep(): boolean;
}

export interface Place {
  readonly id: string;
  /** The parent that the process names. */
  readonly said: string | undefined;
  readonly run: string;
  readonly process: Peer | undefined;
}

/** Events of a session in which open calls are looked for. */
const LOOKED_AT = 200;
/** A command shorter than this may be part of any other. */
const TELLING = 6;

export function parentOf(host: ParentHost, place: Place): string {
  const { session, children } = host;
  const found = find(host, place);
  if (depthOf(children, session.id, found) + 1 < DEEP || host.deep()) return found;
  return session.id;
}

function find(host: ParentHost, { id, said, run, process }: Place): string {
  const { session, store, children } = host;
  const open = children.filter((child) => child.endedAt === undefined && child.id !== id);
  // Beside it in its own process.
  const beside = open.some((child) => child.id === said && (child.run === run || samePeer(child.process, process)));
  if (beside && said !== undefined && !isAbove(children, id, said)) return said;
  const own = globalThis.process.pid;
  const way =
    process && (process.pid === own ? { above: undefined, command: "" } : seen(host.processes, process, open, own));
  if (way === undefined) return known(host, id, said) ?? session.id;
  const above =
    way.above === undefined
      ? [session.id, ...inProcess(host, id)]
      : open.filter((child) => samePeer(child.process, way.above)).map((child) => child.id);
  const fitting = above.filter((one) => !isAbove(children, id, one));
  const named = fitting.includes(said ?? "") ? said : undefined;
  return callerOf(store, session.id, fitting, way.command, named) ?? named ?? fitting[0] ?? session.id;
}

/** The process that started it: one on the link, or this one (`above` absent). */
function seen(
  processes: Partial<Processes> | undefined,
  process: Peer,
  open: readonly Child[],
  own: number,
): { above: Peer | undefined; command: string } | undefined {
  const isKnown = (pid: number, start: string) =>
    pid === own || open.some((child) => samePeer(child.process, { pid, start }));
  const way = wayUp(processes, process, isKnown);
  return way && { above: way.above.pid === own ? undefined : way.above, command: way.command };
}

/** Sessions of the tree that run in this process. */
function inProcess({ store, session, children }: ParentHost, id: string): string[] {
  return store
    .targets(session.id)
    .map((target) => target.id)
    .filter((one) => one !== id && one !== session.id && findLive(one) !== undefined)
    .filter((one) => !children.some((child) => child.id === one));
}

/** What the process says, where nothing is known of where it comes from: a session that is there. */
function known({ store, session, children }: ParentHost, id: string, said: string | undefined): string | undefined {
  if (said === undefined || said === id || isAbove(children, id, said)) return undefined;
  const found = store.resolve(said, session.id);
  if (!found.ok || found.id !== said) return undefined;
  // A package's own agents in other processes start nothing here.
  const target = store.target(found.handle);
  return said === session.id || target?.backend === LINK || findLive(said) !== undefined ? said : undefined;
}

/** The session whose call runs the command: by the line of the call, else the one that was named, else the only one. */
function callerOf(
  store: WatchdogStore,
  rootId: string,
  ids: readonly string[],
  command: string,
  named: string | undefined,
): string | undefined {
  const calling = ids.flatMap((id) => {
    const found = store.resolve(id, rootId);
    const lines = found.ok && found.id === id ? openCalls(store.events(found.handle, LOOKED_AT)) : [];
    return lines.length === 0 ? [] : [{ id, lines }];
  });
  const words = squeezed(command);
  const fitting = calling.filter(({ lines }) => lines.some((line) => isSame(squeezed(line), words)));
  const left = fitting.length > 0 ? fitting : calling;
  return left.find(({ id }) => id === named)?.id ?? (left.length === 1 ? left[0]?.id : undefined);
}

/** Keys of the calls that have no result yet. */
function openCalls(events: readonly WatchdogEvent[]): string[] {
  const open = new Map<string, string>();
  for (const { type, callId, commandKey } of events) {
    if (callId === undefined) continue;
    if (type === "tool_result") open.delete(callId);
    else if (commandKey !== undefined) open.set(callId, commandKey);
  }
  return [...open.values()];
}

/** A shell has the line as one word; in place of a shell stands what the line runs. */
function isSame(line: string, words: string): boolean {
  const [short, long] = line.length < words.length ? [line, words] : [words, line];
  return short.length >= TELLING && long.includes(short);
}

const squeezed = (text: string): string => text.replace(/[\s"'\\]+/g, "");

/** Whether `id` is `other` or above it. */
function isAbove(children: readonly Child[], id: string, other: string): boolean {
  for (let at: string | undefined = other, steps = 0; at !== undefined && steps <= children.length; steps += 1) {
    if (at === id) return true;
    at = children.find((child) => child.id === at)?.parentId;
  }
  return false;
}

/** Levels below the main session. */
function depthOf(children: readonly Child[], rootId: string, id: string): number {
  let depth = 0;
  for (let at: string | undefined = id; at !== undefined && at !== rootId && depth <= children.length; depth += 1)
    at = children.find((child) => child.id === at)?.parentId;
  return depth;
}
