// `/watchdog config` and `/watchdog set`: the effective configuration, and changes of it for this run.

import { isDeepStrictEqual } from "node:util";
import type { WatchdogConfig } from "../../index.js";
import { plural } from "../format.ts";
import type { Line, Page } from "../render/page.ts";
import type { Native, WatchedSession } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import { configKeys, expected, findKey, type KeyInfo, parseValue, show } from "./keys.ts";
import { nearest } from "./nearest.ts";

export function configPage(native: Native, session: WatchedSession): Page {
  const keys = configKeys(native);
  const width = Math.max(...keys.map((key) => key.name.length));
  return [
    { text: "Watchdog configuration", tone: "title" },
    ...keys.map((key) => valueLine(key, session.config, width)),
    ...(session.warnings.length === 0
      ? []
      : [
          { text: "" },
          { text: plural(session.warnings.length, "warning"), tone: "warning" as const },
          ...session.warnings.map(({ message }) => ({
            text: oneLine(message, 300),
            tone: "warning" as const,
            indent: 2,
          })),
        ]),
    { text: "" },
    { text: "* not the default. /watchdog set <key> <value> changes a key for this run.", tone: "muted" },
  ];
}

function valueLine(key: KeyInfo, config: WatchdogConfig, width: number): Line {
  const value = config[key.name as keyof WatchdogConfig];
  const changed = !isDeepStrictEqual(value, key.default);
  return {
    text: `${changed ? "*" : " "} ${key.name.padEnd(width)}  ${oneLine(show(value), 300)}`,
    tone: changed ? "accent" : "text",
  };
}

/** `rest`: key and value as typed. */
export function setPage(native: Native, session: WatchedSession, rest: string): Page {
  const keys = configKeys(native);
  const [, name = "", text = ""] = /^\s*(\S*)\s*([\s\S]*)$/.exec(rest) ?? [];
  const names = `Keys: ${keys.map((key) => key.name).join(", ")}.`;
  if (name === "") return [{ text: `Usage: /watchdog set <key> <value>. ${names}`, tone: "error" }];
  const key = findKey(keys, name);
  if (key === undefined) {
    const meant = nearest(
      name,
      keys.map((one) => one.name),
    );
    const hint = meant === undefined ? names : `Did you mean ${meant}? ${names}`;
    return [{ text: `Unknown key "${oneLine(name, 60)}". ${hint}`, tone: "error" }];
  }

  if (text.trim() === "") {
    const value = oneLine(show(session.config[key.name as keyof WatchdogConfig]), 300);
    return [
      { text: `${key.name} = ${value}`, tone: "accent" },
      { text: `Usage: /watchdog set ${key.name} <${expected(key)}>`, tone: "muted" },
      ...(key.description === "" ? [] : [{ text: key.description, tone: "muted" as const }]),
    ];
  }
  const parsed = parseValue(key, text);
  if (!parsed.ok) return [{ text: oneLine(parsed.message, 300), tone: "error" }];
  return changePage(session, key.name, parsed.value);
}

/** Sets one key by the user's hand and says what came of it. */
export function changePage(session: WatchedSession, name: string, value: unknown): Page {
  const before = session.config[name as keyof WatchdogConfig];
  const warnings = session.change("command", "/watchdog set", { [name]: value });
  const now = session.config[name as keyof WatchdogConfig];
  const lines: Line[] = warnings.map(({ message }) => ({ text: oneLine(message, 300), tone: "warning" }));
  if (lines.length > 0 && isDeepStrictEqual(before, now) && !isDeepStrictEqual(now, value)) {
    return [...lines, { text: `Nothing was changed: ${name} = ${oneLine(show(now), 300)}`, tone: "text" }];
  }
  return [
    ...lines,
    { text: `For this run: ${name} = ${oneLine(show(now), 300)}`, tone: lines.length > 0 ? "text" : "success" },
  ];
}
