//! Recorded sessions and traces, run through the same engine as a live session.
//!
//! ```text
//! file ─► lines ─► kind? ─┬─ session: tree of entries ─► paths, shared parts once ─┐
//!                         └─ trace: one event a line ───────────────────────────────┴─► engine ─► report
//! ```
//!
//! - [`lines`]: a file as lines, in one reused buffer
//! - [`tree`]: which lines of a session file follow which
//! - [`session`], [`traces`]: lines → reader → engine
//! - [`pipeline`]: the reading of a session file on all cores
//! - [`report`]: what comes out
//! - [`stop`]: opening without waiting, and ending a replay early
//! - [`scan`]: all session files below a folder, summed up
//!
//! The one part of the core that opens files. Memory depends on the longest line and on the number of entries and
//! branches, not on the size of the file. What is wrong with a line is a warning; what is wrong with a file an error.

mod error;
mod kind;
mod lines;
mod observer;
mod pipeline;
mod report;
pub mod scan;
mod session;
mod stop;
mod traces;
mod tree;

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod tests;

use std::io::{Read, Seek};
use std::path::Path;

pub use error::ReplayError;
pub use kind::Kind;
pub use observer::Observer;
pub use report::{CaseResult, Cases, Located, Report, Warning, Warnings};
pub use stop::{Cancel, NEVER};

use lines::Lines;

/// What of a file counts, and how it is read.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// Milliseconds. Findings, events and usage before do not count; they are history all the same.
    pub from: f64,
    /// A forked session begins with a copy of its parent's entries, which do not count either.
    pub own: bool,
    pub cores: Cores,
    pub cancel: &'a Cancel,
}

/// The cores that one file may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cores {
    All,
    One,
}

impl Default for Scope<'_> {
    fn default() -> Self {
        Self { from: f64::NEG_INFINITY, own: false, cores: Cores::All, cancel: &NEVER }
    }
}

/// Replays a Pi session file or a trace.
pub fn replay_file<O: Observer>(path: &Path, observer: &O, cancel: &Cancel) -> Result<Report<O::Finding>, ReplayError> {
    cancel.check()?;
    let (file, size) = stop::open(path)?;
    replay(file, size, observer, Scope { cancel, ..Scope::default() })
}

/// Replays labelled cases, one a line; each starts with a fresh copy of the observer.
pub fn replay_cases<O: Observer>(path: &Path, observer: &O, cancel: &Cancel) -> Result<Cases<O::Finding>, ReplayError> {
    cancel.check()?;
    let (file, size) = stop::open(path)?;
    traces::replay_cases(Lines::new(file, size, cancel), observer)
}

/// As [`replay_file`], from any source. Reads `size` bytes: what is appended meanwhile does not count.
pub fn replay<R: Read + Seek + Send, O: Observer>(
    source: R,
    size: u64,
    observer: &O,
    mut scope: Scope<'_>,
) -> Result<Report<O::Finding>, ReplayError> {
    let mut lines = Lines::new(source, size, scope.cancel);
    match kind::detect(&mut lines)? {
        Kind::Session { version, forked_at } => {
            if let Some(at) = forked_at.filter(|_| scope.own) {
                scope.from = scope.from.max(at);
            }
            session::replay(lines, version, observer, scope)
        }
        Kind::Trace => traces::replay(lines, observer, scope.from),
    }
}
