// An extension for tests that throws at everything that the watchdog tells other programs.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function hostile(pi: ExtensionAPI): void {
  for (const state of ["finding", "over", "rescue"]) {
    pi.events.on(`pi-watchdog:${state}`, () => {
      throw new Error("this listener is broken");
    });
  }
}
