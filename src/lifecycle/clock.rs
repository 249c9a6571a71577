//! The clocks of one agent: when it last gave a sign, what it has open, and whether it is silent for longer than it
//! may be. Pure over the time that it is given; knows no other agent.

use crate::rule;
use crate::setting::{SECONDS, Scope, Shape};
use std::sync::Arc;

rule! {
    /// Silence and age. An agent that does not respond is also a verdict.
    evidence {
        UNRESPONSIVE = "unresponsive", rank 210;
    }
    interventions {
        /// nothing was heard of an agent that has nothing open (`idleTimeoutSec`, times 2, 5, 10 at thinking level medium,
        /// high, xhigh); a tool call runs on (`openToolTimeoutSec`, or the call's own `timeout` and 30 s, whichever is
        /// longer; three times that while its output still grows, or while it waits for an agent that is not seen); a
        /// running child is old (`staleAfterSec`: a remark while it works; past `autoKillAfterSec` and also silent or
        /// stuck: an alert that proposes `kill`)
        TIMEOUT = "timeout", proposes Warn, audience MainAgent,
            state "not responding", brief "silent", footer "silent", until_active true, limit true;
    }
    settings {
        /// Seconds without any sign of an agent that has nothing open (no tool, stream, dialog, compaction or retry, no
        /// question to an agent that can answer it, and no working sub-agent). Twice as long at thinking level medium, five
        /// times at high, ten times at xhigh. 0: off.
        idle_timeout_sec: f64 = 180.0, "idleTimeoutSec", SECONDS, Scope::CLOCK;
        /// Seconds that one tool call may run; a call that declares a longer time itself may run that long and a little
        /// more. 0: off.
        open_tool_timeout_sec: f64 = 600.0, "openToolTimeoutSec", SECONDS, Scope::CLOCK;
        /// Age in seconds at which a running sub-agent is reported. 0: off.
        stale_after_sec: f64 = 300.0, "staleAfterSec", SECONDS, Scope::REPORT;
        /// Age in seconds at which a running sub-agent is past its limit. 0: off.
        auto_kill_after_sec: f64 = 600.0, "autoKillAfterSec", SECONDS, Scope::CLOCK;
        /// Whether a sub-agent past `autoKillAfterSec` is stopped without asking, if it is also silent or looping. A busy
        /// one never is.
        auto_kill: bool = false, "autoKill", Shape::Bool, Scope::POWER_SWITCH;
    }
}

/// Beyond its declared time a call may take so much longer to come back.
const GRACE_MS: f64 = 30_000.0;
/// A call without a declared time whose output or processor time grew this recently is at work.
const AT_WORK_MS: f64 = 120_000.0;
/// How many times its bound a call may take that is visibly at work, or that waits for an agent that is not seen.
const PATIENT: f64 = 3.0;
/// Open calls kept of one agent; a real one has a handful.
const OPEN_CALLS: usize = 256;

/// Much thinking is long silence on some transports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Thinking {
    #[default]
    Low,
    Medium,
    High,
    Xhigh,
}

impl Thinking {
    pub fn parse(name: &str) -> Self {
        match name {
            "medium" => Self::Medium,
            "high" => Self::High,
            "xhigh" | "max" => Self::Xhigh,
            _ => Self::Low,
        }
    }

    fn scale(self) -> f64 {
        match self {
            Self::Low => 1.0,
            Self::Medium => 2.0,
            Self::High => 5.0,
            Self::Xhigh => 10.0,
        }
    }
}

/// A tool call that has not come back.
#[derive(Debug, Clone)]
pub struct OpenCall {
    pub id: Box<str>,
    pub tool: Arc<str>,
    pub since: f64,
    /// Milliseconds.
    pub declared: Option<f64>,
    /// It is about another agent: starts it or waits for it.
    pub about_agent: bool,
    pub addressee: Option<Arc<str>>,
    /// When its output last grew.
    at_work: f64,
}

/// What a silence is, with the age that the rule used.
#[derive(Debug, Clone, PartialEq)]
pub enum Silence {
    /// Nothing is open and nothing comes.
    Idle {
        for_ms: f64,
    },
    OpenTool {
        tool: Arc<str>,
        for_ms: f64,
        past_declared: bool,
    },
}

impl Silence {
    pub fn for_ms(&self) -> f64 {
        match self {
            Self::Idle { for_ms } | Self::OpenTool { for_ms, .. } => *for_ms,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Clock {
    pub thinking: Thinking,
    pub last_sign: f64,
    /// A sign of an agent below it that is not seen itself.
    pub below: f64,
    open: Vec<OpenCall>,
    compacting_since: Option<f64>,
    dialogs: u32,
    /// Until then a provider said that it will not answer.
    excused_until: f64,
    output: f64,
    cpu: f64,
}

impl Clock {
    pub fn sign(&mut self, at: f64) {
        self.last_sign = self.last_sign.max(at);
    }

    pub fn opened(&mut self, call: OpenCall) {
        if self.open.len() >= OPEN_CALLS {
            self.open.remove(0);
        }
        self.open.push(call);
    }

    pub fn closed(&mut self, id: &str) {
        if let Some(index) = self.open.iter().rposition(|call| &*call.id == id) {
            self.open.remove(index);
        }
    }

    /// Changes every instant that open calls are measured from.
    pub(super) fn shift_calls(&mut self, mut shift: impl FnMut(&mut f64)) {
        for call in &mut self.open {
            shift(&mut call.since);
            if call.at_work > 0.0 {
                shift(&mut call.at_work);
            }
        }
        if let Some(since) = &mut self.compacting_since {
            shift(since);
        }
    }

    pub fn open(&self) -> &[OpenCall] {
        &self.open
    }

    /// Nothing of a run outlives it but what a provider said: the next one may be to try again.
    pub fn settle(&mut self) {
        self.open.clear();
        self.compacting_since = None;
        self.dialogs = 0;
    }

    pub fn compacting(&mut self, since: Option<f64>) {
        self.compacting_since = since;
    }

    pub fn asks(&mut self) {
        self.dialogs += 1;
    }

    pub fn answered(&mut self) {
        self.dialogs = self.dialogs.saturating_sub(1);
    }

    /// A question to somebody is open.
    pub fn asking(&self) -> bool {
        self.dialogs > 0
    }

    pub fn excuse(&mut self, until: f64) {
        self.excused_until = self.excused_until.max(until);
    }

    /// Somebody asks anew: what a provider said before is no excuse.
    pub fn asked_anew(&mut self) {
        self.excused_until = 0.0;
    }

    pub fn excused(&self, now: f64) -> bool {
        now < self.excused_until
    }

    /// Output of one call, or of whichever is open.
    pub fn worked(&mut self, call: Option<&str>, at: f64) {
        for open in &mut self.open {
            if call.is_none_or(|id| *open.id == *id) {
                open.at_work = at;
            }
        }
    }

    /// What a tick measured of the open calls together; true when it grew.
    pub fn measured(&mut self, output: f64, cpu: f64) -> bool {
        let grew = output > self.output || cpu > self.cpu;
        self.output = output;
        self.cpu = cpu;
        grew
    }

    /// `known_below`: the latest sign of any agent below it; they are its activity.
    pub fn silence(&self, settings: &Settings, known_below: f64, now: f64) -> Option<Silence> {
        let tool_limit = settings.open_tool_timeout_sec * 1000.0;
        if self.asking() || self.excused(now) {
            return None;
        }
        if let Some(since) = self.compacting_since {
            return (tool_limit > 0.0 && now - since >= tool_limit).then(|| Silence::OpenTool {
                tool: "compaction".into(),
                for_ms: now - since,
                past_declared: false,
            });
        }
        let below = self.below.max(known_below);
        if !self.open.is_empty() {
            if tool_limit <= 0.0 {
                return None;
            }
            return self.open.iter().find_map(|call| call.overdue(tool_limit, below, settings, now));
        }
        let limit = settings.idle_timeout_sec * 1000.0 * self.thinking.scale();
        // A limit that was waited for ends with a fresh start.
        let last = self.last_sign.max(below).max(self.excused_until);
        (limit > 0.0 && now - last >= limit).then_some(Silence::Idle { for_ms: now - last })
    }
}

impl OpenCall {
    pub fn new(id: &str, tool: &Arc<str>, since: f64) -> Self {
        Self {
            id: id.into(),
            tool: Arc::clone(tool),
            since,
            declared: None,
            about_agent: false,
            addressee: None,
            at_work: f64::MIN,
        }
    }

    fn overdue(&self, limit: f64, below: f64, settings: &Settings, now: f64) -> Option<Silence> {
        let declared = self.declared.map(|declared| declared + GRACE_MS);
        let mut bound = limit.max(declared.unwrap_or(0.0));
        let unseen = self.about_agent && below < self.since;
        if declared.is_none() && (now - self.at_work <= AT_WORK_MS || unseen) {
            bound *= PATIENT;
        }
        // What an agent below does is what the call does.
        if self.about_agent && now - below < (settings.idle_timeout_sec * 1000.0).max(limit) {
            return None;
        }
        let for_ms = now - self.since;
        (for_ms >= bound).then(|| Silence::OpenTool {
            tool: self.tool.clone(),
            for_ms,
            past_declared: declared.is_some_and(|declared| for_ms >= declared),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> Clock {
        let mut clock = Clock::default();
        clock.sign(0.0);
        clock
    }

    fn at(clock: &Clock, seconds: f64) -> Option<Silence> {
        clock.silence(&Settings::default(), f64::MIN, seconds * 1000.0)
    }

    #[test]
    fn a_silent_model_is_silent_after_three_minutes_and_not_before() {
        assert_eq!(at(&clock(), 179.9), None);
        assert_eq!(at(&clock(), 180.0), Some(Silence::Idle { for_ms: 180_000.0 }));
    }

    #[test]
    fn a_call_is_at_work_when_its_output_or_its_processor_time_grew() {
        let mut clock = clock();
        assert!(!clock.measured(0.0, 0.0), "nothing yet");
        assert!(clock.measured(10.0, 0.0), "output alone");
        assert!(clock.measured(10.0, 5.0), "processor time alone");
        assert!(!clock.measured(10.0, 5.0), "both as they were");
        assert!(!clock.measured(4.0, 2.0), "less is no growth: a call has ended");
        assert!(clock.measured(5.0, 2.0), "growth counts from the latest measure");
    }

    #[test]
    fn much_thinking_may_be_long() {
        for (level, limit) in [("off", 180.0), ("low", 180.0), ("medium", 360.0), ("high", 900.0), ("xhigh", 1800.0)] {
            let clock = Clock { thinking: Thinking::parse(level), ..clock() };
            assert_eq!(at(&clock, limit - 1.0), None, "{level}");
            assert!(at(&clock, limit).is_some(), "{level}");
        }
    }

    #[test]
    fn dialogs_compactions_and_named_resets_stop_the_clock() {
        let mut asking = clock();
        asking.asks();
        assert_eq!(at(&asking, 90_000.0), None);
        asking.answered();
        asking.sign(90_000_000.0);
        assert_eq!(at(&asking, 90_100.0), None);

        let mut compacting = clock();
        compacting.compacting(Some(0.0));
        assert_eq!(at(&compacting, 599.0), None);
        assert!(at(&compacting, 600.0).is_some(), "a compaction that hangs is a hang");

        let mut limited = clock();
        limited.excuse(1_500_000.0);
        assert_eq!(at(&limited, 1_499.0), None);
        assert_eq!(at(&limited, 1_679.0), None, "it has its full time again after the reset");
        assert!(at(&limited, 1_680.0).is_some());
    }

    #[test]
    fn a_call_may_take_as_long_as_it_said_and_a_little_more() {
        let mut clock = clock();
        clock.opened(OpenCall { declared: Some(1_800_000.0), ..OpenCall::new("c", &"bash".into(), 0.0) });
        assert_eq!(at(&clock, 1829.0), None);
        let past = Some(Silence::OpenTool { tool: "bash".into(), for_ms: 1_830_000.0, past_declared: true });
        assert_eq!(at(&clock, 1830.0), past);
        clock.closed("c");
        assert!(matches!(at(&clock, 1830.0), Some(Silence::Idle { .. })));
    }

    #[test]
    fn a_call_without_a_declared_time_has_ten_minutes_or_thirty_while_it_works() {
        let mut clock = clock();
        clock.opened(OpenCall::new("c", &"bash".into(), 0.0));
        assert_eq!(at(&clock, 599.0), None);
        assert!(at(&clock, 600.0).is_some());
        clock.worked(Some("c"), 590_000.0);
        assert_eq!(at(&clock, 600.0), None);
        assert!(at(&clock, 720.0).is_some(), "its output stopped two minutes ago");
        clock.worked(None, 1_790_000.0);
        assert!(at(&clock, 1800.0).is_some(), "output alone is no reason for ever");
    }

    #[test]
    fn what_happens_below_is_activity() {
        let mut clock = clock();
        clock.opened(OpenCall { about_agent: true, ..OpenCall::new("c", &"subagent".into(), 0.0) });
        clock.below = 5_000_000.0;
        assert_eq!(at(&clock, 5100.0), None);
        let known = |seconds: f64, below: f64| clock.silence(&Settings::default(), below * 1000.0, seconds * 1000.0);
        assert_eq!(known(9000.0, 8990.0), None);
        assert!(known(9000.0, 8000.0).is_some());
    }

    #[test]
    fn a_limit_of_zero_is_no_limit() {
        let config = Settings { idle_timeout_sec: 0.0, open_tool_timeout_sec: 0.0, ..Settings::default() };
        let mut clock = clock();
        assert_eq!(clock.silence(&config, f64::MIN, 1e12), None);
        clock.opened(OpenCall::new("c", &"bash".into(), 0.0));
        assert_eq!(clock.silence(&config, f64::MIN, 1e12), None);
    }
}
