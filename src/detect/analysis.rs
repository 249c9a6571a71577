//! The verdict as it is published: evidence, confidence, reasons and the evidence key.

use std::fmt::Write as _;

use super::evidence::{Evidence, EvidenceType};
use crate::text::sha256_hex;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Confidence {
    #[default]
    Low,
    Medium,
    High,
}

impl Confidence {
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    pub fn parse(name: &str) -> Self {
        match name {
            "medium" => Self::Medium,
            "high" => Self::High,
            _ => Self::Low,
        }
    }
}

/// What is known of an agent now.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StuckAnalysis {
    pub likely_stuck: bool,
    pub confidence: Confidence,
    pub evidence: Vec<Evidence>,
    /// Empty without evidence.
    pub evidence_key: String,
}

impl StuckAnalysis {
    pub fn from_evidence(mut evidence: Vec<Evidence>) -> Self {
        evidence.sort_by(|a, b| {
            (a.kind, a.first_at, a.trigger)
                .partial_cmp(&(b.kind, b.first_at, b.trigger))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        let mut kinds: Vec<EvidenceType> = evidence.iter().map(|e| e.kind).collect();
        kinds.dedup();
        let confidence = match kinds.len() {
            0 => Confidence::Low,
            1 => Confidence::Medium,
            _ => Confidence::High,
        };
        Self { likely_stuck: !evidence.is_empty(), confidence, evidence_key: evidence_key(&evidence), evidence }
    }

    pub fn reasons(&self) -> impl Iterator<Item = &str> {
        self.evidence.iter().map(|e| e.summary.as_str())
    }
}

/// First 16 hex digits of SHA-256 over the sorted types and their triggers. Counts and times are left out: an
/// incident that goes on keeps its key.
fn evidence_key(evidence: &[Evidence]) -> String {
    if evidence.is_empty() {
        return String::new();
    }
    let mut parts: Vec<String> = evidence.iter().map(|e| format!("{}:{:032x}", e.kind.name(), e.trigger)).collect();
    parts.sort_unstable();
    parts.dedup();
    let mut text = String::new();
    for part in parts {
        let _ = writeln!(text, "{part}");
    }
    let mut hex = sha256_hex(text.as_bytes());
    hex.truncate(16);
    hex
}
