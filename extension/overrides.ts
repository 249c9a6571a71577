// Configuration that commands and models changed for this run of Pi. It outlives /reload, and a user's choice outlives
// /new too and holds in children, so it lies on `globalThis`; what a model changed ends with its tree of sessions.

import type { ConfigLayer, ConfigSource } from "../index.js";

export type OverrideSource = Extract<ConfigSource, "command" | "model">;

interface Override {
  order: number;
  source: OverrideSource;
  name: string;
  key: string;
  value: unknown;
}

interface Overrides {
  order: number;
  command: Map<string, Override>;
  /** By session id of the main session. */
  model: Map<string, Map<string, Override>>;
  /** Of the main session, when that is in another process. */
  inherited: ConfigLayer[];
}

const KEY = Symbol.for("pi-watchdog-supervisor:overrides/v1");
const MAX_TREES = 100;

function overrides(): Overrides {
  const shared = globalThis as unknown as Record<symbol, Overrides | undefined>;
  shared[KEY] ??= { order: 0, command: new Map(), model: new Map(), inherited: [] };
  return shared[KEY];
}

/** The layers that lie over the configuration files of a session, in the order in which they were made. */
export function overrideLayers(rootId: string): ConfigLayer[] {
  const { command, model, inherited } = overrides();
  const all = [...command.values(), ...(model.get(rootId)?.values() ?? [])].sort((a, b) => a.order - b.order);
  const own = all.map(({ source, name, key, value }) => ({ source, name, text: JSON.stringify({ [key]: value }) }));
  return [...inherited, ...own];
}

/** What was changed in the process of the main session; replaces what was inherited before. */
export function inheritLayers(layers: ConfigLayer[]): void {
  overrides().inherited = layers;
}

export function setOverride(rootId: string, source: OverrideSource, name: string, key: string, value: unknown): void {
  const state = overrides();
  state.order += 1;
  keysOf(state, rootId, source).set(key, { order: state.order, source, name, key, value });
}

function keysOf(state: Overrides, rootId: string, source: OverrideSource): Map<string, Override> {
  if (source === "command") return state.command;
  const keys = state.model.get(rootId) ?? new Map<string, Override>();
  state.model.delete(rootId);
  state.model.set(rootId, keys);
  const oldest = state.model.keys().next().value;
  if (state.model.size > MAX_TREES && oldest !== undefined) state.model.delete(oldest);
  return keys;
}
