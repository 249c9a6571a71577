//! The rules, one file each.
//!
//! A rule is told what happened ([`Happening`]) and reports the evidence that holds now. It keeps its own bounded
//! state, never looks back at events, and never decides whether a report is told: incidents do that. To add a rule:
//! a file here, a line in [`rules!`], an [`EvidenceType`](super::EvidenceType), a paragraph in `docs/rules.md`.

mod cycle;
mod edits;
mod empty;
mod errors;
mod idle;
mod llm;
mod narration;
mod persistent;
mod repeat;
mod reread;
mod streak;
mod typecheck;

use super::evidence::Report;
use super::round::{Round, Step};
use crate::policy::Config;

/// What a rule can be told.
#[derive(Debug, Clone, Copy)]
pub enum Happening<'a> {
    /// A call has its result. `fresh`: the round has no equal step yet.
    Step { step: &'a Step, fresh: bool },
    /// All results of the round so far are in. `again`: told before, and the batch went on.
    Round { again: bool },
    /// A finished assistant message that asked for no tool; `body`: normalised text and thinking. `promised`: its
    /// stop reason speaks of a call that is not there.
    Message { body: u128, empty: bool, announces: bool, asks: bool, promised: bool },
    /// A program (not a person) gave the agent this text; `body`: normalised.
    Input { body: u128 },
    /// The agent was told something new that it did not ask for (an alert, the end of a child): the same answer to it as
    /// to an earlier one is no repetition.
    Notice,
    /// A person spoke: whatever went on before was answered.
    User,
    /// The context was compacted: the model has forgotten what it was shown.
    Compacted,
    /// Time passed.
    Tick,
    /// The process did not run for so many milliseconds: nobody's time.
    Suspended { ms: f64 },
}

/// What every rule may know.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    pub config: &'a Config,
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
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, reports: &mut Vec<Report>);
}

macro_rules! rules {
    ($($name:ident: $rule:ty),+ $(,)?) => {
        /// All rules of one agent.
        #[derive(Debug, Clone, Default)]
        pub struct Rules {
            $($name: $rule),+
        }

        impl Rules {
            pub fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, reports: &mut Vec<Report>) {
                $(self.$name.observe(what, context, reports);)+
            }
        }
    };
}

rules! {
    typecheck: typecheck::Typecheck,
    repeat: repeat::Repeat,
    errors: errors::Errors,
    edits: edits::Edits,
    persistent: persistent::Persistent,
    empty: empty::Empty,
    reread: reread::Reread,
    cycle: cycle::Cycle,
    llm: llm::Messages,
    narration: narration::Narration,
    idle: idle::Idle,
}

/// How often, for summaries.
fn times(count: u32) -> String {
    format!("{count} times")
}
