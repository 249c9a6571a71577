// In whose course of events a session comes up, for children that no package tells the parent of: a session marks the
// asynchronous calls that it works in, and one that begins in such a call finds the mark. Loaded at Pi's start, so it
// imports nothing. Judges nothing: marks also reach what only came after a session in the same call (see root.ts).

import { AsyncLocalStorage } from "node:async_hooks";

/** A session, and the one that it came up in. */
export interface Mark {
  readonly id: string;
  readonly within: Mark | undefined;
}

const KEY = Symbol.for("pi-watchdog-supervisor:lineage/v1");
/** Deeper than agents are ever nested; calls that follow one another would make a mark ever longer. */
const MAX_DEPTH = 16;

type Shared = Record<symbol, AsyncLocalStorage<Mark> | undefined>;

/** Sessions that begin from now on may be children. Marks cost something on Node 22, so a lone session makes none. */
export function expectChildren(): void {
  const shared = globalThis as unknown as Shared;
  shared[KEY] ??= new AsyncLocalStorage();
}

/**
 * Marks what follows in the present call as this session's; call it in a handler before anything is awaited. Whether
 * the mark reaches Pi's own code depends on the handler being the first of its event, so it is set at several.
 */
export function mark(id: string): void {
  const marks = (globalThis as unknown as Shared)[KEY];
  const within = marks?.getStore();
  if (marks === undefined || within?.id === id) return;
  marks.enterWith({ id, within: cutAt(within, MAX_DEPTH) });
}

/** The session that the present call was marked for. */
export function marked(): Mark | undefined {
  return (globalThis as unknown as Shared)[KEY]?.getStore();
}

function cutAt(of: Mark | undefined, depth: number): Mark | undefined {
  if (of === undefined || depth === 0) return undefined;
  return { id: of.id, within: cutAt(of.within, depth - 1) };
}
