//! Who is silent or too old. What happens below an agent is its activity.

use super::clock::{Silence, TIMEOUT};
use super::member::State;
use super::words::{bare, time};
use super::{Family, Id, NewReport, ROOT, matter, suggest, words};
use crate::detect::Severity;
use crate::detect::intervention::Action;
use crate::text::fast;

impl Family {
    /// The silence of each running agent. What happens below an agent is its activity.
    pub(super) fn silences(&self, now: f64) -> Vec<(Id, Option<Silence>)> {
        /// What is known of the agents below one.
        #[derive(Clone, Copy)]
        struct Below {
            runs: bool,
            active: bool,
            sign: f64,
        }
        let depths = self.depths();
        let mut order: Vec<Id> = self.ids().collect();
        // From below, so that children are judged before their parents, and each is looked at once.
        order.sort_unstable_by_key(|id| std::cmp::Reverse((depths[*id as usize], *id)));
        let mut below = vec![Below { runs: false, active: false, sign: f64::MIN }; order.len()];
        let mut found: Vec<(Id, Option<Silence>)> = Vec::new();
        for id in order {
            let member = self.member(id);
            let mut own = below[id as usize];
            if member.running() {
                let waits_for_child =
                    own.runs && member.clock.open().iter().any(|call| call.about_agent || call.addressee.is_some());
                // The silence of a child is told of the child.
                let excused = member.unseen || own.active || waits_for_child || self.awaits_answer(id);
                let silence = if excused { None } else { member.clock.silence(&self.settings.clock, own.sign, now) };
                own.runs = true;
                own.active |= silence.is_none();
                found.push((id, silence));
            }
            if let Some(parent) = member.parent {
                let above = &mut below[parent as usize];
                above.runs |= own.runs;
                above.active |= own.active;
                above.sign = above.sign.max(own.sign).max(member.clock.last_sign).max(member.idle_since);
            }
        }
        found
    }

    /// How far below the main session each agent is.
    pub(super) fn depths(&self) -> Vec<u32> {
        let mut depths: Vec<Option<u32>> = vec![None; self.ids().count()];
        let mut path = Vec::new();
        for id in self.ids() {
            let mut at = Some(id);
            while let Some(open) = at.filter(|open| depths[*open as usize].is_none()) {
                path.push(open);
                at = self.member(open).parent;
            }
            let mut depth = at.and_then(|above| depths[above as usize]);
            while let Some(open) = path.pop() {
                depth = Some(depth.map_or(0, |depth| depth + 1));
                depths[open as usize] = depth;
            }
        }
        depths.into_iter().map(Option::unwrap_or_default).collect()
    }

    pub(super) fn silent(&mut self, id: Id, silence: &Silence, at: f64) {
        let over_time = !matches!(silence, Silence::OpenTool { past_declared: false, .. });
        let reason = self.words_of_silence(id, silence);
        let analysis = over_time.then(|| self.is_unresponsive(id, &reason, silence.for_ms(), at));
        let member = self.member_mut(id);
        member.silent = true;
        member.unresponsive = analysis.as_ref().and_then(|analysis| analysis.evidence.first().cloned());
        let subject = u128::from(id);
        let Some(ordinal) = self.reported.due(matter(TIMEOUT, subject), silence.for_ms()) else { return };
        let (kind, severity) = (TIMEOUT, Severity::Warning);
        let found = self.report(NewReport { kind, severity, about: id, subject, at, ordinal, reason });
        found.analysis = analysis.unwrap_or_default();
    }

    /// A running child that is old is worth a remark; one past its limit that is silent or stuck, a warning.
    pub(super) fn age(&mut self, id: Id, at: f64) {
        let member = self.member(id);
        // One that has done nothing yet, or waits as it was told to, is the clocks' business.
        if id == ROOT || member.state != State::Running || member.clock.excused(at) {
            return;
        }
        let age = at - member.started_at;
        let (stale, limit) =
            (self.settings.clock.stale_after_sec * 1000.0, self.settings.clock.auto_kill_after_sec * 1000.0);
        let bad = member.silent || member.stuck;
        let past = limit > 0.0 && age >= limit;
        let name = fast(member.name.as_bytes());
        let silent = member.silent;
        if past && bad {
            if !self.reported.once(matter(TIMEOUT, name ^ 2)) {
                return;
            }
            let how = if silent { "silent" } else { "stuck" };
            let reason =
                format!("it has run for {}, past its limit of {}, and is {how}", words::time(age), words::time(limit));
            let auto = self.settings.clock.auto_kill;
            self.old(id, at, Severity::Warning, reason, auto);
        } else if (past || stale > 0.0 && age >= stale) && !silent {
            let step = u128::from(past);
            if !self.reported.once(matter(TIMEOUT, name ^ (3 + step))) {
                return;
            }
            let of = if past { format!(", past its limit of {}", words::time(limit)) } else { String::new() };
            let reason = format!("it has run for {}{of}, and is at work", words::time(age));
            self.old(id, at, Severity::Info, reason, false);
        }
    }

    pub(super) fn old(&mut self, id: Id, at: f64, severity: Severity, reason: String, auto_execute: bool) {
        let subject = fast(self.member(id).name.as_bytes()) ^ 5;
        let (kind, ordinal) = (TIMEOUT, 1);
        let found = self.report(NewReport { kind, severity, about: id, subject, at, ordinal, reason });
        suggest(found, Action::Kill);
        if let Some(intervention) = &mut found.intervention {
            intervention.auto_execute = auto_execute;
        }
    }

    pub(super) fn not_silent(&mut self, id: Id, at: f64) {
        let subject = u128::from(id);
        let member = self.member_mut(id);
        member.silent = false;
        member.unresponsive = None;
        // What was stopped answers once more, and does not go on by that.
        let stopped = member.aborted || member.stopped_at.is_some();
        if self.reported.forget(matter(TIMEOUT, subject)) && !stopped {
            self.report_over(TIMEOUT, id, subject, at);
        }
    }

    pub(super) fn words_of_silence(&self, id: Id, silence: &Silence) -> String {
        let member = self.member(id);
        match silence {
            Silence::OpenTool { tool, for_ms, past_declared: true } => {
                let tool = bare(tool);
                format!("a call of {tool} has run for {}, longer than it said that it may take", time(*for_ms))
            }
            Silence::OpenTool { tool, for_ms, .. } => {
                format!("a call of {} has run for {}", bare(tool), time(*for_ms))
            }
            Silence::Idle { for_ms } if !member.was_active => {
                format!("it has not done anything since it was started {} ago", time(*for_ms))
            }
            Silence::Idle { for_ms } if member.state == super::State::Finished => {
                format!("it finished its work {} ago and has not returned", time(*for_ms))
            }
            Silence::Idle { for_ms } => format!("no sign of it for {}, and nothing is open", time(*for_ms)),
        }
    }
}
