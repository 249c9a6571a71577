//! One agent of a family: who it is, what state it is in, and what was last seen of it.

use super::Id;
use super::clock::Clock;
use super::cost::Budget;
use super::plan::Plan;
use crate::detect::Evidence;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    /// Nothing was asked of it yet, or it waits to be asked again.
    #[default]
    Idle,
    Running,
    /// Its run is over and whoever started it has not been told.
    Finished,
    /// Over, as its package says.
    Ended,
}

/// Who an agent is to the others.
#[derive(Debug, Clone, Default)]
pub struct ChildInfo<'a> {
    pub parent: Option<&'a str>,
    /// For people; its name when absent.
    pub label: Option<&'a str>,
    pub agent_type: Option<&'a str>,
    pub task: Option<&'a str>,
    /// Its parent goes on meanwhile.
    pub background: bool,
    /// Whoever started it tells when it has ended: that it has not is a fact then.
    pub ends: bool,
    /// Nothing of what it does is seen.
    pub unseen: bool,
}

#[derive(Debug, Clone, Default)]
pub struct Member {
    pub name: Box<str>,
    pub label: Box<str>,
    pub agent_type: Box<str>,
    pub parent: Option<Id>,
    pub state: State,
    pub started_at: f64,
    /// When it last became idle, finished or ended.
    pub idle_since: f64,
    /// The user stopped its latest run.
    pub aborted: bool,
    /// It was seen doing anything.
    pub was_active: bool,
    pub background: bool,
    pub ends: bool,
    /// Nothing of what it does is seen: that nothing comes of it says nothing.
    pub unseen: bool,
    /// What it was asked; 0: not known.
    pub task: u128,
    /// When a person last spoke to it.
    pub asked_at: f64,
    /// When it last changed a file.
    pub changed_at: f64,
    pub cwd: String,
    /// Top of the working tree that it works in; empty: the folder it works in.
    pub worktree: String,
    pub clock: Clock,
    pub budget: Budget,
    pub plan: Plan,
    /// The rules call it stuck.
    pub stuck: bool,
    /// The clocks say that it is silent.
    pub silent: bool,
    /// What that is evidence of, when it is stuck by it.
    pub unresponsive: Option<Evidence>,
    /// Calls of a tool that says that its work is done.
    pub finish_calls: u32,
    /// When the user stopped an agent above it that it outlived.
    pub stopped_at: Option<f64>,
    /// Answers since it was finished and taken up again, that did nothing.
    pub refusals: u32,
    pub resumed: bool,
    pub answer: u128,
    pub worked: bool,
    /// Ended, its package calls that a success, and nothing speaks against it.
    pub done: bool,
    /// What is wrong with its latest answer, should that be its last.
    pub no_result: Option<&'static str>,
    pub questions: Vec<Question>,
    pub clash_at: f64,
}

/// A question that an agent asked and that is open.
#[derive(Debug, Clone)]
pub struct Question {
    pub id: Box<str>,
    /// Another agent; nobody when a person or a permission is asked.
    pub to: Option<Box<str>>,
    pub since: f64,
}

impl Member {
    pub fn running(&self) -> bool {
        matches!(self.state, State::Running | State::Finished)
    }

    pub fn ended(&self) -> bool {
        self.state == State::Ended
    }

    pub fn title(&self) -> &str {
        if self.label.is_empty() { &self.name } else { &self.label }
    }

    /// It does something: whatever was thought of its silence or its end does not hold.
    pub fn mark_active(&mut self, at: f64) {
        self.clock.sign(at);
        self.was_active = true;
        if self.state != State::Ended {
            self.state = State::Running;
        }
    }

    pub fn set_resting(&mut self, state: State, at: f64) {
        self.state = state;
        self.idle_since = at;
        self.clock.settle();
    }
}
