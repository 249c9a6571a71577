//! The event model and the readers that produce it.

mod event;

pub use event::{Event, EventKind, FileState, StopReason, Usage};
