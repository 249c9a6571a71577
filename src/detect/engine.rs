//! The engine of one agent: events in, reports through the rules, findings out. Knows rounds and progress; which
//! evidence exists is the rules' business, when to tell is the incidents'.

use std::sync::Arc;

use super::action::{Action, ToolClass};
use super::analysis::StuckAnalysis;
use super::evidence::{Evidence, EvidenceType, LoopCost, Report};
use super::gist::Gist;
use super::incident::{Finding, Incidents};
use super::intervention::Interventions;
use super::memory::Memory;
use super::outcome::Said;
use super::progress::{History, pair};
use super::round::{Round, Step};
use super::rules::{Context, Happening, Rules};
use super::speech::Speech;
use super::stream::{Repetition, Stream};
use crate::policy::Config;
use crate::text::fast;
use crate::trace::{EventKind, StopReason, Usage};

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
    config: Arc<Config>,
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
    interventions: Interventions,
    /// Made when the first piece of a stream comes; it is large, and most agents of a replay have none.
    stream: Option<Box<Streamed>>,
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
    pub fn new(config: Arc<Config>) -> Self {
        Self {
            config,
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
            interventions: Interventions::default(),
            stream: None,
            news: 0,
            news_round: 0,
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
            EventKind::AssistantChunk { text, .. } => self.chunk(at, text, &mut out),
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
        self.end_stream();
        if let Gist::Input { body } = *gist {
            self.tell(at, Happening::Input { body }, out);
        } else {
            self.pending.clear();
            self.retrying = false;
            self.epoch += 1;
            self.interventions.person();
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
        if let Some(chant) = chant.as_ref().filter(|_| !self.end_stream()) {
            self.chant(at, chant, out);
        }
        self.message = Some(Open { body, empty, speech, promised: stop == StopReason::ToolUse, turn });
        self.round.message = Some(body);
        if matches!(stop, StopReason::Stop | StopReason::Length) {
            self.finish_message(at, out);
        }
    }

    /// A piece of the message that is being written.
    fn chunk(&mut self, at: f64, text: &str, out: &mut Observed) {
        if !self.config.stream_repetition {
            return;
        }
        let stream = self.stream.get_or_insert_with(Box::default);
        if let Some(chant) = stream.text.feed(text) {
            stream.told = true;
            self.chant(at, &chant, out);
        }
    }

    /// The stream is over; true when it was told that it goes round.
    fn end_stream(&mut self) -> bool {
        self.stream.as_mut().is_some_and(|stream| {
            stream.text.reset();
            std::mem::take(&mut stream.told)
        })
    }

    fn chant(&mut self, at: f64, chant: &Repetition, out: &mut Observed) {
        if !self.config.stream_repetition {
            return;
        }
        Interventions::stream(at, &chant.unit, chant.count, &mut out.findings);
        let report = Report {
            evidence: Evidence {
                kind: EvidenceType::StreamRepetition,
                summary: format!("one message says the same {} times", chant.count),
                count: chant.count,
                period: 1,
                command: None,
                first_at: at,
                last_at: at,
                trigger: fast(chant.unit.as_bytes()),
            },
            members: Vec::new(),
            distance: 1,
            early: false,
            mild: false,
            cost: LoopCost::default(),
        };
        self.take_reports(at, vec![report], out);
    }

    /// The message asked for no tool: it stands for itself.
    fn finish_message(&mut self, at: f64, out: &mut Observed) {
        if let Some(Open { body, empty, speech, promised, .. }) = self.message.take() {
            self.round.message = None;
            self.interventions.message(empty, speech);
            let Speech { announces, asks, .. } = speech;
            self.tell(at, Happening::Message { body, empty, announces, asks, promised }, out);
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
        self.interventions.call();
        self.end_stream();
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
        self.interventions.step(&step, &self.config, at, &mut out.findings);
        let late = pending.turn != self.round.turn;
        let fresh = !late && self.round.add(&step);
        let mut reports = Vec::new();
        self.ask(at, Happening::Step { step: &step, fresh: fresh || late }, &mut reports);
        if !late && !self.pending.iter().any(|p| p.turn == pending.turn) && (fresh || !self.told) {
            self.ask(at, Happening::Round { again: self.told }, &mut reports);
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
        if reports.is_empty() {
            if let Some(saying) = saying {
                out.findings.extend(self.incidents.reworded(saying, self.round.number, at));
            }
            return;
        }
        self.take_reports(at, reports, out);
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

    fn lifecycle(&mut self, at: f64, event: &str, fields: &str, out: &mut Observed) {
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
                self.interventions.run_ended(at, &mut out.findings);
                if event != "agent_end" {
                    out.changed |= self.stuck();
                    out.findings.extend(self.incidents.left_behind(self.worked, at));
                    self.incidents.forget();
                }
            }
            "compaction_start" => self.finish_message(at, out),
            "compaction_end" => {
                // A person who compacts knows why.
                if reason_of(fields).as_deref() != Some("manual") {
                    self.interventions.compaction(&self.config, at, &mut out.findings);
                }
                self.tell(at, Happening::Compacted, out);
            }
            // The user ended it: nothing is over by that, and nothing more is said until the user speaks.
            "user_abort" => {
                self.pending.clear();
                out.changed |= self.stuck();
                self.incidents.forget();
            }
            // The watchdog, or a sub-agent package with news of a child, spoke to the agent.
            "notice" => {
                self.finish_message(at, out);
                self.end_stream();
                self.tell(at, Happening::Notice, out);
            }
            "auto_retry_start" => self.interventions.retry(at, &mut out.findings),
            "tick" => self.tick(at, out),
            "suspended" => {
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
        let mut reports = Vec::new();
        self.ask(at, what, &mut reports);
        if matches!(what, Happening::Message { .. }) && !reports.is_empty() {
            self.repeated_messages += 1;
        }
        self.take_reports(at, reports, out);
    }

    fn ask(&mut self, now: f64, what: Happening<'_>, reports: &mut Vec<Report>) {
        let news = self.news - u64::from(self.news_round == self.round.number && self.news > 0);
        let context = Context { config: &self.config, now, round: &self.round, epoch: self.epoch, news };
        self.rules.observe(what, &context, reports);
    }

    fn take_reports(&mut self, at: f64, reports: Vec<Report>, out: &mut Observed) {
        if reports.is_empty() {
            return;
        }
        out.changed = true;
        #[cfg(test)]
        out.evidence.extend(reports.iter().map(|report| report.evidence.clone()));
        out.findings.extend(self.incidents.take(reports, self.round.number, at));
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
            Happening::Message { body, empty: false, announces: false, asks: false, promised: false }
        };
        self.tell(at, what, &mut out);
        out
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

/// The message that is being written.
#[derive(Debug, Clone, Default)]
struct Streamed {
    text: Stream,
    told: bool,
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
