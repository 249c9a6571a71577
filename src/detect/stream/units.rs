//! Owns: a few sentences that come again and again in no fixed order. Knows sentences by their hash only.

/// Sentences looked at. A text of this many sentences says this many things.
const WINDOW: usize = 24;
/// A text that goes round says at most a third of that.
const DISTINCT: usize = WINDOW / 3;
/// So many sentences in a row that were all said before: forms that are filled in ("File a: no issues", a header over
/// every file) bring something new with every entry.
const STALE: usize = 8;
/// Times that each was said, on average: a refrain comes four times.
const REPEATS: usize = 5;
/// Characters, of sentences only, not of status words.
const CHARACTERS: u64 = 400;

/// One sentence or line.
#[derive(Debug, Clone, Copy, Default)]
struct Unit {
    hash: u64,
    /// It is the last one of its kind in the window.
    latest: bool,
    characters: u32,
}

/// The last sentences of a text.
#[derive(Debug, Clone, Default)]
pub(super) struct Units {
    window: [Unit; WINDOW],
    length: u64,
    distinct: usize,
    /// Units since one that was not in the window.
    stale: usize,
    characters: u64,
    /// Characters since the window looked like this: what is too little now may be enough when it goes on.
    held: u64,
    /// Units since then, the window included.
    held_for: u32,
}

/// A text that goes round without order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shuffle {
    pub units: u32,
    pub characters: u64,
}

impl Units {
    /// Whether this sentence is in the window.
    pub fn knows(&self, hash: u64) -> bool {
        self.window.iter().any(|unit| unit.hash == hash | 1)
    }

    /// Takes the next sentence. `characters` is 0 for what is new or no speech; `hash` `None` for what never repeats.
    pub fn push(&mut self, hash: Option<u64>, characters: u32) -> Option<Shuffle> {
        let at = usize::try_from(self.length % WINDOW as u64).unwrap_or(0);
        // A hash of its own for what never repeats: the running number, which no content hash is.
        let hash = hash.map_or(self.length << 1, |hash| hash | 1);
        self.length += 1;
        let before = self.window.iter_mut().find(|unit| unit.latest && unit.hash == hash);
        let known = before.is_some();
        if let Some(unit) = before {
            unit.latest = false;
            self.distinct -= 1;
        }
        self.distinct -= usize::from(self.window[at].latest);
        self.characters -= u64::from(self.window[at].characters);
        self.window[at] = Unit { hash, latest: true, characters };
        self.distinct += 1;
        self.characters += u64::from(characters);
        self.stale = if known { self.stale + 1 } else { 0 };

        if self.length < WINDOW as u64 || self.distinct > DISTINCT || self.stale < STALE {
            self.held_for = 0;
            return None;
        }
        if self.held_for == 0 {
            self.held = self.characters;
            self.held_for = u32::try_from(WINDOW).unwrap_or(0);
        } else {
            self.held += u64::from(characters);
            self.held_for = self.held_for.saturating_add(1);
        }
        let often = self.held_for as usize >= REPEATS * self.distinct;
        (often && self.held >= CHARACTERS).then_some(Shuffle { units: self.held_for, characters: self.held })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    /// The same, counted afresh at every step.
    fn twin(past: &[(u64, u32)]) -> bool {
        let distinct = |window: &[(u64, u32)]| window.iter().map(|unit| unit.0).collect::<BTreeSet<_>>().len();
        let looks_stale = |end: usize| {
            let window = &past[end.saturating_sub(WINDOW)..end];
            let known = |at: usize| past[at.saturating_sub(WINDOW)..at].iter().any(|unit| unit.0 == past[at].0);
            window.len() == WINDOW && distinct(window) <= DISTINCT && (end - STALE..end).all(known)
        };
        let since = (1..=past.len()).rev().take_while(|&end| looks_stale(end)).count();
        let from = (past.len() + 1).saturating_sub(WINDOW + since);
        let held = &past[from..];
        since > 0
            && held.len() >= REPEATS * distinct(&past[past.len().saturating_sub(WINDOW)..])
            && held.iter().map(|unit| u64::from(unit.1)).sum::<u64>() >= CHARACTERS
    }

    proptest! {
        #[test]
        fn equals_the_naive_count(past in prop::collection::vec((1_u64..14, 1_u32..30), 1..160), few in 2_u64..14) {
            let past: Vec<(u64, u32)> = past.iter().map(|unit| (unit.0 % few, unit.1)).collect();
            let mut units = Units::default();
            for (index, unit) in past.iter().enumerate() {
                let found = units.push(Some(unit.0 << 1), unit.1).is_some();
                prop_assert_eq!(found, twin(&past[..=index]), "at {}", index);
            }
        }
    }
}
