// watchdog_config: reads the effective configuration, or changes keys for this run. A model's changes go through the
// same checks as a file's, and cannot raise powers that the user did not grant; a sub-agent tunes itself at most.

import { isDeepStrictEqual } from "node:util";
import { StringEnum } from "@earendil-works/pi-ai";
import { Type } from "typebox";
import type { ConfigWarning, WatchdogConfig } from "../../index.js";
import { oneLine } from "../sanitize.ts";
import type { Reply, ToolScope, WatchdogTool } from "./common.ts";

export const configTool: WatchdogTool = {
  name: "watchdog_config",
  label: "Watchdog: config",
  description:
    "Read the watchdog's effective configuration (action: get), or change known keys for this run (action: set, with config). " +
    "Keys that give the watchdog more power can be raised by the user only. " +
    "A sub-agent changes limits of its own session only. The user sees every change.",
  promptSnippet: "Read or change the watchdog's configuration for this run",
  promptGuidelines: ["Use watchdog_config with action get before action set, and change only what the user asked for."],
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  parameters: Type.Object({
    action: StringEnum(["get", "set"] as const),
    config: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'For set: keys and their new values, e.g. {"cooldownSec": 120}',
      }),
    ),
  }),
  outputSchema: Type.Object({
    config: Type.Record(Type.String(), Type.Unknown(), { description: "The effective configuration" }),
    changed: Type.Array(Type.String(), { description: "Keys that have another value now" }),
    warnings: Type.Array(Type.String(), { description: "What was refused or is wrong, and why" }),
  }),
  summary: (args) => `${args.action ?? ""}${args.config === undefined ? "" : ` ${JSON.stringify(args.config)}`}`,
  run: (params, scope) =>
    params.action === "set" ? set(params.config as Record<string, unknown> | undefined, scope) : get(scope),
};

function get({ session }: ToolScope): Reply {
  const warnings = messages(session.warnings);
  const head =
    warnings.length === 0
      ? "Effective configuration"
      : `Effective configuration; ${warnings.length} problems in the files`;
  return {
    text: [head, ...rows(session.config), ...warnings.map((warning) => `warning: ${warning}`)].join("\n"),
    data: { config: session.config, changed: [], warnings },
  };
}

function set(patch: Record<string, unknown> | undefined, { session }: ToolScope): Reply {
  const keys = Object.keys(patch ?? {});
  if (patch === undefined || keys.length === 0) {
    throw new Error('Nothing to set. Call watchdog_config with action set and config, e.g. {"cooldownSec": 120}.');
  }
  const before = { ...session.config };
  const warnings = messages(session.change("model", "watchdog_config", patch));
  const changed = (Object.keys(session.config) as (keyof WatchdogConfig)[]).filter(
    (key) => !isDeepStrictEqual(session.config[key], before[key]),
  );
  const data = { config: session.config, changed, warnings };
  const done = changed.map((key) => `${key} = ${JSON.stringify(session.config[key])}`);
  if (warnings.length > 0) {
    const head = done.length === 0 ? "Nothing was changed." : `Changed: ${done.join(", ")}.`;
    return { text: [`${head} Refused:`, ...warnings.map((warning) => `- ${warning}`)].join("\n"), data, failed: true };
  }
  return {
    text: done.length === 0 ? "No change: the values were the same." : `Changed for this run: ${done.join(", ")}`,
    data,
  };
}

function messages(warnings: readonly ConfigWarning[]): string[] {
  return warnings.map((warning) => oneLine(warning.message, 300));
}

function rows(config: WatchdogConfig): string[] {
  return Object.entries(config).map(([key, value]) => `${key} = ${oneLine(JSON.stringify(value), 300)}`);
}
