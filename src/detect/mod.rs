//! The incremental detector: trace events in, findings out. No clock, no files, no Pi.
//!
//! ```text
//! event ─► step (action, outcome) ─► round (one assistant message's batch) ─► rules ─► reports ─► incidents ─► findings
//! ```
//!
//! - [`Detector`](crate::detector::Detector) keeps one [`Engine`] per agent of a trace.
//! - [`Engine`] turns events into steps and rounds, knows progress, and asks the rules.
//! - `rules/` holds one file per rule. A rule says what holds *now* ([`Report`]); it never decides whether to tell.
//! - [`incident`] groups reports into incidents and decides when one is worth telling (again).
//!
//! Per event the cost is O(1) amortised: no rule rescans history, all maps are bounded.
//!
//! ```
//! use pi_watchdog_supervisor::{detector::Detector, policy::Config, trace::{Event, EventKind}};
//!
//! let mut detector = Detector::new(&Config::default());
//! let mut found = Vec::new();
//! for turn in 1..=3 {
//!     let at = f64::from(turn) * 1000.0;
//!     let call = EventKind::ToolCall { turn, call_id: "c", tool: "bash", args: r#"{"command":"rg TOKEN src"}"# };
//!     let result = EventKind::ToolResult {
//!         turn, call_id: "c", tool: "bash", output: "no match", is_error: true, files: &[], blocked_by: None,
//!     };
//!     found.extend(detector.observe(&Event { at, agent: None, kind: call }));
//!     found.extend(detector.observe(&Event { at, agent: None, kind: result }));
//! }
//! assert_eq!(found.len(), 1);
//! assert_eq!(found[0].rule, "repeated_command");
//! ```

mod action;
mod analysis;
mod command;
pub mod compact;
mod engine;
mod evidence;
mod failure;
mod gist;
mod incident;
pub mod intervention;
mod lines;
mod memory;
#[cfg(test)]
mod naive;
mod outcome;
mod progress;
#[cfg(test)]
mod properties;
mod role;
mod round;
pub mod rules;
mod speech;
#[cfg(test)]
mod story;
mod stream;

pub use action::{Action, ToolClass, command_key};
pub use analysis::{Confidence, StuckAnalysis};
pub use engine::{Engine, Observed};
pub use evidence::{Evidence, EvidenceType, LoopCost, Report};
pub use gist::Gist;
pub use incident::{Finding, Severity};
pub use role::Role;
pub use rules::Settings;
pub use stream::{Repetition, Stream};
