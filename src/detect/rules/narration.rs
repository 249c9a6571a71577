//! `empty_turns` and `narration`: messages that ask for no tool and get nowhere.
//!
//! Empty: no text, or a stop reason that promises a call that is not there. Narration: work is announced and not
//! taken up, or the same question is put again whatever the answer. A person's "continue" does not clear it; a tool
//! call does.

use super::streak::Streak;
use super::{Context, Found, Happening, Rule};
use crate::detect::speech::Speech;
use crate::rule;
use crate::setting::{Scope, THRESHOLD};

rule! {
    /// Messages in a row with no tool call that are empty, announce work that is not taken up, or put the same question
    /// whatever the answer. A person's "continue" does not clear it. A stop reason that promises a call that is not
    /// there is reported at once. *Limits*: announcements are read in English.
    evidence {
        EMPTY_TURNS = "empty_turns", rank 180, at_the_end true;
        NARRATION = "narration", rank 190, at_the_end true, outlives_person true;
    }
    settings {
        /// Messages in a row that announce work, ask the same question or are empty, without a tool call.
        narration_threshold: u32 = 3, "narrationThreshold", THRESHOLD, Scope::VERDICT;
    }
}

#[derive(Debug, Clone, Default)]
pub struct Narration {
    empty: Streak,
    announced: Streak,
    /// Messages stand in no round of their own: each counts.
    asked: Streak,
    question: u128,
    messages: u64,
}

impl Rule for Narration {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found) {
        match what {
            Happening::Step { .. } | Happening::Notice => *self = Self::default(),
            Happening::Message { body, empty, speech: Speech { announces, asks, .. }, promised } => {
                self.messages += 1;
                let threshold = context.settings.narration.narration_threshold;
                let now = context.now;
                if empty || promised {
                    self.empty.hit(now, context);
                    // A promised call that is not there leaves the agent hanging at once.
                    let enough = if promised && threshold > 0 { 1 } else { threshold };
                    if enough > 0 && self.empty.count >= enough {
                        let report = self.empty.report_from(enough, EMPTY_TURNS, 10, "empty answers", now);
                        found.extend(report);
                    }
                    return;
                }
                if announces {
                    self.announced.hit(now, context);
                    let what = "work is announced and not taken up,";
                    found.extend(self.announced.report(threshold, NARRATION, 11, what, now));
                }
                if asks && body == self.question {
                    self.asked.hit(now, context);
                    let what = "the same question, whatever the answer,";
                    found.extend(self.asked.report(threshold, NARRATION, 11, what, now));
                } else if asks {
                    self.question = body;
                    self.asked.clear();
                    self.asked.hit(now, context);
                } else if !announces {
                    // An answer.
                    self.announced.clear();
                    self.asked.clear();
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
    fn work_that_is_announced_three_times_and_not_taken_up_is_told_also_when_a_person_says_continue() {
        let mut story = Story::new();
        for text in ["I'll edit the parser now.", "Continuing with step 2.", "I am proceeding with the parser."] {
            story.says(text).user("continue");
        }
        assert_eq!(story.first("narration"), Some(3));
    }

    #[test]
    fn announcing_and_doing_is_work_and_answering_is_an_answer() {
        let mut story = Story::new();
        story.times(6, |story, n| {
            story.says("I'll do the next one.").bash(&format!("make step{n}"), &format!("ok {n}")).user("continue");
        });
        story.times(6, |story, n| {
            story
                .user("what is that?")
                .says(&format!("That is thing number {}.", ["one", "two", "three", "four", "five", "six"][n as usize]));
        });
        story.is_silent();
    }

    #[test]
    fn the_same_question_whatever_the_answer_is_told() {
        let mut story = Story::new();
        for answer in ["yes", "yes, read it", "no, just edit"] {
            story.says("I need to read index.html. May I read the file?").user(answer);
        }
        assert_eq!(story.first("narration"), Some(3));
    }

    #[test]
    fn empty_answers_are_told_at_the_third() {
        let mut story = Story::new();
        story.times(3, |story, _| {
            story.says("").program("The answer was empty.");
        });
        assert_eq!(story.first("empty_turns"), Some(3));
    }

    #[test]
    fn a_person_who_says_continue_does_not_bring_the_notice_again_at_once() {
        let mut story = Story::new();
        story.times(12, |story, _| {
            story.says("I will edit the parser now.").user("continue");
        });
        let told: Vec<u32> = story.found.iter().map(|(message, _, _)| *message).collect();
        assert_eq!(told, [3, 6, 12]);
    }
}
