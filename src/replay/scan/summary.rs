//! What a scan adds up. All sums are of whole numbers and all lists are sorted and bounded: the same files give the same
//! summary, whatever the order in which they were done.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts saturate, and sums are not negative"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::Report;
use crate::detect::{Finding, LoopCost, Severity};
use crate::trace::Usage;

/// At most so many files are named in warnings.
const LISTED_WARNINGS: usize = 100;

/// A sum of costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Total {
    /// Billionths of a dollar: as floating point the sum would depend on its order.
    nano_usd: u64,
    tokens: u64,
    wall_ms: u64,
    rounds: u64,
}

impl Total {
    fn of(cost: &LoopCost) -> Self {
        Self {
            nano_usd: (cost.usd * 1e9).round() as u64,
            tokens: cost.tokens as u64,
            wall_ms: cost.wall_ms as u64,
            rounds: cost.rounds.into(),
        }
    }

    fn used(usage: &Usage) -> Self {
        Self::of(&LoopCost { tokens: usage.total_tokens(), usd: usage.cost_usd, ..LoopCost::default() })
    }

    fn add(&mut self, more: Self) {
        self.nano_usd = self.nano_usd.saturating_add(more.nano_usd);
        self.tokens = self.tokens.saturating_add(more.tokens);
        self.wall_ms = self.wall_ms.saturating_add(more.wall_ms);
        self.rounds = self.rounds.saturating_add(more.rounds);
    }

    pub fn usd(&self) -> f64 {
        self.nano_usd as f64 / 1e9
    }

    pub fn tokens(&self) -> f64 {
        self.tokens as f64
    }

    pub fn wall_ms(&self) -> f64 {
        self.wall_ms as f64
    }

    pub fn rounds(&self) -> f64 {
        self.rounds as f64
    }
}

/// What was found of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// An evidence type, or `intervention:<kind>`.
    pub rule: &'static str,
    /// Incidents; for interventions how often one was called for.
    pub count: u64,
    /// Sessions that have one.
    pub sessions: u64,
    pub cost: Total,
}

/// A session in which the agent was stuck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub path: PathBuf,
    pub id: Option<String>,
    pub incidents: u64,
    pub rules: Vec<&'static str>,
    pub cost: Total,
    pub usage: Total,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// All that were found, and their sizes together.
    pub files: u64,
    pub bytes: u64,
    /// Sessions in which something happened that counts.
    pub sessions: u64,
    /// Sessions in which nothing did: all of it is older than what was asked for, or they hold no event.
    pub older: u64,
    /// Files and folders that could not be read or are no sessions.
    pub lost: u64,
    pub events: u64,
    pub usage: Total,
    rows: BTreeMap<&'static str, Row>,
    /// Findings that are remarks only.
    pub remarks: u64,
    /// Sessions with an incident.
    pub stuck_sessions: u64,
    costliest: Vec<Session>,
    most: usize,
    /// By path, so that the same ones are kept in every order.
    warnings: BTreeMap<PathBuf, String>,
    pub warning_count: u64,
}

/// An incident of a session.
struct Incident {
    /// The one that told it first.
    rule: &'static str,
    /// Of its runs before the latest: an incident that is taken up again after other work counts from zero.
    before: Total,
    run: Total,
    /// When it was told last.
    at: f64,
}

impl Incident {
    fn new(finding: &Finding) -> Self {
        Self { rule: finding.rule, before: Total::default(), run: Total::of(&finding.cost), at: finding.at }
    }

    fn told_again(&mut self, finding: &Finding) {
        let run = Total::of(&finding.cost);
        let began = finding.at - finding.cost.wall_ms;
        if began > self.at || run.rounds < self.run.rounds {
            self.before.add(self.run);
        }
        self.run = run;
        self.at = finding.at;
    }

    fn cost(&self) -> Total {
        let mut cost = self.before;
        cost.add(self.run);
        cost
    }
}

impl Summary {
    pub(super) fn new(costliest: usize) -> Self {
        Self { most: costliest, ..Self::default() }
    }

    pub(super) fn older(&mut self) {
        self.older += 1;
    }

    /// Pi has created the file and written nothing yet, or lost it all.
    pub(super) fn empty(&mut self) {
        self.older += 1;
    }

    pub(super) fn lost(&mut self, path: PathBuf, message: String) {
        self.lost += 1;
        self.warn(path, message);
    }

    fn warn(&mut self, path: PathBuf, message: String) {
        self.warning_count += 1;
        self.warnings.insert(path, message);
        if self.warnings.len() > LISTED_WARNINGS {
            self.warnings.pop_last();
        }
    }

    pub(super) fn add(&mut self, path: &Path, report: Report<Finding>) {
        if let Some(first) = report.warnings.listed.first() {
            let lines = match report.warnings.count {
                1 => "a line".to_owned(),
                count => format!("{count} lines"),
            };
            self.warn(
                path.to_owned(),
                format!("{lines} with a warning, the first is line {}: {}", first.line, first.message),
            );
        }
        if report.events == 0 {
            return self.older();
        }
        self.sessions += 1;
        self.events += report.events;
        let usage = Total::used(&report.usage);
        self.usage.add(usage);
        let (incidents, interventions) = self.sorted(&report);
        self.count(incidents.iter().map(|incident| (incident.rule, incident.cost())));
        self.count(interventions.iter().map(|rule| (*rule, Total::default())));
        if incidents.is_empty() {
            return;
        }
        self.stuck_sessions += 1;
        let mut session = Session {
            path: path.to_owned(),
            id: report.session_id,
            incidents: incidents.len() as u64,
            rules: Vec::new(),
            cost: Total::default(),
            usage,
        };
        for incident in incidents {
            session.cost.add(incident.cost());
            if !session.rules.contains(&incident.rule) {
                session.rules.push(incident.rule);
            }
        }
        let at = self.costliest.partition_point(|other| (other.cost, &session.path) > (session.cost, &other.path));
        self.costliest.insert(at, session);
        self.costliest.truncate(self.most);
    }

    /// Verdicts by incident, and the rules of interventions. Remarks are counted.
    fn sorted(&mut self, report: &Report<Finding>) -> (Vec<Incident>, Vec<&'static str>) {
        let mut incidents: Vec<Incident> = Vec::new();
        let mut known = BTreeMap::new();
        let mut interventions = Vec::new();
        for located in &report.findings {
            let finding = &located.finding;
            if finding.intervention.is_some() {
                interventions.push(finding.rule);
            } else if finding.severity == Severity::Info {
                self.remarks += 1;
            } else {
                let key = (&located.branch, &finding.agent, &finding.incident);
                // The same loop after a person spoke is a new incident: its notices begin again.
                let going_on = known.get(&key).filter(|_| finding.ordinal > 1);
                if let Some(incident) = going_on.and_then(|index: &usize| incidents.get_mut(*index)) {
                    incident.told_again(finding);
                } else {
                    known.insert(key, incidents.len());
                    incidents.push(Incident::new(finding));
                }
            }
        }
        (incidents, interventions)
    }

    /// Adds what one session holds.
    fn count(&mut self, found: impl Iterator<Item = (&'static str, Total)>) {
        let mut seen = Vec::new();
        for (rule, cost) in found {
            let row = self.rows.entry(rule).or_insert(Row { rule, count: 0, sessions: 0, cost: Total::default() });
            row.count += 1;
            row.cost.add(cost);
            if !seen.contains(&rule) {
                row.sessions += 1;
                seen.push(rule);
            }
        }
    }

    /// Rows of verdicts, the costliest first.
    pub fn incidents(&self) -> Vec<&Row> {
        self.rows_where(|rule| !rule.starts_with("intervention:"))
    }

    /// Rows of interventions, the most frequent first.
    pub fn interventions(&self) -> Vec<&Row> {
        self.rows_where(|rule| rule.starts_with("intervention:"))
    }

    fn rows_where(&self, belongs: impl Fn(&str) -> bool) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.values().filter(|row| belongs(row.rule)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.cost, row.count)));
        rows
    }

    /// The sessions whose loops cost most, the costliest first.
    pub fn costliest(&self) -> &[Session] {
        &self.costliest
    }

    /// By path; at most 100 of [`Summary::warning_count`].
    pub fn warnings(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.warnings.iter().map(|(path, message)| (path.as_path(), message.as_str()))
    }
}
