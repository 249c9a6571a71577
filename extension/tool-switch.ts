// Shows the watchdog's tools to the model while the watchdog is on. They are registered when they are first shown.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const PREFIX = "watchdog_";

export function createToolSwitch(pi: ExtensionAPI, register: () => void): (on: boolean) => void {
  let registered = false;
  /** What was taken out of sight; only that is put back, because the user may have chosen the rest away. */
  let hidden: string[] = [];
  return (on) => {
    if (on && !registered) {
      registered = true;
      register();
    } else if (on && hidden.length > 0) {
      const active = pi.getActiveTools();
      pi.setActiveTools([...active, ...hidden.filter((name) => !active.includes(name))]);
      hidden = [];
    } else if (!on && registered && hidden.length === 0) {
      const active = pi.getActiveTools();
      hidden = active.filter((name) => name.startsWith(PREFIX));
      if (hidden.length > 0) pi.setActiveTools(active.filter((name) => !name.startsWith(PREFIX)));
    }
  };
}
