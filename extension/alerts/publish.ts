// The present state of a matter for other programs: the bus, a command, a log (extension/outlets).

import { now } from "../clock.ts";
import { createOutlets, type Outlets, type Report, type ReportState } from "../outlets/index.ts";
import type { Runtime } from "../runtime.ts";
import type { Session } from "../session.ts";
import { tellOnce } from "../told.ts";
import type { Matter } from "./queue.ts";
import { headline, summaryOf } from "./text.ts";

export interface Publisher {
  publish(state: ReportState, matter: Matter, ended?: string): void;
  close(): void;
}

export function publisherOf({ pi, native }: Runtime, session: Session): Publisher {
  let outlets: Outlets | undefined;
  /** What the outlets were made for. */
  let made = "";

  function current(): Outlets {
    const { notifyCommand, findingsLog } = session.config;
    const wanted = JSON.stringify([notifyCommand, findingsLog]);
    if (outlets !== undefined && wanted === made) return outlets;
    outlets?.close();
    made = wanted;
    outlets = createOutlets({
      events: pi.events,
      notifyCommand,
      findingsLog,
      fail: (sentence) => {
        if (!session.disposed) tellOnce(session.ctx, [sentence]);
      },
    });
    return outlets;
  }

  return {
    publish(state, matter, ended) {
      const { notice } = matter;
      const found = native.store.resolve(notice.targetId);
      const kind = (found.ok ? native.store.target(found.handle)?.kind : undefined) ?? "unknown";
      const report: Report = {
        state,
        matter: matter.key.replaceAll("\n", " "),
        target: { id: notice.targetId, name: notice.targetName, kind },
        severity: notice.severity,
        rule: notice.intervention?.kind ?? notice.analysis.evidence[0]?.type ?? "note",
        summary: state === "over" ? summaryOf(matter, ended) : headline(notice, matter.note),
        evidence: notice.intervention === undefined ? notice.analysis.reasons : [notice.intervention.reason],
        at: now(),
        ...(notice.cost.usd > 0 ? { cost: notice.cost.usd } : {}),
      };
      current().outlet(report);
    },
    close: () => outlets?.close(),
  };
}
