// The sessions of this process as they see each other. Children run other instances of the extension, perhaps of
// another copy of the package, so what they share lies on `globalThis`. Weak references only: a disposed child fires no
// event, and must not be kept by what it was known under.

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { expectChildren, marked } from "./lineage.ts";
import type { ChildLink, MainSession } from "./runtime.ts";

/** A session that some instance of the extension in this process watches. */
export interface LiveSession {
  readonly id: string;
  readonly rootId: string;
  /** Session file, to recognise a child by the parent that its header names. */
  readonly file: string | undefined;
  /** Puts a message before the session's next model call. False when it is not running any more. */
  steer(message: string): boolean;
  /** Ends its run; for one whose main session is gone, where its package can no longer be asked. */
  abort?(): void;
  /** Configuration changed for this run: read it again. */
  refresh(): void;
  /** Whether one of its tool calls runs; absent: not known. */
  calling?(): boolean;
}

interface Registry {
  mains: Map<string, WeakRef<MainSession>>;
  live: Map<string, WeakRef<LiveSession>>;
  /** Messages on their way into a session by the watchdog's hand, by session id. */
  steered: Map<string, string[]>;
  /** Sessions in which the watchdog's tools are not, by id. Absent in registries that an older copy has made. */
  toolless?: Set<string>;
  /** What to do when a session is gone that nobody took back. Here, because it must outlive the child's own code. */
  abandoned: FinalizationRegistry<() => void>;
}

const KEY = Symbol.for("pi-watchdog-supervisor:sessions/v1");
const MAX_SESSIONS = 200;
const MAX_STEERED = 8;

function registry(): Registry {
  const shared = globalThis as unknown as Record<symbol, Registry | undefined>;
  shared[KEY] ??= {
    mains: new Map(),
    live: new Map(),
    steered: new Map(),
    abandoned: new FinalizationRegistry((end) => end()),
  };
  return shared[KEY];
}

/** Publishes a session; the returned function takes it back, and nothing but it. */
function publish<T extends object>(map: Map<string, WeakRef<T>>, id: string, session: T): () => void {
  for (const [key, ref] of map) if (ref.deref() === undefined) map.delete(key);
  const ref = new WeakRef(session);
  map.set(id, ref);
  return () => {
    if (map.get(id) === ref) map.delete(id);
  };
}

export function publishMain(main: MainSession): () => void {
  expectChildren();
  return publish(registry().mains, main.id, main);
}

/** `abandoned` is called if the session is disposed without a word; it must not refer to the session. */
export function publishLive(session: LiveSession, abandoned: () => void): () => void {
  const { live, abandoned: registered } = registry();
  const takeBack = publish(live, session.id, session);
  const token = {};
  registered.register(session, () => attempt(abandoned), token);
  return () => {
    takeBack();
    registered.unregister(token);
  };
}

/** An exception in a finalizer would end Pi. */
function attempt(task: () => void): void {
  try {
    task();
  } catch {
    // Nobody is left who could be told.
  }
}

export const findMain = (id: string): MainSession | undefined => registry().mains.get(id)?.deref();
export const findLive = (id: string): LiveSession | undefined => registry().live.get(id)?.deref();

export const liveSessions = (): LiveSession[] => present(registry().live);
const mainSessions = (): MainSession[] => present(registry().mains);

function present<T extends object>(map: Map<string, WeakRef<T>>): T[] {
  return [...map.values()].flatMap((ref) => ref.deref() ?? []);
}

export interface Parentage {
  rootId: string;
  parentId: string;
  link: ChildLink;
}

/** A session in one of whose tool calls another one begins. */
export type Caller = Pick<LiveSession, "id" | "rootId">;

/**
 * Whose tool call a session begins in, asked in its `session_start` before anything is awaited. A mark also reaches
 * sessions that the same call only starts one after the other; what tells them apart is that a parent's call runs.
 */
export function findCaller(id: string): Caller | undefined {
  for (let at = marked(); at !== undefined; at = at.within) {
    const session = at.id === id ? undefined : findLive(at.id);
    if (session?.calling?.()) return { id: session.id, rootId: session.rootId };
  }
  return undefined;
}

/**
 * Whose child a session is: what a main session knows by its sub-agent package, else the parent that the session's
 * header names, else the session that somebody sits before: Pi has one of those in a process and ends it before the
 * next, so another one beside it is its child, by whatever package. Undefined for a main session.
 */
export function findParent(
  id: string,
  parentFile: string | undefined,
  mode: ExtensionContext["mode"],
  caller?: Caller,
): Parentage | undefined {
  const mains = mainSessions().filter((main) => main.id !== id);
  const within = (main: MainSession) => (caller?.rootId === main.id ? caller.id : undefined);
  for (const main of mains) {
    const link = main.child(id);
    if (link === undefined) continue;
    // A package knows its own agents; of what these start it knows at most that it happened in their course.
    const parentId = (link.link === "none" ? within(main) : undefined) ?? link.parentId ?? main.id;
    return { rootId: main.id, parentId, link };
  }
  const unknown: ChildLink = { link: "none" };
  const parent = parentFile && liveSessions().find((session) => session.file === parentFile && session.id !== id);
  if (parent) return { rootId: parent.rootId, parentId: parent.id, link: unknown };
  const attended = mode === "print" ? mains.find((main) => main.attended) : undefined;
  return attended && { rootId: attended.id, parentId: within(attended) ?? attended.id, link: unknown };
}

/** Remembers a message that the watchdog sends into a session as if a user had, so that it is not taken for one. */
export function noteSteer(sessionId: string, message: string): void {
  const { steered } = registry();
  const messages = steered.get(sessionId) ?? [];
  steered.delete(sessionId);
  steered.set(sessionId, [...messages, message].slice(-MAX_STEERED));
  const oldest = steered.keys().next().value;
  if (steered.size > MAX_SESSIONS && oldest !== undefined) steered.delete(oldest);
}

/** Whether the text is such a message; it is forgotten by that. Packages may wrap what they are given to send. */
export function takeSteer(sessionId: string, text: string): boolean {
  const messages = registry().steered.get(sessionId);
  const index = messages?.findIndex((message) => text.includes(message)) ?? -1;
  if (messages === undefined || index < 0) return false;
  messages.splice(index, 1);
  if (messages.length === 0) registry().steered.delete(sessionId);
  return true;
}

export function forgetSteers(sessionId: string): void {
  registry().steered.delete(sessionId);
}

/** Whether a session lacks the tools that a watchdog sub-agent needs, remembered beyond its end. */
export function noteToolless(sessionId: string, lacks: boolean): void {
  const shared = registry();
  shared.toolless ??= new Set();
  shared.toolless.delete(sessionId);
  if (lacks) shared.toolless.add(sessionId);
  const oldest = shared.toolless.values().next().value;
  if (shared.toolless.size > MAX_SESSIONS && oldest !== undefined) shared.toolless.delete(oldest);
}

export const isToolless = (sessionId: string): boolean => registry().toolless?.has(sessionId) ?? false;
