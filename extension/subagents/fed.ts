// Targets that the main session feeds itself, because no instance of the extension runs in their session: where their
// observations go, and who is told what is due for them. Observes nothing by itself.

import { Signal } from "../../index.js";
import { takeAll } from "../alerts/due.ts";
import type { Sink } from "../observe/sink.ts";
import { findLive, findMain } from "../root.ts";
import type { Host } from "./connection.ts";

/** The way of observations into a target; the main session tells what they cause, as of any child. */
export function fedSink({ session, store }: Pick<Host, "session" | "store">, handle: number): Sink {
  return {
    store,
    handle,
    signal(bits) {
      if (bits & Signal.TREE) findMain(session.id)?.tend();
      const main = bits & Signal.NOTICE ? findMain(session.id) : undefined;
      // Not taken when nobody is there to be told: taking counts as having told.
      if (main !== undefined) for (const notice of takeAll(store, handle)) main.deliver(notice);
      if (bits & Signal.VERDICT) findLive(session.id)?.refresh();
    },
  };
}
