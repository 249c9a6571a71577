//! `repeated_llm_output` and `repeated_llm_input`: the same message again and again.
//!
//! Output: text and thinking, and for a message that asks for tools also the calls and what came of them, so that
//! "Let me check." before different calls is no repetition. Input: only what a program wrote; a person may say
//! "continue" as often as they like. News restarts both.

use super::{Context, Found, Happening, Rule, times};
use crate::detect::evidence::{Evidence, EvidenceType, LoopCost, Report};
use crate::detect::progress::pair;
use crate::rule;
use crate::setting::{Scope, THRESHOLD};
use crate::trace::Usage;

rule! {
    /// The same message in a row, numbers and times masked. A message that asks for tools counts together with its
    /// calls and their outcomes, so "Let me check." before different calls is no repetition. As input only what a
    /// program wrote counts; a person may say "continue" as often as they like.
    evidence {
        REPEATED_LLM_INPUT = "repeated_llm_input", rank 60;
        REPEATED_LLM_OUTPUT = "repeated_llm_output", rank 70;
    }
    settings {
        /// Messages in a row with the same body, to or from the model.
        llm_repeat_threshold: u32 = 3, "llmRepeatThreshold", THRESHOLD, Scope::VERDICT;
    }
}

/// One message in a row.
#[derive(Debug, Clone, Default)]
struct Row {
    body: u128,
    count: u32,
    first_at: f64,
    cost: LoopCost,
}

impl Row {
    fn take(&mut self, body: u128, now: f64, usage: &Usage) {
        if self.count > 0 && self.body == body {
            self.count += 1;
            self.cost.add(usage, self.first_at, now);
        } else {
            *self = Self { body, count: 1, first_at: now, cost: LoopCost::default() };
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Messages {
    output: Row,
    input: Row,
    /// The agent has done or said something since the latest input.
    reacted: bool,
    /// The output row before the latest round, to count a round anew when its batch goes on.
    before: Row,
}

impl Rule for Messages {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found) {
        self.reacted |= matches!(what, Happening::Message { .. });
        let threshold = context.settings.llm.llm_repeat_threshold;
        match what {
            Happening::User => *self = Self::default(),
            Happening::Notice => {
                self.output = Row::default();
                self.before = Row::default();
            }
            // Several notices that wait for one turn of the agent are one input.
            Happening::Input { .. } if self.input.count > 0 && !self.reacted => {}
            Happening::Message { empty: true, .. } | Happening::Message { promised: true, .. } => {
                self.output = Row::default();
            }
            Happening::Message { body, .. } => {
                self.output.take(body, context.now, &context.round.usage);
                report(&self.output, REPEATED_LLM_OUTPUT, &[], threshold, context, found);
            }
            Happening::Input { body } => {
                self.reacted = false;
                if self.input.count > 0 && self.input.body != body {
                    // The same answer to something else (another sub-agent is done) is no repetition.
                    self.output = Row::default();
                }
                self.input.take(body, context.now, &Usage::default());
                report(&self.input, REPEATED_LLM_INPUT, &[], threshold, context, found);
            }
            Happening::Round { again } => {
                if again {
                    self.output = self.before.clone();
                }
                self.before = self.output.clone();
                if context.round.news || context.round.polls || context.round.outage {
                    *self = Self { before: self.before.clone(), ..Self::default() };
                } else if let Some(message) = context.round.message {
                    let body = pair(message, context.round.signature);
                    self.output.take(body, context.now, &context.round.usage);
                    let members = &context.round.actions;
                    report(&self.output, REPEATED_LLM_OUTPUT, members, threshold, context, found);
                }
            }
            Happening::Step { .. } => self.reacted = true,
            _ => {}
        }
    }
}

fn report(row: &Row, kind: EvidenceType, members: &[u128], threshold: u32, context: &Context<'_>, found: &mut Found) {
    if threshold == 0 || row.count < threshold.max(2) {
        return;
    }
    let what = if kind == REPEATED_LLM_INPUT { "same input" } else { "same answer" };
    found.push(Report {
        evidence: Evidence {
            kind,
            summary: format!("{what} {} in a row", times(row.count)),
            count: row.count,
            period: 1,
            command: context.round.command.clone().filter(|_| !members.is_empty()),
            first_at: row.first_at,
            last_at: context.now,
            trigger: row.body,
        },
        members: members.to_vec(),
        distance: threshold,
        early: false,
        mild: false,
        cost: row.cost,
    });
}

#[cfg(test)]
mod tests {
    use crate::detect::story::Story;

    #[test]
    fn the_third_equal_answer_in_a_row_is_told() {
        let mut story = Story::new();
        story.times(3, |story, n| {
            story.says(&format!("Nothing to do at 10:0{n}.")).program("continue");
        });
        assert_eq!(story.first("repeated_llm_output"), Some(3));
    }

    #[test]
    fn the_same_words_before_different_work_are_no_repetition() {
        let mut story = Story::new();
        story.times(8, |story, n| {
            story.says("Let me look.").bash(&format!("cat f{n}"), &format!("text {n}"));
        });
        assert_eq!(story.first("repeated_llm_output"), None);
    }

    #[test]
    fn a_program_that_says_the_same_is_told_and_a_person_never() {
        let mut story = Story::new();
        story.times(3, |story, n| {
            story.program("go on").says(["one", "two", "three"][n as usize]);
        });
        assert!(story.first("repeated_llm_input").is_some());
        let mut story = Story::new();
        story.times(9, |story, _| {
            story.user("continue");
        });
        story.is_silent();
    }

    #[test]
    fn the_same_answer_to_other_notices_is_none_of_its_own_making() {
        let mut story = Story::new();
        story.times(6, |story, n| {
            let found = ["a leak", "two typos", "nothing", "a race", "dead code", "a bug"][n as usize];
            story.program(&format!("A sub-agent is done: {found}")).says("Noted, I wait for the others.");
        });
        story.is_silent();
    }

    #[test]
    fn the_same_answer_to_each_of_many_notices_is_no_repetition_and_without_them_it_is() {
        let mut story = Story::new();
        story.times(10, |story, _| {
            story.lifecycle("notice").says("I will keep waiting.");
        });
        story.is_silent();
        let mut story = Story::new();
        story.times(10, |story, _| {
            story.says("I will keep waiting.");
        });
        assert!(story.first("repeated_llm_output").is_some());
    }

    #[test]
    fn notices_that_wait_for_one_turn_are_one_input() {
        let mut story = Story::new();
        story.times(5, |story, n| {
            story.program(&format!("[agent {n}] completed"));
        });
        story.is_silent();
    }
}
