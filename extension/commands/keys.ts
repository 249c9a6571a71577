// The configuration keys as commands and settings need them: kinds, allowed values, and how a typed text becomes a
// value. All of it is read from the schema that the core publishes, so that nothing is said twice. Ranges are the
// core's to check.

import type { Native } from "../runtime.ts";

export interface KeyInfo {
  name: string;
  description: string;
  kind: "boolean" | "number" | "text" | "choice" | "list";
  /** Values to choose from, as they are typed; empty for numbers and text. */
  choices: readonly string[];
  /** An empty text is a value too, typed as `""`. */
  optional: boolean;
  default: unknown;
}

interface PropertySchema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: PropertySchema[];
  oneOf?: PropertySchema[];
  description?: string;
  minLength?: number;
}

export function configKeys(native: Native): KeyInfo[] {
  const schema = native.configSchema() as { properties?: Record<string, PropertySchema> };
  return Object.entries(native.defaultConfig()).map(([name, value]) =>
    keyInfo(name, schema.properties?.[name] ?? {}, value),
  );
}

function keyInfo(name: string, schema: PropertySchema, value: unknown): KeyInfo {
  const types = new Set<string>();
  const values: unknown[] = [];
  collect(schema, types, values);
  // What the schema leaves open, the default shows.
  if (types.size === 0 && values.length === 0 && value !== null) types.add(typeof value);
  const info = { name, description: (schema.description ?? "").replaceAll("`", ""), default: value, optional: false };

  const choices = values.filter((one) => one !== null).map(String);
  const nullable = types.has("null") || values.includes(null);
  if (types.has("boolean") && choices.length === 0) choices.push("true", "false");
  if (choices.length > 0) {
    const kind = types.has("boolean") ? "boolean" : "choice";
    return { ...info, kind, choices: nullable ? [...choices, "null"] : choices };
  }
  if (types.has("array")) return { ...info, kind: "list", choices: [] };
  const kind = types.has("number") || types.has("integer") ? "number" : "text";
  return { ...info, kind, choices: [], optional: kind === "text" && schema.minLength === undefined };
}

function collect(schema: PropertySchema, types: Set<string>, values: unknown[]): void {
  for (const type of [schema.type ?? []].flat()) types.add(type);
  for (const value of schema.enum ?? []) values.push(value);
  if (schema.const !== undefined) values.push(schema.const);
  for (const part of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) collect(part, types, values);
}

/** The key that was meant; letters of any case. */
export function findKey(keys: readonly KeyInfo[], name: string): KeyInfo | undefined {
  return keys.find((key) => key.name === name) ?? keys.find((key) => key.name.toLowerCase() === name.toLowerCase());
}

export type Parsed = { ok: true; value: unknown } | { ok: false; message: string };

/** The value that a typed text stands for. */
export function parseValue(key: KeyInfo, text: string): Parsed {
  const trimmed = text.trim();
  if (trimmed === "") return { ok: false, message: `${key.name} needs a value: ${expected(key)}.` };
  const wrong: Parsed = { ok: false, message: `${key.name} takes ${expected(key)}, not "${trimmed.slice(0, 80)}".` };
  switch (key.kind) {
    case "text":
      return { ok: true, value: key.optional && trimmed === '""' ? "" : trimmed };
    case "list":
      return parseList(trimmed) ?? wrong;
    case "number": {
      const value = Number(trimmed);
      return Number.isFinite(value) ? { ok: true, value } : wrong;
    }
    case "choice":
    case "boolean": {
      const word = trimmed.toLowerCase();
      const choice = key.choices.find((one) => one.toLowerCase() === word);
      if (choice === undefined) return wrong;
      if (choice === "null") return { ok: true, value: null };
      return { ok: true, value: key.kind === "boolean" ? choice === "true" : choice };
    }
  }
}

/** A JSON array: only that says without doubt where one word ends. */
function parseList(text: string): Parsed | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value) && value.every((word) => typeof word === "string")) return { ok: true, value };
  } catch {
    // What is no JSON is no list either.
  }
  return undefined;
}

/** What may be typed, in words. */
export function expected(key: KeyInfo): string {
  if (key.choices.length > 1) return `${key.choices.slice(0, -1).join(", ")} or ${key.choices.at(-1)}`;
  if (key.kind === "number") return "a number";
  if (key.kind === "list") return 'a list of texts, e.g. ["notify-send", "Pi"]';
  return key.optional ? 'a text, or "" for none' : "a text";
}

export function show(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
