// What a package's file needs to connect to a main session; it gives back a `BackendConnection`. Types only.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { WatchdogStore } from "../../index.js";
import type { Native, WatchedSession } from "../runtime.ts";

export interface Host {
  pi: ExtensionAPI;
  /** The main session; a package that is found adds its backend to `backends`. */
  session: WatchedSession;
  store: WatchdogStore;
  /** What the system proves of processes. */
  processes?: Native["processes"];
  /** ms since the epoch. */
  now(): number;
  /** Something of the package went wrong; Pi and the watchdog go on. */
  fault(message: string): void;
}
