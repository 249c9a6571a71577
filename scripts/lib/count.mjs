// Counting tests of several runners into one closing line.

/** @typedef {{ passed: number, failed: number, skipped: number }} Count */

/** @returns {Count} */
export function emptyCount() {
  return { passed: 0, failed: 0, skipped: 0 };
}

/**
 * @param {Count} total
 * @param {Count} more
 */
export function add(total, more) {
  total.passed += more.passed;
  total.failed += more.failed;
  total.skipped += more.skipped;
}

/** @param {Count} count */
export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

/** Reads a closing line back. @param {string} output @returns {Count | undefined} */
export function parseClosingLine(output) {
  const match = /(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$/.exec(output);
  if (match === null) return undefined;
  return { passed: Number(match[1]), failed: Number(match[2]), skipped: Number(match[3] ?? 0) };
}
