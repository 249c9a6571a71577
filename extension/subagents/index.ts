// Connects a main session to the sub-agent packages that are there. One line per package; what a package needs is in
// its own file.

import type { WatchdogStore } from "../../index.js";
import type { ChildLink, Runtime, WatchedSession } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import type { Connection, Host } from "./connection.ts";
import { connectGotgenes } from "./gotgenes.ts";

export { targetKind } from "./chronicle.ts";

const PACKAGES: readonly ((host: Host) => Connection)[] = [connectGotgenes];

/**
 * Call it in a main session's `session_start`, when `session` is set up, and dispose it in `session_shutdown`. Packages
 * that are found, now or later, add themselves to `session.backends`. Registers no tools and never throws.
 */
export function connectBackends(
  runtime: Runtime,
  session: WatchedSession,
  store: WatchdogStore,
  now: () => number = Date.now,
): Connection {
  let faults = 0;
  const host: Host = {
    pi: runtime.pi,
    session,
    store,
    now,
    fault: (message) => {
      // Once: a package that changed its shape would say the same at every event.
      if (faults++ > 0) return;
      try {
        session.ctx.ui.notify(oneLine(`watchdog: ${message}`), "warning");
      } catch {
        // The session is gone; there is nobody to tell.
      }
    },
  };
  const connections: Connection[] = [];
  for (const connect of PACKAGES) {
    try {
      connections.push(connect(host));
    } catch (error) {
      host.fault(error instanceof Error ? error.message : String(error));
    }
  }
  return {
    child: (sessionId: string): ChildLink | undefined => {
      for (const connection of connections) {
        const link = connection.child(sessionId);
        if (link) return link;
      }
      return undefined;
    },
    dispose: () => {
      for (const connection of connections) connection.dispose();
    },
  };
}
