//! Test support: an agent's run told in short, and what the engine said to it.

// Arguments are written where they are used, once.
#![allow(clippy::needless_pass_by_value)]

use serde_json::{Value, json};

use super::engine::Engine;
use super::incident::Severity;
use crate::policy::Config;
use crate::trace::{EventKind, FileState, StopReason};

/// A run that is being told. Every call is a round of its own, three seconds after the one before.
pub struct Story {
    pub engine: Engine,
    pub at: f64,
    turn: u32,
    calls: u32,
    /// Rule and severity of every finding, with the number of the call (or message) that caused it.
    pub found: Vec<(u32, &'static str, Severity)>,
}

impl Story {
    pub fn new() -> Self {
        Self::with(Config::default())
    }

    pub fn with(config: Config) -> Self {
        let mut story = Self { engine: Engine::new(config.rules), at: 0.0, turn: 0, calls: 0, found: Vec::new() };
        story.user("do it");
        story
    }

    fn tell(&mut self, kind: &EventKind<'_>) {
        let observed = self.engine.observe(self.at, kind);
        let findings = observed.findings.into_iter().filter(|finding| !finding.over);
        self.found.extend(findings.map(|finding| (self.calls, finding.rule, finding.severity)));
    }

    pub fn user(&mut self, text: &str) -> &mut Self {
        self.at += 3000.0;
        self.tell(&EventKind::User { text, synthetic: false });
        self
    }

    pub fn program(&mut self, text: &str) -> &mut Self {
        self.at += 3000.0;
        self.tell(&EventKind::User { text, synthetic: true });
        self
    }

    pub fn lifecycle(&mut self, event: &str) -> &mut Self {
        self.lifecycle_with(event, "{}")
    }

    pub fn lifecycle_with(&mut self, event: &str, fields: &str) -> &mut Self {
        self.tell(&EventKind::Lifecycle { event: crate::trace::LifecycleEvent::parse(event), fields });
        self
    }

    pub fn says(&mut self, text: &str) -> &mut Self {
        self.at += 3000.0;
        self.turn += 1;
        self.calls += 1;
        self.tell(&EventKind::Assistant {
            turn: self.turn,
            text,
            thinking: "",
            stop_reason: StopReason::Stop,
            usage: None,
        });
        self
    }

    /// A tool call that succeeds.
    pub fn call(&mut self, tool: &str, args: Value, output: &str) -> &mut Self {
        self.full(tool, &args, output, false, &[])
    }

    pub fn fails(&mut self, tool: &str, args: Value, output: &str) -> &mut Self {
        self.full(tool, &args, output, true, &[])
    }

    pub fn bash(&mut self, command: &str, output: &str) -> &mut Self {
        self.call("bash", json!({ "command": command }), output)
    }

    pub fn bash_fails(&mut self, command: &str, output: &str) -> &mut Self {
        self.fails("bash", json!({ "command": command }), output)
    }

    /// An edit after which the file has content `state`.
    pub fn edits(&mut self, path: &str, state: &str) -> &mut Self {
        let args = json!({ "path": path, "oldText": "x", "newText": state });
        self.full("edit", &args, "Successfully replaced 1 block(s).", false, &[FileState { path, hash: state }])
    }

    pub fn reads(&mut self, path: &str, offset: u64, limit: u64) -> &mut Self {
        let args = json!({ "path": path, "offset": offset, "limit": limit });
        let output = format!("text of {path} from line {offset} on, {limit} lines");
        self.call("read", args, &output)
    }

    fn full(&mut self, tool: &str, args: &Value, output: &str, is_error: bool, files: &[FileState<'_>]) -> &mut Self {
        self.at += 3000.0;
        self.turn += 1;
        self.calls += 1;
        let (turn, args) = (self.turn, args.to_string());
        self.tell(&EventKind::ToolCall { turn, call_id: "c", tool, args: &args });
        self.tell(&EventKind::ToolResult { turn, call_id: "c", tool, output, is_error, files, blocked_by: None });
        self
    }

    pub fn times(&mut self, count: u32, mut chapter: impl FnMut(&mut Self, u32)) -> &mut Self {
        for n in 0..count {
            chapter(self, n);
        }
        self
    }

    /// Number of the call at which `rule` was first told.
    pub fn first(&self, rule: &str) -> Option<u32> {
        self.found.iter().find(|(_, found, _)| *found == rule).map(|(call, _, _)| *call)
    }

    #[track_caller]
    pub fn is_silent(&self) {
        assert_eq!(self.found, [], "nothing was to be found");
    }
}
