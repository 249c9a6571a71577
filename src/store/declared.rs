//! What processes on the link may say of themselves: how much and how fast, for all sessions of a main session together.
//! It lives with the tree, so a new connection, another session or another process brings nothing new. Pure.
//!
//! An honest process stays far below all of it. What is beyond is not lost: it counts as time allows it.

use crate::trace::Usage;

/// So much at once, then so much a second.
#[derive(Debug, Clone, Copy)]
struct Meter {
    most: f64,
    per_second: f64,
    left: f64,
    at: f64,
}

impl Meter {
    const fn new(most: f64, per_second: f64) -> Self {
        Self { most, per_second, left: most, at: 0.0 }
    }

    fn left(&mut self, now: f64) -> f64 {
        // A clock that was set back gives nothing.
        let passed = (now - self.at).max(0.0);
        self.left = (self.left + passed * self.per_second / 1000.0).min(self.most);
        self.at = now;
        self.left
    }

    /// As much of `wanted` as there is.
    fn take(&mut self, wanted: f64, now: f64) -> f64 {
        let given = wanted.clamp(0.0, self.left(now).max(0.0));
        self.left -= given;
        given
    }
}

#[derive(Debug, Clone)]
pub struct Declared {
    usd: Meter,
    tokens: Meter,
    calls: Meter,
    levels: Meter,
}

impl Default for Declared {
    fn default() -> Self {
        Self {
            // Sixty-four agents at a dollar a minute, each with a million cached tokens every few seconds.
            usd: Meter::new(100.0, 1.0),
            tokens: Meter::new(200e6, 50e6),
            // A process may hand over what it did before it was linked.
            calls: Meter::new(1e6, 10_000.0),
            levels: Meter::new(8.0, 1.0 / 60.0),
        }
    }
}

impl Declared {
    /// What counts now of what was used more than before.
    pub fn usage(&mut self, more: Usage, now: f64) -> Usage {
        let wanted = more.total_tokens();
        let given = self.tokens.take(wanted, now);
        let part = |tokens: f64| if given < wanted { tokens * (given / wanted) } else { tokens };
        Usage {
            input: part(more.input),
            output: part(more.output),
            cache_read: part(more.cache_read),
            cache_write: part(more.cache_write),
            cost_usd: self.usd.take(more.cost_usd, now),
        }
    }

    /// How many of so many calls, edits or repetitions count now.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most what is in the meter
    pub fn counts(&mut self, more: u64, now: f64) -> u64 {
        let most = self.calls.left(now).max(0.0) as u64;
        let given = more.min(most);
        self.calls.left -= given as f64;
        given
    }

    /// Whether a level of the cost limit may be reported that was reached by declared usage.
    pub fn may_report(&mut self, now: f64) -> bool {
        self.levels.left(now) >= 1.0
    }

    /// So many levels were reported.
    pub fn reported(&mut self, levels: usize) {
        self.levels.left -= levels as f64;
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // whole numbers
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_meter_gives_so_much_at_once_and_the_rest_as_time_passes() {
        let mut meter = Meter::new(10.0, 2.0);
        assert_eq!([6.0, 6.0, 6.0].map(|wanted| meter.take(wanted, 1000.0)), [6.0, 4.0, 0.0]);
        assert_eq!(meter.take(6.0, 2000.0), 2.0);
        assert_eq!(meter.take(6.0, 1000.0), 0.0, "a clock that was set back");
        assert_eq!(meter.take(60.0, 1e9), 10.0, "it does not overflow");
        assert_eq!(meter.take(-5.0, 1e9), 0.0);
        assert_eq!(meter.take(1.0, 1e9), 0.0, "and nothing is given back");
    }

    #[test]
    fn what_an_honest_process_uses_counts_at_once_and_in_full() {
        let mut declared = Declared::default();
        let used = Usage { input: 10.0, output: 20.0, cache_read: 1e6, cache_write: 30.0, cost_usd: 0.5 };
        assert_eq!(declared.usage(used, 1.0), used);
        assert_eq!(declared.counts(100_000, 1.0), 100_000);
        assert_eq!(declared.usage(Usage::default(), 1.0), Usage::default());
    }

    #[test]
    fn tokens_beyond_the_meter_are_cut_by_the_same_part_in_each_kind() {
        let mut declared = Declared::default();
        let used = Usage { input: 100e6, output: 100e6, cache_read: 100e6, cache_write: 100e6, cost_usd: 150.0 };
        let given = declared.usage(used, 1.0);
        assert_eq!(given, Usage { input: 50e6, output: 50e6, cache_read: 50e6, cache_write: 50e6, cost_usd: 100.0 });
        assert_eq!(declared.usage(used, 1.0), Usage::default());
        assert_eq!(declared.counts(2_000_000, 1.0), 1_000_000);
        assert_eq!(declared.counts(5, 1.0), 0);
        assert_eq!(declared.counts(5, 1001.0), 5);
    }

    #[test]
    fn eight_levels_are_reported_at_once_and_then_one_a_minute() {
        let mut declared = Declared::default();
        let mut reported = |at: f64| {
            let may = declared.may_report(at);
            declared.reported(usize::from(may));
            may
        };
        assert_eq!((0..100).filter(|_| reported(1.0)).count(), 8);
        assert!(!reported(59_000.0));
        assert!(reported(60_100.0));
        assert!(!reported(60_200.0));
    }

    proptest! {
        #[test]
        fn whatever_is_declared_in_whatever_order_the_sum_stays_within_the_meter(
            steps in prop::collection::vec((0.0..1e12_f64, 0.0..1000.0_f64, 0..u64::MAX), 1..200),
        ) {
            let mut declared = Declared::default();
            let (mut now, mut usd, mut tokens, mut calls) = (1e12, 0.0, 0.0, 0.0);
            for (amount, later, count) in steps {
                now += later;
                let given = declared.usage(Usage { input: amount, cost_usd: amount, ..Usage::default() }, now);
                usd += given.cost_usd;
                tokens += given.input;
                calls += declared.counts(count, now) as f64;
            }
            let seconds = (now - 1e12) / 1000.0;
            prop_assert!(usd <= 100.0 + seconds + 1e-6);
            prop_assert!(tokens <= 200e6 + 50e6 * seconds + 1.0);
            prop_assert!(calls <= 1e6 + 10_000.0 * seconds + 1.0);
        }
    }
}
