//! `failing_edit` and `edit_revert`: edits that get nowhere.
//!
//! Failing: edits of one file that fail, or leave it as it was; reading in between does not help. Reverting: a file
//! goes back to an old state again and again with nothing new in between, in this file or elsewhere. Undoing a change once to see a test fail,
//! and doing it again, is two such returns; the third is told.

use super::streak::Streak;
use super::{Context, Found, Happening, Rule};
use crate::detect::action::ToolClass;
use crate::detect::memory::Memory;
use crate::detect::progress::pair;
use crate::detect::round::Step;
use crate::rule;
use crate::setting::{Scope, THRESHOLD};
use crate::text::fast;

rule! {
    /// Edits of one file that fail or leave it as it was (`failing_edit`); reading in between does not help, a real
    /// change does.
    ///
    /// A file returns to an old state with no new state in between (`edit_revert`). Undoing a fix once to see a test
    /// fail, and doing it again, are two returns and silent.
    evidence {
        FAILING_EDIT = "failing_edit", rank 140;
        EDIT_REVERT = "edit_revert", rank 150;
    }
    settings {
        /// Edits of one file that fail or change nothing.
        failing_edit_threshold: u32 = 3, "failingEditThreshold", THRESHOLD, Scope::VERDICT;
        /// Returns of a file to an old state with no new state in between.
        edit_revert_threshold: u32 = 3, "editRevertThreshold", THRESHOLD, Scope::VERDICT;
    }
}

const REMEMBERED: usize = 256;

#[derive(Debug, Clone)]
pub struct Edits {
    failing: Memory<Streak>,
    reverts: Memory<Reverts>,
}

/// Returns of one file, with nothing new anywhere in between.
#[derive(Debug, Clone, Default)]
struct Reverts {
    epoch: u64,
    streak: Streak,
}

impl Default for Edits {
    fn default() -> Self {
        Self { failing: Memory::new(REMEMBERED), reverts: Memory::new(REMEMBERED) }
    }
}

impl Rule for Edits {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found) {
        match what {
            Happening::User => *self = Self::default(),
            Happening::Step { step, fresh: true } if step.action.class == ToolClass::Edit && !step.outage => {
                self.step(step, context, found);
            }
            _ => {}
        }
    }
}

impl Edits {
    fn step(&mut self, step: &Step, context: &Context<'_>, found: &mut Found) {
        let action = &*step.action;
        let Some(path) = action.path.as_deref() else { return };
        let path = fast(path.as_bytes());
        let failing = self.failing.entry(path, Streak::default);
        if step.world || step.reverted {
            failing.clear();
        } else {
            failing.hit(step.at, context);
            let what = "edits of one file that fail or change nothing,";
            let report = failing.report(
                context.settings.edits.failing_edit_threshold,
                FAILING_EDIT,
                pair(path, 5),
                what,
                step.at,
            );
            found.extend(report.map(|report| report.about(action)));
        }
        let reverts = self.reverts.entry(path, Reverts::default);
        if reverts.epoch != context.epoch {
            *reverts = Reverts { epoch: context.epoch, ..Reverts::default() };
        }
        if step.reverted {
            reverts.streak.hit(step.at, context);
            let threshold = context.settings.edits.edit_revert_threshold;
            let what = "a file goes back to an old state,";
            let report = reverts.streak.report(threshold, EDIT_REVERT, pair(path, 6), what, step.at);
            found.extend(report.map(|report| report.about(action)));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::detect::story::Story;
    use serde_json::json;

    #[test]
    fn edits_of_one_file_that_fail_are_told_at_the_third_whatever_is_read_between() {
        let mut story = Story::new();
        story.times(3, |story, n| {
            story.fails(
                "edit",
                json!({ "path": "a.ts", "oldText": "foo", "newText": format!("bar{n}") }),
                "Could not find the text",
            );
            story.reads("a.ts", u64::from(n) * 50 + 1, 50);
        });
        assert_eq!(story.first("failing_edit"), Some(5));
    }

    #[test]
    fn a_file_that_goes_back_and_forth_is_told_at_the_third_return() {
        let mut story = Story::new();
        for state in ["a", "b", "a", "b", "a"] {
            story.edits("f", state).bash_fails("npm test", &format!("fails with {state}"));
        }
        assert_eq!(story.first("edit_revert"), Some(9));
    }

    #[test]
    fn undoing_once_to_see_the_test_fail_is_work() {
        let mut story = Story::new();
        story
            .edits("f", "fix")
            .bash("npm test", "ok")
            .edits("f", "broken")
            .bash_fails("npm test", "1 failed")
            .edits("f", "fix")
            .bash("npm test", "ok");
        story.is_silent();
    }

    #[test]
    fn a_line_that_comes_and_goes_around_new_edits_elsewhere_is_no_ping_pong() {
        let mut story = Story::new();
        story.times(10, |story, n| {
            story.edits("test.ts", "only");
            story.edits("src.ts", &format!("v{n}"));
            story.edits("test.ts", "all");
        });
        assert_eq!(story.first("edit_revert"), None);
    }

    #[test]
    fn failing_edits_their_error_and_the_reads_between_them_are_one_trouble() {
        let mut story = Story::new();
        story.times(11, |story, n| {
            story.fails(
                "edit",
                json!({ "path": "a.rs", "oldText": format!("x{n}"), "newText": "y" }),
                "Could not find it",
            );
            story.reads("a.rs", 1, 100);
        });
        let told: Vec<u32> = story.found.iter().map(|(call, _, _)| *call).collect();
        assert_eq!(told, [5, 11, 17]);
    }
}
