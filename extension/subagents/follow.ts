// Reads a file of JSON lines while somebody else writes it: a session file, a package's list of events. Gives each whole
// line once, in order. Keeps nothing alive, waits for nobody, and throws nothing: what it cannot read it counts.
// Knows nothing of what the lines say.

import { type FSWatcher, watch } from "node:fs";
import { constants, type FileHandle, open, stat } from "node:fs/promises";
import { LineReader } from "./lines.ts";

/** How often a file is looked at that no watcher tells of: network file systems, and systems out of watchers. */
const POLL_MS = 1_000;
const CHUNK = 64 * 1024;
/** Read at one go; then others have their turn. */
const MAX_AT_ONCE = 4 * 1024 * 1024;

export interface FollowOptions {
  /** A parsed line. What it throws is counted as unreadable. */
  line(value: unknown): void;
  /** The file began anew: it was cut, or another one has its name. Lines may come again. */
  restarted?(): void;
  /** ms; default 1000. */
  pollMs?: number;
  /** Longest line that is taken, in bytes. */
  maxLine?: number;
}

export interface Follower {
  /** Looks now. Resolves when all that is in the file was given, or the follower is closed. */
  look(): Promise<void>;
  /** Gives what is left, then stops. Idempotent. */
  end(): Promise<void>;
  /** Stops at once; idempotent. */
  close(): void;
  /** Lines that were no JSON, too long, or not to the liking of {@link FollowOptions.line}. */
  readonly unreadable: number;
}

/** Follows the file from its beginning. It need not be there yet. */
export function follow(path: string, options: FollowOptions): Follower {
  const reader = new LineReader(options.maxLine);
  const buffer = Buffer.allocUnsafe(CHUNK);
  let file: FileHandle | undefined;
  let inode = 0n;
  let offset = 0;
  let watcher: FSWatcher | undefined;
  let looking: Promise<void> | undefined;
  let again = false;
  let broken = 0;
  let closed = false;

  const poll = setInterval(() => void look(), options.pollMs ?? POLL_MS).unref();

  function look(): Promise<void> {
    again = true;
    looking ??= catchUp().finally(() => {
      looking = undefined;
      if (closed) void release();
      // Asked for when the last look was as good as over.
      else if (again) void look();
    });
    return looking;
  }

  async function catchUp(): Promise<void> {
    try {
      while (again && !closed) {
        again = false;
        await readNew();
      }
    } catch {
      // Gone, not readable, or no file: it is looked for again.
      await release();
    }
  }

  async function readNew(): Promise<void> {
    const now = await stat(path, { bigint: true }).catch(() => undefined);
    // A new file may be given the inode of one that was removed.
    if (file !== undefined && (now?.ino !== inode || (await file.stat()).nlink === 0)) {
      // The writer may have written to the old one until it took the name away.
      await readOn(file);
      await release();
      restart();
    }
    if (now === undefined || closed) return;
    if (file === undefined) {
      // A pipe or a device would block, or never end.
      if (!now.isFile()) return;
      file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      const opened = await file.stat({ bigint: true });
      if (!opened.isFile()) return release();
      inode = opened.ino;
      watchFile();
    }
    const { size } = await file.stat();
    if (size < offset) restart();
    await readOn(file);
  }

  async function readOn(from: FileHandle): Promise<void> {
    for (let taken = 0; !closed; ) {
      const { bytesRead } = await from.read(buffer, 0, CHUNK, offset);
      if (bytesRead === 0 || closed) return;
      offset += bytesRead;
      taken += bytesRead;
      for (const line of reader.take(buffer.subarray(0, bytesRead))) give(line);
      if (taken >= MAX_AT_ONCE) {
        taken = 0;
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  function give(line: string): void {
    if (closed) return;
    try {
      options.line(JSON.parse(line));
    } catch {
      broken += 1;
    }
  }

  function restart(): void {
    if (offset === 0) return;
    offset = 0;
    reader.reset();
    try {
      options.restarted?.();
    } catch {
      broken += 1;
    }
  }

  function watchFile(): void {
    watcher?.close();
    watcher = undefined;
    try {
      watcher = watch(path, { persistent: false }, () => void look());
      // Without a listener an error of a watcher would end Pi.
      watcher.on("error", () => watcher?.close());
    } catch {
      // The poll goes on.
    }
  }

  async function release(): Promise<void> {
    watcher?.close();
    watcher = undefined;
    const old = file;
    file = undefined;
    await old?.close().catch(() => {});
  }

  function close(): void {
    if (closed) return;
    closed = true;
    clearInterval(poll);
    if (looking === undefined) void release();
  }

  void look();
  return {
    look,
    async end() {
      do {
        await (closed ? looking : look());
      } while (again && !closed);
      close();
    },
    close,
    get unreadable() {
      return broken + reader.skipped;
    },
  };
}
