//! Interventions: what calls for a hand without being a loop of the agent's own. Typed data; nothing here acts.
//! The kinds are all here; those that concern time, money and other agents are found in [`crate::lifecycle`], the
//! others by what one agent does.
//!
//! Each counts what recurs with nothing good in between, is told at its threshold, and again at double the count.

use super::evidence::LoopCost;
use super::failure::Kind as FailureKind;
use super::incident::{Finding, Severity};
use super::progress::pair;
use super::round::{PATIENCE_MS, Step};
use super::speech::Speech;
use crate::policy::Config;
use crate::text::{bare, fast, quoted};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    StreamLoop,
    CompactionLoop,
    ProviderFailure,
    EmptyResult,
    Polling,
    Denied,
    Timeout,
    ExcessiveCost,
    FileConflict,
    Deadlock,
    Orphan,
    SpawnDepth,
    PlanLag,
}

/// What somebody might do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Warn,
    Steer,
    Restart,
    Kill,
    Skip,
}

impl Kind {
    pub fn name(self) -> &'static str {
        &self.rule()["intervention:".len()..]
    }

    /// As in findings.
    pub fn rule(self) -> &'static str {
        match self {
            Self::StreamLoop => "intervention:stream_loop",
            Self::CompactionLoop => "intervention:compaction_loop",
            Self::ProviderFailure => "intervention:provider_failure",
            Self::EmptyResult => "intervention:empty_result",
            Self::Polling => "intervention:polling",
            Self::Denied => "intervention:denied",
            Self::Timeout => "intervention:timeout",
            Self::ExcessiveCost => "intervention:excessive_cost",
            Self::FileConflict => "intervention:file_conflict",
            Self::Deadlock => "intervention:deadlock",
            Self::Orphan => "intervention:orphan",
            Self::SpawnDepth => "intervention:spawn_depth",
            Self::PlanLag => "intervention:plan_lag",
        }
    }

    pub fn suggested(self) -> Action {
        match self {
            Self::StreamLoop | Self::EmptyResult | Self::Polling => Action::Steer,
            Self::CompactionLoop => Action::Restart,
            Self::ProviderFailure
            | Self::Denied
            | Self::Timeout
            | Self::ExcessiveCost
            | Self::FileConflict
            | Self::Deadlock
            | Self::Orphan
            | Self::PlanLag => Action::Warn,
            Self::SpawnDepth => Action::Skip,
        }
    }
}

impl Action {
    pub fn name(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Steer => "steer",
            Self::Restart => "restart",
            Self::Kill => "kill",
            Self::Skip => "skip",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intervention {
    pub kind: Kind,
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
    pub fn new(kind: Kind, reason: String) -> Self {
        Self { kind, reason, suggested: kind.suggested(), auto_execute: false, parties: Vec::new(), texts: Vec::new() }
    }
}

/// Calls that an outage answered, one after another.
const OUTAGES: u32 = 3;
/// Requests that the provider failed, one after another; Pi itself retries three times.
const RETRIES: u32 = 5;
/// Equal answers to a poll after which waiting is better than asking.
const PATIENT_POLLS: u32 = 10;

/// A count that is told at a threshold and at every doubling.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    value: u32,
    told: u32,
}

impl Count {
    fn hit(&mut self, threshold: u32) -> bool {
        self.value += 1;
        let due = threshold > 0 && self.value >= threshold.max(self.told * 2);
        if due {
            self.told = self.value;
        }
        due
    }
}

/// Refusals of one tool or program, with no success of it in between.
#[derive(Debug, Clone, Copy, Default)]
struct Refused {
    who: u128,
    count: Count,
}

impl Refused {
    fn hit(&mut self, who: u128, threshold: u32) -> bool {
        if self.who != who {
            *self = Self { who, count: Count::default() };
        }
        self.count.hit(threshold)
    }

    fn healed(&mut self, who: u128) {
        if self.who == who {
            self.count = Count::default();
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Interventions {
    compactions: Count,
    outages: Count,
    retries: Count,
    polls: Count,
    poll: u128,
    polled_at: f64,
    refused_tool: Refused,
    refused_subject: Refused,
    /// Tool calls of the whole run.
    calls: u32,
    /// The latest finished message: whether it was empty, and what it said.
    last: Option<(bool, Speech)>,
}

impl Interventions {
    pub fn person(&mut self) {
        *self = Self { calls: self.calls, ..Self::default() };
    }

    pub fn message(&mut self, empty: bool, speech: Speech) {
        self.retries = Count::default();
        self.last = Some((empty, speech));
    }

    pub fn call(&mut self) {
        self.calls += 1;
        // A message that asks for a tool came through as well.
        self.retries = Count::default();
        self.last = None;
    }

    pub fn step(&mut self, step: &Step, config: &Config, at: f64, out: &mut Vec<Finding>) {
        if step.outage {
            if self.outages.hit(OUTAGES) {
                let reason = format!("{} calls in a row met an outage of a service", self.outages.value);
                out.push(finding(Kind::ProviderFailure, reason, at));
            }
            return;
        }
        self.outages = Count::default();
        if step.news || step.world {
            self.compactions = Count::default();
        }
        if step.polls {
            let poll = step.hash();
            if poll != self.poll {
                self.poll = poll;
                self.polls = Count::default();
                self.polled_at = step.called_at;
            }
            let waited = step.waited || step.called_at - self.polled_at >= PATIENCE_MS;
            self.polled_at = step.at;
            if !waited && self.polls.hit(PATIENT_POLLS) {
                let reason = format!(
                    "{} polls with the same answer: a wait that blocks until something happens would cost one",
                    self.polls.value
                );
                out.push(finding(Kind::Polling, reason, at));
            }
        }
        self.refusal(step, config, at, out);
    }

    fn refusal(&mut self, step: &Step, config: &Config, at: f64, out: &mut Vec<Finding>) {
        let (tool, subject) = (fast(step.action.tool.as_bytes()), step.action.subject);
        let (by_tool, by_subject) = (&mut self.refused_tool, &mut self.refused_subject);
        if !step.is_error {
            by_tool.healed(tool);
            by_subject.healed(subject);
        }
        let kind = step.error.map(|failure| failure.kind);
        let due = match kind {
            Some(FailureKind::Denied) => {
                let due = by_subject.hit(subject, config.denied_threshold);
                by_tool.hit(tool, config.denied_threshold) || due
            }
            // The world of before: what the system refused then may be allowed now.
            Some(FailureKind::Forbidden) => by_subject.hit(subject, config.denied_threshold),
            _ => {
                if step.world {
                    *by_subject = Refused::default();
                }
                false
            }
        };
        if due {
            let times = by_tool.count.value.max(by_subject.count.value);
            let reason = format!("{} was refused {times} times and asked for again", bare(&step.action.tool));
            out.push(finding(Kind::Denied, reason, at));
        }
    }

    pub fn compaction(&mut self, config: &Config, at: f64, out: &mut Vec<Finding>) {
        if self.compactions.hit(config.compaction_loop_threshold) {
            let reason = format!("{} compactions with nothing new between them", self.compactions.value);
            out.push(finding(Kind::CompactionLoop, reason, at));
        }
    }

    pub fn retry(&mut self, at: f64, out: &mut Vec<Finding>) {
        if self.retries.hit(RETRIES) {
            let reason = format!("the provider failed {} requests in a row", self.retries.value);
            out.push(finding(Kind::ProviderFailure, reason, at));
        }
    }

    /// The run ended by itself.
    pub fn run_ended(&mut self, at: f64, out: &mut Vec<Finding>) {
        let Some((empty, speech)) = self.last.take() else { return };
        if empty {
            out.push(finding(Kind::EmptyResult, "the run ended with an empty answer".to_owned(), at));
        } else if speech.claims && self.calls == 0 {
            let reason = "the answer says that work was done, and no tool was called".to_owned();
            out.push(finding(Kind::EmptyResult, reason, at));
        }
    }

    pub fn stream(at: f64, unit: &str, count: u32, out: &mut Vec<Finding>) {
        let reason = format!("the message goes round: {} came {count} times", quoted(unit));
        out.push(finding(Kind::StreamLoop, reason, at));
    }
}

fn finding(kind: Kind, reason: String, at: f64) -> Finding {
    let severity = if kind == Kind::Polling { Severity::Info } else { Severity::Warning };
    Finding {
        rule: kind.rule(),
        severity,
        at,
        agent: None,
        incident: format!("{:016x}", pair(fast(kind.rule().as_bytes()), 0) >> 64),
        analysis: super::analysis::StuckAnalysis::default(),
        cost: LoopCost::default(),
        ordinal: 1,
        over: false,
        intervention: Some(Intervention::new(kind, reason)),
    }
}
