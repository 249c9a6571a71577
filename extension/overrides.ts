// Configuration that commands and models changed for this run of Pi. It outlives /reload, and a user's choice outlives
// /new too and holds in children, so it lies on `globalThis`; what a model changed ends with its tree of sessions, and what
// a sub-agent's model changed holds for its own session only.

import type { ConfigLayer, ConfigSource } from "../index.js";

export type OverrideSource = Extract<ConfigSource, "command" | "model" | "child">;

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
  /** By session id: of the main session for the whole tree, of a sub-agent for itself. */
  model: Map<string, Map<string, Override>>;
  /** Of the main session, when that is in another process. */
  inherited: ConfigLayer[];
}

const KEY = Symbol.for("pi-watchdog-supervisor:overrides/v1");
const MAX_SESSIONS = 200;

function overrides(): Overrides {
  const shared = globalThis as unknown as Record<symbol, Overrides | undefined>;
  shared[KEY] ??= { order: 0, command: new Map(), model: new Map(), inherited: [] };
  return shared[KEY];
}

/** The layers that lie over the configuration files of a session, in the order in which they were made. */
export function overrideLayers(rootId: string, id = rootId): ConfigLayer[] {
  const { command, model, inherited } = overrides();
  const models = [...new Set([rootId, id])].flatMap((session) => [...(model.get(session)?.values() ?? [])]);
  const all = [...command.values(), ...models].sort((a, b) => a.order - b.order);
  const own = all.map(({ source, name, key, value }) => ({ source, name, text: JSON.stringify({ [key]: value }) }));
  return [...inherited, ...own];
}

/** What was changed in the process of the main session; replaces what was inherited before. */
export function inheritLayers(layers: ConfigLayer[]): void {
  overrides().inherited = layers;
}

/** `id`: the session for which a model's change holds, with all below it if it is a main session. */
export function setOverride(id: string, source: OverrideSource, name: string, key: string, value: unknown): void {
  const state = overrides();
  state.order += 1;
  keysOf(state, id, source).set(key, { order: state.order, source, name, key, value });
}

function keysOf(state: Overrides, id: string, source: OverrideSource): Map<string, Override> {
  if (source === "command") return state.command;
  const keys = state.model.get(id) ?? new Map<string, Override>();
  state.model.delete(id);
  state.model.set(id, keys);
  const oldest = state.model.keys().next().value;
  if (state.model.size > MAX_SESSIONS && oldest !== undefined) state.model.delete(oldest);
  return keys;
}
