// "Did you mean": the known word that a mistyped one is close to.

/** At most a third of its letters differ, in any case. */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  // Longer ones are no typing mistakes, and the distance is quadratic.
  if (typed === "" || typed.length > 64) return undefined;
  const wanted = typed.toLowerCase();
  const [best] = words
    .map((word) => ({ word, apart: distance(wanted, word.toLowerCase()) }))
    .sort((a, b) => a.apart - b.apart);
  return best !== undefined && best.apart <= Math.max(1, Math.floor(best.word.length / 3)) ? best.word : undefined;
}

/** Insertions, deletions and substitutions from one to the other. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...left].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...right].entries()) {
      const substituted = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(substituted, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
