// Findings on Pi's event bus, for other extensions.

import { type Outlet, type ReportState, released } from "./report.ts";

export type BusChannel = `pi-watchdog:${ReportState}`;

/** The part of `pi.events` that is used. */
export interface Bus {
  emit(channel: string, data: unknown): void;
}

export function busOutlet(bus: Bus): Outlet {
  return (report) => {
    try {
      const channel: BusChannel = `pi-watchdog:${report.state}`;
      // All listeners get the same object: it is frozen, so that none changes what the next one reads.
      bus.emit(channel, released(report));
    } catch {
      // A listener's fault is its own.
    }
  };
}
