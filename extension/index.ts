// The Pi extension: what is wired to what. Only registers; everything else begins at session_start (lifecycle.ts).
// What imports the library by value, and what is not needed in every start, is imported after the addon is known to be
// there: Pi ends when an extension cannot be imported.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { createGuard } from "./guard.ts";
import { followLifecycle } from "./lifecycle.ts";
import { loadNative } from "./native.ts";
import { observe } from "./observe.ts";
import { stayOff, switchedOff } from "./off.ts";
import { findMain } from "./root.ts";
import type { Runtime } from "./runtime.ts";
import { tellOnce } from "./told.ts";

export default async function watchdog(pi: ExtensionAPI): Promise<void> {
  if (switchedOff()) return stayOff(pi);
  const loaded = await loadNative();
  if (!loaded.ok) return stayOff(pi, loaded.message);

  const [{ registerTools }, { registerCommands }, { registerRenderers }, { statusChip }, { debugConsole }, subagents] =
    await Promise.all([
      import("./tools.ts"),
      import("./commands.ts"),
      import("./render.ts"),
      import("./status.ts"),
      import("./console.ts"),
      import("./subagents/index.ts"),
    ]);

  const runtime: Runtime = {
    pi,
    native: loaded.native,
    session: null,
    main: () => (runtime.session === null ? undefined : findMain(runtime.session.rootId)),
    debug: (direction, text) => {
      if (runtime.session?.config.debug) console.record(direction, text);
    },
  };
  const console = debugConsole(runtime);
  const guard = createGuard((message) => {
    if (runtime.session?.isMain) tellOnce(runtime.session.ctx, [message]);
  });

  registerTools(runtime);
  registerCommands(runtime);
  registerRenderers(runtime);
  const { current } = followLifecycle(pi, runtime, guard, {
    connect: () => subagents.connectBackends(runtime),
    chip: statusChip(runtime),
    console,
  });
  observe(pi, guard, current);
}
