//! What a replay gives: findings with their place in the file, warnings and sums. No text for people here.

use crate::trace::Usage;

/// At most so many warnings are kept; a file of garbage must not fill the memory with complaints.
const LISTED_WARNINGS: usize = 100;

/// A finding and where it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Located<F> {
    pub finding: F,
    /// 0-based index of the event within its branch (or trace).
    pub event_index: u64,
    /// 1-based line of the file.
    pub line: u64,
    pub entry_id: Option<String>,
    /// Last entry of the branch, for sessions with several; for a shared part, of the youngest branch that has it.
    pub branch: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Report<F> {
    pub kind: &'static str,
    pub session_id: Option<String>,
    pub lines: u64,
    /// Events, each counted once however many branches share it.
    pub events: u64,
    pub branches: u32,
    /// In file order.
    pub findings: Vec<Located<F>>,
    pub warnings: Warnings,
    pub usage: Usage,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub line: u64,
    pub message: String,
}

/// The first warnings, and the number of all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Warnings {
    pub listed: Vec<Warning>,
    pub count: u64,
}

impl Warnings {
    pub(super) fn add(&mut self, line: u64, message: impl Into<String>) {
        self.count += 1;
        if self.listed.len() < LISTED_WARNINGS {
            self.listed.push(Warning { line, message: message.into() });
        }
    }
}

/// Findings of one labelled case, with the index of the event that caused each.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseResult<F> {
    pub id: String,
    pub findings: Vec<(usize, F)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Cases<F> {
    pub results: Vec<CaseResult<F>>,
    pub warnings: Warnings,
}
