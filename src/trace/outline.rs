//! An event without its long texts: what can be kept, and handed to another thread, when the texts have been read.

use super::{Event, EventKind, FileState, LifecycleEvent, StopReason, Usage};

#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    at: f64,
    agent: Option<Box<str>>,
    kind: OutlineKind,
}

#[derive(Debug, Clone, PartialEq)]
enum OutlineKind {
    User { synthetic: bool },
    Assistant { turn: u32, stop_reason: StopReason, usage: Option<Usage> },
    AssistantChunk { turn: u32 },
    ToolCall { turn: u32, call_id: Box<str>, tool: Box<str> },
    ToolResult { turn: u32, call_id: Box<str>, tool: Box<str>, is_error: bool, blocked_by: Option<Box<str>> },
    FileChange { path: Box<str>, hash_before: Option<Box<str>>, hash_after: Option<Box<str>> },
    Lifecycle { event: LifecycleEvent, fields: Box<str> },
}

impl Outline {
    /// `files` of a result are not kept; a session file has none.
    pub fn of(event: &Event<'_>) -> Self {
        let kind = match event.kind {
            EventKind::User { synthetic, .. } => OutlineKind::User { synthetic },
            EventKind::Assistant { turn, stop_reason, usage, .. } => {
                OutlineKind::Assistant { turn, stop_reason, usage }
            }
            EventKind::AssistantChunk { turn, .. } => OutlineKind::AssistantChunk { turn },
            EventKind::ToolCall { turn, call_id, tool, .. } => {
                OutlineKind::ToolCall { turn, call_id: call_id.into(), tool: tool.into() }
            }
            EventKind::ToolResult { turn, call_id, tool, is_error, blocked_by, .. } => OutlineKind::ToolResult {
                turn,
                call_id: call_id.into(),
                tool: tool.into(),
                is_error,
                blocked_by: blocked_by.map(Box::from),
            },
            EventKind::FileChange { path, hash_before, hash_after } => OutlineKind::FileChange {
                path: path.into(),
                hash_before: hash_before.map(Box::from),
                hash_after: hash_after.map(Box::from),
            },
            EventKind::Lifecycle { event, fields } => OutlineKind::Lifecycle { event, fields: fields.into() },
        };
        Self { at: event.at, agent: event.agent.map(Box::from), kind }
    }

    /// The event again, with empty texts.
    pub fn event(&self) -> Event<'_> {
        const NO_FILES: &[FileState<'static>] = &[];
        let kind = match &self.kind {
            OutlineKind::User { synthetic } => EventKind::User { text: "", synthetic: *synthetic },
            OutlineKind::Assistant { turn, stop_reason, usage } => {
                EventKind::Assistant { turn: *turn, text: "", thinking: "", stop_reason: *stop_reason, usage: *usage }
            }
            OutlineKind::AssistantChunk { turn } => EventKind::AssistantChunk { turn: *turn, text: "" },
            OutlineKind::ToolCall { turn, call_id, tool } => {
                EventKind::ToolCall { turn: *turn, call_id, tool, args: "" }
            }
            OutlineKind::ToolResult { turn, call_id, tool, is_error, blocked_by } => EventKind::ToolResult {
                turn: *turn,
                call_id,
                tool,
                output: "",
                is_error: *is_error,
                files: NO_FILES,
                blocked_by: blocked_by.as_deref(),
            },
            OutlineKind::FileChange { path, hash_before, hash_after } => {
                EventKind::FileChange { path, hash_before: hash_before.as_deref(), hash_after: hash_after.as_deref() }
            }
            OutlineKind::Lifecycle { event, fields } => EventKind::Lifecycle { event: *event, fields },
        };
        Event { at: self.at, agent: self.agent.as_deref(), kind }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_texts_arguments_and_files_come_through() {
        let event = |kind| Event { at: 5.0, agent: Some("sub"), kind };
        let usage = Some(Usage { input: 1.0, ..Usage::default() });
        let stop_reason = StopReason::Stop;
        let whole = [
            EventKind::User { text: "t", synthetic: true },
            EventKind::Assistant { turn: 3, text: "t", thinking: "t", stop_reason, usage },
            EventKind::AssistantChunk { turn: 3, text: "t" },
            EventKind::ToolCall { turn: 3, call_id: "c", tool: "bash", args: "{}" },
            EventKind::ToolResult {
                turn: 3,
                call_id: "c",
                tool: "bash",
                output: "t",
                is_error: true,
                files: &[FileState { path: "p", hash: "h" }],
                blocked_by: Some("guard"),
            },
            EventKind::FileChange { path: "p", hash_before: None, hash_after: Some("h") },
            EventKind::Lifecycle { event: LifecycleEvent::Tick, fields: "{}" },
        ];
        let outlined = [
            EventKind::User { text: "", synthetic: true },
            EventKind::Assistant { turn: 3, text: "", thinking: "", stop_reason, usage },
            EventKind::AssistantChunk { turn: 3, text: "" },
            EventKind::ToolCall { turn: 3, call_id: "c", tool: "bash", args: "" },
            EventKind::ToolResult {
                turn: 3,
                call_id: "c",
                tool: "bash",
                output: "",
                is_error: true,
                files: &[],
                blocked_by: Some("guard"),
            },
            EventKind::FileChange { path: "p", hash_before: None, hash_after: Some("h") },
            EventKind::Lifecycle { event: LifecycleEvent::Tick, fields: "{}" },
        ];
        for (whole, outlined) in whole.into_iter().zip(outlined) {
            assert_eq!(Outline::of(&event(whole)).event(), event(outlined));
        }
    }
}
