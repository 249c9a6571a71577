// Files that another process writes, read with distrust: regular files only (a pipe would hold Pi up), never through a
// symbolic link, never more than asked for. Knows nothing of what is in them.

import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { LineReader } from "../lines.ts";

const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const HEADER_BYTES = 16 * 1024;

/** Undefined when the file is not there, is no regular file, or cannot be read. */
function withFile<T>(path: string, work: (fd: number, stats: Stats) => T): T | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, FLAGS);
    const stats = fstatSync(fd);
    return stats.isFile() ? work(fd, stats) : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function bytes(fd: number, from: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  return buffer.subarray(0, readSync(fd, buffer, 0, length, from));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A file that is written whole, again and again: parsed only when it is another than at the last look. */
export class Snapshot {
  readonly #path: string;
  readonly #maxBytes: number;
  #seen = "";

  constructor(path: string, maxBytes: number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
  }

  /** The JSON value, or undefined when there is nothing new, or nothing that can be read. */
  read(): unknown {
    return withFile(this.#path, (fd, stats) => {
      const state = `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
      if (state === this.#seen || stats.size > this.#maxBytes) return undefined;
      this.#seen = state;
      return parsed(bytes(fd, 0, stats.size).toString("utf8"));
    });
  }
}

/** The session id that a session file begins with. */
export function sessionIdOf(path: string): string | undefined {
  const line = withFile(path, (fd) => {
    const head = bytes(fd, 0, HEADER_BYTES);
    const end = head.indexOf(0x0a);
    return end < 0 ? undefined : head.subarray(0, end).toString("utf8");
  });
  const header = line === undefined ? undefined : parsed(line);
  if (typeof header !== "object" || header === null || Reflect.get(header, "type") !== "session") return undefined;
  const id: unknown = Reflect.get(header, "id");
  return typeof id === "string" && id !== "" && id.length <= 200 ? id : undefined;
}

/** Whole lines of a file that grows. One that was cut or replaced is read from its beginning again. */
export class Tail {
  readonly #path: string;
  readonly #reader: LineReader;
  #inode: number | undefined;
  #offset = 0;
  #behind = false;

  constructor(path: string, maxLine: number) {
    this.#path = path;
    this.#reader = new LineReader(maxLine);
  }

  /** Lines that were too long. */
  get skipped(): number {
    return this.#reader.skipped;
  }

  /** There was more than the last call read. */
  get behind(): boolean {
    return this.#behind;
  }

  /** Lines that became whole since the last call, out of at most so many further bytes. */
  read(maxBytes: number): string[] {
    this.#behind = false;
    const more = withFile(this.#path, (fd, stats) => {
      if (stats.ino !== this.#inode || stats.size < this.#offset) this.#restart(stats.ino);
      const length = Math.min(maxBytes, stats.size - this.#offset);
      this.#behind = stats.size - this.#offset > length;
      return length > 0 ? bytes(fd, this.#offset, length) : undefined;
    });
    if (more === undefined) return [];
    this.#offset += more.length;
    return this.#reader.take(more);
  }

  #restart(inode: number): void {
    this.#inode = inode;
    this.#offset = 0;
    this.#reader.reset();
  }
}
