//! The engine of one agent: events in, reports through the rules, findings out. Knows rounds and progress; which
//! evidence exists is the rules' business, when to tell is the incidents'.

use std::sync::Arc;

use super::action::{Action, ToolClass};
use super::analysis::StuckAnalysis;
use super::evidence::LoopCost;
use super::gist::Gist;
use super::incident::{Finding, Incidents};
use super::intervention::Intervention;
use super::memory::Memory;
use super::outcome::Said;
use super::progress::{History, pair};
use super::round::{Round, Step};
use super::rules::{Context, Found, Happening, Rules, Settings};
use super::speech::Speech;
use crate::kinds::InterventionKind;
use crate::text::fast;
use crate::trace::{EventKind, LifecycleEvent, StopReason, Usage};

/// Open calls kept per agent; a real agent has a handful.
const MAX_PENDING: usize = 1024;
/// Latest outcome per action, for calls that a guard refused.
const REMEMBERED: usize = 1024;
/// Names the watchdog's own refusals (`circuitBreaker`).
const OWN_GUARD: &str = "pi-watchdog-supervisor";

/// What became of one event, besides findings.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    pub findings: Vec<Finding>,
    /// What the rules said, before incidents decided what of it is told.
    #[cfg(test)]
    pub evidence: Vec<super::evidence::Evidence>,
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
    settings: Arc<Settings>,
    pending: Vec<Pending>,
    round: Round,
    /// Number of the latest round in which a call had its result.
    worked: u64,
    /// The round was told to the rules; a further step opens it again.
    told: bool,
    /// The next round repeats what a provider retry rolled back: it is part of the current one.
    retrying: bool,
    history: History,
    latest: Memory<(u128, bool)>,
    epoch: u64,
    /// A message that might still ask for tools.
    message: Option<Open>,
    /// The latest step was a wait.
    paused: bool,
    /// Rounds that brought news; the latest of them.
    news: u64,
    news_round: u64,
    rules: Rules,
    incidents: Incidents,
    usage: Usage,
    repeated_commands: u64,
    repeated_messages: u64,
}

impl Engine {
    pub fn new(settings: Arc<Settings>) -> Self {
        Self {
            settings,
            pending: Vec::new(),
            round: Round::new(0, 0),
            worked: 0,
            told: false,
            retrying: false,
            history: History::default(),
            latest: Memory::new(REMEMBERED),
            epoch: 0,
            message: None,
            paused: false,
            news: 0,
            news_round: 0,
            rules: Rules::default(),
            incidents: Incidents::default(),
            usage: Usage::default(),
            repeated_commands: 0,
            repeated_messages: 0,
        }
    }

    pub fn configure(&mut self, settings: Arc<Settings>) {
        self.settings = settings;
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
            EventKind::AssistantChunk { text, .. } => self.tell(at, Happening::Chunk { text }, &mut out),
            EventKind::ToolCall { turn, call_id, .. } => {
                if let Gist::Call(action) = gist {
                    self.call(at, turn, call_id, action, &mut out);
                }
            }
            EventKind::ToolResult { turn, call_id, tool, is_error, files, blocked_by, .. } => {
                if let Gist::Result(said) = gist {
                    let result = Answer { said, is_error };
                    self.result(at, turn, call_id, tool, result, blocked_by, files, &mut out);
                }
            }
            EventKind::FileChange { path, hash_after, .. } => {
                if self.history.file_changed(path, hash_after.unwrap_or("")) {
                    self.world_changed(at, &mut out);
                }
            }
            EventKind::Lifecycle { event, fields } => self.lifecycle(at, event, fields, &mut out),
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
            self.incidents.person();
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
        let Gist::Message { body, empty, speech, chant } = gist else { return };
        let (body, empty, speech) = (*body, *empty, *speech);
        if let Some(chant) = chant {
            self.tell(at, Happening::Chant { chant }, out);
        }
        self.message = Some(Open { body, empty, speech, promised: stop == StopReason::ToolUse, turn });
        self.round.message = Some(body);
        if matches!(stop, StopReason::Stop | StopReason::Length) {
            self.finish_message(at, out);
        }
    }

    /// The message asked for no tool: it stands for itself.
    fn finish_message(&mut self, at: f64, out: &mut Observed) {
        if let Some(Open { body, empty, speech, promised, .. }) = self.message.take() {
            self.round.message = None;
            self.tell(at, Happening::Message { body, empty, speech, promised }, out);
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
        if self.message.is_some_and(|message| message.turn == turn) {
            // The message asked for tools: it counts with what comes of them.
            self.message = None;
        }
        self.tell(at, Happening::Call, out);
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
        result: Answer,
        blocked_by: Option<&str>,
        files: &[crate::trace::FileState<'_>],
        out: &mut Observed,
    ) {
        let pending = self.take_pending(at, turn, call_id, tool, out);
        let result = self.answered(&pending.action, result, blocked_by);
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
    fn answered(&mut self, action: &Action, mut result: Answer, blocked_by: Option<&str>) -> Answer {
        if let Some(guard) = blocked_by
            && let Some(&(outcome, is_error)) = self.latest.get(action.hash)
        {
            result.said.outcome = outcome;
            result.said.shape = outcome;
            if guard == OWN_GUARD {
                // Our own refusal is no failure of the command, and nobody's denial.
                result.is_error = is_error;
                result.said.failure = None;
            }
            return result;
        }
        let now = (result.said.outcome, result.is_error);
        *self.latest.entry(action.hash, || now) = now;
        result
    }

    fn step(
        &mut self,
        at: f64,
        pending: &Pending,
        answer: Answer,
        files: &[crate::trace::FileState<'_>],
        out: &mut Observed,
    ) {
        let action = &pending.action;
        self.worked = self.round.number;
        out.action = Some(Arc::clone(action));
        let Answer { said, is_error } = answer;
        let progress = self.history.take(action, said.outcome, is_error, files);
        let after_pause = std::mem::replace(&mut self.paused, action.pauses);
        let asks = !action.acts && !action.check && action.class != ToolClass::Edit;
        let step = Step {
            action: Arc::clone(action),
            polls: action.polls || asks && (said.unfinished || after_pause),
            waited: action.pauses || after_pause,
            outcome: said.outcome,
            shape: said.shape,
            is_error,
            error: said.failure,
            empty: said.empty,
            signature: said.signature,
            reverted: progress.reverted,
            shown: action.asked.map(|asked| asked.span(said.lines)),
            outage: said.outage,
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
        let mut found = Found::default();
        self.ask(at, Happening::Step { step: &step, fresh: fresh || late }, &mut found);
        if !late && !self.pending.iter().any(|p| p.turn == pending.turn) && (fresh || !self.told) {
            self.ask(at, Happening::Round { again: self.told }, &mut found);
            self.told = true;
        }
        if step.news && !late && self.news_round != self.round.number {
            self.news += 1;
            self.news_round = self.round.number;
        }
        // What the tool said, whatever the words it was asked in. A shell line or a search with other words is another
        // question.
        let saying = (action.class == ToolClass::Other && !action.search && !step.world)
            .then(|| pair(action.subject, step.outcome));
        let nothing = found.reports.is_empty();
        self.take(at, found, out);
        if nothing {
            if let Some(saying) = saying {
                out.findings.extend(self.incidents.reworded(saying, self.round.number, at));
            }
            return;
        }
        if let Some(saying) = saying {
            self.incidents.heard(saying, self.round.number);
        }
    }

    fn world_changed(&mut self, at: f64, out: &mut Observed) {
        self.epoch += 1;
        let over = self.incidents.answered(at);
        out.changed |= !over.is_empty();
        out.findings.extend(over);
    }

    fn lifecycle(&mut self, at: f64, event: LifecycleEvent, fields: &str, out: &mut Observed) {
        match event {
            // What came since the last finished turn is sent again.
            LifecycleEvent::ProviderRetry => {
                let turn = self.round.turn;
                self.pending.retain(|pending| pending.turn != turn);
                self.message = None;
                self.retrying = self.round.number > 0;
            }
            LifecycleEvent::AgentEnd
            | LifecycleEvent::AgentSettled
            | LifecycleEvent::SessionShutdown
            | LifecycleEvent::ChainEnd => {
                self.finish_message(at, out);
                self.pending.clear();
                self.tell(at, Happening::RunEnded, out);
                if event != LifecycleEvent::AgentEnd {
                    out.changed |= self.stuck();
                    out.findings.extend(self.incidents.left_behind(self.worked, at));
                    self.incidents.forget();
                }
            }
            LifecycleEvent::CompactionStart => self.finish_message(at, out),
            LifecycleEvent::CompactionEnd => {
                let by_person = reason_of(fields).as_deref() == Some("manual");
                self.tell(at, Happening::Compacted { by_person }, out);
            }
            // The user ended it: nothing is over by that, and nothing more is said until the user speaks.
            LifecycleEvent::UserAbort => {
                self.pending.clear();
                out.changed |= self.stuck();
                self.incidents.forget();
            }
            // The watchdog, or a sub-agent package with news of a child, spoke to the agent.
            LifecycleEvent::Notice => {
                self.finish_message(at, out);
                self.tell(at, Happening::Notice, out);
            }
            LifecycleEvent::AutoRetryStart => self.tell(at, Happening::Retry, out),
            LifecycleEvent::Tick => self.tick(at, out),
            LifecycleEvent::Suspended => {
                if let Some(ms) = number_of(fields, "ms").filter(|ms| *ms > 0.0) {
                    for pending in &mut self.pending {
                        pending.at = (pending.at + ms).min(at);
                    }
                    self.tell(at, Happening::Suspended { ms }, out);
                }
            }
            _ => {}
        }
    }

    /// Time passed and nothing happened.
    pub fn tick(&mut self, at: f64, out: &mut Observed) {
        self.tell(at, Happening::Tick, out);
    }

    fn tell(&mut self, at: f64, what: Happening<'_>, out: &mut Observed) {
        let mut found = Found::default();
        self.ask(at, what, &mut found);
        if matches!(what, Happening::Message { .. }) && !found.reports.is_empty() {
            self.repeated_messages += 1;
        }
        self.take(at, found, out);
    }

    fn ask(&mut self, now: f64, what: Happening<'_>, found: &mut Found) {
        let news = self.news - u64::from(self.news_round == self.round.number && self.news > 0);
        let context = Context { settings: &self.settings, now, round: &self.round, epoch: self.epoch, news };
        self.rules.observe(what, &context, found);
    }

    fn take(&mut self, at: f64, found: Found, out: &mut Observed) {
        out.findings.extend(found.interventions.into_iter().map(|(kind, reason)| intervention(kind, reason, at)));
        if found.reports.is_empty() {
            return;
        }
        out.changed = true;
        #[cfg(test)]
        out.evidence.extend(found.reports.iter().map(|report| report.evidence.clone()));
        out.findings.extend(self.incidents.take(found.reports, self.round.number, at));
    }

    /// The trace has ended: an open message stands for itself.
    pub fn finish(&mut self, at: f64) -> Observed {
        let mut out = Observed::default();
        self.finish_message(at, &mut out);
        out
    }

    /// A child that this agent started has failed: an answer to what it was asked, in a round of its own.
    pub(crate) fn child_failed(&mut self, at: f64, asked: Arc<Action>, outcome: u128) -> Observed {
        let mut out = Observed::default();
        let turn = u32::MAX - u32::try_from(self.round.number % (1 << 16)).unwrap_or(0);
        self.open_round(at, turn, &mut out);
        let pending = Pending { turn, call_id: "".into(), action: asked, at };
        self.step(at, &pending, Answer { said: Said::hashed(outcome), is_error: true }, &[], &mut out);
        out
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
        self.step(at, &pending, Answer { said: Said::hashed(outcome), is_error }, &[], &mut out);
        out
    }

    /// A message from a compact source: its body is a hash.
    pub(crate) fn compact_message(&mut self, at: f64, body: u128, input: bool) -> Observed {
        let mut out = Observed::default();
        let what = if input {
            Happening::Input { body }
        } else {
            Happening::Message { body, empty: false, speech: Speech::default(), promised: false }
        };
        self.tell(at, what, &mut out);
        out
    }
}

fn intervention(kind: InterventionKind, reason: String, at: f64) -> Finding {
    Finding {
        rule: kind.rule(),
        severity: kind.info().severity,
        at,
        agent: None,
        incident: format!("{:016x}", pair(fast(kind.rule().as_bytes()), 0) >> 64),
        analysis: StuckAnalysis::default(),
        cost: LoopCost::default(),
        ordinal: 1,
        over: false,
        intervention: Some(Intervention::new(kind, reason)),
    }
}

/// A number among the fields of a lifecycle event.
fn number_of(fields: &str, name: &str) -> Option<f64> {
    serde_json::from_str::<serde_json::Value>(fields).ok()?.get(name)?.as_f64().filter(|number| number.is_finite())
}

/// The `reason` among the fields of a lifecycle event.
fn reason_of(fields: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Fields {
        reason: Option<String>,
    }
    serde_json::from_str::<Fields>(fields).ok()?.reason
}

/// A finished message of which it is not known yet whether it asks for tools.
#[derive(Debug, Clone, Copy)]
struct Open {
    body: u128,
    empty: bool,
    speech: Speech,
    promised: bool,
    turn: u32,
}

/// A result: what it said, and whether it failed.
#[derive(Debug, Clone, Copy)]
struct Answer {
    said: Said,
    is_error: bool,
}
