//! What a rule reports: the kind of evidence, what repeats, how often and at what cost.

use std::sync::Arc;

pub use crate::kinds::EvidenceType;
use crate::trace::Usage;

/// What the repeated rounds used; the first round of a loop is work, not waste, and is left out.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct LoopCost {
    pub rounds: u32,
    pub tokens: f64,
    pub usd: f64,
    /// Milliseconds from the first round of the loop to its latest.
    pub wall_ms: f64,
}

impl LoopCost {
    /// Adds one repeated round.
    pub fn add(&mut self, usage: &Usage, first_at: f64, now: f64) {
        self.rounds += 1;
        self.tokens += usage.total_tokens();
        self.usd += usage.cost_usd;
        self.wall_ms = now - first_at;
    }
}

/// One piece of evidence, for people and programs.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    pub kind: EvidenceType,
    pub summary: String,
    /// Rounds that repeat; laps for cycles; seconds for idleness.
    pub count: u32,
    /// Steps of one lap; 1 for a plain repetition, 0 where it has no meaning.
    pub period: u32,
    pub command: Option<Arc<str>>,
    pub first_at: f64,
    pub last_at: f64,
    /// What triggers it: the rotation-free identity of what repeats.
    pub trigger: u128,
}

/// A rule's statement that its evidence holds at this event.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub evidence: Evidence,
    /// Actions that take part; reports that share one belong to one incident. Empty for prose and idleness.
    pub members: Vec<u128>,
    /// Rounds between two notices of one incident, before doubling: threshold × period.
    pub distance: u32,
    /// Certain enough to be seen, too early to interrupt: the first notice is only a remark.
    pub early: bool,
    /// Real work goes on all the same: never more than a warning.
    pub mild: bool,
    pub cost: LoopCost,
}
