// Measuring two or more things against each other: in turn, many times, the median of each. What disturbs the machine
// then disturbs all of them alike. The time is the processor time of this thread: an event costs Pi's thread that much,
// whatever else runs on the machine.

export interface Side {
  readonly name: string;
  /** Does the work `iterations` times; what it needs was prepared before. */
  run(iterations: number): void;
}

export interface Plan {
  /** Rounds in which each side runs once. */
  rounds: number;
  /** Length of one run of one side. */
  sampleMs: number;
}

/** Nanoseconds per iteration, by the side's name. */
export function measure(sides: readonly Side[], { rounds, sampleMs }: Plan): Map<string, number> {
  const runs = sides.map((side) => ({ side, iterations: calibrate(side, sampleMs), samples: [] as number[] }));
  for (let round = 0; round < rounds; round += 1) {
    // Who goes first changes, so that nobody always finds the caches of the same predecessor.
    for (const { side, iterations, samples } of round % 2 === 0 ? runs : runs.toReversed()) {
      samples.push(timed(side, iterations) / iterations);
    }
  }
  return new Map(runs.map(({ side, samples }) => [side.name, median(samples)]));
}

/** How many iterations take so long; also warms the code up. */
function calibrate(side: Side, sampleMs: number): number {
  let iterations = 1;
  for (;;) {
    const took = timed(side, iterations) / 1e6;
    if (took >= sampleMs / 2) return Math.max(1, Math.round((iterations * sampleMs) / took));
    iterations *= 2;
  }
}

/** Nanoseconds of this thread. The kernel books them every few milliseconds: short runs say nothing. */
function timed(side: Side, iterations: number): number {
  const before = process.threadCpuUsage();
  side.run(iterations);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) * 1000;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** The half-width of the interval that holds the median with 95 % confidence (by rank). */
export function medianError(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const reach = Math.ceil((1.96 * Math.sqrt(sorted.length)) / 2);
  const middle = (sorted.length - 1) / 2;
  const low = sorted[Math.max(0, Math.floor(middle - reach))] ?? Number.NaN;
  const high = sorted[Math.min(sorted.length - 1, Math.ceil(middle + reach))] ?? Number.NaN;
  return (high - low) / 2;
}
