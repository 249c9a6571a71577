// The agent file of the watchdog sub-agent. Sub-agent packages give a child the tools that its agent file lists, so a
// watchdog sub-agent has the watchdog_* tools only where such a file names them. Reads files, writes none.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { getAgentDir, parseFrontmatter } from "@earendil-works/pi-coding-agent";
import type { WatchedSession } from "../runtime.ts";
import { missingTools } from "./kind.ts";

const AGENT = "watchdog";
const PI_SUBAGENTS = "pi-subagents";
const PI_TOOLS = ["read", "bash", "edit", "write", "grep", "find", "ls"];

/** By what a user may call it; these packages take agent files. */
export const PACKAGES: ReadonlyMap<string, string> = new Map([
  ["gotgenes", "@gotgenes/pi-subagents"],
  ["tintinweb", "@tintinweb/pi-subagents"],
  [PI_SUBAGENTS, PI_SUBAGENTS],
]);
/** A file that is longer is no agent file. */
const MAX_CHARS = 256 * 1024;

/** Of those packages, the ones that are here. */
export function packagesIn({ backends, packages }: WatchedSession): string[] {
  const found = new Set(backends.map(({ name }) => name));
  for (const { package: name, state } of packages()) if (state !== "absent") found.add(name);
  return [...PACKAGES.values()].filter((name) => found.has(name));
}

/** An agent of pi-subagents sees this process's other agents only in the foreground, and loads there what it names. */
const EXTENSION = fileURLToPath(new URL("../index.ts", import.meta.url));
const SHIPPED = fileURLToPath(new URL("../../agents/watchdog.md", import.meta.url));

export interface AgentPlace {
  place: "project" | "global";
  path: string;
}

/** Where the packages look for an agent of this type, the first one found counts. The same folders for all of them. */
export function agentPlaces(cwd: string): [AgentPlace, AgentPlace] {
  return [
    { place: "project", path: join(cwd, ".pi", "agents", `${AGENT}.md`) },
    { place: "global", path: join(getAgentDir(), "agents", `${AGENT}.md`) },
  ];
}

/**
 * The file for a package. pi-subagents takes names of Pi's own tools only: there the extension is named, which brings its
 * tools, and Pi's own are taken away.
 */
export function agentText(packageName: string): string {
  const shipped = readFileSync(SHIPPED, "utf8");
  if (packageName !== PI_SUBAGENTS) return shipped;
  const lines = [
    `excludeTools: ${PI_TOOLS.join(", ")}`,
    `subagentOnlyExtensions: ${EXTENSION}`,
    "async: false",
    // Else an agent without tools that change anything is refused most tasks.
    "acceptanceRole: read-only",
    "completionGuard: false",
  ];
  return shipped.replace(/^tools: .*$/m, lines.join("\n"));
}

/** Undefined when there is no such file, or none that can be read. */
export function readAgentFile(path: string): string | undefined {
  try {
    const text = readFileSync(path, "utf8");
    return text.length > MAX_CHARS ? undefined : text;
  } catch {
    return undefined;
  }
}

/** What a watchdog sub-agent with this file lacks, whichever of these packages starts it. */
export function missingIn(text: string, packages: readonly string[]): string[] {
  const { tools, subagentOnlyExtensions } = fieldsOf(text);
  const listed = Array.isArray(tools) ? tools.map(String) : String(tools ?? "").split(",");
  const missing = packages.flatMap((name) => {
    const brought = tools === undefined && subagentOnlyExtensions !== undefined;
    if (name === PI_SUBAGENTS) return brought ? [] : missingTools([]);
    return missingTools(listed.map((tool) => tool.trim()));
  });
  return [...new Set(missing)];
}

/** The file that counts here, if there is one. */
export function agentFile(cwd: string, packages: readonly string[]): { path: string; missing: string[] } | undefined {
  for (const { path } of agentPlaces(cwd)) {
    const text = readAgentFile(path);
    if (text !== undefined) return { path, missing: missingIn(text, packages) };
  }
  return undefined;
}

function fieldsOf(text: string): Record<string, unknown> {
  try {
    return parseFrontmatter<Record<string, unknown>>(text).frontmatter;
  } catch {
    return {};
  }
}
