//! Steps and rounds. A step is one call with its result; a round is all steps of one assistant message.

use std::sync::Arc;

use super::action::Action;
use crate::trace::Usage;

/// Polls that lie so far apart wait; milliseconds.
pub const PATIENCE_MS: f64 = 20_000.0;

/// One call and what came of it.
#[derive(Debug, Clone)]
pub struct Step {
    pub action: Arc<Action>,
    /// Noise-masked result and error flag.
    pub outcome: u128,
    /// The outcome with its numbers masked too: equal shape and another outcome is a counter that moved.
    pub shape: u128,
    pub is_error: bool,
    /// What kind of failure it was; `None` for successes and for failures without a word.
    pub error: Option<super::failure::Failure>,
    /// Asks how something that runs by itself is getting on: by what it is, by its answer, or because it was waited
    /// for.
    pub polls: bool,
    /// Waited itself, or was asked after a wait.
    pub waited: bool,
    /// The answer says that there is nothing: an empty output, an empty list, "no matches".
    pub empty: bool,
    /// For a check that failed: what failed, with line numbers masked and counts kept.
    pub signature: u128,
    /// The edited file is back in a state that it was in before.
    pub reverted: bool,
    /// Lines of a file that the call showed.
    pub shown: Option<super::lines::Span>,
    /// The provider or the network failed, not the agent: an outage, never a loop.
    pub outage: bool,
    /// See [`super::progress::Progress`].
    pub news: bool,
    pub world: bool,
    /// Milliseconds.
    pub called_at: f64,
    pub at: f64,
}

impl Step {
    /// Action and outcome together.
    pub fn hash(&self) -> u128 {
        super::progress::pair(self.action.hash, self.outcome)
    }
}

/// The steps of one assistant message.
#[derive(Debug, Clone, Default)]
pub struct Round {
    /// Running number; the first round is 1.
    pub number: u64,
    pub turn: u32,
    /// The message that asked for the calls: its normalised text and thinking.
    pub message: Option<u128>,
    pub usage: Usage,
    /// Distinct steps, by hash. Order does not matter: a batch has none.
    steps: Vec<u128>,
    /// Distinct actions.
    pub actions: Vec<u128>,
    /// Sum of the step hashes: equal for equal batches in any order.
    pub signature: u128,
    /// Sum of the action hashes.
    pub asked: u128,
    pub news: bool,
    pub world: bool,
    /// Every call polls.
    pub polls: bool,
    /// A call waited, or was asked after a wait.
    pub waited: bool,
    pub outage: bool,
    /// For people: the key of the first call.
    pub command: Option<Arc<str>>,
}

/// Distinct steps remembered per round; a batch beyond this is one huge batch.
const MAX_STEPS: usize = 256;

impl Round {
    pub fn new(number: u64, turn: u32) -> Self {
        Self { number, turn, polls: true, ..Self::default() }
    }

    /// Adds a step; false when the round has an equal one already.
    pub fn add(&mut self, step: &Step) -> bool {
        let hash = step.hash();
        if self.steps.contains(&hash) || self.steps.len() >= MAX_STEPS {
            return false;
        }
        self.steps.push(hash);
        self.signature = self.signature.wrapping_add(hash);
        if !self.actions.contains(&step.action.hash) {
            self.actions.push(step.action.hash);
            self.asked = self.asked.wrapping_add(step.action.hash);
        }
        self.news |= step.news;
        self.world |= step.world;
        self.polls &= step.polls;
        self.waited |= step.waited;
        self.outage |= step.outage;
        if self.command.is_none() {
            self.command = Some(Arc::clone(&step.action.key));
        }
        true
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}
