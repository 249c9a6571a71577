//! Session files for tests, and an observer that only writes down what it sees.

use std::cell::Cell;
use std::io::Cursor;
use std::rc::Rc;

use super::{Observer, ReplayError, Report, Scope};
use crate::trace::{Event, EventKind};

pub const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}"#;

/// A user message whose text is its id.
pub fn user(id: &str, parent: Option<&str>) -> String {
    let parent = serde_json::to_string(&parent).unwrap();
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:01.000Z","message":{{"role":"user","content":"{id}"}}}}"#
    )
}

pub fn replayed<O: Observer>(text: &[u8], observer: &O) -> Result<Report<O::Finding>, ReplayError> {
    super::replay(Cursor::new(text), text.len() as u64, observer, Scope::default())
}

/// Answers every event with all that it has seen so far.
#[derive(Default)]
pub struct Recorder {
    seen: Vec<String>,
    /// Copies that exist now, and the most that ever did.
    alive: Rc<(Cell<usize>, Cell<usize>)>,
}

impl Recorder {
    pub fn most_alive(&self) -> usize {
        self.alive.1.get()
    }
}

impl Clone for Recorder {
    fn clone(&self) -> Self {
        self.alive.0.set(self.alive.0.get() + 1);
        self.alive.1.set(self.alive.1.get().max(self.alive.0.get()));
        Self { seen: self.seen.clone(), alive: Rc::clone(&self.alive) }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.alive.0.set(self.alive.0.get().saturating_sub(1));
    }
}

impl Observer for Recorder {
    type Finding = String;
    type Gist = String;

    fn gist(event: &Event<'_>) -> String {
        match event.kind {
            EventKind::User { text, .. } => text.to_owned(),
            ref other => format!("{other:?}"),
        }
    }

    fn observe(&mut self, _: &Event<'_>, gist: String, found: &mut Vec<String>) {
        self.seen.push(gist);
        found.push(self.seen.join(" "));
    }
}
