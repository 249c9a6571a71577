// Whether this process is a child that reports to a main session above, and the link if it is. One per process, on
// `globalThis`, because its sessions may run other instances of the extension.

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Native } from "../runtime.ts";
import { readAddress } from "./address.ts";
import { LinkClient } from "./client.ts";

interface Shared {
  /** What this process was given, before it gives something down itself. */
  readonly given: ReturnType<typeof readAddress>;
  client: LinkClient | undefined;
  /** Nobody was there; the process is on its own for good. */
  alone: boolean;
}

const KEY = Symbol.for("pi-watchdog-supervisor:link/v1");

function shared(): Shared {
  const global = globalThis as unknown as Record<symbol, Shared | undefined>;
  global[KEY] ??= { given: readAddress(), client: undefined, alone: false };
  return global[KEY];
}

/**
 * Call it before the session asks whose child it is. A session that somebody sits before is nobody's child, even when
 * it was started from within another one (a shell, a terminal multiplexer).
 */
export function joinLink(native: Native, mode: ExtensionContext["mode"]): LinkClient | undefined {
  const state = shared();
  const { given } = state;
  if (given === undefined || given.address.pid === process.pid || mode === "tui" || state.alone) return undefined;
  if (state.client?.over !== false) state.client = new LinkClient(native, given.address, given.parentId);
  return state.client;
}

/** The main session above is gone: later sessions of this process do not look for it again. */
export function goAlone(): void {
  const state = shared();
  state.alone = true;
  state.client = undefined;
}
