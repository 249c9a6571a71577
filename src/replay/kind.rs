//! Tells session files, traces and labelled cases apart by their first lines.

use std::io::{Read, Seek};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::ReplayError;
use super::lines::{Lines, Place};
use crate::trace::parse_iso_ms;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// `version` as in the header; the current one when the header is lost.
    Session {
        version: u64,
        /// When the session was forked from another, whose entries it begins with. Those keep their times.
        forked_at: Option<f64>,
    },
    Trace,
}

/// So many lines may be broken at the start. A binary file is given up on before it has been read through.
const LINES: u64 = 1000;

const TRACE_TYPES: [&str; 6] = ["user", "assistant", "tool_call", "tool_result", "file_change", "lifecycle"];
const ENTRY_TYPES: [&str; 11] = [
    "message",
    "custom_message",
    "custom",
    "compaction",
    "branch_summary",
    "context_edit",
    "usage",
    "model_change",
    "thinking_level_change",
    "label",
    "session_info",
];
const CURRENT_VERSION: u64 = 3;

#[derive(Deserialize)]
struct FirstLine {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    version: Option<serde_json::Number>,
    #[serde(default)]
    events: Option<IgnoredAny>,
    #[serde(rename = "parentSession", default)]
    parent_session: Option<IgnoredAny>,
    #[serde(default)]
    timestamp: serde_json::Value,
}

/// Reads from the start, and returns to it.
pub fn detect<R: Read + Seek>(lines: &mut Lines<'_, R>) -> Result<Kind, ReplayError> {
    if lines.size() == 0 {
        return Err(ReplayError::Empty);
    }
    while let Some(line) = lines.next()?
        && line.place.number <= LINES
    {
        let Ok(first) = serde_json::from_slice::<FirstLine>(line.bytes) else { continue };
        let kind = match first.kind.as_deref() {
            Some("session") => Kind::Session {
                version: first.version.and_then(|v| v.as_u64()).unwrap_or(1),
                forked_at: first.parent_session.and_then(|_| parse_iso_ms(first.timestamp.as_str()?)),
            },
            Some(kind) if ENTRY_TYPES.contains(&kind) => Kind::Session { version: CURRENT_VERSION, forked_at: None },
            Some(kind) if TRACE_TYPES.contains(&kind) => Kind::Trace,
            None if first.events.is_some() => return Err(ReplayError::HoldsCases),
            _ => continue,
        };
        lines.go_to(Place { offset: 0, number: 1 })?;
        return Ok(kind);
    }
    Err(ReplayError::Unrecognised)
}
