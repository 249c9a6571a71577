// What the room needs of Pi and of the store, for one main session. Sessions end while something is on its way to them:
// that is a `false` or nothing here, and never an exception.

import { now } from "../clock.ts";
import { hasEnded } from "../format.ts";
import type { Guard } from "../guard.ts";
import type { Runtime } from "../runtime.ts";
import type { Session } from "../session.ts";
import { agentOf } from "../subagents/ids.ts";
import { post } from "./post.ts";
import type { Publisher } from "./publish.ts";
import type { TargetState } from "./queue.ts";
import { rescueTextOf } from "./rescue.ts";
import type { Outlet } from "./room.ts";

export function outletOf(runtime: Runtime, session: Session, guard: Guard, publisher: Publisher): Outlet {
  const { store } = runtime.native;
  const { mode, hasUI } = session.ctx;

  function stateOf(targetId: string): TargetState {
    const found = store.resolve(targetId, session.id);
    const target = found.ok ? store.target(found.handle) : null;
    // One that is not known any more ended so long ago that it was forgotten.
    if (target === null) return { ended: "forgotten", stuck: false, activeAt: 0 };
    const { likelyStuck: stuck, lastActiveAt: activeAt, status } = target;
    return { stuck, activeAt, idle: status === "idle", ...(hasEnded(target) ? { ended: status } : {}) };
  }

  return {
    mainId: session.id,
    hasScreen: hasUI,
    oneShot: mode === "print" || mode === "json",
    config: () => session.config,
    rescue: () => rescueTextOf(session),
    now,
    isIdle: () => !session.disposed && session.observing && session.ctx.isIdle(),
    stateOf,
    address: (targetId) => agentOf(session.backends, targetId),
    show(text, level) {
      if (!session.disposed) session.ctx.ui.notify(text, level);
    },
    publish: (state, matter, ended) => publisher.publish(state, matter, ended),
    write: (line) => console.error(`pi-watchdog-supervisor: ${line}`),
    wake: ({ customType, content, details }) => post(runtime.pi, customType, content, details, true),
    after(ms, task) {
      const timer = setTimeout(() => guard.run("waking the main agent", task), ms).unref();
      return () => clearTimeout(timer);
    },
  };
}
