//! One target: a session that is watched, its compact events, its engine and what was told about it.

use std::collections::VecDeque;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::breaker::Breaker;
use super::event::{Compact, Kind};
use super::families::Seat;
use super::memory::{self, Memory, Totals, Used};
use super::remote::Remote;
use crate::detect::intervention::Intervention;
use crate::detect::{Action, Engine, Evidence, Finding, LoopCost, Observed, Severity, StuckAnalysis};
use crate::policy::{Config, should_alert};
use crate::process::Process;
use crate::text;
use crate::trace::{EventKind, LifecycleEvent, StopReason, Usage};

/// Characters of a message that are kept as its one line.
const LINE: usize = 120;
/// Error text looked at for its class.
const CLASSIFIED: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    Exact,
    Inferred,
    None,
}

/// What is known of a session besides its events. Strings come from outside and are sanitised when shown.
#[derive(Debug, Clone, Default)]
pub struct Info {
    pub name: Option<String>,
    pub kind: Option<String>,
    pub status: Option<String>,
    pub root_id: Option<String>,
    pub parent_id: Option<String>,
    pub agent_type: Option<String>,
    pub link: Option<Link>,
    /// Package that started it.
    pub backend: Option<String>,
    /// How much of it is seen; the published names.
    pub visibility: Option<String>,
    /// Folder that it works in.
    pub project: Option<String>,
    /// Process that runs it, where that is another one; known beyond doubt.
    pub process: Option<Process>,
    /// Its parent goes on meanwhile.
    pub background: Option<bool>,
}

impl Info {
    /// Fields that are present in `newer` replace those here.
    pub fn merge(&mut self, newer: Self) {
        fn take<T>(old: &mut Option<T>, new: Option<T>) {
            if new.is_some() {
                *old = new;
            }
        }
        take(&mut self.name, newer.name);
        take(&mut self.kind, newer.kind);
        take(&mut self.status, newer.status);
        take(&mut self.root_id, newer.root_id);
        take(&mut self.parent_id, newer.parent_id);
        take(&mut self.agent_type, newer.agent_type);
        take(&mut self.link, newer.link);
        take(&mut self.backend, newer.backend);
        take(&mut self.visibility, newer.visibility);
        take(&mut self.project, newer.project);
        take(&mut self.process, newer.process);
        take(&mut self.background, newer.background);
    }
}

/// Something to tell about a target.
#[derive(Debug, Clone)]
pub struct Notice {
    pub over: bool,
    /// As in findings.
    pub rule: &'static str,
    pub severity: Severity,
    pub incident: String,
    pub analysis: StuckAnalysis,
    pub cost: LoopCost,
    pub ordinal: u32,
    /// Set when this is no verdict but an intervention.
    pub intervention: Option<Intervention>,
}

impl From<Finding> for Notice {
    fn from(finding: Finding) -> Self {
        Self {
            over: finding.over,
            rule: finding.rule,
            severity: finding.severity,
            incident: finding.incident,
            analysis: finding.analysis,
            cost: finding.cost,
            ordinal: finding.ordinal,
            intervention: finding.intervention,
        }
    }
}

#[derive(Debug)]
pub struct Target {
    pub id: String,
    pub aliases: Vec<String>,
    pub info: Info,
    pub config: Arc<Config>,
    pub started_at: f64,
    pub last_active_at: f64,
    pub ended_at: Option<f64>,
    pub tool_calls: u64,
    pub patches: u64,
    pub last_command: Option<Arc<str>>,
    /// Set when another process watches the session: then its verdict counts, and the engine here is not run.
    pub remote: Option<Box<Remote>>,
    /// Its place in its family.
    pub(super) seat: Option<Seat>,
    /// Another agent is in its way: a loop would be the conflict between them, which is told as such.
    pub(super) explained: bool,
    /// A child of it has ended since a program last spoke to it.
    pub(super) child_ended: bool,
    /// The clocks' evidence against it.
    pub(super) unresponsive: Option<Evidence>,
    engine: Engine,
    breaker: Breaker,
    /// What was used before the target was last reopened; the engine has the rest.
    pub(super) used_before: Usage,
    pub(super) repeated_before: (u64, u64),
    ring: VecDeque<Compact>,
    seq: u64,
    /// Findings that wait to be told, newest per incident.
    due: Vec<Finding>,
    /// Incidents that were told and are not over.
    told: Vec<String>,
    last_alert: Option<(String, f64)>,
    memory: Option<memory::Link>,
}

/// What one event asks the caller to do; the bits of the published `Signal`.
pub const VERDICT: u32 = 1;
pub const NOTICE: u32 = 2;

impl Target {
    pub fn new(id: &str, at: f64, info: Info, config: Arc<Config>) -> Self {
        Self {
            id: id.to_owned(),
            aliases: Vec::new(),
            info,
            engine: Engine::new(Arc::clone(&config.rules)),
            breaker: Breaker::default(),
            config,
            started_at: at,
            last_active_at: at,
            ended_at: None,
            tool_calls: 0,
            patches: 0,
            last_command: None,
            remote: None,
            seat: None,
            explained: false,
            child_ended: false,
            unresponsive: None,
            used_before: Usage::default(),
            repeated_before: (0, 0),
            ring: VecDeque::new(),
            seq: 0,
            due: Vec::new(),
            told: Vec::new(),
            last_alert: None,
            memory: None,
        }
    }

    pub fn configure(&mut self, config: Arc<Config>) {
        let begins = config.general.history && !self.config.general.history;
        self.engine.configure(Arc::clone(&config.rules));
        self.config = config;
        self.trim();
        // What it is was not told while nothing was to be remembered of it.
        if begins && let Some(link) = self.memory.take() {
            self.remember(Some(link.memory), false);
        }
    }

    /// How an ended target ended stays as it is: a session that is disposed still says that it is idle.
    pub fn update(&mut self, mut newer: Info) {
        if self.ended_at.is_some() {
            newer.status = None;
        }
        self.info.merge(newer);
        self.show_totals();
        self.tell(|memory, target| memory.changed(target));
    }

    /// Who is told of this target from now on.
    pub(super) fn remember(&mut self, memory: Option<Arc<dyn Memory>>, again: bool) {
        self.memory = memory.map(|memory| memory::Link { memory, totals: Arc::new(Totals::default()) });
        self.show_totals();
        let Some(link) = self.memory.as_ref().filter(|_| self.config.general.history) else { return };
        link.memory.opened(self, &link.totals, again);
    }

    fn tell(&self, what: impl FnOnce(&dyn Memory, &Self)) {
        if let Some(link) = self.memory.as_ref().filter(|_| self.config.general.history) {
            what(&*link.memory, self);
        }
    }

    pub(super) fn show_totals(&self) {
        let Some(link) = self.memory.as_ref().filter(|_| self.config.general.history) else { return };
        link.totals.set(&Used {
            usage: self.usage(),
            tool_calls: self.tool_calls as f64,
            patches: self.patches as f64,
            last_active_at: self.last_active_at,
        });
        link.memory.used();
    }

    /// The session goes on (a resumed child, a reload): what was seen before counts no more, what is kept stays.
    pub fn reopen(&mut self, at: f64) {
        self.forget();
        self.due.clear();
        self.told.clear();
        self.ended_at = None;
        self.last_active_at = at;
    }

    pub fn end(&mut self, at: f64) {
        self.ended_at = Some(at);
        self.show_totals();
        self.tell(|memory, target| memory.ended(target));
        self.due.clear();
        self.told.clear();
        // A hundred ended targets are kept; what their engines remember of outcomes is of no more use.
        self.forget();
    }

    /// Nothing that was counted since the target was last reopened has happened.
    pub(super) fn restart(&mut self) {
        self.engine = Engine::new(Arc::clone(&self.config.rules));
        self.breaker = Breaker::default();
        (self.tool_calls, self.patches) = (0, 0);
    }

    /// A fresh engine; what was used and repeated stays counted.
    fn forget(&mut self) {
        self.used_before += self.engine.usage();
        let (commands, messages) = self.engine.repetitions();
        self.repeated_before.0 += commands;
        self.repeated_before.1 += messages;
        self.engine = Engine::new(Arc::clone(&self.config.rules));
        self.breaker = Breaker::default();
    }

    pub fn observes(&self) -> bool {
        self.config.general.enabled && self.ended_at.is_none() && self.remote.is_none()
    }

    /// The one way in for events of the session. Gives the action of a call or a result back.
    pub fn observe(&mut self, at: f64, kind: &EventKind<'_>) -> (u32, Option<Arc<Action>>) {
        if !self.observes() {
            return (0, None);
        }
        self.unresponsive = None;
        self.last_active_at = self.last_active_at.max(at);
        if let EventKind::ToolResult { turn, call_id, tool, output, is_error, files, blocked_by } = *kind {
            // Once for the engine and for what is kept: taking escape sequences out is a good part of an event's cost.
            let output = &*text::strip(output);
            return self.take(at, &EventKind::ToolResult { turn, call_id, tool, output, is_error, files, blocked_by });
        }
        self.take(at, kind)
    }

    fn take(&mut self, at: f64, kind: &EventKind<'_>) -> (u32, Option<Arc<Action>>) {
        let repeated = self.engine.repetitions().0;
        let input = matches!(kind, EventKind::User { synthetic: true, .. });
        let mut observed = if input && std::mem::take(&mut self.child_ended) {
            // What a program says now is news of the child, however alike it is worded.
            self.engine.observe(at, &EventKind::Lifecycle { event: LifecycleEvent::Notice, fields: "" })
        } else {
            self.engine.observe(at, kind)
        };
        if self.explained {
            observed.findings.retain(|finding| finding.over || finding.intervention.is_some());
        }
        let action = observed.action.clone();
        self.keep(at, kind, observed.action.as_ref());
        self.follow(kind, observed.action.as_ref(), self.engine.repetitions().0 == repeated);
        let signal = self.signal(observed);
        if matches!(kind, EventKind::User { synthetic: false, .. }) {
            if !self.told.is_empty() {
                self.tell(|memory, target| memory.answered(target, at));
            }
            self.told.clear();
        }
        (signal, action)
    }

    /// What ran, for [`Self::would_repeat`]. `news`: a result was none that the call had before.
    fn follow(&mut self, kind: &EventKind<'_>, action: Option<&Arc<Action>>, news: bool) {
        match (kind, action) {
            (EventKind::ToolCall { call_id, .. }, Some(action)) => self.breaker.called(call_id, action),
            (EventKind::ToolResult { call_id, is_error, blocked_by, .. }, Some(action)) => {
                self.breaker.answered(call_id, action, *is_error, blocked_by.is_some(), news);
            }
            (EventKind::FileChange { .. }, _) => self.breaker.changed_outside(),
            (
                EventKind::User { synthetic: false, .. }
                | EventKind::Lifecycle { event: LifecycleEvent::AgentEnd | LifecycleEvent::AgentSettled, .. },
                _,
            ) => self.breaker.settle(),
            _ => {}
        }
    }

    pub fn add_usage(&mut self, usage: Usage) {
        if self.remote.is_some() {
            return;
        }
        self.engine.add_usage(usage);
        self.show_totals();
    }

    /// This process did not run for `ms` until `at`.
    pub(super) fn suspended(&mut self, ms: f64, at: f64) {
        if self.observes() {
            let fields = format!(r#"{{"ms":{ms}}}"#);
            self.engine.observe(at, &EventKind::Lifecycle { event: LifecycleEvent::Suspended, fields: &fields });
        }
    }

    pub fn tick(&mut self, at: f64) -> u32 {
        if !self.observes() {
            return 0;
        }
        let mut observed = Observed::default();
        self.engine.tick(at, &mut observed);
        self.signal(observed)
    }

    fn signal(&mut self, observed: Observed) -> u32 {
        let mut signal = if observed.changed { VERDICT } else { 0 };
        // A verdict that waited (cooldown, pause) and holds no more is not told any more.
        if !self.engine.stuck() {
            self.due.retain(|waiting| waiting.over || waiting.intervention.is_some());
        }
        for finding in observed.findings {
            self.due.retain(|waiting| waiting.incident != finding.incident);
            // An incident nobody was told of ends without a word.
            if !finding.over || self.told.contains(&finding.incident) {
                self.due.push(finding);
            }
        }
        if !self.due.is_empty() {
            signal |= NOTICE;
        }
        signal
    }

    /// A compact event that is no part of the trace.
    pub fn note(&mut self, at: f64, kind: Kind, text: &str) {
        self.push(at, kind, |event| event.text = one_line(text));
    }

    fn keep(&mut self, at: f64, kind: &EventKind<'_>, action: Option<&Arc<Action>>) {
        match *kind {
            EventKind::User { text, .. } => self.message(at, Kind::LlmInput, text),
            EventKind::Assistant { text, thinking, stop_reason, .. } => {
                if stop_reason != StopReason::Error {
                    self.message(at, Kind::LlmOutput, if text.is_empty() { thinking } else { text });
                }
            }
            EventKind::ToolCall { turn, call_id, .. } => {
                let Some(action) = action else { return };
                self.tool_calls += 1;
                self.last_command = Some(Arc::clone(&action.key));
                let kind = Kind::of_call(action);
                self.patches += u64::from(kind != Kind::ToolCall);
                self.push(at, kind, |event| {
                    event.action = Some(Arc::clone(action));
                    event.turn = Some(turn);
                    event.call_id = Some(call_id.into());
                });
            }
            EventKind::ToolResult { turn, call_id, output, is_error, .. } => {
                let lines = self.config.general.max_preview_lines as usize;
                // It was stripped as it came in. All of it counts: verdicts over kept events compare the hash.
                let hash = Sha256::digest(output.as_bytes()).into();
                let preview = (lines > 0).then(|| text::preview(output, lines).into_boxed_str());
                let class = if is_error {
                    text::error_class(&output[..output.floor_char_boundary(CLASSIFIED)]).map(String::into_boxed_str)
                } else {
                    None
                };
                self.push(at, Kind::ToolResult, |event| {
                    event.action = action.cloned();
                    event.turn = Some(turn);
                    event.call_id = Some(call_id.into());
                    event.hash = Some(hash);
                    event.preview = preview;
                    event.is_error = is_error;
                    event.error_class = class;
                });
            }
            EventKind::Lifecycle { .. } | EventKind::FileChange { .. } | EventKind::AssistantChunk { .. } => {}
        }
    }

    fn message(&mut self, at: f64, kind: Kind, text: &str) {
        let hash = Sha256::digest(text::normalize_message(text).as_bytes()).into();
        self.push(at, kind, |event| {
            event.text = one_line(text);
            event.hash = Some(hash);
        });
    }

    pub(super) fn push(&mut self, at: f64, kind: Kind, fill: impl FnOnce(&mut Compact)) {
        self.seq += 1;
        let mut event = Compact {
            seq: self.seq,
            at,
            kind,
            action: None,
            text: Box::default(),
            hash: None,
            preview: None,
            turn: None,
            call_id: None,
            is_error: false,
            error_class: None,
        };
        fill(&mut event);
        self.ring.push_back(event);
        self.trim();
    }

    fn trim(&mut self) {
        while self.ring.len() > self.config.general.max_events_per_agent as usize {
            self.ring.pop_front();
        }
    }

    /// The notice that is due now, if the cooldown allows one; taking it counts as having told it.
    pub fn take_notice(&mut self, now: f64) -> Option<Notice> {
        let index = self.due.iter().position(|finding| {
            let last = self.last_alert.as_ref().map(|(key, at)| (key.as_str(), *at));
            finding.over || should_alert(last, true, key_of(finding), now, self.config.general.cooldown_sec)
        })?;
        let finding = self.due.remove(index);
        if finding.over {
            self.told.retain(|incident| *incident != finding.incident);
        } else {
            self.last_alert = Some((key_of(&finding).to_owned(), now));
            if !self.told.contains(&finding.incident) {
                self.told.push(finding.incident.clone());
            }
            let text = match &finding.intervention {
                Some(intervention) => intervention.reason.clone(),
                None => finding.analysis.reasons().collect::<Vec<_>>().join("; "),
            };
            self.note(now, Kind::Alert, &text);
        }
        Some(self.told_of(finding, now))
    }

    /// What was told about it is remembered beyond the process.
    pub(super) fn told_of(&self, finding: Finding, now: f64) -> Notice {
        let notice = Notice::from(finding);
        self.show_totals();
        self.tell(|memory, target| memory.told(target, &notice, now));
        notice
    }

    /// Whether an alert that a model asks for may be sent, by the evidence there is now. Not stuck by the rules: it
    /// may (a model can see more), and nothing is recorded.
    pub fn request_alert(&mut self, now: f64) -> (bool, bool) {
        let analysis = self.analysis();
        if !analysis.likely_stuck {
            return (true, false);
        }
        let last = self.last_alert.as_ref().map(|(key, at)| (key.as_str(), *at));
        if !should_alert(last, true, &analysis.evidence_key, now, self.config.general.cooldown_sec) {
            return (false, false);
        }
        let text = analysis.reasons().collect::<Vec<_>>().join("; ");
        self.last_alert = Some((analysis.evidence_key, now));
        self.note(now, Kind::Alert, &text);
        (true, true)
    }

    pub fn analysis(&self) -> StuckAnalysis {
        let analysis = self.remote.as_ref().map_or_else(|| self.engine.analysis(), |remote| remote.analysis().clone());
        let Some(evidence) = self.unresponsive.clone() else { return analysis };
        StuckAnalysis::from_evidence(analysis.evidence.into_iter().chain([evidence]).collect())
    }

    pub fn stuck(&self) -> bool {
        let by_rules =
            || self.remote.as_ref().map_or_else(|| self.engine.stuck(), |remote| remote.analysis().likely_stuck);
        self.ended_at.is_none() && (self.unresponsive.is_some() || by_rules())
    }

    pub fn usage(&self) -> Usage {
        let mut usage = self.used_before;
        usage += self.engine.usage();
        if let Some(remote) = &self.remote {
            usage += remote.usage();
        }
        usage
    }

    pub fn repetitions(&self) -> (u64, u64) {
        let (commands, messages) = self.engine.repetitions();
        let (elsewhere, messages_elsewhere) = self.remote.as_ref().map_or((0, 0), |remote| remote.repeated());
        (self.repeated_before.0 + commands + elsewhere, self.repeated_before.1 + messages + messages_elsewhere)
    }

    /// See [`Engine::would_repeat`]; nothing where something that ran since may have changed the answer.
    pub fn would_repeat(&self, action: &Action) -> Option<(u32, &str)> {
        let repeated = self.engine.would_repeat(action)?;
        let looping = |other: &Action| self.engine.would_repeat(other).is_some();
        self.breaker.same_again(action, looping).then_some(repeated)
    }

    /// The newest `limit` kept events after `since`, in time order.
    pub fn events(&self, limit: usize, since: Option<u64>) -> impl Iterator<Item = &Compact> {
        let after = since.map_or(0, |seq| self.ring.partition_point(|event| event.seq <= seq));
        let start = after.max(self.ring.len().saturating_sub(limit));
        self.ring.range(start..)
    }

    pub fn event_count(&self) -> usize {
        self.ring.len()
    }
}

/// What repeated alerts are held apart by.
fn key_of(finding: &Finding) -> &str {
    if finding.intervention.is_some() { finding.rule } else { &finding.analysis.evidence_key }
}

/// The part of a text that is looked at: twice what is hashed, as escape sequences go.
fn one_line(text: &str) -> Box<str> {
    let line = text.trim_start();
    text::quote(&line[..line.floor_char_boundary(4 * LINE)], LINE, 1).into_boxed_str()
}
