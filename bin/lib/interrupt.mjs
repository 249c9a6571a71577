// Ctrl-C while the library works on another thread.

/** The exit codes that a shell gives to a process that such a signal ended. */
const EXIT_CODES = /** @type {const} */ ({ SIGINT: 130, SIGTERM: 143 });

/** The user ended the command. */
export class Interrupted extends Error {
  /** @param {keyof typeof EXIT_CODES} signal */
  constructor(signal) {
    super(`ended by ${signal}`);
    this.exitCode = EXIT_CODES[signal];
  }
}

/**
 * Runs `work` with a signal that Ctrl-C aborts. Only so long: at other times, for example while output waits for its
 * reader, Ctrl-C ends the process as it ends any other. So does a second one.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function interruptible(work) {
  const controller = new AbortController();
  const listeners = /** @type {(keyof typeof EXIT_CODES)[]} */ (Object.keys(EXIT_CODES)).map((name) => {
    const listener = () => controller.abort(new Interrupted(name));
    process.once(name, listener);
    return { name, listener };
  });
  try {
    return await work(controller.signal);
  } finally {
    for (const { name, listener } of listeners) process.off(name, listener);
  }
}
