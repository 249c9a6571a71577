//! The event model and the readers that produce it.
//!
//! The readers take one line and give events; they open no file. What a line means is in `docs/trace.md`.

mod event;
mod json;
pub mod lifecycle;
mod link;
mod long_text;
mod outline;
mod session_file;
mod time;
mod trace_file;

pub use event::{Event, EventKind, FileState, StopReason, Usage};
pub use json::LineError;
pub use lifecycle::LifecycleEvent;
pub use link::{Link, Parent, link_of};
pub use outline::Outline;
pub use session_file::{EntryRead, Path, read_entry};
pub use time::parse_iso_ms;
pub use trace_file::{TraceReader, read_case};

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;
    use crate::text::growth;

    /// A line that is no JSON, one with the text in a string, and one that is cut off in it.
    fn lines(text: &str) -> [String; 3] {
        let string = serde_json::to_string(text).unwrap();
        let content = format!(r#"{{"role":"toolResult","content":[{{"type":"text","text":{string}}}]}}"#);
        let entry = format!(r#"{{"type":"message","id":"a","parentId":null,"message":{content}}}"#);
        let cut = entry[..entry.floor_char_boundary(entry.len() - 8)].to_owned();
        [text.to_owned(), entry, cut]
    }

    #[test]
    fn reading_a_line_costs_what_it_is_long() {
        growth::is_linear(|text| {
            for line in lines(text) {
                let _ = black_box(read_entry(line.as_bytes(), |_| ()));
                black_box(link_of(line.as_bytes()));
            }
        });
        growth::is_linear(|text| {
            let string = serde_json::to_string(text).unwrap();
            let _ = TraceReader::default().read(text.as_bytes(), |_| ());
            for field in ["text", "output", "fields"] {
                let line = format!(r#"{{"type":"user","at":1,"{field}":{string}}}"#);
                let _ = black_box(TraceReader::default().read(line.as_bytes(), |_| ()));
            }
        });
    }
}
