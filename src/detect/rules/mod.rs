//! The rules, one file each.
//!
//! A rule is given what happened ([`Happening`]) and reports the evidence that holds now, or calls for a hand. It keeps its
//! own bounded state, never looks back at events, and never decides whether a report becomes an alert: incidents do that.
//! Its file has everything about it: text, kinds, keys, code and tests. To add one: a file here, a line in [`rules!`], and
//! `npm run generate`.

mod count;
mod streak;

use super::evidence::Report;
use super::round::{Round, Step};
use super::speech::Speech;
use super::stream::Repetition;
use crate::kinds::{InterventionKind, RuleInfo};

/// What a rule can be told.
#[derive(Debug, Clone, Copy)]
pub enum Happening<'a> {
    /// A call has its result. `fresh`: the round has no equal step yet.
    Step { step: &'a Step, fresh: bool },
    /// All results of the round so far are in. `again`: told before, and the batch went on.
    Round { again: bool },
    /// A finished assistant message that asked for no tool; `body`: normalised text and thinking. `promised`: its
    /// stop reason speaks of a call that is not there.
    Message { body: u128, empty: bool, speech: Speech, promised: bool },
    /// A tool is asked for.
    Call,
    /// A piece of the message that is being written.
    Chunk { text: &'a str },
    /// A message that was written whole says the same again and again.
    Chant { chant: &'a Repetition },
    /// A request failed and is sent again.
    Retry,
    /// The run ended by itself.
    RunEnded,
    /// A program (not a person) gave the agent this text; `body`: normalised.
    Input { body: u128 },
    /// The agent was told something new that it did not ask for (an alert, the end of a child): the same answer to it as
    /// to an earlier one is no repetition.
    Notice,
    /// A person spoke: whatever went on before was answered.
    User,
    /// The context was compacted: the model has forgotten what it was shown.
    Compacted { by_person: bool },
    /// Time passed.
    Tick,
    /// The process did not run for so many milliseconds: nobody's time.
    Suspended { ms: f64 },
}

/// What every rule may know.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    pub settings: &'a Settings,
    /// Milliseconds.
    pub now: f64,
    /// The current round; for [`Happening::Message`] and [`Happening::Input`] the one before or around it.
    pub round: &'a Round,
    /// Counts the changes of the world (see `progress.rs`): a streak is only as old as its epoch.
    pub epoch: u64,
    /// Rounds that brought news, so far, the current one left out.
    pub news: u64,
}

pub trait Rule {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found);
}

/// What the rules say about one event.
#[derive(Debug, Default)]
pub struct Found {
    pub reports: Vec<Report>,
    pub interventions: Vec<(InterventionKind, String)>,
}

impl Found {
    pub fn push(&mut self, report: Report) {
        self.reports.push(report);
    }

    pub fn extend(&mut self, report: Option<Report>) {
        self.reports.extend(report);
    }

    /// `reason`: one sentence for people; foreign text in quotes only.
    pub fn intervene(&mut self, kind: InterventionKind, reason: String) {
        self.interventions.push((kind, reason));
    }

    pub fn is_empty(&self) -> bool {
        self.reports.is_empty() && self.interventions.is_empty()
    }
}

macro_rules! rules {
    ($($name:ident: $rule:ident in $section:literal,)+) => {
        $(pub mod $name;)+

        /// All rules of one agent.
        #[derive(Debug, Clone, Default)]
        pub struct Rules {
            $($name: $name::$rule,)+
        }

        impl Rules {
            pub fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found) {
                $(self.$name.observe(what, context, found);)+
            }
        }

        /// The keys of all rules.
        #[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
        pub struct Settings {
            $(#[serde(flatten)] pub $name: $name::Settings,)+
        }

        /// All rules, each with its section of the reference.
        pub const ABOUT: &[(&str, RuleInfo)] = &[$(($section, $name::ABOUT)),+];
    };
}

// In the order in which they are asked: of two reports the first begins an incident.
rules! {
    typecheck: Typecheck in "Repetition",
    repeat: Repeat in "Repetition",
    errors: Errors in "Errors",
    edits: Edits in "Files",
    persistent: Persistent in "Files",
    empty: Empty in "Errors",
    reread: Reread in "Files",
    cycle: Cycle in "Repetition",
    llm: Messages in "Repetition",
    narration: Narration in "Words without deeds",
    idle: Idle in "Words without deeds",
    stream: Streamed in "Words without deeds",
    polling: Polling in "Repetition",
    refusal: Refusals in "Errors",
    provider: Provider in "Errors",
    compaction: Compactions in "Words without deeds",
    result: RunResult in "Words without deeds",
}

/// How often, for summaries.
fn times(count: u32) -> String {
    format!("{count} times")
}
