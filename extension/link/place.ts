// The folder that nobody else may enter, and the socket in it. Makes it, finds it missing, removes it, and sweeps what
// processes left that are gone. On Windows a named pipe needs no folder.

import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomId } from "./handshake.ts";

const PREFIX = "pi-wd-";
const OURS = /^pi-wd-(\d{1,10})-[A-Za-z0-9]{6}$/;
/** The shortest limit of a socket's path among systems, its ending zero included. */
const MAX_PATH = 104;
const MAX_SWEPT = 200;

export interface Place {
  /** Of the socket or pipe. */
  readonly path: string;
  readonly folder: string | undefined;
}

/** Throws when there is no folder that it can be made in. */
export function makePlace(): Place {
  if (process.platform === "win32")
    return { path: `\\\\.\\pipe\\${PREFIX}${process.pid}-${randomId()}`, folder: undefined };
  let failure: unknown;
  for (const base of bases()) {
    try {
      sweep(base);
      const folder = mkdtempSync(join(base, `${PREFIX}${process.pid}-`));
      return { path: join(folder, "s"), folder };
    } catch (error) {
      failure = error;
    }
  }
  throw failure ?? new Error("every folder for temporary files has too long a name for a socket");
}

function bases(): string[] {
  const all = [process.env.XDG_RUNTIME_DIR ?? "", tmpdir()];
  const longest = `${PREFIX}4294967295-123456/s`;
  const fit = all.filter((base) => base !== "" && Buffer.byteLength(join(base, longest)) < MAX_PATH);
  return fit.length > 0 || all.every((base) => base === "") ? fit : ["/tmp"];
}

/** Whether the socket can still be found by who looks for it. */
export function isThere({ path, folder }: Place): boolean {
  return folder === undefined || lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The folder is made again if somebody removed it. Throws when what is there now is not ours. */
export function restore({ path, folder }: Place): void {
  if (folder === undefined) return;
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) mkdirSync(folder, { mode: 0o700 });
  else if (!isPrivate(found)) throw new Error(`${folder} is not ours`);
  rmSync(path, { force: true });
}

export function removePlace({ folder }: Place): void {
  try {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  } catch {
    // The next start sweeps it.
  }
}

/** A socket that others could have put there is not to be trusted. */
export function isTrusted(path: string): boolean {
  if (process.platform === "win32") return true;
  const found = lstatSync(join(path, ".."), { throwIfNoEntry: false });
  return found !== undefined && isPrivate(found);
}

function isPrivate(found: ReturnType<typeof lstatSync> & object): boolean {
  return found.isDirectory() && found.uid === process.getuid?.() && (Number(found.mode) & 0o077) === 0;
}

function sweep(base: string): void {
  try {
    const left = readdirSync(base).filter((name) => OURS.test(name) && !isAlive(Number(OURS.exec(name)?.[1])));
    for (const name of left.slice(0, MAX_SWEPT)) {
      const folder = join(base, name);
      const found = lstatSync(folder, { throwIfNoEntry: false });
      if (found !== undefined && isPrivate(found)) rmSync(folder, { recursive: true, force: true });
    }
  } catch {
    // What cannot be listed or removed is in nobody's way.
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
