// Which pi-subagents is installed, and whether its background runs can start on this Pi. Reads the package's manifest,
// beside the file that registered its tool.

import { dirname, join } from "node:path";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { isBefore } from "../../pi-version.ts";
import { Snapshot } from "./files.ts";
import { BACKGROUND_ON_PI_1, fields, PACKAGE, text } from "./wire.ts";

const TOOL = "subagent";
const MANIFEST_BYTES = 256 * 1024;
/** Folders above the tool's file that may hold the manifest. */
const LEVELS = 6;

/** Undefined when the tool is another package's, or does not say where it is from. */
export function installedVersion(pi: ExtensionAPI): string | undefined {
  const tool = pi.getAllTools().find(({ name }) => name === TOOL);
  const path: unknown = tool?.sourceInfo?.path;
  if (typeof path !== "string") return undefined;
  let folder = dirname(path);
  for (let level = 0; level < LEVELS; level++) {
    const manifest = fields(new Snapshot(join(folder, "package.json"), MANIFEST_BYTES).read());
    if (manifest !== undefined && text(manifest.name) !== "")
      return manifest.name === PACKAGE ? text(manifest.version) || undefined : undefined;
    folder = dirname(folder);
  }
  return undefined;
}

/** Why background runs cannot start here, or undefined. */
export function backgroundObstacle(version: string, piVersion: string): string | undefined {
  if (isBefore(piVersion, "1.0") || !isBefore(version, BACKGROUND_ON_PI_1)) return undefined;
  return (
    `background runs of ${PACKAGE} ${version} cannot start on Pi ${piVersion}: ` +
    `Pi 1.0 and later need ${PACKAGE} ${BACKGROUND_ON_PI_1} or later; its foreground runs are watched`
  );
}
