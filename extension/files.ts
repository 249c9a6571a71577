// What a file looks like after an edit: its content hash. Only so can a file that got content it never had be told from
// one that an edit put back. Bounded in size and time, so that no call gets noticeably slower; never throws.

import { hash } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve, sep } from "node:path";

/** Larger files are left out; bytes. Reading and hashing this much takes about 3 ms. */
const MAX_BYTES = 2 * 1024 * 1024;
/** A file system that answers later than this (a dead mount) is not waited for; ms. */
const MAX_WAIT = 100;

const EDIT_TOOLS = new Set(["edit", "write", "patch", "multi_edit", "multiedit", "apply_patch"]);

export const isEditTool = (tool: string): boolean => EDIT_TOOLS.has(tool.toLowerCase());

const READ_TOOLS = new Set(["read", "view", "cat"]);

export const isReadTool = (tool: string): boolean => READ_TOOLS.has(tool.toLowerCase());

/** The file that a call names, if it names one. */
export function pathArgument(args: unknown): string | undefined {
  if (args === null || typeof args !== "object") return undefined;
  const { path, file_path: filePath } = args as { path?: unknown; file_path?: unknown };
  const named = path ?? filePath;
  return typeof named === "string" && named !== "" ? named : undefined;
}

/** JSON text of path → content hash, `""` where that cannot be told. Paths inside `cwd` are relative to it. */
export async function fileState(cwd: string, path: string): Promise<string> {
  const absolute = resolve(cwd, expanded(path));
  const digest = await inTime(contentHash(absolute));
  return digest === undefined ? "" : JSON.stringify({ [displayed(cwd, absolute)]: digest });
}

/** What a file system answers, if it answers soon. */
async function inTime<T>(answer: Promise<T | undefined>): Promise<T | undefined> {
  const { promise: late, resolve: giveUp } = Promise.withResolvers<undefined>();
  const timer = setTimeout(giveUp, MAX_WAIT, undefined);
  timer.unref();
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function contentHash(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path);
    // A pipe or a device would block or never end.
    if (!found.isFile() || found.size > MAX_BYTES) return undefined;
    return hash("sha1", await readFile(path), "hex");
  } catch {
    return undefined;
  }
}

/** Where a path leads that goes through a link; undefined when it goes through none. */
export async function throughLink(cwd: string, path: string): Promise<string | undefined> {
  const absolute = resolve(cwd, expanded(path));
  const real = await inTime(realpath(absolute).catch(() => undefined));
  return real === absolute ? undefined : real;
}

/** As Pi's own tools read a path. */
function expanded(path: string): string {
  if (path.startsWith("@")) return path.slice(1);
  if (path === "~") return homedir();
  return path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
}

/** One spelling per file, the one that models mostly use. */
function displayed(cwd: string, absolute: string): string {
  const inside = relative(cwd, absolute);
  const path = inside === "" || inside.startsWith("..") || isAbsolute(inside) ? absolute : inside;
  return sep === "/" ? path : path.replaceAll(sep, "/");
}
