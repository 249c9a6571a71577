//! What was reported, and when it is worth reporting again: at every doubling of what is measured.

use std::collections::HashMap;

/// Matters remembered; far more than one tree has at once.
const REMEMBERED: usize = 4096;

#[derive(Debug, Clone, Default)]
pub struct Reported {
    matters: HashMap<u128, Matter>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Matter {
    times: u32,
    next: f64,
}

impl Reported {
    /// The number of the report, when it is time for one. `measure` grows while the matter lasts (an age, a count, a sum).
    pub fn due(&mut self, matter: u128, measure: f64) -> Option<u32> {
        if self.matters.len() >= REMEMBERED && !self.matters.contains_key(&matter) {
            self.matters.clear();
        }
        let known = self.matters.entry(matter).or_default();
        if known.times > 0 && measure < known.next {
            return None;
        }
        known.times += 1;
        known.next = measure * 2.0;
        Some(known.times)
    }

    /// Once and never again.
    pub fn once(&mut self, matter: u128) -> bool {
        self.due(matter, f64::MAX).is_some_and(|times| times == 1)
    }

    /// The matter is over; true when it had been reported.
    pub fn forget(&mut self, matter: u128) -> bool {
        self.matters.remove(&matter).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matter_is_reported_at_every_doubling_and_anew_when_it_was_over() {
        let mut reported = Reported::default();
        let due: Vec<_> = [3.0, 4.0, 5.9, 6.0, 11.0, 12.5].iter().map(|measure| reported.due(1, *measure)).collect();
        assert_eq!(due, [Some(1), None, None, Some(2), None, Some(3)]);
        assert_eq!(reported.due(2, 1.0), Some(1), "another matter");
        assert!(reported.forget(1));
        assert!(!reported.forget(1));
        assert_eq!(reported.due(1, 1.0), Some(1));
        assert!(reported.once(3) && !reported.once(3));
    }
}
