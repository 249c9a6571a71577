#!/usr/bin/env node
// After an install from git or from a source archive: builds the addon when none fits this machine. Never fails an
// install, because a package manager would then take the whole of Pi's packages down; the loader says what to do.

import { homedir } from "node:os";
import { join } from "node:path";

/** A developer's clone has `npm run setup` for this, which shows what it does. */
function isDeveloperInstall() {
  const omitted = (process.env.npm_config_omit ?? "").split(/[\s,]+/);
  return process.env.PI_WATCHDOG_SETUP === "1" || (process.env.INIT_CWD === process.cwd() && !omitted.includes("dev"));
}

/** Outside the package: an update replaces the package and would throw the compiled dependencies away. */
function cacheDir() {
  const base =
    process.env.XDG_CACHE_HOME ??
    (process.platform === "darwin" ? join(homedir(), "Library", "Caches") : join(homedir(), ".cache"));
  return join(base, "pi-watchdog-supervisor", "target");
}

try {
  if (!isDeveloperInstall()) {
    const { loadBinding } = await import("../loader.js");
    try {
      loadBinding();
    } catch {
      const { build } = await import("./build.mjs");
      await build({ targetDir: process.env.CARGO_TARGET_DIR ?? cacheDir(), quiet: true });
    }
  }
} catch (error) {
  console.error(`pi-watchdog-supervisor: no addon yet. ${error instanceof Error ? error.message : String(error)}`);
}
