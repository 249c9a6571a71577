//! The engine of one agent: events in, reports through the rules, findings out. Knows rounds and progress; which
//! evidence exists is the rules' business, when to tell is the incidents'.

use std::sync::Arc;

use super::action::Action;
use super::analysis::StuckAnalysis;
use super::evidence::{LoopCost, Report};
use super::gist::Gist;
use super::incident::{Finding, Incidents};
use super::memory::Memory;
use super::progress::{History, pair};
use super::round::{Round, Step};
use super::rules::{Context, Happening, Rules};
use crate::policy::Config;
use crate::text::{self, fast};
use crate::trace::{EventKind, StopReason, Usage};

/// Open calls kept per agent; a real agent has a handful.
const MAX_PENDING: usize = 1024;
/// Latest outcome per action, for calls that a guard refused.
const REMEMBERED: usize = 1024;
/// Bytes of an output that are compared.
const MAX_OUTPUT: usize = 64 * 1024;
/// Bytes of the end of a longer output that are compared as well: that is where results stand.
const MAX_TAIL: usize = 16 * 1024;

/// What became of one event, besides findings.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    pub findings: Vec<Finding>,
    /// The analysis may be another one.
    pub changed: bool,
    /// The action of a tool call or result.
    pub action: Option<Arc<Action>>,
}

#[derive(Debug, Clone)]
struct Pending {
    turn: u32,
    call_id: Box<str>,
    action: Arc<Action>,
    at: f64,
}

#[derive(Debug, Clone)]
pub struct Engine {
    config: Arc<Config>,
    pending: Vec<Pending>,
    round: Round,
    /// The round was told to the rules; a further step opens it again.
    told: bool,
    /// The next round repeats what a provider retry rolled back: it is part of the current one.
    retrying: bool,
    history: History,
    latest: Memory<u128>,
    epoch: u64,
    /// A message that might still ask for tools: body, emptiness, turn.
    message: Option<(u128, bool, u32)>,
    rules: Rules,
    incidents: Incidents,
    usage: Usage,
    repeated_commands: u64,
    repeated_messages: u64,
}

thread_local! {
    /// Outputs are masked into this buffer: one allocation per thread, not per event.
    static MASKED: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}

impl Engine {
    pub fn new(config: Arc<Config>) -> Self {
        Self {
            config,
            pending: Vec::new(),
            round: Round::new(0, 0),
            told: false,
            retrying: false,
            history: History::default(),
            latest: Memory::new(REMEMBERED),
            epoch: 0,
            message: None,
            rules: Rules::default(),
            incidents: Incidents::default(),
            usage: Usage::default(),
            repeated_commands: 0,
            repeated_messages: 0,
        }
    }

    pub fn configure(&mut self, config: Arc<Config>) {
        self.config = config;
    }

    pub fn analysis(&self) -> StuckAnalysis {
        self.incidents.analysis()
    }

    pub fn stuck(&self) -> bool {
        self.incidents.any_active()
    }

    pub fn cost(&self) -> LoopCost {
        self.incidents.cost()
    }

    /// Everything that this agent's messages used.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Calls and messages that repeated an earlier one with nothing new, over the whole run.
    pub fn repetitions(&self) -> (u64, u64) {
        (self.repeated_commands, self.repeated_messages)
    }

    /// Whether a call would carry on a loop that was told; the notices so far and the evidence's summary.
    pub fn would_repeat(&self, action: &Action) -> Option<(u32, &str)> {
        self.incidents.blocks(action.hash).map(|(notices, evidence)| (notices, evidence.summary.as_str()))
    }

    /// Takes one event. `at`: milliseconds.
    pub fn observe(&mut self, at: f64, kind: &EventKind<'_>) -> Observed {
        self.observe_gist(at, kind, Gist::of(kind))
    }

    /// Takes one event whose gist was computed elsewhere; its texts are not read.
    pub fn observe_gist(&mut self, at: f64, kind: &EventKind<'_>, gist: Gist) -> Observed {
        let mut out = Observed::default();
        match *kind {
            EventKind::User { .. } => self.user(at, &gist, &mut out),
            EventKind::Assistant { turn, stop_reason, usage, .. } => {
                self.assistant(at, turn, &gist, stop_reason, usage, &mut out);
            }
            EventKind::AssistantChunk { .. } => {}
            EventKind::ToolCall { turn, call_id, .. } => {
                if let Gist::Call(action) = gist {
                    self.call(at, turn, call_id, action, &mut out);
                }
            }
            EventKind::ToolResult { turn, call_id, tool, is_error, files, blocked_by, .. } => {
                if let Gist::Result { outcome, shape, outage } = gist {
                    let result = Outcome { outcome, shape, is_error, outage };
                    self.result(at, turn, call_id, tool, result, blocked_by.is_some(), files, &mut out);
                }
            }
            EventKind::FileChange { path, hash_after, .. } => {
                if self.history.file_changed(path, hash_after.unwrap_or("")) {
                    self.world_changed(at, &mut out);
                }
            }
            EventKind::Lifecycle { event, .. } => self.lifecycle(at, event, &mut out),
        }
        out
    }

    /// Adds usage that came apart from its message.
    pub fn add_usage(&mut self, usage: Usage) {
        self.usage += usage;
        self.round.usage += usage;
    }

    fn user(&mut self, at: f64, gist: &Gist, out: &mut Observed) {
        self.finish_message(at, out);
        if let Gist::Input { body } = *gist {
            self.tell(at, Happening::Input { body }, out);
        } else {
            self.pending.clear();
            self.retrying = false;
            self.epoch += 1;
            self.tell(at, Happening::User, out);
            out.changed |= self.stuck();
            self.incidents.forget();
        }
    }

    fn assistant(
        &mut self,
        at: f64,
        turn: u32,
        gist: &Gist,
        stop: StopReason,
        usage: Option<Usage>,
        out: &mut Observed,
    ) {
        self.finish_message(at, out);
        self.open_round(at, turn, out);
        if let Some(usage) = usage {
            self.add_usage(usage);
        }
        let Gist::Message { body, empty } = *gist else { return };
        self.message = Some((body, empty, turn));
        self.round.message = Some(body);
        if matches!(stop, StopReason::Stop | StopReason::Length) {
            self.finish_message(at, out);
        }
    }

    /// The message asked for no tool: it stands for itself.
    fn finish_message(&mut self, at: f64, out: &mut Observed) {
        if let Some((body, empty, _)) = self.message.take() {
            self.round.message = None;
            self.tell(at, Happening::Message { body, empty }, out);
        }
    }

    fn open_round(&mut self, at: f64, turn: u32, out: &mut Observed) {
        if self.retrying {
            self.retrying = false;
            self.round.turn = turn;
            return;
        }
        if self.round.turn == turn && self.round.number > 0 {
            return;
        }
        self.finish_message(at, out);
        if !self.round.is_empty() && self.incidents.any_active() {
            let over = self.incidents.age(self.round.number, at);
            out.changed |= !over.is_empty();
            out.findings.extend(over);
        }
        self.round = Round::new(self.round.number + 1, turn);
        self.told = false;
    }

    pub(crate) fn call(&mut self, at: f64, turn: u32, call_id: &str, action: Arc<Action>, out: &mut Observed) {
        if self.message.is_some_and(|(_, _, of)| of == turn) {
            // The message asked for tools: it counts with what comes of them.
            self.message = None;
        }
        self.open_round(at, turn, out);
        if self.pending.len() >= MAX_PENDING {
            self.pending.remove(0);
        }
        out.action = Some(Arc::clone(&action));
        self.pending.push(Pending { turn, call_id: call_id.into(), action, at });
    }

    #[allow(clippy::too_many_arguments)] // the fields of one event
    fn result(
        &mut self,
        at: f64,
        turn: u32,
        call_id: &str,
        tool: &str,
        result: Outcome,
        blocked: bool,
        files: &[crate::trace::FileState<'_>],
        out: &mut Observed,
    ) {
        let pending = self.take_pending(at, turn, call_id, tool, out);
        let result = self.answered(&pending.action, result, blocked);
        self.step(at, &pending, result, files, out);
    }

    /// The call that a result answers; one whose call was never seen is compared by its tool alone.
    fn take_pending(&mut self, at: f64, turn: u32, call_id: &str, tool: &str, out: &mut Observed) -> Pending {
        let index = self.pending.iter().rposition(|p| &*p.call_id == call_id && p.turn == turn).or_else(|| {
            // A provider retry may have given the round another turn number.
            self.pending.iter().rposition(|p| &*p.call_id == call_id)
        });
        if let Some(index) = index {
            return self.pending.remove(index);
        }
        self.open_round(at, turn, out);
        Pending { turn, call_id: call_id.into(), action: Arc::new(Action::new(tool, "")), at }
    }

    /// A refusal by a guard says nothing of the question: the call counts as answered like before.
    fn answered(&mut self, action: &Action, result: Outcome, blocked: bool) -> Outcome {
        if blocked && let Some(&outcome) = self.latest.get(action.hash) {
            return Outcome { outcome, shape: outcome, ..result };
        }
        *self.latest.entry(action.hash, || result.outcome) = result.outcome;
        result
    }

    fn step(
        &mut self,
        at: f64,
        pending: &Pending,
        outcome: Outcome,
        files: &[crate::trace::FileState<'_>],
        out: &mut Observed,
    ) {
        let action = &pending.action;
        out.action = Some(Arc::clone(action));
        let progress = self.history.take(action, outcome.outcome, outcome.is_error, files);
        let step = Step {
            action: Arc::clone(action),
            outcome: outcome.outcome,
            shape: outcome.shape,
            is_error: outcome.is_error,
            outage: outcome.outage,
            news: progress.news,
            world: progress.world,
            called_at: pending.at,
            at,
        };
        if progress.world {
            self.world_changed(at, out);
        }
        if !progress.news {
            self.repeated_commands += 1;
        }
        let late = pending.turn != self.round.turn;
        let fresh = !late && self.round.add(&step);
        let mut reports = Vec::new();
        self.ask(at, Happening::Step { step: &step, fresh: fresh || late }, &mut reports);
        if !late && !self.pending.iter().any(|p| p.turn == pending.turn) && (fresh || !self.told) {
            self.ask(at, Happening::Round { again: self.told }, &mut reports);
            self.told = true;
        }
        self.take_reports(at, reports, out);
    }

    fn world_changed(&mut self, at: f64, out: &mut Observed) {
        self.epoch += 1;
        let over = self.incidents.answered(at);
        out.changed |= !over.is_empty();
        out.findings.extend(over);
    }

    fn lifecycle(&mut self, at: f64, event: &str, out: &mut Observed) {
        match event {
            // What came since the last finished turn is sent again.
            "provider_retry" => {
                let turn = self.round.turn;
                self.pending.retain(|pending| pending.turn != turn);
                self.message = None;
                self.retrying = self.round.number > 0;
            }
            "agent_end" | "agent_settled" | "session_shutdown" | "chain_end" => {
                self.finish_message(at, out);
                self.pending.clear();
                if event != "agent_end" {
                    out.changed |= self.stuck();
                    self.incidents.forget();
                }
            }
            "tick" => self.tick(at, out),
            _ => {}
        }
    }

    /// Time passed and nothing happened.
    pub fn tick(&mut self, at: f64, out: &mut Observed) {
        self.tell(at, Happening::Tick, out);
    }

    fn tell(&mut self, at: f64, what: Happening<'_>, out: &mut Observed) {
        let mut reports = Vec::new();
        self.ask(at, what, &mut reports);
        if matches!(what, Happening::Message { .. }) && !reports.is_empty() {
            self.repeated_messages += 1;
        }
        self.take_reports(at, reports, out);
    }

    fn ask(&mut self, now: f64, what: Happening<'_>, reports: &mut Vec<Report>) {
        let context = Context { config: &self.config, now, round: &self.round, epoch: self.epoch };
        self.rules.observe(what, &context, reports);
    }

    fn take_reports(&mut self, at: f64, reports: Vec<Report>, out: &mut Observed) {
        if reports.is_empty() {
            return;
        }
        out.changed = true;
        out.findings.extend(self.incidents.take(reports, self.round.number, at));
    }

    /// A step from an already compact source: its outcome is a hash.
    pub(crate) fn compact_result(
        &mut self,
        at: f64,
        turn: u32,
        call_id: &str,
        outcome: u128,
        is_error: bool,
    ) -> Observed {
        let mut out = Observed::default();
        let pending = self.take_pending(at, turn, call_id, "", &mut out);
        self.step(at, &pending, Outcome { outcome, shape: outcome, is_error, outage: false }, &[], &mut out);
        out
    }

    /// A message from a compact source: its body is a hash.
    pub(crate) fn compact_message(&mut self, at: f64, body: u128, input: bool) -> Observed {
        let mut out = Observed::default();
        let what = if input { Happening::Input { body } } else { Happening::Message { body, empty: false } };
        self.tell(at, what, &mut out);
        out
    }
}

#[derive(Clone, Copy)]
struct Outcome {
    outcome: u128,
    shape: u128,
    is_error: bool,
    outage: bool,
}

/// Noise-masked hash of an output, and the same with its numbers masked.
pub(super) fn outcome(output: &str, is_error: bool) -> (u128, u128) {
    let (head, tail) = ends(output);
    MASKED.with_borrow_mut(|masked| {
        text::mask(head, masked);
        let shape = shape(masked);
        let mut outcome = pair(fast(masked.as_bytes()), u128::from(is_error));
        if !tail.is_empty() {
            text::mask(tail, masked);
            outcome = pair(outcome, fast(masked.as_bytes()));
        }
        (outcome, shape)
    })
}

/// The hash of a text with every run of digits taken as one.
fn shape(text: &str) -> u128 {
    // Only counters in the first part of a text are progress displays.
    let head = &text.as_bytes()[..text.len().min(2048)];
    if !head.iter().any(u8::is_ascii_digit) {
        return fast(text.as_bytes());
    }
    let mut flat = Vec::with_capacity(head.len());
    for &byte in head {
        if !byte.is_ascii_digit() {
            flat.push(byte);
        } else if flat.last() != Some(&b'0') {
            flat.push(b'0');
        }
    }
    fast(&flat)
}

/// The parts of an output that are compared.
fn ends(output: &str) -> (&str, &str) {
    if output.len() <= MAX_OUTPUT {
        return (output, "");
    }
    let head = output.floor_char_boundary(MAX_OUTPUT);
    let tail = output.floor_char_boundary((output.len() - MAX_TAIL).max(head));
    (&output[..head], &output[tail..])
}

/// Longest text that is taken for the account of an outage although the call succeeded.
const BRIEF: usize = 300;

/// The provider or a service is overloaded or down: nothing that the agent repeats out of confusion. A tool may have
/// wrapped that into a success; then both the status and its name must stand in a brief answer.
pub(super) fn is_outage(output: &str, is_error: bool) -> bool {
    const NAMES: [&str; 7] = [
        "too many requests",
        "rate limit",
        "service unavailable",
        "overloaded",
        "bad gateway",
        "gateway timeout",
        "internal server error",
    ];
    const CODES: [&str; 6] = ["429", "500", "502", "503", "504", "529"];
    if !is_error && output.len() > BRIEF {
        return false;
    }
    let head = output[..output.floor_char_boundary(400)].to_ascii_lowercase();
    let named = NAMES.iter().any(|name| head.contains(name));
    let coded = || head.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| CODES.contains(&word));
    named && (is_error || coded())
}
