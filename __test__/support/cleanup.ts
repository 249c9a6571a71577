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

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Sees to it that the child does not outlive this process. */
export function adopt(child: ChildProcess): void {
  running.add(child);
  child.once("exit", () => running.delete(child));
}
