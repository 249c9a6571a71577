// Where the configuration of a session comes from. Reads the files and lays the changes of this run over them; checking
// and merging is the core's. Defaults and keys: docs/configuration.md.

import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { CONFIG_DIR_NAME, type ExtensionContext, getAgentDir } from "@earendil-works/pi-coding-agent";
import type { ConfigLayer, ConfigSources, ConfigWarning, WatchdogConfig } from "../index.js";
import { type OverrideSource, overrideLayers, setOverride } from "./overrides.ts";
import type { Native } from "./runtime.ts";

/** A configuration file has no reason to be longer; bytes. */
const MAX_BYTES = 1024 * 1024;

export interface ConfigFiles {
  layers: ConfigLayer[];
  /** Files that exist and cannot be read. */
  warnings: ConfigWarning[];
}

export interface Configuration {
  config: WatchdogConfig;
  sources: ConfigSources;
  warnings: ConfigWarning[];
}

export const globalConfigPath = (): string => join(getAgentDir(), "watchdog-supervisor", "config.json");
export const projectConfigPath = (cwd: string): string => join(cwd, CONFIG_DIR_NAME, "watchdog-supervisor.json");

export async function readConfigFiles(ctx: ExtensionContext): Promise<ConfigFiles> {
  const files = [read("global", globalConfigPath())];
  // A repository that nobody trusted has no say.
  if (ctx.isProjectTrusted()) files.push(read("project", projectConfigPath(ctx.cwd)));
  const found: ConfigFiles = { layers: [], warnings: [] };
  for (const file of await Promise.all(files)) {
    if (file === undefined) continue;
    if ("text" in file) found.layers.push(file);
    else found.warnings.push(file);
  }
  return found;
}

async function read(source: "global" | "project", path: string): Promise<ConfigLayer | ConfigWarning | undefined> {
  const unreadable = (why: string): ConfigWarning => ({
    source,
    name: path,
    message: `${path} cannot be read (${why}); it is left out.`,
  });
  try {
    const found = await stat(path);
    if (!found.isFile()) return unreadable("not a file");
    if (found.size > MAX_BYTES) return unreadable(`larger than ${MAX_BYTES} bytes`);
    return { source, name: path, text: await readFile(path, "utf8") };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : unreadable(code ?? String(error));
  }
}

export function configuration(native: Native, files: ConfigFiles, rootId: string, id: string): Configuration {
  const { config, sources, warnings } = native.resolveConfig([...files.layers, ...overrideLayers(rootId, id)]);
  return { config, sources, warnings: [...files.warnings, ...warnings] };
}

/**
 * Takes over what is allowed of a change for this run and returns a warning for every key that was refused or altered.
 * `before` is the effective configuration.
 */
export function changeConfig(
  native: Native,
  files: ConfigFiles,
  { rootId, id }: { rootId: string; id: string },
  before: WatchdogConfig,
  source: OverrideSource,
  name: string,
  patch: Record<string, unknown>,
): ConfigWarning[] {
  const candidate: ConfigLayer = { source, name, text: JSON.stringify(patch) };
  const layers = [...files.layers, ...overrideLayers(rootId, id), candidate];
  const { config, warnings } = native.resolveConfig(layers);
  const own = warnings.filter(
    (warning) => warning.source === source && warning.name === name && (warning.key ?? "") in { "": 0, ...patch },
  );
  const after = config as unknown as Record<string, unknown>;
  const effective = before as unknown as Record<string, unknown>;
  for (const key of Object.keys(patch)) {
    const refused = own.some((warning) => warning.key === key && isDeepStrictEqual(after[key], effective[key]));
    if (key in after && !refused) setOverride(id, source, name, key, after[key]);
  }
  return own;
}
