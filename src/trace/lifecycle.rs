//! The one vocabulary of lifecycle events: their names, who sends them, the fields that are read, and what they mean. The
//! reference (`docs/trace.md`) and the types by which the extension sends them are generated from here.

/// Where an event comes from when an agent runs in Pi.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The extension sends it as it happens.
    Live,
    /// The store knows it by itself: a target is opened or ended, usage is added, a clock ticks.
    Store,
    /// Nothing in Pi tells it: only recorded traces have it.
    TracesOnly,
}

impl Source {
    pub fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Store => "store",
            Self::TracesOnly => "traces",
        }
    }
}

/// A field that is read; others are ignored.
pub struct Field {
    pub name: &'static str,
    /// As TypeScript; `?` at its end: the field may be left out.
    pub shape: &'static str,
}

/// What the reference says of an event.
pub struct EventInfo {
    pub name: &'static str,
    pub source: Source,
    /// A session in another process may say it of itself.
    pub own: bool,
    pub fields: &'static [Field],
    /// Markdown.
    pub meaning: &'static str,
}

macro_rules! lifecycle_events {
    ($(
        $(#[doc = $doc:literal])+
        $event:ident = $name:literal, $source:ident $(, own $own:literal)?
        $(, { $($field:ident: $shape:literal),+ })?;
    )+) => {
        /// What happened to an agent, or to the session around it, that is no message and no tool call.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum LifecycleEvent {
            $($(#[doc = $doc])+ $event,)+
            /// One of another program, or of a later version: ignored.
            Other,
        }

        impl LifecycleEvent {
            pub const ALL: &'static [(Self, EventInfo)] = &[$((Self::$event, EventInfo {
                name: $name,
                source: Source::$source,
                own: false $(|| $own)?,
                fields: &[$($(Field {
                    name: stringify!($field),
                    shape: $shape,
                }),+)?],
                meaning: concat!($($doc),+),
            }),)+];

            pub fn parse(name: &str) -> Self {
                match name {
                    $($name => Self::$event,)+
                    _ => Self::Other,
                }
            }

            /// Empty for [`Self::Other`].
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$event => $name,)+
                    Self::Other => "",
                }
            }
        }
    };
}

impl LifecycleEvent {
    /// Whether a session in another process may say it of itself. Words about other agents, processes and budgets from
    /// outside are not believed.
    pub fn is_own(self) -> bool {
        Self::ALL.iter().any(|(event, info)| *event == self && info.own)
    }
}

lifecycle_events! {
    /// the run begins
    AgentStart = "agent_start", Live, own true;
    /// the run is over; it may go on by itself
    AgentEnd = "agent_end", Live, own true;
    /// the run is over for good
    AgentSettled = "agent_settled", Live, own true;
    /// where the agent works; another name of it
    SessionStart = "session_start", Live,
        { cwd: "string?", worktree: "string?", sessionId: "string?", reason: "string?" };
    /// the session has ended
    SessionShutdown = "session_shutdown", Store;
    /// a chain of agents is over
    ChainEnd = "chain_end", TracesOnly;
    /// time passed and nothing else happened: the clocks are read. Agents named in `inFlight` are at work; output and
    /// processor time that grew are a sign of open calls (the fields are in traces only)
    Tick = "tick", Store, { inFlight: "string[]?", outputBytes: "number?", cpuSec: "number?" };
    /// nothing ran for so many ms until now: nobody was silent meanwhile
    Suspended = "suspended", Store, { ms: "number" };
    /// what came since the last finished turn is rolled back and will be sent again
    ProviderRetry = "provider_retry", TracesOnly;
    /// the request is sent again, after the delay (ms) or the time that the message names
    AutoRetryStart = "auto_retry_start", Live, own true,
        { delayMs: "number?", errorMessage: "string?", attempt: "number?" };
    /// the provider failed a request; it answers nothing until then (seconds), or the request may be sent again within a
    /// minute
    ProviderLimit = "provider_limit", Live, own true, { resetInSec: "number?", errorMessage: "string?" };
    /// the context is being compacted
    CompactionStart = "compaction_start", Live, own true, { reason: "string?", tokensBefore: "number?" };
    /// the context was compacted, or not. `reason` `manual`: a person asked for it
    CompactionEnd = "compaction_end", Live, own true,
        { reason: "string?", aborted: "boolean?", errorMessage: "string?", tokensBefore: "number?" };
    /// `off`, `minimal`, `low`, `medium`, `high`, `xhigh`: silence is measured by it
    ThinkingLevel = "thinking_level", Live, own true, { level: "string" };
    /// a running call has output
    ToolUpdate = "tool_update", Live, own true, { callId: "string?" };
    /// a question to a person. What a child asks counts as seen while a dialog of the main session is open that was opened
    /// after it
    UiPromptStart = "ui_prompt_start", Live, own true, { requestId: "string?", kind: "string?" };
    /// the end of a question to a person
    UiPromptEnd = "ui_prompt_end", Live, own true, { requestId: "string?" };
    /// a question about a permission
    PermissionAsk = "permission_ask", TracesOnly, { requestId: "string?" };
    /// its answer
    PermissionReply = "permission_reply", TracesOnly, { requestId: "string?" };
    /// a message to another agent; with `replyWanted` the sender waits for one until it is answered or works on
    MessageSend = "message_send", TracesOnly, { to: "string", replyWanted: "boolean?" };
    /// the user stopped the agent
    UserAbort = "user_abort", Live, own true;
    /// the watchdog, or a sub-agent package with news of a child, spoke to the agent: the same answer to each of many is no
    /// repetition
    Notice = "notice", Live;
    /// a message that steers the agent has reached it
    Steer = "steer", Live, { text: "string" };
    /// `agent` begins; `parent` absent: the main agent started it
    SubagentSpawn = "subagent_spawn", Store,
        { id: "string?", parent: "string?", agentType: "string?", task: "string?", name: "string?", background: "boolean?" };
    /// `agent` is at work
    SubagentStream = "subagent_stream", Live;
    /// `agent` asks its model
    SubagentRequest = "subagent_request", TracesOnly;
    /// `agent` had ended and is taken up again
    SubagentResume = "subagent_resume", Store;
    /// `agent` has ended, as whoever started it says
    SubagentEnd = "subagent_end", Store, { status: "string?", error: "string?" };
    /// US dollars of one request, of the whole tree so far, and a limit that counts before the configured one
    Usage = "usage", TracesOnly, { usd: "number?", totalUsd: "number?", budgetUsd: "number?" };
    /// a process that an agent started
    Process = "process", TracesOnly, { pid: "number", owner: "string?", alive: "boolean?", ownerAlive: "boolean?" };
    /// a file under its real path, where the call named it through a link
    FileRead = "file_read", Live, own true, { path: "string" };
    /// the same of a file that was changed
    FileWritten = "file_written", Live, own true, { path: "string" };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_read_by_the_name_that_it_is_written_with() {
        for (event, info) in LifecycleEvent::ALL {
            assert_eq!((LifecycleEvent::parse(info.name), event.name()), (*event, info.name));
        }
        assert_eq!(LifecycleEvent::parse("no such event"), LifecycleEvent::Other);
        assert!(!LifecycleEvent::Other.is_own());
    }

    #[test]
    fn a_session_in_another_process_speaks_of_itself_only() {
        use LifecycleEvent::{
            AgentStart, Process, SessionStart, SubagentEnd, SubagentSpawn, Suspended, Usage, UserAbort,
        };
        for event in [SessionStart, SubagentEnd, SubagentSpawn, Process, Usage, Suspended] {
            assert!(!event.is_own(), "{event:?}");
        }
        for event in [AgentStart, UserAbort] {
            assert!(event.is_own(), "{event:?}");
        }
    }
}
