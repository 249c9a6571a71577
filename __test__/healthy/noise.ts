// What differs from run to run in real outputs: durations, pids, clock times, hashes, ids. Deterministic.

export class Noise {
  #state: number;
  #clock = Date.UTC(2026, 2, 14, 9, 12, 31);

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  int(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(0, items.length - 1)]!;
  }

  /** `3.41s` */
  seconds(low: number, high: number): string {
    return `${this.between(low, high).toFixed(2)}s`;
  }

  hex(length: number): string {
    return Array.from({ length }, () => "0123456789abcdef"[this.int(0, 15)]).join("");
  }

  id(length: number): string {
    return Array.from({ length }, () => "abcdefghijklmnopqrstuvwxyz0123456789"[this.int(0, 35)]).join("");
  }

  pid(): number {
    return this.int(1200, 64000);
  }

  /** A later ISO time at each call. */
  time(): string {
    this.#clock += this.int(900, 45_000);
    return new Date(this.#clock).toISOString();
  }

  /** A later `09:14:07` at each call. */
  clock(): string {
    return this.time().slice(11, 19);
  }
}
