//! Compact events: what is kept of what happened. Hashes and short previews, never whole outputs.

use std::sync::Arc;

use crate::detect::{Action, ToolClass};

/// The published event types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    SubagentCreated,
    SubagentStarted,
    SubagentCompleted,
    SubagentFailed,
    SubagentSteered,
    SubagentCompacted,
    ToolCall,
    ToolResult,
    Edit,
    Patch,
    LlmInput,
    LlmOutput,
    Alert,
}

impl Kind {
    const ALL: [(Self, &'static str); 13] = [
        (Self::SubagentCreated, "subagent_created"),
        (Self::SubagentStarted, "subagent_started"),
        (Self::SubagentCompleted, "subagent_completed"),
        (Self::SubagentFailed, "subagent_failed"),
        (Self::SubagentSteered, "subagent_steered"),
        (Self::SubagentCompacted, "subagent_compacted"),
        (Self::ToolCall, "tool_call"),
        (Self::ToolResult, "tool_result"),
        (Self::Edit, "edit"),
        (Self::Patch, "patch"),
        (Self::LlmInput, "llm_input"),
        (Self::LlmOutput, "llm_output"),
        (Self::Alert, "alert"),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    /// A call of this tool, by its published type.
    pub fn of_call(action: &Action) -> Self {
        match action.class {
            ToolClass::Edit if action.tool.to_ascii_lowercase().contains("patch") => Self::Patch,
            ToolClass::Edit => Self::Edit,
            ToolClass::Shell | ToolClass::Other => Self::ToolCall,
        }
    }
}

/// One kept event.
#[derive(Debug, Clone)]
pub struct Compact {
    /// Never repeats within a target, also after eviction.
    pub seq: u64,
    /// Milliseconds since the epoch.
    pub at: f64,
    pub kind: Kind,
    pub action: Option<Arc<Action>>,
    /// For events that are no call: one line for people.
    pub text: Box<str>,
    /// SHA-256 of the output without escape sequences.
    pub hash: Option<[u8; 32]>,
    pub preview: Option<Box<str>>,
    pub turn: Option<u32>,
    pub call_id: Option<Box<str>>,
    pub is_error: bool,
    pub error_class: Option<Box<str>>,
}

impl Compact {
    /// One line for people: `bash: rg "TOKEN" src`.
    pub fn summary(&self) -> String {
        let Some(action) = &self.action else { return self.text.to_string() };
        let key = action.key.strip_prefix(&*action.tool).map_or(&*action.key, str::trim_start);
        let mut line = if key.is_empty() { action.tool.to_string() } else { format!("{}: {key}", action.tool) };
        if self.is_error {
            line.push_str(" (failed)");
        }
        crate::text::quote(&line, 200, 1)
    }
}
