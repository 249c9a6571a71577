//! `empty_results`: varied questions, always the same nothing.
//!
//! Searches that all come back empty, and questions to one program that only looks and always gives the very same
//! answer. Seven membership checks in a row are legitimate, the eighth is told. An answer with something in it, a
//! change of the world and a person start anew.

use super::streak::Streak;
use super::{Context, Happening, Rule};
use crate::detect::evidence::{EvidenceType, Report};
use crate::detect::progress::pair;
use crate::detect::round::Step;

#[derive(Debug, Clone, Default)]
pub struct Empty {
    epoch: u64,
    searches: Streak,
    same: Streak,
    /// Subject and outcome of `same`.
    answer: u128,
}

impl Rule for Empty {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, reports: &mut Vec<Report>) {
        match what {
            Happening::User => *self = Self::default(),
            Happening::Step { step, fresh: true } if !step.outage => self.step(step, context, reports),
            _ => {}
        }
    }
}

impl Empty {
    fn step(&mut self, step: &Step, context: &Context<'_>, reports: &mut Vec<Report>) {
        let action = &*step.action;
        if self.epoch != context.epoch {
            *self = Self { epoch: context.epoch, ..Self::default() };
        }
        let threshold = context.config.empty_result_threshold;
        if action.search && !step.empty {
            self.searches.clear();
        } else if action.search && step.news {
            self.searches.hit(step.at, context);
            let what = "searches that find nothing";
            let report = self.searches.report(threshold, EvidenceType::EmptyResults, 4, what, step.at);
            reports.extend(report.map(|report| report.about(action)));
        }
        if !action.looks || action.polls {
            self.same.clear();
            return;
        }
        let answer = pair(action.subject, step.outcome);
        if answer != self.answer {
            self.answer = answer;
            self.same.clear();
        }
        self.same.hit(step.at, context);
        let what = "different questions, the very same answer";
        let report = self.same.report(threshold, EvidenceType::EmptyResults, answer, what, step.at);
        reports.extend(report.map(|report| report.about(action)));
    }
}
