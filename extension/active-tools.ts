// Takes the watchdog's tools out of the model's sight while the watchdog is switched off, and puts them back.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const PREFIX = "watchdog_";

export function createToolSwitch(pi: ExtensionAPI): (on: boolean) => void {
  /** What was taken out; only that is put back, because the user may have chosen the rest away. */
  let hidden: string[] = [];
  return (on) => {
    if (on && hidden.length === 0) return;
    const active = pi.getActiveTools();
    if (on) {
      pi.setActiveTools([...active, ...hidden.filter((name) => !active.includes(name))]);
      hidden = [];
      return;
    }
    const own = active.filter((name) => name.startsWith(PREFIX));
    if (own.length === 0) return;
    hidden = own;
    pi.setActiveTools(active.filter((name) => !name.startsWith(PREFIX)));
  };
}
