//! Bounded maps keyed by 128-bit hashes: what the detector remembers without growing with the session.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The keys are hashes already; hashing them again would only cost time.
#[derive(Debug, Default, Clone, Copy)]
pub struct KeyIsHash(u64);

impl Hasher for KeyIsHash {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("only u128 keys are used");
    }
    #[allow(clippy::cast_possible_truncation)] // the low half of a good hash is a good hash
    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}

type Map<V> = HashMap<u128, V, BuildHasherDefault<KeyIsHash>>;

/// A map that forgets what was not touched for a long time, in O(1): two generations, of which the older one is
/// dropped when the newer one is full. An entry that is read for writing moves to the newer generation.
#[derive(Debug, Clone)]
pub struct Memory<V> {
    young: Map<V>,
    old: Map<V>,
    capacity: usize,
}

impl<V> Memory<V> {
    /// Holds between `capacity` and `2 * capacity` of the most recently touched entries.
    pub fn new(capacity: usize) -> Self {
        Self { young: Map::default(), old: Map::default(), capacity }
    }

    pub fn get(&self, key: u128) -> Option<&V> {
        self.young.get(&key).or_else(|| self.old.get(&key))
    }

    /// The entry, created by `make` when it is not known.
    pub fn entry(&mut self, key: u128, make: impl FnOnce() -> V) -> &mut V {
        if self.young.len() >= self.capacity && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        let old = &mut self.old;
        self.young.entry(key).or_insert_with(|| old.remove(&key).unwrap_or_else(make))
    }
}

impl Memory<()> {
    /// Remembers `key`; true when it was not known.
    pub fn insert(&mut self, key: u128) -> bool {
        let known = self.get(key).is_some();
        self.entry(key, || ());
        !known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn recently_touched_entries_survive_and_others_are_forgotten() {
        let mut memory = Memory::new(4);
        for key in 0..4 {
            memory.entry(key, || key);
        }
        memory.entry(0, || unreachable!("known"));
        for key in 10..14 {
            memory.entry(key, || key);
            memory.entry(0, || 0);
        }
        assert!(memory.get(0).is_some(), "touched all along");
        for key in 20..28 {
            memory.entry(key, || key);
        }
        assert!(memory.get(1).is_none(), "not touched for two generations");
    }

    proptest! {
        #[test]
        fn never_holds_more_than_two_generations_and_never_loses_the_latest(keys in prop::collection::vec(0_u128..64, 1..400)) {
            let mut memory = Memory::new(8);
            for (index, &key) in keys.iter().enumerate() {
                memory.entry(key, || index);
                prop_assert!(memory.young.len() + memory.old.len() <= 16);
                let mut recent: Vec<u128> = keys[..=index].iter().rev().copied().collect();
                recent.truncate(8);
                for seen in recent {
                    prop_assert!(memory.get(seen).is_some());
                }
            }
        }
    }
}
