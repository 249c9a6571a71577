// All ways of a finding to other programs.

import { type Bus, busOutlet } from "./bus.ts";
import { commandOutlet } from "./command.ts";
import { logOutlet } from "./log.ts";
import type { Fail, Outlet } from "./report.ts";

export type { Outlet, Report, ReportState } from "./report.ts";

export interface OutletOptions {
  events: Bus;
  /** Program and arguments; empty or absent: none. From the global configuration only. */
  notifyCommand?: readonly string[];
  /** Path of the log; empty or absent: none. From the global configuration only. */
  findingsLog?: string;
  fail: Fail;
}

export interface Outlets {
  outlet: Outlet;
  close(): void;
}

export function createOutlets({ events, notifyCommand = [], findingsLog = "", fail }: OutletOptions): Outlets {
  const command = notifyCommand.length > 0 ? commandOutlet({ command: notifyCommand, fail }) : undefined;
  // The log first: it must have what a listener or a command may bring down.
  const outlets = [
    ...(findingsLog === "" ? [] : [logOutlet({ path: findingsLog, fail })]),
    ...(command === undefined ? [] : [command.outlet]),
    busOutlet(events),
  ];
  return {
    outlet: (report) => {
      for (const outlet of outlets) outlet(report);
    },
    close: () => command?.close(),
  };
}
