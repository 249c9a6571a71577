// Findings as JSON lines in a file of the user: readable by the user only, and never larger than the limit. A link, a
// pipe or a file with a second name is refused: writing would reach something else than the configured file.

import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  type Stats,
  writeSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { type Fail, failOnce, type Outlet, reasonOf, released } from "./report.ts";

const MAX_BYTES = 10 * 1024 * 1024;
const MODE = 0o600;
// Absent on Windows. Without O_NONBLOCK, opening a pipe would wait for its reader for ever.
const FLAGS =
  constants.O_WRONLY |
  constants.O_CREAT |
  constants.O_APPEND |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0);

export interface LogOptions {
  /** Absolute, or below the home directory with `~/`. */
  path: string;
  fail: Fail;
  /** When the file would become larger, it is renamed to `<path>.1`, in the place of an earlier one. */
  maxBytes?: number;
}

export function logOutlet({ path, maxBytes = MAX_BYTES, ...options }: LogOptions): Outlet {
  const fail = failOnce(options.fail);
  const file = path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
  /** The last line could not be written to its end. */
  let torn = false;

  function write(line: Buffer): void {
    if (!isAbsolute(file)) throw new Error("the path is not absolute");
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    let fd = open(file);
    try {
      const stats = fstatSync(fd);
      if (stats.size > 0 && stats.size + line.length > maxBytes && isStill(file, stats)) {
        renameSync(file, `${file}.1`);
        closeSync(fd);
        fd = -1;
        fd = open(file);
        torn = false;
      }
      const whole = torn ? Buffer.concat([Buffer.from("\n"), line]) : line;
      const written = writeSync(fd, whole);
      torn = written < whole.length;
      if (torn) throw new Error("the line could not be written to its end");
    } finally {
      if (fd >= 0) closeSync(fd);
    }
  }

  return (report) => {
    try {
      write(Buffer.from(`${JSON.stringify(released(report))}\n`));
    } catch (error) {
      fail(`findingsLog cannot be written: ${reasonOf(error)}. Later failures are not reported.`);
    }
  };
}

function open(file: string): number {
  // Where the system cannot refuse a link while it opens the file.
  if (constants.O_NOFOLLOW === undefined && lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new Error("it is a symbolic link");
  }
  const fd = openSync(file, FLAGS, MODE);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error("it is no regular file");
    if (stats.nlink > 1) throw new Error("the file has a second name (hard link)");
    if (process.platform !== "win32" && (stats.mode & 0o777) !== MODE) fchmodSync(fd, MODE);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Another process may have renamed it since it was opened; renaming again would lose what that one kept. */
function isStill(file: string, opened: Stats): boolean {
  const now = lstatSync(file, { throwIfNoEntry: false });
  return now?.ino === opened.ino && now.dev === opened.dev;
}
