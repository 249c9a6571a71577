//! `alternating` (period 2) and `cycle` (periods 3–8): rounds that come round again in the same order with the same
//! outcomes. `cycleThreshold` full laps are told. A lap of polls only is waiting: `pollingThreshold`.
//!
//! Incremental: for each period the length of the run in which every round equals the one a period before. When the
//! latest round grows (a batch goes on) it is taken back and counted anew.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Context, Found, Happening, Rule};
use crate::detect::evidence::{Evidence, LoopCost, Report};
use crate::detect::round::PATIENCE_MS;
use crate::rule;
use crate::setting::{Scope, THRESHOLD};

rule! {
    /// Rounds that come round again in the same order with the same outcomes, with a period of two (`alternating`) or
    /// three to eight steps. The threshold counts laps; where a lap begins does not matter. *Fires*: search, open,
    /// search, open, search, open. *Silent*: edit, test, edit, test with new edits. *Limits*: longer periods are left
    /// to `stale_revisits`.
    evidence {
        ALTERNATING = "alternating", rank 30;
        CYCLE = "cycle", rank 40;
    }
    settings {
        /// Laps of a cycle of two to eight rounds with the same results.
        cycle_threshold: u32 = 3, "cycleThreshold", THRESHOLD, Scope::VERDICT;
    }
}

const MAX_PERIOD: usize = 8;

#[derive(Debug, Clone, Default)]
struct Past {
    signature: u128,
    actions: Vec<u128>,
    polls: bool,
    waited: bool,
    at: f64,
    command: Option<Arc<str>>,
}

/// One period's run.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    /// Rounds in a row that equal the one a period before.
    length: u32,
    first_at: f64,
    cost: LoopCost,
}

#[derive(Debug, Clone, Default)]
pub struct Cycle {
    /// Latest rounds, newest last; one more than the longest period.
    past: VecDeque<Past>,
    runs: [Run; MAX_PERIOD],
    /// Runs as they were before the latest round.
    before: [Run; MAX_PERIOD],
}

impl Rule for Cycle {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found) {
        match what {
            Happening::User => *self = Self::default(),
            Happening::Round { again } if !context.round.outage => {
                if again && self.past.pop_back().is_some() {
                    self.runs = self.before;
                }
                self.take(context);
                if context.settings.cycle.cycle_threshold > 0 {
                    self.report(context, found);
                }
            }
            _ => {}
        }
    }
}

impl Cycle {
    fn take(&mut self, context: &Context<'_>) {
        let round = context.round;
        self.before = self.runs;
        for period in 1..=MAX_PERIOD {
            let run = &mut self.runs[period - 1];
            match self.past.len().checked_sub(period).and_then(|index| self.past.get(index)) {
                Some(earlier) if earlier.signature == round.signature => {
                    if run.length == 0 {
                        *run = Run { first_at: earlier.at, ..Run::default() };
                    }
                    run.length += 1;
                    run.cost.add(&round.usage, run.first_at, context.now);
                }
                _ => *run = Run::default(),
            }
        }
        if self.past.len() > MAX_PERIOD {
            self.past.pop_front();
        }
        self.past.push_back(Past {
            signature: round.signature,
            actions: round.actions.clone(),
            polls: round.polls,
            waited: round.waited,
            at: context.now,
            command: round.command.clone(),
        });
    }

    /// Whether time was left for something to happen within the latest lap of polls.
    fn waits(&self, period: usize, now: f64) -> bool {
        let before = self.past.iter().rev().nth(period).map_or(now, |round| round.at);
        now - before >= PATIENCE_MS || self.past.iter().rev().take(period).any(|round| round.waited)
    }

    /// The smallest period that explains the run; a plain repetition (period 1) is another rule's.
    #[allow(clippy::cast_possible_truncation)] // periods are at most 8
    fn report(&self, context: &Context<'_>, found: &mut Found) {
        for period in 1..=MAX_PERIOD {
            let run = &self.runs[period - 1];
            let laps = 1 + run.length / period as u32;
            if period == 1 {
                if run.length > 0 && self.runs[1].length <= run.length {
                    return;
                }
                continue;
            }
            let lap = self.past.iter().rev().take(period);
            let polls = lap.clone().all(|round| round.polls);
            if polls && self.waits(period, context.now) {
                return;
            }
            let laps_wanted = context.settings.cycle.cycle_threshold.max(2);
            let wanted = match context.settings.polling.polling_threshold {
                polling if polls => laps_wanted.max(polling),
                _ => laps_wanted,
            };
            if laps < wanted {
                continue;
            }
            let mut members: Vec<u128> = lap.clone().flat_map(|round| round.actions.iter().copied()).collect();
            members.sort_unstable();
            members.dedup();
            let identity = lap.clone().fold(period as u128, |sum, round| sum.wrapping_add(round.signature));
            let commands: Vec<&str> = lap.rev().filter_map(|round| round.command.as_deref()).collect();
            let kind = if period == 2 { ALTERNATING } else { CYCLE };
            found.push(Report {
                evidence: Evidence {
                    kind,
                    summary: format!("the same {period} steps in a circle, lap {laps}"),
                    count: laps,
                    period: period as u32,
                    command: Some(Arc::from(commands.join(" → "))),
                    first_at: run.first_at,
                    last_at: context.now,
                    trigger: identity,
                },
                members,
                distance: wanted * period as u32,
                early: false,
                mild: false,
                cost: run.cost,
            });
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::detect::story::Story;

    #[test]
    fn every_period_is_told_at_its_third_lap() {
        for period in 2..=8 {
            let mut story = Story::new();
            story.times(period * 3, |story, n| {
                story.bash(&format!("step {}", n % period), "done");
            });
            let rule = if period == 2 { "alternating" } else { "cycle" };
            assert_eq!(story.first(rule), Some(period * 3), "period {period}");
            assert_eq!(story.found.len(), 1, "period {period}");
        }
    }

    #[test]
    fn a_lap_in_which_one_answer_changes_is_no_lap() {
        let mut story = Story::new();
        story.times(8, |story, n| {
            story.bash("make", &format!("{} errors", 40 - n)).edits("a.c", &format!("v{n}"));
        });
        story.is_silent();
    }

    #[test]
    fn a_second_pass_over_many_files_is_no_cycle() {
        let mut story = Story::new();
        story.times(30, |story, n| {
            story.reads(&format!("f{}", n % 15), 1, 10);
        });
        assert_eq!(story.first("cycle"), None);
    }
}
