//! The intervention `polling`: asking again and again how something is getting on, without a pause. How many equal answers
//! make a repetition is the same key's business; see `repeat.rs` and `cycle.rs`.

use super::count::Count;
use super::{Context, Found, Happening, Rule};
use crate::detect::round::PATIENCE_MS;
use crate::rule;
use crate::setting::{Scope, THRESHOLD};

rule! {
    /// A poll may get the same answer so often before it counts as a repetition; polls that lie 20 seconds apart wait and
    /// never do. At ten equal answers the intervention `polling` proposes a wait that blocks.
    interventions {
        /// ten polls with the same answer (a remark)
        POLLING = "polling", severity Info, proposes Steer, audience People,
            state "polling instead of waiting", brief "polling";
    }
    settings {
        /// Equal answers to polls that follow each other without a pause.
        polling_threshold: u32 = 20, "pollingThreshold", THRESHOLD, Scope::VERDICT;
    }
}

/// Equal answers to a poll after which waiting is better than asking.
const PATIENT_POLLS: u32 = 10;

#[derive(Debug, Clone, Default)]
pub struct Polling {
    polls: Count,
    /// The poll and its answer.
    poll: u128,
    polled_at: f64,
}

impl Rule for Polling {
    fn observe(&mut self, what: Happening<'_>, _: &Context<'_>, found: &mut Found) {
        match what {
            Happening::User => *self = Self::default(),
            Happening::Step { step, .. } if step.polls && !step.outage => {
                let poll = step.hash();
                if poll != self.poll {
                    *self = Self { polls: Count::default(), poll, polled_at: step.called_at };
                }
                let waited = step.waited || step.called_at - self.polled_at >= PATIENCE_MS;
                self.polled_at = step.at;
                if !waited && self.polls.hit(PATIENT_POLLS) {
                    let polls = self.polls.value;
                    let reason = format!(
                        "{polls} polls with the same answer: a wait that blocks until something happens would cost one"
                    );
                    found.intervene(POLLING, reason);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::detect::story::Story;

    #[test]
    fn ten_polls_with_the_same_answer_get_a_remark() {
        let mut story = Story::new();
        story.times(10, |story, _| {
            story.bash("gh run view 5", "in progress");
        });
        assert_eq!(story.first("intervention:polling"), Some(10));
        assert_eq!(story.found.len(), 1);
    }
}
