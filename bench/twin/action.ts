// The JS twin of src/detect/action.rs: what a call asks, as one comparable key. Covers the tools that benchmarks use.

import { digest, normalizeCommand } from "./text.ts";

const COSMETIC = new Set(
  "description reason label timeout timeout_ms timeoutMs explanation justification rationale".split(" "),
);
const MAIN_ARGUMENTS = "path file_path filePath file pattern query url uri regex name id prompt".split(" ");
const EDIT_TOOLS = new Set("edit write patch multi_edit".split(" "));
const CHANGING = /(?:^|[;&|\n])\s*(?:mv|cp|rm|mkdir|touch|git\s+(?:add|commit|checkout|reset|apply|stash))\b/;

export interface TwinAction {
  hash: string;
  tool: string;
  key: string;
  isEdit: boolean;
  path: string | undefined;
  mutates: boolean;
  forward: string | undefined;
  backward: string | undefined;
}

type Fields = Record<string, unknown>;

export function actionOf(tool: string, args: string): TwinAction {
  let value: unknown;
  try {
    value = JSON.parse(args);
  } catch {
    value = args;
  }
  const fields = typeof value === "object" && value !== null ? (value as Fields) : {};
  const hash = digest(`${tool}\0${canonical(value, true)}`);
  const line = typeof fields.command === "string" ? fields.command : undefined;
  const isEdit = EDIT_TOOLS.has(tool.toLowerCase());
  const path = firstString(fields, MAIN_ARGUMENTS.slice(0, 4));
  const main = firstString(fields, MAIN_ARGUMENTS);
  let key = line ?? (main === undefined ? tool : `${tool} ${main}`);
  key = normalizeCommand(key);
  if (isEdit) key += ` #${hash.slice(0, 8)}`;
  const [forward, backward] = isEdit ? editShape(path ?? "", fields) : [];
  return {
    hash,
    tool,
    key,
    isEdit,
    path,
    mutates: line !== undefined && CHANGING.test(line),
    forward,
    backward,
  };
}

/** JSON with sorted keys; at the top without the fields that only explain. */
function canonical(value: unknown, top = false): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = value as Fields;
  const keys = Object.keys(fields).sort();
  const telling = top ? keys.filter((key) => !COSMETIC.has(key)) : keys;
  const kept = telling.length > 0 ? telling : keys;
  return `{${kept.map((key) => `${JSON.stringify(key)}:${canonical(fields[key])}`).join(",")}}`;
}

function firstString(fields: Fields, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "string") return value;
  }
  return undefined;
}

function editShape(path: string, fields: Fields): [string, string] | [] {
  if (typeof fields.content === "string") {
    const content = digest(fields.content);
    return [content, content];
  }
  const edits = (Array.isArray(fields.edits) ? fields.edits : [fields]) as Fields[];
  const side = (from: string, to: string) =>
    digest(`${path}\0${edits.map((edit) => `${edit[from]}\0${edit[to]}`).join("\0")}`);
  return [side("oldText", "newText"), side("newText", "oldText")];
}
