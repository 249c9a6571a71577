//! The rules, one file each.
//!
//! A rule is told what happened ([`Happening`]) and reports the evidence that holds now. It keeps its own bounded
//! state, never looks back at events, and never decides whether a report is told: incidents do that. To add a rule:
//! a file here, a line in [`rules!`], an [`EvidenceType`](super::EvidenceType), a paragraph in `docs/rules.md`.

mod cycle;
mod idle;
mod llm;
mod repeat;
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
    /// A finished assistant message that asked for no tool; `body`: normalised text and thinking.
    Message { body: u128, empty: bool },
    /// A program (not a person) gave the agent this text; `body`: normalised.
    Input { body: u128 },
    /// A person spoke: whatever went on before was answered.
    User,
    /// Time passed.
    Tick,
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
    cycle: cycle::Cycle,
    llm: llm::Messages,
    idle: idle::Idle,
}

/// `1st`, `2nd`, `3rd` … for summaries.
fn times(count: u32) -> String {
    format!("{count} times")
}
