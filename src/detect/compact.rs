//! The verdict over compact events: the form in which the store keeps what happened.

use std::sync::Arc;

use super::Settings;
use super::action::{Action, ToolClass};
use super::analysis::StuckAnalysis;
use super::engine::{Engine, Observed};
use crate::text::{fast, normalize_message};

/// The fields of a compact event that the verdict needs; the rest is for people.
#[derive(Debug, Clone, Default)]
pub struct CompactEvent<'a> {
    pub at: f64,
    pub kind: &'a str,
    pub summary: &'a str,
    pub command_key: Option<&'a str>,
    pub output_hash: Option<&'a str>,
    pub turn: Option<u32>,
    pub call_id: Option<&'a str>,
    pub tool: Option<&'a str>,
    pub is_error: bool,
}

/// Events at or before `since_at` (the last alert) do not count. `now` serves rules about time only.
pub fn detect_stuck(
    events: &[CompactEvent<'_>],
    settings: &Arc<Settings>,
    now: Option<f64>,
    since_at: Option<f64>,
) -> StuckAnalysis {
    let mut engine = Engine::new(Arc::clone(settings));
    let since = since_at.unwrap_or(f64::NEG_INFINITY);
    // Without turns every call is a round of its own. High numbers: they never meet a real one.
    let mut own_turn = 1 << 31;
    let mut open: Option<u32> = None;
    for event in events.iter().filter(|event| event.at > since) {
        match event.kind {
            "tool_call" | "edit" | "patch" => {
                let turn = event.turn.unwrap_or_else(|| {
                    own_turn += 1;
                    own_turn
                });
                open = Some(turn);
                let mut out = Observed::default();
                engine.call(event.at, turn, event.call_id.unwrap_or(""), Arc::new(action(event)), &mut out);
                if event.kind != "tool_call" {
                    // An edit stands for its call and its success.
                    engine.compact_result(event.at, turn, event.call_id.unwrap_or(""), fast(b"edited"), false);
                }
            }
            "tool_result" => {
                let turn = event.turn.or(open).unwrap_or(own_turn);
                let outcome = fast(event.output_hash.unwrap_or("").as_bytes());
                engine.compact_result(event.at, turn, event.call_id.unwrap_or(""), outcome, event.is_error);
            }
            "llm_input" | "llm_output" => {
                let body = match event.output_hash {
                    Some(hash) => fast(hash.as_bytes()),
                    None => fast(normalize_message(event.summary).as_bytes()),
                };
                engine.compact_message(event.at, body, event.kind == "llm_input");
            }
            _ => {}
        }
    }
    if let Some(now) = now {
        engine.tick(now, &mut Observed::default());
    }
    engine.analysis()
}

/// What an event's tool did, as far as its key tells.
pub fn action(event: &CompactEvent<'_>) -> Action {
    let key = event.command_key.unwrap_or(event.summary);
    let tool = event.tool.unwrap_or(event.kind);
    // The key is a normalised shell line for shell tools: understood the same way as the line itself.
    let mut action = Action::new(tool, &serde_json::json!({ "command": key }).to_string());
    if event.kind != "tool_call" {
        action.class = ToolClass::Edit;
    }
    action
}
