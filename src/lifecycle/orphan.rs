//! Agents and processes that outlive whoever they worked for.

use super::fields::Fields;
use super::{Family, Id, MEMBERS, NewReport, ROOT, matter, suggest, words};
use crate::detect::Severity;
use crate::detect::intervention::Action;
use crate::rule;
use crate::text::fast;

rule! {
    /// Agents and processes without an owner.
    interventions {
        /// a child goes on a second after the user stopped the agent that started it; an agent goes on after it said by a
        /// tool that it is done; a process outlives its owner (the last two propose `kill`)
        ORPHAN = "orphan", proposes Warn, audience MainAgent,
            state "left without an owner", brief "orphan", outlives true;
    }
}

/// Grace after a user abort; a child that is active later is reported as an orphan.
const STOPPING_MS: f64 = 1000.0;

impl Family {
    /// The user stopped an agent above, and this one goes on.
    pub(super) fn outlives(&mut self, id: Id, at: f64) {
        let Some(stopped) = self.member(id).stopped_at.filter(|stopped| at - stopped >= STOPPING_MS) else { return };
        self.member_mut(id).stopped_at = None;
        let reason =
            format!("it goes on, {} after the user stopped the agent that started it", words::time(at - stopped));
        let subject = fast(self.member(id).name.as_bytes()) ^ 1;
        let (kind, severity, ordinal) = (ORPHAN, Severity::Warning, 1);
        let found = self.report(NewReport { kind, severity, about: id, subject, at, ordinal, reason });
        suggest(found, Action::Kill);
    }

    /// A process that an agent started, and whether its owner is still there.
    pub(super) fn process(&mut self, id: Id, at: f64, fields: &Fields) {
        let Some(pid) = fields.whole("pid") else { return };
        if fields.yes("alive") == Some(false) {
            self.processes.remove(&pid);
            return;
        }
        let owner = fields.text("owner").and_then(|owner| self.id_of(owner)).unwrap_or(id);
        let gone = fields.yes("ownerAlive") == Some(false) || self.member(owner).ended();
        if !gone {
            return;
        }
        if self.processes.len() < MEMBERS {
            self.processes.insert(pid, owner);
        }
        let left = self.processes.values().filter(|other| **other == owner).count();
        let subject = u128::from(owner) ^ (1 << 64);
        let Some(ordinal) = self.reported.due(matter(ORPHAN, subject), left as f64) else { return };
        let title = self.title(owner);
        let title =
            if owner == ROOT && self.member(ROOT).title().is_empty() { "the session".to_owned() } else { title };
        let reason = if left == 1 {
            format!("process {pid} runs on although {title} has ended")
        } else {
            format!("{left} processes run on although {title} has ended, {pid} is one of them")
        };
        let (kind, severity) = (ORPHAN, Severity::Warning);
        let found = self.report(NewReport { kind, severity, about: owner, subject, at, ordinal, reason });
        suggest(found, Action::Kill);
    }
}
