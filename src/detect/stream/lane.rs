//! Owns: does the tail of a symbol sequence repeat with some period, and since when? Knows nothing about text.
//!
//! The idea is that of a Lempel–Ziv matcher: a table remembers where each run of [`GRAM`] symbols was last seen. When
//! the last `GRAM` symbols were seen `p` symbols ago, `p` is the candidate; it is kept for as long as every new symbol
//! equals the one `p` before it. O(1) amortised per symbol.

/// Symbols that must agree before a period is tried. Shorter finds chance matches all the time, longer finds late.
/// A shift of `64 / GRAM` bits per symbol makes the hash forget everything older by itself.
const GRAM: usize = 8;

/// The periodicity of a sequence, for periods up to `N - GRAM` (`N` is a power of two below 2^15).
#[derive(Debug, Clone)]
pub(super) struct Lane<const N: usize> {
    /// The last `N` symbols.
    ring: Box<[char; N]>,
    /// Where a gram ended, modulo `N`, by its hash, and in the bits above that some more of the hash. A slot holds the
    /// latest of all grams that fall into it, so a lookup can miss, and then the next symbols find it; it cannot lie, as
    /// it is verified.
    seen: Box<[u16; N]>,
    gram: u64,
    /// Symbols so far.
    length: u64,
    /// 0: none.
    period: usize,
    /// Trailing symbols that equal the one a period before.
    run: u64,
    /// Symbols before the last period was given up: a new one is not traced further back, which keeps the cost O(1).
    broken_at: u64,
}

impl<const N: usize> Default for Lane<N> {
    fn default() -> Self {
        const { assert!(N.is_power_of_two() && N < 1 << 15) };
        let (ring, seen) = (Box::new(['\0'; N]), Box::new([0; N]));
        Self { ring, seen, gram: 0, length: 0, period: 0, run: 0, broken_at: 0 }
    }
}

impl<const N: usize> Lane<N> {
    /// Takes the next symbol.
    #[inline]
    pub fn push(&mut self, symbol: char) {
        let continues = self.period > 0 && self.back(self.period) == symbol;
        self.ring[Self::index(self.length)] = symbol;
        self.length += 1;
        self.gram = (self.gram << (64 / GRAM)).wrapping_add(u64::from(symbol));
        let (slot, entry) = Self::slot(self.gram, self.length);
        if continues {
            self.run += 1;
        } else {
            if self.period > 0 {
                self.period = 0;
                self.run = 0;
                self.broken_at = self.length - 1;
            }
            let before = self.seen[slot];
            if (before ^ entry) >> N.trailing_zeros() == 0 {
                self.lock(usize::from(entry.wrapping_sub(before)) & (N - 1));
            }
        }
        self.seen[slot] = entry;
    }

    /// Tries a period: counts backwards how far it holds already.
    #[inline(never)]
    fn lock(&mut self, period: usize) {
        if period == 0 {
            return;
        }
        let there = self.length.saturating_sub(period as u64).min((N - period) as u64);
        let limit = usize::try_from(there.min((self.length - self.broken_at).max(GRAM as u64))).unwrap_or(N);
        let run = (1..=limit).take_while(|&back| self.back(back) == self.back(back + period)).count();
        if run >= GRAM {
            self.period = period;
            self.run = run as u64;
        }
    }

    /// The symbol `distance` back, of those that are kept; 1 is the last one.
    #[inline]
    fn back(&self, distance: usize) -> char {
        self.ring[Self::index(self.length.wrapping_sub(distance as u64))]
    }

    /// How many symbols are kept.
    fn kept(&self) -> usize {
        usize::try_from(self.length).unwrap_or(N).min(N)
    }

    /// The last `count` symbols, oldest first; fewer when fewer are kept.
    pub fn tail(&self, count: usize) -> impl Iterator<Item = char> + '_ {
        (1..=count.min(self.kept())).rev().map(|distance| self.back(distance))
    }

    /// All symbols that are kept, the last one first.
    pub fn newest_first(&self) -> impl Iterator<Item = char> + '_ {
        (1..=self.kept()).map(|distance| self.back(distance))
    }

    /// Symbols so far.
    #[inline]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// 0 when nothing repeats now.
    #[inline]
    pub fn period(&self) -> usize {
        self.period
    }

    /// Symbols that the repetition spans, its first round included; 0 when nothing repeats now.
    #[inline]
    pub fn span(&self) -> u64 {
        if self.period == 0 { 0 } else { self.run + self.period as u64 }
    }

    /// Trailing symbols that equal the one a period before.
    #[inline]
    pub fn run(&self) -> u64 {
        self.run
    }

    /// Forgets everything and keeps the memory.
    pub fn reset(&mut self) {
        (self.gram, self.length, self.period, self.run, self.broken_at) = (0, 0, 0, 0, 0);
        self.seen.fill(0);
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // masked to below N
    fn index(position: u64) -> usize {
        (position & (N as u64 - 1)) as usize
    }

    /// The slot of a gram, and what to write there.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // the slot is below N by the shift; of the entry the low bits are wanted
    fn slot(gram: u64, length: u64) -> (usize, u16) {
        // Fibonacci hashing: only the highest bits of the product depend on all symbols.
        let hash = gram.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let rest = (hash << N.trailing_zeros()) >> (u64::BITS - u16::BITS);
        let position = length & (N as u64 - 1);
        ((hash >> (u64::BITS - N.trailing_zeros())) as usize, (rest & !(N as u64 - 1) | position) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const N: usize = 64;

    /// How many trailing symbols equal the one `period` before, by definition.
    fn run(symbols: &[char], period: usize) -> usize {
        symbols.iter().rev().zip(symbols.iter().rev().skip(period)).take_while(|(a, b)| a == b).count()
    }

    fn piece() -> impl Strategy<Value = Vec<char>> {
        let unit = prop::collection::vec(prop::sample::select(vec!['a', 'b', 'c', ' ']), 1..60);
        (unit, 1_usize..8).prop_map(|(unit, times)| unit.repeat(times))
    }

    proptest! {
        #[test]
        fn says_what_the_definition_says(pieces in prop::collection::vec(piece(), 1..6)) {
            let symbols = pieces.concat();
            let mut lane = Lane::<N>::default();
            for (index, &symbol) in symbols.iter().enumerate() {
                lane.push(symbol);
                let past = &symbols[..=index];
                if lane.period() > 0 {
                    prop_assert!(lane.run <= run(past, lane.period()) as u64, "claims no more than there is");
                }
                // What has gone round for three periods is known, with no more than a gram or two lost at its start.
                for period in 1..N - GRAM {
                    let there = run(past, period);
                    if there >= 2 * period + 4 * GRAM {
                        prop_assert!(lane.period() > 0);
                        prop_assert!(lane.span() + (4 * GRAM + period) as u64 >= there as u64, "{} of {}", lane.span(), there);
                    }
                }
                prop_assert_eq!(lane.tail(9).collect::<Vec<_>>(), past[past.len().saturating_sub(9)..].to_vec());
            }
        }
    }
}
