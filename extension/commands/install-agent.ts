// `/watchdog install-agent`: puts the agent file of the watchdog sub-agent where the sub-agent packages look for it. Asks
// before it writes, and never writes over a file that differs unless that was asked for.

import { existsSync, lstatSync, mkdirSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Page } from "../render/page.ts";
import type { WatchedSession } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import {
  type AgentPlace,
  agentPlaces,
  agentText,
  missingIn,
  PACKAGES,
  packagesIn,
  readAgentFile,
} from "../subagents/agent-file.ts";

export const installWords: readonly string[] = ["global", "project", ...PACKAGES.keys(), "yes", "replace"];
export const INSTALL_ARGS = "[global|project] [package] [yes] [replace]";
const USAGE = `/watchdog install-agent ${INSTALL_ARGS}`;

export interface Wish {
  place: AgentPlace["place"];
  packages: string[];
  yes: boolean;
  replace: boolean;
}

/** What was typed, in any order; a sentence about what was not understood. */
export function readWish(typed: string): Wish | string {
  const wish: Wish = { place: "global", packages: [], yes: false, replace: false };
  for (const word of typed.toLowerCase().split(/\s+/).filter(Boolean)) {
    const name = PACKAGES.get(word) ?? [...PACKAGES.values()].find((full) => full === word);
    if (word === "global" || word === "project") wish.place = word;
    else if (word === "yes") wish.yes = true;
    else if (word === "replace") wish.replace = true;
    else if (name !== undefined) wish.packages.push(name);
    else return `"${oneLine(word, 40)}" is not understood. Use ${USAGE}; packages: ${[...PACKAGES.keys()].join(", ")}.`;
  }
  return wish;
}

export async function installAgentPage(session: WatchedSession, typed: string, ctx: ExtensionContext): Promise<Page> {
  const wish = readWish(typed);
  if (typeof wish === "string") return [{ text: wish, tone: "error" }];
  const packages = wish.packages.length > 0 ? wish.packages : packagesIn(session);
  if (packages.length === 0) {
    const names = [...PACKAGES.keys()].join(", ");
    const none = `No sub-agent package that takes agent files was found in this session. Name one to write for it: ${USAGE}; packages: ${names}.`;
    return [{ text: none, tone: "warning" }];
  }
  const kinds = new Set(packages.map(agentText));
  const [text] = kinds;
  if (text === undefined || kinds.size > 1) {
    const words = `${packages.join(" and ")} read the same file and want it different. Say which one starts the watchdog sub-agent: ${USAGE}.`;
    return [{ text: words, tone: "warning" }];
  }
  const places = agentPlaces(ctx.cwd);
  const to = places.find(({ place }) => place === wish.place) ?? places[1];
  const before = readAgentFile(to.path);
  const obstacle = obstacleAt(to.path, before);
  if (obstacle !== undefined) return [{ text: `Nothing was written: ${obstacle}.`, tone: "error" }];
  if (before === text)
    return [{ text: `${shown(to.path)} is there already and is the same.` }, ...next(to, ctx.cwd, packages)];

  const what = describe(to.path, before, packages);
  const agreed = wish.yes && (before === undefined || wish.replace);
  if (!agreed) {
    if (!ctx.hasUI) {
      const words = `yes${before === undefined ? "" : " replace"}`;
      const again = `/watchdog install-agent ${[wish.place, ...wish.packages, words].join(" ")}`;
      return [{ text: `${what} Nothing was written yet. To do it: ${again}`, tone: "warning" }];
    }
    const title = before === undefined ? "Write the watchdog's agent file?" : "Replace an agent file that differs?";
    if (!(await ctx.ui.confirm(title, what))) return [{ text: "Nothing was written." }];
  }
  try {
    write(to.path, text, before);
  } catch (error) {
    const reason = oneLine(error instanceof Error ? error.message : String(error));
    return [{ text: `Nothing was written: ${reason}.`, tone: "error" }];
  }
  return [{ text: `Wrote ${shown(to.path)}.`, tone: "success" }, ...next(to, ctx.cwd, packages)];
}

/** What stands there and could not be written over, or read to be compared. */
function obstacleAt(path: string, before: string | undefined): string | undefined {
  try {
    if (!lstatSync(path).isFile()) return `${shown(path)} is no regular file`;
  } catch {
    return undefined;
  }
  return before === undefined ? `${shown(path)} cannot be read` : undefined;
}

function describe(path: string, before: string | undefined, packages: readonly string[]): string {
  const real = realFolder(dirname(path));
  const where = real === dirname(path) ? "" : ` (in truth in ${shown(real)})`;
  const whom = `for ${packages.join(", ")}`;
  if (before === undefined) return `This writes a new file ${whom}: ${shown(path)}${where}.`;
  const missing = missingIn(before, packages);
  const lacks = missing.length > 0 ? ` The one there does not list ${missing.join(", ")}.` : "";
  return `This replaces a file that differs, ${whom}: ${shown(path)}${where}.${lacks}`;
}

/** The folder with its links resolved, as far as it is there. */
function realFolder(folder: string): string {
  if (existsSync(folder)) return realpathSync(folder);
  const above = dirname(folder);
  return above === folder ? folder : `${realFolder(above)}${folder.slice(above.length)}`;
}

/** `before`: what was there when it was agreed to. What came since is not written over. */
function write(path: string, text: string, before: string | undefined): void {
  mkdirSync(dirname(path), { recursive: true });
  if (before === undefined) {
    writeFileSync(path, text, { flag: "wx" });
    return;
  }
  if (readAgentFile(path) !== before) throw new Error(`${shown(path)} has changed meanwhile`);
  const aside = `${path}.${process.pid}.tmp`;
  writeFileSync(aside, text, { flag: "wx" });
  renameSync(aside, path);
}

function next({ place }: AgentPlace, cwd: string, packages: readonly string[]): Page {
  const [project] = agentPlaces(cwd);
  const other = place === "global" ? readAgentFile(project.path) : undefined;
  return [
    ...(other === undefined || missingIn(other, packages).length === 0
      ? []
      : [
          {
            text: `In this project ${shown(project.path)} counts instead, and lacks the tools.`,
            tone: "warning" as const,
          },
        ]),
    { text: 'Restart Pi or type /reload, then start an agent of type "watchdog".' },
  ];
}

const shown = (path: string): string => oneLine(path, 300);
