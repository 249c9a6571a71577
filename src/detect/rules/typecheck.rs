//! `typecheck_loop`: the same type check fails in the same way and nothing was changed in between.
//!
//! Told earlier than a plain repetition (`typecheckRepeatThreshold`): a type checker is deterministic.

use std::sync::Arc;

use super::{Context, Found, Happening, Rule, times};
use crate::detect::evidence::{Evidence, LoopCost, Report};
use crate::detect::round::Step;
use crate::rule;
use crate::setting::{Scope, THRESHOLD};

rule! {
    /// The same type check fails with the same output and nothing was changed in between. The first time this is a
    /// remark (`info`); as a plain repetition it becomes a warning.
    evidence {
        TYPECHECK_LOOP = "typecheck_loop", rank 50;
    }
    settings {
        /// Runs of the same failing type check with nothing changed in between.
        typecheck_repeat_threshold: u32 = 2, "typecheckRepeatThreshold", THRESHOLD, Scope::VERDICT;
    }
}

#[derive(Debug, Clone, Default)]
pub struct Typecheck {
    /// The latest failing check: step hash, epoch of the world, rounds.
    failing: Option<Failing>,
}

#[derive(Debug, Clone)]
struct Failing {
    hash: u128,
    epoch: u64,
    round: u64,
    count: u32,
    first_at: f64,
    cost: LoopCost,
}

impl Rule for Typecheck {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found) {
        match what {
            Happening::User => self.failing = None,
            Happening::Step { step, fresh: true } if step.action.typecheck && !step.outage => {
                self.step(step, context, found);
            }
            _ => {}
        }
    }
}

impl Typecheck {
    fn step(&mut self, step: &Step, context: &Context<'_>, found: &mut Found) {
        if !step.is_error {
            self.failing = None;
            return;
        }
        let hash = step.hash();
        let failing = match &mut self.failing {
            Some(failing) if failing.hash == hash && failing.epoch == context.epoch => {
                if failing.round != context.round.number {
                    failing.round = context.round.number;
                    failing.count += 1;
                    failing.cost.add(&context.round.usage, failing.first_at, step.at);
                }
                failing
            }
            other => other.insert(Failing {
                hash,
                epoch: context.epoch,
                round: context.round.number,
                count: 1,
                first_at: step.at,
                cost: LoopCost::default(),
            }),
        };
        let threshold = context.settings.typecheck.typecheck_repeat_threshold;
        if threshold > 0 && failing.count >= threshold.max(2) {
            found.push(Report {
                evidence: Evidence {
                    kind: TYPECHECK_LOOP,
                    summary: format!(
                        "same type check failed {} in the same way, nothing changed in between",
                        times(failing.count)
                    ),
                    count: failing.count,
                    period: 1,
                    command: Some(Arc::clone(&step.action.key)),
                    first_at: failing.first_at,
                    last_at: step.at,
                    trigger: hash,
                },
                members: vec![step.action.hash],
                distance: threshold,
                early: failing.count < context.settings.repeat.repeat_threshold,
                mild: false,
                cost: failing.cost,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::detect::Severity;
    use crate::detect::story::Story;

    #[test]
    fn the_second_equal_failure_is_a_remark_and_the_third_a_warning() {
        let mut story = Story::new();
        story.times(3, |story, _| {
            story.bash_fails("npx tsc --noEmit", "a.ts(3,1): error TS2304");
        });
        assert_eq!((story.found[0].0, story.found[0].2), (2, Severity::Info));
        assert_eq!((story.found[1].0, story.found[1].2), (3, Severity::Warning));
    }

    #[test]
    fn another_error_or_an_edit_in_between_is_no_loop() {
        let mut story = Story::new();
        story.bash_fails("tsc", "TS2304").bash_fails("tsc", "TS2339");
        story.edits("a.ts", "1").bash_fails("tsc", "TS2339");
        story.is_silent();
    }
}
