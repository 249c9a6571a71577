// Waiting for conditions of real processes. Every wait has a deadline and says what it waited for.

import { setTimeout as delay } from "node:timers/promises";

/** Generous: it only bounds a failing test, and CI machines are slow. Shorter where tests are expected to fail. */
export const DEADLINE_MS = Number(process.env.TEST_DEADLINE_MS ?? 60_000);

/** The promise, or a rejection that names what did not come. */
export async function deadline<T>(promise: Promise<T>, what: () => string, timeoutMs = DEADLINE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${timeoutMs} ms: ${what()}`)), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks until the answer is not undefined; for outside things that cannot tell by themselves, such as a terminal. */
export async function poll<T>(
  look: () => T | undefined | Promise<T | undefined>,
  what: () => string,
  timeoutMs = DEADLINE_MS,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error(`not within ${timeoutMs} ms: ${what()}`);
    await delay(40);
  }
}
