// Who closes what a test opened, in which order, also when the test fails or the runner is stopped.

import type { ChildProcess } from "node:child_process";

/** A thing that runs functions when the caller is done: `TestContext` of node:test is one. */
export interface Scope {
  after(cleanup: () => unknown): void;
}

/** Runs the latest cleanup first (node:test runs the first one first): a process ends before its directory goes. */
export class CleanupStack implements Scope {
  readonly #cleanups: (() => unknown)[] = [];

  after(cleanup: () => unknown): void {
    this.#cleanups.push(cleanup);
  }

  /** Runs all of them, then throws the first error. */
  async close(): Promise<void> {
    const errors: unknown[] = [];
    for (let cleanup = this.#cleanups.pop(); cleanup !== undefined; cleanup = this.#cleanups.pop()) {
      try {
        await cleanup();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}

const last = new Set<() => void>();
process.on("exit", () => {
  for (const undo of [...last].reverse()) undo();
});
// The test runner ends its files by a signal, which by itself is an end without "exit".
for (const [signal, number] of [
  ["SIGINT", 2],
  ["SIGTERM", 15],
  ["SIGHUP", 1],
] as const) {
  process.once(signal, () => process.exit(128 + number));
}

/**
 * Something that must also be undone when this process ends early and no cleanup runs; synchronous. Returns what takes
 * it back, for when it was undone in order.
 */
export function atExit(undo: () => void): () => void {
  last.add(undo);
  return () => last.delete(undo);
}

/** Sees to it that the child does not outlive this process. */
export function adopt(child: ChildProcess): void {
  child.once(
    "exit",
    atExit(() => child.kill("SIGKILL")),
  );
}
