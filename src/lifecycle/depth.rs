//! Agents that start agents: how deep, and for what.

use super::member::Member;
use super::{Family, Id, NewReport, ROOT, matter, words};
use crate::detect::Severity;
use crate::rule;
use crate::setting::{Scope, Shape};
use crate::text::fast;

rule! {
    /// Nesting.
    interventions {
        /// nesting deeper than the limit; the very task of an agent above; the same task given a third time after it had
        /// been done
        SPAWN_DEPTH = "spawn_depth", proposes Skip, audience MainAgent,
            state "nested too deep", brief "too deep",
            itself ["Do the work where it is instead of starting another agent for it."],
            others ["Do the work where it is instead of starting another agent for it."];
    }
    settings {
        /// Levels of sub-agents below a main session. 0: off.
        max_spawn_depth: u32 = 5, "maxSpawnDepth", Shape::Integer { min: 0, max: 100 }, Scope::REPORT;
    }
}

/// A task that was done is given again so often before it is told.
const GIVEN_AGAIN: u32 = 3;

impl Family {
    /// What an agent is to do is known.
    pub(super) fn asked(&mut self, id: Id, task: &str, at: f64) {
        let task = task.trim();
        if self.member(id).task != 0 || task.is_empty() {
            return;
        }
        let key = fast(task.as_bytes());
        self.member_mut(id).task = key;
        let agent_type = self.member(id).agent_type.clone();
        let mut above = self.member(id).parent;
        while let Some(ancestor) = above {
            let member = self.member(ancestor);
            if member.task == key && member.agent_type == agent_type {
                let reason =
                    format!("it was given the very task of {}, which is above it", words::quoted(member.title()));
                self.nested(id, at, reason);
                return;
            }
            above = member.parent;
        }
        let parent = self.member(id).parent.unwrap_or(ROOT);
        // A task is another one when its ground has changed: by work of others, or by what the user said.
        let same = |member: &Member| member.task == key && member.parent == Some(parent);
        let others = self.members.iter().filter(|member| !same(member));
        let moved_on = others.map(|member| member.changed_at).fold(self.member(parent).asked_at, f64::max);
        let done_before = self.ids().any(|other| {
            let member = self.member(other);
            other != id && member.done && same(member) && member.idle_since >= moved_on
        });
        let given = matter(SPAWN_DEPTH, key ^ u128::from(parent));
        let times = self.tasks.entry(given).or_insert(0);
        *times = if done_before { *times + 1 } else { 1 };
        let times = *times;
        if times >= GIVEN_AGAIN
            && let Some(ordinal) = self.reported.due(given, f64::from(times))
        {
            let reason = format!("the same task was given {times} times, each time after it had been done");
            let (kind, severity) = (SPAWN_DEPTH, Severity::Warning);
            self.report(NewReport { kind, severity, about: id, subject: given, at, ordinal, reason });
        }
    }

    pub(super) fn nested(&mut self, id: Id, at: f64, reason: String) {
        let subject = fast(self.member(id).name.as_bytes());
        if let Some(ordinal) = self.reported.due(matter(SPAWN_DEPTH, subject), 1.0) {
            let (kind, severity) = (SPAWN_DEPTH, Severity::Warning);
            self.report(NewReport { kind, severity, about: id, subject, at, ordinal, reason });
        }
    }
}
