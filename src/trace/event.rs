//! The event model: one agent's history as a list of events in time order.
//!
//! Borrowed, so that an event costs no allocation on its way from JS or from a file line into the engine.
//! Shapes follow `docs/trace.md`; times are **milliseconds** here (trace files carry seconds).

use super::lifecycle::LifecycleEvent;

/// One event of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Event<'a> {
    /// Milliseconds since any fixed origin (trace start or Unix epoch); never decreasing within one agent.
    pub at: f64,
    /// `None`: the main agent.
    pub agent: Option<&'a str>,
    pub kind: EventKind<'a>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind<'a> {
    /// A message to the agent. `synthetic`: written by a program (a hook, a reminder), not by a person.
    User { text: &'a str, synthetic: bool },
    /// One finished assistant message.
    Assistant { turn: u32, text: &'a str, thinking: &'a str, stop_reason: StopReason, usage: Option<Usage> },
    /// A streamed piece of an assistant message that is still being written.
    AssistantChunk { turn: u32, text: &'a str },
    /// The agent asks for a tool. Calls of one `turn` came in one assistant message (a parallel batch).
    /// `args` is the JSON text of the arguments, not yet parsed.
    ToolCall { turn: u32, call_id: &'a str, tool: &'a str, args: &'a str },
    /// The result of a call. `files`: path → content hash after the call, where known.
    /// `blocked_by`: the guard that refused the call.
    ToolResult {
        turn: u32,
        call_id: &'a str,
        tool: &'a str,
        output: &'a str,
        is_error: bool,
        files: &'a [FileState<'a>],
        blocked_by: Option<&'a str>,
    },
    /// A file changed outside the agent's own tool calls.
    FileChange { path: &'a str, hash_before: Option<&'a str>, hash_after: Option<&'a str> },
    /// Anything else; `fields` is the JSON object text of the event (its extra fields).
    Lifecycle { event: LifecycleEvent, fields: &'a str },
}

/// A file's content hash at one moment. The hash is opaque: only equality counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState<'a> {
    pub path: &'a str,
    pub hash: &'a str,
}

/// Why an assistant message ended, as in Pi.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StopReason {
    #[default]
    Unknown,
    Stop,
    Length,
    ToolUse,
    Error,
    Aborted,
}

impl StopReason {
    pub fn parse(name: &str) -> Self {
        match name {
            "stop" => Self::Stop,
            "length" => Self::Length,
            "toolUse" => Self::ToolUse,
            "error" => Self::Error,
            "aborted" => Self::Aborted,
            _ => Self::Unknown,
        }
    }
}

/// Token counts and money of one message. `input` excludes cached tokens, as in Pi.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
    /// US dollars; 0 where unknown.
    pub cost_usd: f64,
}

impl Usage {
    /// All tokens, cached ones included.
    pub fn total_tokens(&self) -> f64 {
        self.input + self.output + self.cache_read + self.cache_write
    }
}

impl std::ops::Sub for Usage {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            input: self.input - other.input,
            output: self.output - other.output,
            cache_read: self.cache_read - other.cache_read,
            cache_write: self.cache_write - other.cache_write,
            cost_usd: self.cost_usd - other.cost_usd,
        }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.cost_usd += other.cost_usd;
    }
}
