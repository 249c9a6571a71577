//! `persistent_failure`: edits are made, and the same check keeps failing in the same way.
//!
//! The slow counter beside the fast ones: a real edit clears replays, not this. Only runs with a change of the world
//! before them count (without one it is a replay). Work goes on, so it is never more than a warning.

use super::streak::Streak;
use super::{Context, Found, Happening, Rule};
use crate::detect::memory::Memory;
use crate::detect::progress::pair;
use crate::detect::round::Step;
use crate::rule;
use crate::setting::{Scope, THRESHOLD};

rule! {
    /// Something is changed before every run, and the check (tests, type check, lint, build) fails in the same way: the
    /// same text with line numbers masked and counts kept. Never more than a warning, as real work goes on.
    evidence {
        PERSISTENT_FAILURE = "persistent_failure", rank 160;
    }
    settings {
        /// Runs of a check that fails in the same way although something was changed before each.
        persistent_failure_threshold: u32 = 5, "persistentFailureThreshold", THRESHOLD, Scope::VERDICT;
    }
}

/// Checks remembered per agent.
const REMEMBERED: usize = 64;

#[derive(Debug, Clone, Default)]
struct Check {
    signature: u128,
    epoch: u64,
    streak: Streak,
}

#[derive(Debug, Clone)]
pub struct Persistent {
    checks: Memory<Check>,
}

impl Default for Persistent {
    fn default() -> Self {
        Self { checks: Memory::new(REMEMBERED) }
    }
}

impl Rule for Persistent {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found) {
        match what {
            Happening::User => *self = Self::default(),
            Happening::Step { step, fresh: true } if step.action.check && !step.outage => {
                self.step(step, context, found);
            }
            _ => {}
        }
    }
}

impl Persistent {
    fn step(&mut self, step: &Step, context: &Context<'_>, found: &mut Found) {
        let check = self.checks.entry(step.action.hash, Check::default);
        if !step.is_error {
            check.streak.clear();
            return;
        }
        if check.signature != step.signature {
            check.signature = step.signature;
            check.streak.clear();
        } else if check.epoch == context.epoch {
            return;
        }
        check.epoch = context.epoch;
        // However much is read between two runs: work goes on, and the failure stays.
        check.streak.hit_again(step.at, context);
        let trigger = pair(step.action.hash, 7);
        let what = "after every edit the same check fails in the same way,";
        let threshold = context.settings.persistent.persistent_failure_threshold;
        let report = check.streak.report(threshold, PERSISTENT_FAILURE, trigger, what, step.at);
        found.extend(report.map(|report| report.about(&step.action).mild()));
    }
}

#[cfg(test)]
mod tests {
    use crate::detect::Severity;
    use crate::detect::story::Story;

    #[test]
    fn a_check_that_fails_in_the_same_way_after_five_edits_is_a_warning_and_never_more() {
        let mut story = Story::new();
        story.times(20, |story, n| {
            story
                .edits("quota.py", &format!("v{n}"))
                .bash_fails("pytest -q", &format!("q.py:{n}: AssertionError: not reset\n1 failed in 0.4{n}s"));
        });
        assert_eq!(story.first("persistent_failure"), Some(10), "the fifth run");
        assert!(story.found.iter().all(|(_, _, severity)| *severity == Severity::Warning));
    }

    #[test]
    fn failures_that_change_are_progress() {
        let mut story = Story::new();
        story.times(12, |story, n| {
            story.edits("a.c", &n.to_string()).bash_fails("make", &format!("{} errors left", 20 - n));
        });
        story.is_silent();
    }

    #[test]
    fn much_reading_between_two_runs_does_not_hide_that_the_failure_stays() {
        let mut story = Story::new();
        story.times(5, |story, n| {
            story.times(12, |story, m| {
                story.reads(&format!("src/{n}/{m}.rs"), 1, 50);
            });
            story.edits("a.rs", &format!("v{n}"));
            story.bash_fails("cargo test", "test a ... FAILED");
        });
        assert!(story.first("persistent_failure").is_some());
    }

    #[test]
    fn it_is_told_again_after_as_many_more_runs_although_every_edit_changes_the_world() {
        let mut story = Story::new();
        story.times(30, |story, n| {
            story.edits("a.rs", &format!("v{n}")).bash_fails("cargo test", "test a ... FAILED");
        });
        let runs: Vec<u32> = story.found.iter().map(|(call, _, _)| call / 2).collect();
        assert_eq!(runs, [5, 10, 20]);
    }
}
