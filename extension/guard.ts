// Keeps a fault of the watchdog from becoming a fault of Pi: a throwing tool_call handler blocks the tool, a throwing
// timer ends the process. The first fault is told, the rest only counted, so that a fault in a hot handler is no flood.

export interface Guard {
  /** Runs `task`; on a throw tells it and returns `undefined`. */
  run<T>(where: string, task: () => T): T | undefined;
  runAsync<T>(where: string, task: () => Promise<T>): Promise<T | undefined>;
  /** Faults so far. */
  readonly faults: number;
}

export function createGuard(tell: (message: string) => void): Guard {
  let faults = 0;
  function fault(where: string, error: unknown): undefined {
    faults += 1;
    if (faults > 1) return undefined;
    const reason = error instanceof Error ? error.message : String(error);
    try {
      tell(`The watchdog failed in ${where}: ${reason}. Pi goes on; please report this.`);
    } catch {
      // There is nobody left to tell.
    }
    return undefined;
  }
  return {
    get faults() {
      return faults;
    },
    run(where, task) {
      try {
        return task();
      } catch (error) {
        return fault(where, error);
      }
    },
    async runAsync(where, task) {
      try {
        return await task();
      } catch (error) {
        return fault(where, error);
      }
    },
  };
}
