// Matters of a main session that goes on in another instance of the extension (`/reload`). On `globalThis`, because the
// next instance may be another copy of this file; plain data, because it may be another version.

import type { Matter } from "./queue.ts";

const KEY = Symbol.for("pi-watchdog-supervisor:matters/v1");
const MAX_SESSIONS = 8;

function store(): Map<string, Matter[]> {
  const shared = globalThis as unknown as Record<symbol, Map<string, Matter[]> | undefined>;
  shared[KEY] ??= new Map();
  return shared[KEY];
}

export const saved = {
  put(sessionId: string, matters: Matter[]): void {
    const all = store();
    all.delete(sessionId);
    all.set(sessionId, matters);
    const oldest = all.keys().next().value;
    if (all.size > MAX_SESSIONS && oldest !== undefined) all.delete(oldest);
  },
  take(sessionId: string): Matter[] {
    const matters = store().get(sessionId) ?? [];
    store().delete(sessionId);
    return matters;
  },
};
