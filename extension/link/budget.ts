// How much may pass in a second. Pure; the time is an argument.

export class Budget {
  readonly #perSecond: number;
  readonly #now: () => number;
  #left: number;
  #at: number;

  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#left = perSecond;
    this.#at = now();
  }

  /** Takes it in any case; the ms to wait before more is taken, 0 for none. */
  take(amount: number): number {
    const now = this.#now();
    // A clock that was set back gives nothing, and takes nothing.
    const passed = Math.max(0, now - this.#at);
    this.#left = Math.min(this.#perSecond, this.#left + (passed * this.#perSecond) / 1000);
    this.#at = now;
    this.#left -= amount;
    return this.#left >= 0 ? 0 : Math.ceil((-this.#left * 1000) / this.#perSecond);
  }
}

/** So many at once, then one in so many ms. */
export class Allowance {
  readonly #most: number;
  readonly #everyMs: number;
  #used = 0;
  #at = 0;

  constructor(most: number, everyMs: number) {
    this.#most = most;
    this.#everyMs = everyMs;
  }

  take(now: number): boolean {
    this.#used = Math.max(0, this.#used - Math.max(0, now - this.#at) / this.#everyMs);
    this.#at = now;
    if (this.#used + 1 > this.#most) return false;
    this.#used += 1;
    return true;
  }
}
