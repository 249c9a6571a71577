// What a package's file needs to connect to a main session, and what it gives back. Types only.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { WatchdogStore } from "../../index.js";
import type { ChildLink, WatchedSession } from "../runtime.ts";

export interface Host {
  pi: ExtensionAPI;
  /** The main session; a package that is found adds its backend to `backends`. */
  session: WatchedSession;
  store: WatchdogStore;
  /** ms since the epoch. */
  now(): number;
  /** Something of the package went wrong; Pi and the watchdog go on. */
  fault(message: string): void;
}

export interface Connection {
  /** What is known of a session, asked by the session itself when it starts; `undefined`: none of this package's. */
  child(sessionId: string): ChildLink | undefined;
  /** Stops listening, and ends what still runs in the store; idempotent. */
  dispose(): void;
}
