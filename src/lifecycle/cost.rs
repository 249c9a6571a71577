//! What a tree of agents uses, and when a limit is reached. Sums only; who is told is the family's business.

use super::fields::Fields;
use super::words::money;
use super::{CROWD, Family, Id, NewReport, ROOT, matter};
use crate::detect::Severity;
use crate::rule;
use crate::setting::{Scope, Shape};
use crate::trace::Usage;

rule! {
    /// Money, summed over agents.
    interventions {
        /// the tree, or one agent, used so much; remarks at 50 and 80 %, then the limit and each doubling of it
        EXCESSIVE_COST = "excessive_cost", proposes Warn, audience MainAgent,
            state "over its cost limit", brief "cost limit", limit true,
            itself [
                "Tell the user what was spent and ask whether to go on before you spend more.",
                "The user can raise the limit: /watchdog set costLimitUsd <dollars>",
            ],
            others [
                "Tell the user what was spent and ask whether it shall go on. The user can end it by {stop}",
                "The user can raise the limit: /watchdog set costLimitUsd <dollars>",
            ];
    }
    settings {
        /// US dollars that one agent, or a main session with all its sub-agents, may use before it is reported; remarks at
        /// 50 and 80 %. Nothing is stopped. 0: off.
        cost_limit_usd: f64 = 1.0, "costLimitUsd", Shape::Usd { max: 1_000_000.0 }, Scope::REPORT;
    }
}

/// Parts of the limit at which there is a remark, before the limit itself; then at every doubling.
const REMARKS: [f64; 2] = [0.5, 0.8];

#[derive(Debug, Clone, Copy, Default)]
pub struct Budget {
    pub spent: Usage,
    /// Highest part of the limit that was reported.
    reported: f64,
    /// Set by whoever started the work; counts before the configured limit.
    pub given: Option<f64>,
}

/// A level of the limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reached {
    /// US dollars.
    pub spent: f64,
    pub limit: f64,
    /// The limit itself, or more.
    pub over: bool,
}

impl Budget {
    pub fn add(&mut self, usage: Usage) {
        self.spent += usage;
    }

    /// A total that somebody else counted.
    pub fn total(&mut self, usd: f64) {
        self.spent.cost_usd = self.spent.cost_usd.max(usd);
    }

    /// The highest level that was reached since it was last asked.
    pub fn reached(&mut self, configured: f64) -> Option<Reached> {
        let limit = self.given.unwrap_or(configured);
        if limit <= 0.0 {
            return None;
        }
        let part = self.spent.cost_usd / limit;
        let level = if part >= 1.0 {
            part.log2().floor().exp2()
        } else {
            REMARKS.into_iter().rev().find(|level| part >= *level)?
        };
        if level <= self.reported {
            return None;
        }
        self.reported = level;
        Some(Reached { spent: self.spent.cost_usd, limit, over: level >= 1.0 })
    }

    /// The limit was changed: what was told of the old one does not count.
    pub fn limit_changed(&mut self) {
        self.reported = 0.0;
    }
}

/// Part of a sum that is nearly all of it.
const NEARLY_ALL: f64 = 0.9;

impl Family {
    /// Usage that somebody else counted: a total of the tree, or one request's own.
    pub(super) fn usage(&mut self, id: Id, at: f64, fields: &Fields) {
        if let Some(given) = fields.number("budgetUsd").filter(|usd| *usd > 0.0) {
            self.budget.given = Some(given);
        }
        if let Some(usd) = fields.number("usd").filter(|usd| *usd > 0.0) {
            self.spend(id, Usage { cost_usd: usd, ..Usage::default() }, at);
        }
        if let Some(total) = fields.number("totalUsd") {
            self.budget.total(total);
            self.look_at_costs(ROOT, at);
        }
    }

    pub(super) fn look_at_costs(&mut self, id: Id, at: f64) {
        let limit = self.settings.cost.cost_limit_usd;
        if let Some(reached) = self.budget.reached(limit) {
            let reason = self.words_of_cost(&reached, true);
            self.cost(ROOT, at, reached.over, reason);
        }
        let tree = self.budget.spent.cost_usd;
        // One that has used nearly all of it is named in what is said of the tree.
        let alone = self.member(id).budget.spent.cost_usd >= NEARLY_ALL * tree;
        if id != ROOT
            && id != CROWD
            && let Some(reached) = self.member_mut(id).budget.reached(limit).filter(|reached| reached.over)
            && !(alone && self.member(id).budget.given.is_none())
        {
            let reason = self.words_of_cost(&reached, false);
            self.cost(id, at, true, reason);
        }
    }

    pub(super) fn cost(&mut self, id: Id, at: f64, over: bool, reason: String) {
        let severity = if over { Severity::Warning } else { Severity::Info };
        let subject = u128::from(id);
        // Remarks are counted apart: the first word of the limit itself is the first.
        let counted = matter(EXCESSIVE_COST, subject ^ (u128::from(!over) << 64));
        let ordinal = self.reported.due(counted, 0.0).unwrap_or(1);
        self.report(NewReport { kind: EXCESSIVE_COST, severity, about: id, subject, at, ordinal, reason });
    }

    pub(super) fn words_of_cost(&self, reached: &Reached, of_tree: bool) -> String {
        let Reached { spent, limit, over } = *reached;
        let (spent, limit) = (money(spent), money(limit));
        let share = if over {
            format!("{spent} was used, the limit is {limit}")
        } else {
            format!("{spent} of {limit} was used")
        };
        let mut spenders: Vec<(f64, Id)> =
            self.ids().map(|id| (self.member(id).budget.spent.cost_usd, id)).filter(|(usd, _)| *usd > 0.0).collect();
        spenders.sort_by(|a, b| b.0.total_cmp(&a.0));
        match spenders.as_slice() {
            [(_, only)] if of_tree && *only != super::ROOT => format!("{share}, all of it by {}", self.title(*only)),
            [_, _, ..] if of_tree => {
                let part = |(usd, id): &(f64, Id)| format!("{} {}", self.title(*id), money(*usd));
                format!("{share} ({})", spenders.iter().take(3).map(part).collect::<Vec<_>>().join(", "))
            }
            _ => share,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(amounts: &[f64]) -> Vec<Option<bool>> {
        let mut budget = Budget::default();
        amounts
            .iter()
            .map(|usd| {
                budget.add(Usage { cost_usd: *usd, ..Usage::default() });
                budget.reached(1.0).map(|reached| reached.over)
            })
            .collect()
    }

    #[test]
    fn there_are_remarks_at_half_and_four_fifths_and_then_the_limit_and_its_doublings() {
        let cents = [0.49, 0.01, 0.29, 0.02, 0.18, 0.01, 0.5, 0.5, 1.0, 1.1];
        let found = levels(&cents);
        let (remark, over) = (Some(false), Some(true));
        assert_eq!(found, [None, remark, None, remark, None, over, None, over, None, over]);
    }

    #[test]
    fn one_message_may_jump_over_all_levels() {
        assert_eq!(levels(&[7.0, 0.5, 0.6]), [Some(true), None, Some(true)]);
    }

    #[test]
    fn a_given_budget_counts_before_the_configured_one() {
        let mut budget = Budget { given: Some(5.0), ..Budget::default() };
        budget.total(4.0);
        assert_eq!(budget.reached(1.0).map(|reached| (reached.limit, reached.over)), Some((5.0, false)));
        assert_eq!(Budget { spent: budget.spent, ..Budget::default() }.reached(0.0), None, "no limit");
    }
}
