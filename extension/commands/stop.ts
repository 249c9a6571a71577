// `/watchdog stop <target>`: ends a sub-agent by whatever runs it. How it ended is read from there, not assumed.

import type { Page } from "../render/page.ts";
import type { Runtime, WatchedSession } from "../runtime.ts";
import { answered, failure, reach, shownName } from "./reach.ts";

export async function stopPage(runtime: Runtime, session: WatchedSession, rest: string): Promise<Page> {
  const reached = reach(runtime, session, rest.trim(), "/watchdog stop <target>");
  if (!reached.ok) return reached.page;
  const { handle, target, main } = reached.child;
  const delivery = await answered(main.stop(target.id));
  const name = shownName(target);
  switch (delivery.outcome) {
    case "delivered": {
      const status = runtime.native.store.target(handle)?.status;
      const state = status === undefined || status === target.status ? "" : ` Its state: ${status}.`;
      return [{ text: `${name} has been stopped.${state}`, tone: "success" }];
    }
    case "queued":
      return [{ text: `Stopping ${name} was agreed to; it has not come to rest yet.`, tone: "success" }];
    default:
      return failure(delivery, name);
  }
}
