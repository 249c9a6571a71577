// Connects a main session to the sub-agent packages that are there. One line per package; what a package needs is in
// its own file.

import { now } from "../clock.ts";
import { connectLink } from "../link/backend.ts";
import type { BackendConnection, Runtime } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import type { Host } from "./connection.ts";
import { connectExample } from "./example.ts";
import { connectGotgenes } from "./gotgenes.ts";
import { connectNicobailon } from "./nicobailon.ts";
import { connectObserveOnly } from "./observe-only.ts";
import { connectTintinweb } from "./tintinweb.ts";

const PACKAGES: readonly ((host: Host) => BackendConnection)[] = [
  connectGotgenes,
  connectTintinweb,
  connectNicobailon,
  connectExample,
  connectLink,
  connectObserveOnly,
];

/**
 * Call it in a main session's `session_start`, when `runtime.session` is set, and dispose it in `session_shutdown`.
 * Packages that are found, now or later, add themselves to `session.backends`. Registers no tools and never throws.
 */
export function connectBackends(runtime: Runtime): BackendConnection {
  const { pi, native, session } = runtime;
  const connections: BackendConnection[] = [];
  if (session) {
    const host: Host = { pi, session, store: native.store, processes: native.processes, now, fault: once(tell) };
    for (const connect of PACKAGES) {
      try {
        connections.push(connect(host));
      } catch (error) {
        host.fault(error instanceof Error ? error.message : String(error));
      }
    }
  }

  function tell(message: string): void {
    try {
      session?.ctx.ui.notify(oneLine(`watchdog: ${message}`), "warning");
    } catch {
      // The session is gone; there is nobody to tell.
    }
  }

  return {
    // A package only knows that a session began within a run of its agents; the one that began it knows which it is.
    child: (sessionId) => {
      const links = connections.flatMap((connection) => connection.child(sessionId) ?? []);
      return links.find(({ link }) => link === "exact") ?? links.find(({ parentId }) => parentId) ?? links[0];
    },
    counted: (toolCallId, details) => {
      for (const connection of connections) {
        const usage = connection.counted?.(toolCallId, details);
        if (usage) return usage;
      }
      return undefined;
    },
    report: () => connections.flatMap((connection) => connection.report()),
    refresh: () => {
      for (const connection of connections) connection.refresh?.();
    },
    dispose: (goesOn) => {
      for (const connection of connections.splice(0)) connection.dispose(goesOn);
    },
  };
}

/** A package that changed its shape would say the same at every event. */
function once(tell: (message: string) => void): (message: string) => void {
  let told = false;
  return (message) => {
    if (!told) tell(message);
    told = true;
  };
}
