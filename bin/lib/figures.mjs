// Figures as people read them.

/**
 * Tokens and money, as far as known.
 * @param {{ tokens: number, usd: number }} usage
 */
export function spent({ tokens, usd }) {
  return [...(tokens > 0 ? [plural(tokens, "token")] : []), ...(usd > 0 ? [money(usd)] : [])];
}

/**
 * US dollars, with as many digits as a small sum needs.
 * @param {number} usd
 */
export function money(usd) {
  const small = Math.abs(usd);
  if (small > 0 && small < 0.00005) return "less than $0.0001";
  return `$${usd.toFixed(small > 0 && small < 0.1 ? 4 : 2)}`;
}

/** @param {number} ms */
export function duration(ms) {
  const seconds = ms / 1000;
  if (seconds < 60) return `${Math.round(seconds * 10) / 10} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.floor(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** @param {number} value */
export function count(value) {
  return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

/**
 * @param {number} value
 * @param {string} one
 */
export function plural(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}
