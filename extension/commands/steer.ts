// `/watchdog steer <target> [message]`: the user's message to a sub-agent, by default the configured rescue message.

import { rescueMessageOf } from "../alerts/rescue.ts";
import { now } from "../clock.ts";
import type { Page } from "../render/page.ts";
import type { Runtime, WatchedSession } from "../runtime.ts";
import { cut, oneLine, plain } from "../sanitize.ts";
import { answered, failure, reach, shownName } from "./reach.ts";

const MAX_MESSAGE = 4000;

export async function steerPage(runtime: Runtime, session: WatchedSession, rest: string): Promise<Page> {
  const [, query = "", typed = ""] = /^\s*(\S*)\s*([\s\S]*)$/.exec(rest) ?? [];
  const reached = reach(runtime, session, query, "/watchdog steer <target> [message]");
  if (!reached.ok) return reached.page;
  const { handle, target, main } = reached.child;
  const own = plain(typed).trim();
  const message = cut(own === "" ? rescueMessageOf(main) : own, MAX_MESSAGE);
  const delivery = await answered(main.steer(target.id, message));
  const name = shownName(target);
  if (delivery.outcome !== "delivered" && delivery.outcome !== "queued") return failure(delivery, name);
  runtime.native.store.note(handle, now(), "subagent_steered", `steered: ${oneLine(message, 120)}`);
  const what = own === "" ? "The rescue message" : "The message";
  return delivery.outcome === "delivered"
    ? [{ text: `${what} was delivered to ${name}.`, tone: "success" }]
    : [{ text: `${what} is queued for ${name}: it arrives before the agent's next model call.`, tone: "success" }];
}
