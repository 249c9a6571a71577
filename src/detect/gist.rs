//! What the engine keeps of an event's texts. Computing it needs no history and is nearly all of an event's cost, so it
//! can be done anywhere, on any thread: live events do it in place, a replay on all cores.

use std::cell::RefCell;
use std::sync::Arc;

use super::action::Action;
use super::outcome::Said;
use super::progress::pair;
use super::speech::Speech;
use super::stream::{Filter, Repetition, Stream};
use crate::text::{Prose, fast};
use crate::trace::{EventKind, StopReason};

#[derive(Debug, Clone)]
pub enum Gist {
    /// Nothing in its texts counts.
    None,
    Call(Arc<Action>),
    Result(Said),
    /// Normalised text and thinking of the agent.
    Message {
        body: u128,
        empty: bool,
        speech: Speech,
        /// The message goes round.
        chant: Option<Repetition>,
    },
    /// Normalised text that a program wrote to the agent.
    Input {
        body: u128,
    },
}

impl Gist {
    pub fn of(kind: &EventKind<'_>) -> Self {
        let prose = |text: &str| PROSE.with_borrow_mut(|prose| fast(prose.normalize(text).as_bytes()));
        match *kind {
            EventKind::User { text, synthetic: true } => Self::Input { body: prose(text) },
            EventKind::Assistant { text, thinking, stop_reason, .. } if counts(stop_reason) => Self::Message {
                body: pair(prose(text), prose(thinking)),
                empty: text.trim().is_empty() && thinking.trim().is_empty(),
                speech: Speech::of(text),
                chant: chant(text).or_else(|| chant(thinking)),
            },
            EventKind::ToolCall { tool, args, .. } => Self::Call(Arc::new(Action::new(tool, args))),
            EventKind::ToolResult { output, is_error, .. } => Self::Result(Said::of(output, is_error)),
            _ => Self::None,
        }
    }
}

/// Texts shorter than this cannot go round (see [`Stream`]); most messages are.
const SHORTEST_CHANT: usize = 100;

thread_local! {
    /// Buffers for whole messages, reused by all that a thread reads.
    static PROSE: RefCell<Prose> = RefCell::default();
    static FILTER: RefCell<Filter> = RefCell::default();
    static STREAM: RefCell<Stream> = RefCell::default();
}

/// Whether a whole message goes round.
fn chant(text: &str) -> Option<Repetition> {
    if text.len() < SHORTEST_CHANT || !FILTER.with_borrow_mut(|filter| filter.passes(text)) {
        return None;
    }
    STREAM.with_borrow_mut(|stream| {
        stream.reset();
        stream.feed(text).or_else(|| stream.finish())
    })
}

/// A message that failed or was cut off by the user says nothing of the agent.
fn counts(stop_reason: StopReason) -> bool {
    !matches!(stop_reason, StopReason::Error | StopReason::Aborted)
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;
    use crate::text::growth;
    use crate::trace::StopReason;

    #[test]
    fn a_message_costs_what_it_is_long() {
        growth::is_linear(|text| {
            let stop_reason = StopReason::Stop;
            black_box(Gist::of(&EventKind::Assistant { turn: 1, text, thinking: "", stop_reason, usage: None }));
        });
    }

    #[test]
    fn a_call_costs_what_its_arguments_are_long() {
        growth::is_linear(|text| {
            black_box(Gist::of(&EventKind::ToolCall { turn: 1, call_id: "c", tool: "edit", args: text }));
        });
        // As JSON strings, and JSON that is opened and never closed.
        growth::is_linear(|text| {
            let args = serde_json::json!({ "path": text, "oldText": text, "newText": "x" }).to_string();
            black_box(Gist::of(&EventKind::ToolCall { turn: 1, call_id: "c", tool: "edit", args: &args }));
        });
        growth::grows(
            "a name",
            |size| "aB_".repeat(size / 3),
            |name: &String| {
                black_box(Gist::of(&EventKind::ToolCall { turn: 1, call_id: "c", tool: name, args: "{}" }));
            },
        );
    }
}
