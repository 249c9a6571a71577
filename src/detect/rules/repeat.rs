//! `repeated_command` and `repeated_output`: the same action again and again.
//!
//! Same outcome: told from `repeatThreshold` on when the calls follow each other, one later when other calls lie
//! between (a cycle of these calls is then found first), and at twice the threshold when those other calls brought
//! news. Changing outcome: a remark of its own from `changingOutputThreshold` on, only when nothing else is asked in
//! between, and never for a poll or a counter that moves. A change of the world starts every streak anew.

use std::sync::Arc;

use super::{Context, Happening, Rule, times};
use crate::detect::evidence::{Evidence, EvidenceType, LoopCost, Report};
use crate::detect::memory::Memory;
use crate::detect::round::Step;

/// Actions remembered per agent, at least.
const REMEMBERED: usize = 1024;

/// Polls that lie so far apart wait; milliseconds.
const PATIENCE_MS: f64 = 20_000.0;

/// Rounds with news between two equal steps after which the second is no repetition but a new look.
const LONG_AGO: u64 = 10;

#[derive(Debug, Clone, Default)]
struct Streak {
    epoch: u64,
    outcome: u128,
    shape: u128,
    count: u32,
    first_at: f64,
    last_at: f64,
    last_round: u64,
    /// Rounds of news seen when the latest repetition came, and when the streak began.
    news_before: u64,
    news_at_start: u64,
    /// Calls of other actions lay between.
    interleaved: bool,
    /// Consecutive calls with materially different outcomes.
    changes: u32,
    changes_first_at: f64,
    cost: LoopCost,
    changes_cost: LoopCost,
}

#[derive(Debug, Clone)]
pub struct Repeat {
    streaks: Memory<Streak>,
    /// Rounds that brought news, so far; a round counts once.
    news: u64,
    news_round: u64,
    /// Waiting is over for streaks before this user message.
    person: u64,
}

impl Default for Repeat {
    fn default() -> Self {
        Self { streaks: Memory::new(REMEMBERED), news: 0, news_round: 0, person: 0 }
    }
}

impl Rule for Repeat {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, reports: &mut Vec<Report>) {
        match what {
            Happening::User => self.person += 1,
            Happening::Step { step, fresh: true } if !step.outage => self.step(step, context, reports),
            _ => {}
        }
    }
}

impl Repeat {
    fn step(&mut self, step: &Step, context: &Context<'_>, reports: &mut Vec<Report>) {
        let round = context.round.number;
        let epoch = context.epoch + self.person;
        // News of this very round lies not "between" two looks.
        let news = self.news - u64::from(self.news_round == round);
        let streak = self.streaks.entry(step.action.hash, Streak::default);

        let restarted = streak.count == 0 || streak.epoch != epoch || news - streak.news_before.min(news) > LONG_AGO;
        if restarted || streak.outcome != step.outcome {
            let moved = !restarted && streak.outcome != step.outcome;
            let material = moved && streak.shape != step.shape && round - streak.last_round <= 1;
            let (changes, since, cost) = if material && round != streak.last_round {
                let mut cost = streak.changes_cost;
                cost.add(&context.round.usage, streak.changes_first_at, step.at);
                (streak.changes + 1, streak.changes_first_at, cost)
            } else {
                (1, step.at, LoopCost::default())
            };
            *streak = Streak {
                epoch,
                outcome: step.outcome,
                shape: step.shape,
                count: 1,
                first_at: step.at,
                changes,
                changes_first_at: since,
                changes_cost: cost,
                news_at_start: news,
                ..Streak::default()
            };
        } else if round != streak.last_round {
            let waits = step.action.polls && step.called_at - streak.last_at >= PATIENCE_MS;
            if !waits {
                streak.count += 1;
            }
            streak.interleaved |= round - streak.last_round > 1;
            streak.changes = 1;
            streak.cost.add(&context.round.usage, streak.first_at, step.at);
        }
        streak.last_at = step.at;
        streak.last_round = round;
        streak.news_before = news;

        let base = context.config.repeat_threshold;
        let threshold = if step.action.polls {
            base.max(context.config.polling_threshold)
        } else if news > streak.news_at_start && streak.interleaved {
            base * 2
        } else {
            base + u32::from(streak.interleaved)
        };
        let changing = context.config.changing_output_threshold;
        if base > 0 && streak.count >= threshold.max(2) {
            report_same(step, streak, threshold, reports);
        } else if changing > 0 && streak.changes >= changing.max(2) && !step.action.polls {
            reports.push(Report {
                evidence: Evidence {
                    kind: EvidenceType::RepeatedCommand,
                    summary: format!("same command repeated {} with changing results", times(streak.changes)),
                    count: streak.changes,
                    period: 1,
                    command: Some(Arc::clone(&step.action.key)),
                    first_at: streak.changes_first_at,
                    last_at: step.at,
                    trigger: step.action.hash,
                },
                members: vec![step.action.hash],
                distance: changing,
                early: false,
                mild: false,
                cost: streak.changes_cost,
            });
        }
        if step.news && self.news_round != round {
            self.news += 1;
            self.news_round = round;
        }
    }
}

fn report_same(step: &Step, streak: &Streak, threshold: u32, reports: &mut Vec<Report>) {
    let what = if step.is_error { "same failing command" } else { "same command" };
    let evidence = |kind, summary, trigger| Evidence {
        kind,
        summary,
        count: streak.count,
        period: 1,
        command: Some(Arc::clone(&step.action.key)),
        first_at: streak.first_at,
        last_at: step.at,
        trigger,
    };
    let report = |evidence| Report {
        evidence,
        members: vec![step.action.hash],
        distance: threshold,
        early: false,
        mild: false,
        cost: streak.cost,
    };
    let count = times(streak.count);
    reports.push(report(evidence(EvidenceType::RepeatedCommand, format!("{what} repeated {count}"), step.action.hash)));
    reports.push(report(evidence(EvidenceType::RepeatedOutput, format!("same output repeated {count}"), step.hash())));
}
