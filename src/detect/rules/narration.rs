//! `empty_turns` and `narration`: messages that ask for no tool and get nowhere.
//!
//! Empty: no text, or a stop reason that promises a call that is not there. Narration: work is announced and not
//! taken up, or the same question is put again whatever the answer. A person's "continue" does not clear it; a tool
//! call does.

use super::streak::Streak;
use super::{Context, Happening, Rule};
use crate::detect::evidence::{EvidenceType, Report};

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
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, reports: &mut Vec<Report>) {
        match what {
            Happening::Step { .. } => *self = Self::default(),
            Happening::Message { body, empty, announces, asks, promised } => {
                self.messages += 1;
                let threshold = context.config.narration_threshold;
                let now = context.now;
                if empty || promised {
                    self.empty.hit(now, context);
                    // A promised call that is not there leaves the agent hanging at once.
                    let enough = if promised && threshold > 0 { 1 } else { threshold };
                    if enough > 0 && self.empty.count >= enough {
                        let report = self.empty.report_from(enough, EvidenceType::EmptyTurns, 10, "empty answers", now);
                        reports.extend(report);
                    }
                    return;
                }
                if announces {
                    self.announced.hit(now, context);
                    let what = "work is announced and not taken up,";
                    reports.extend(self.announced.report(threshold, EvidenceType::Narration, 11, what, now));
                }
                if asks && body == self.question {
                    self.asked.hit(now, context);
                    let what = "the same question, whatever the answer,";
                    reports.extend(self.asked.report(threshold, EvidenceType::Narration, 11, what, now));
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
