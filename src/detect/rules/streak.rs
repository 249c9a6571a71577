//! A count of rounds in which the same thing came again, with what it cost. Shared by the rules that only count.

use std::sync::Arc;

use super::{Context, times};
use crate::detect::evidence::{Evidence, EvidenceType, LoopCost, Report};

/// Rounds with news of other things after which a recurrence is a new look, not a repetition.
pub const LONG_AGO: u64 = 5;

#[derive(Debug, Clone, Default)]
pub struct Streak {
    pub count: u32,
    pub first_at: f64,
    last_round: u64,
    news: u64,
    cost: LoopCost,
}

impl Streak {
    /// Counts the current round; a round counts once. What recurs after [`LONG_AGO`] starts anew.
    pub fn hit(&mut self, at: f64, context: &Context<'_>) {
        if context.news.saturating_sub(self.news) > LONG_AGO {
            self.clear();
        }
        self.hit_again(at, context);
    }

    /// As [`Self::hit`], however long ago the latest one was.
    pub fn hit_again(&mut self, at: f64, context: &Context<'_>) {
        self.news = context.news;
        if self.count == 0 {
            *self = Self {
                count: 1,
                first_at: at,
                last_round: context.round.number,
                news: context.news,
                ..Self::default()
            };
        } else if self.last_round != context.round.number {
            self.last_round = context.round.number;
            self.count += 1;
            self.cost.add(&context.round.usage, self.first_at, at);
        }
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Evidence from `threshold` on, at the earliest from the second time; 0 disables.
    pub fn report(&self, threshold: u32, kind: EvidenceType, trigger: u128, what: &str, at: f64) -> Option<Report> {
        (self.count > 1).then(|| self.report_from(threshold, kind, trigger, what, at)).flatten()
    }

    /// As [`Self::report`], also for what is evidence the first time.
    pub fn report_from(
        &self,
        threshold: u32,
        kind: EvidenceType,
        trigger: u128,
        what: &str,
        at: f64,
    ) -> Option<Report> {
        (threshold > 0 && self.count >= threshold).then(|| Report {
            evidence: Evidence {
                kind,
                summary: format!("{what} {}", times(self.count)),
                count: self.count,
                period: 1,
                command: None,
                first_at: self.first_at,
                last_at: at,
                trigger,
            },
            members: Vec::new(),
            distance: threshold,
            early: false,
            mild: false,
            cost: self.cost,
        })
    }
}

impl Report {
    /// The action that takes part, and its key for people.
    #[must_use]
    pub fn about(mut self, action: &crate::detect::Action) -> Self {
        self.members.push(action.hash);
        self.evidence.command = Some(Arc::clone(&action.key));
        self
    }

    #[must_use]
    pub fn mild(mut self) -> Self {
        self.mild = true;
        self
    }
}
