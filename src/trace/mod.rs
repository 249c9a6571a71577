//! The event model and the readers that produce it.
//!
//! The readers take one line and give events; they open no file. What a line means is in `docs/trace.md`.

mod event;
mod json;
mod link;
mod long_text;
mod outline;
mod session_file;
mod time;
mod trace_file;

pub use event::{Event, EventKind, FileState, StopReason, Usage};
pub use json::LineError;
pub use link::{Link, Parent, link_of};
pub use outline::Outline;
pub use session_file::{EntryRead, Path, read_entry};
pub use time::parse_iso_ms;
pub use trace_file::{TraceReader, read_case};
