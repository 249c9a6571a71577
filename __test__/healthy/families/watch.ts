// Plays events of a family to a detector as Pi does: the clock ticks between them. Gives what was found, and when.

import type { Finding, TraceEvent } from "../../../index.d.ts";
import { Detector } from "../../../index.js";

const TICK_SEC = 15;

export interface Told {
  rule: string;
  severity: string;
  agent: string;
  /** Seconds of the trace. */
  at: number;
  /** Index of the latest event that had been seen. */
  index: number;
  reason: string;
  parties: string[];
}

/** `after`: seconds for which the clock ticks on at the end. */
export function watch(events: readonly TraceEvent[], after = 0): Told[] {
  // What long work costs is the user's limit to set, and no verdict on it.
  const detector = new Detector({ costLimitUsd: 0 });
  const told: Told[] = [];
  const take = (findings: readonly Finding[], index: number) => {
    for (const { rule, severity, agent, at, analysis, intervention } of findings) {
      const reason = intervention?.reason ?? analysis.reasons.join(" ");
      told.push({
        rule,
        severity,
        agent: agent ?? "main",
        at: at / 1000,
        index,
        reason,
        parties: intervention?.parties ?? [],
      });
    }
  };
  let now = 0;
  const pass = (end: number, index: number) => {
    for (; now + TICK_SEC < end; ) {
      now += TICK_SEC;
      take(detector.tick(now), index);
    }
    now = Math.max(now, end);
  };
  events.forEach((event, index) => {
    pass(event.at, index - 1);
    take(detector.observe(event), index);
  });
  pass(now + after, events.length - 1);
  return told;
}

/** A remark that an agent has been at work for long is no alarm. */
export function isAlarm({ rule, severity }: Told): boolean {
  return severity !== "info" || rule !== "intervention:timeout";
}
