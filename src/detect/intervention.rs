//! Interventions: what calls for a hand without being a loop of the agent's own. Typed data; nothing here acts. Their kinds
//! are declared where they are found: in `rules/` by what one agent does, in [`crate::lifecycle`] what concerns time, money
//! and other agents.

pub use crate::kinds::{Action, InterventionKind};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intervention {
    pub kind: InterventionKind,
    /// One sentence for people.
    pub reason: String,
    pub suggested: Action,
    /// The user's configuration lets it be done without asking.
    pub auto_execute: bool,
    /// Names of the other agents that it concerns.
    pub parties: Vec<String>,
    /// The reason as it is said to an agent that it is about, by its name.
    pub texts: Vec<(String, String)>,
}

impl Intervention {
    pub fn new(kind: InterventionKind, reason: String) -> Self {
        Self {
            kind,
            reason,
            suggested: kind.info().proposes,
            auto_execute: false,
            parties: Vec::new(),
            texts: Vec::new(),
        }
    }
}
