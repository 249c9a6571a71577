// One line on a terminal that says how far a long scan is. Nothing on anything else, and nothing for a short one.

import { count } from "./figures.mjs";

/** A scan that is done by then needs no bar. */
const PATIENCE_MS = 500;
const BETWEEN_MS = 100;
const WIDTH = 30;

/** @typedef {{ files: number, bytes: number, totalBytes: number }} Progress */

/**
 * @param {NodeJS.WriteStream} stream
 * @param {() => number} [clock] ms
 * @returns {{ draw: (progress: Progress) => void, clear: () => void } | undefined} nothing when it is no terminal
 */
export function progressBar(stream, clock = () => performance.now()) {
  if (!stream.isTTY) return undefined;
  let next = clock() + PATIENCE_MS;
  let drawn = false;
  return {
    draw(progress) {
      if (clock() < next) return;
      next = clock() + BETWEEN_MS;
      drawn = true;
      stream.write(`\r${barText(progress, stream.columns || 80)}\u001b[K`);
    },
    clear() {
      if (drawn) stream.write("\r\u001b[K");
    },
  };
}

/**
 * @param {Progress} progress
 * @param {number} columns
 */
export function barText({ files, bytes, totalBytes }, columns) {
  const part = totalBytes > 0 ? Math.min(1, bytes / totalBytes) : 0;
  const full = Math.round(part * WIDTH);
  const bar = `${"█".repeat(full)}${"░".repeat(WIDTH - full)}`;
  const megabytes = `${count(bytes / 1e6)} of ${count(totalBytes / 1e6)} MB`;
  const text = `${bar} ${Math.floor(part * 100)} % · ${count(files)} files · ${megabytes}`;
  // A line that wraps cannot be drawn over.
  return text.slice(0, Math.max(0, columns - 1));
}
