//! The wait-for graph: who waits for whom, and the three ways in which nobody will ever go on: a circle, a wait for an
//! agent that has ended or never was, and so many waiting that none is left to work. Pure over a picture of one moment.

use std::collections::HashMap;

use super::member::State;
use super::{Family, Id, NewReport, ROOT, address, matter, parties, words};
use crate::detect::Severity;
use crate::rule;
use crate::setting::{Scope, THRESHOLD};
use crate::text::fast;

rule! {
    /// Waits that never end.
    interventions {
        /// agents wait for each other; an agent waits for one that has ended or never was; a child's question is seen by
        /// nobody; so many agents wait and none can go on (`deadlockThreshold`); an idle parent was not told that its last
        /// child has ended; a finished agent is taken up again and again and does nothing
        DEADLOCK = "deadlock", proposes Warn, audience Parties,
            state "in a deadlock", brief "deadlock", footer "deadlocked", until_active true,
            itself ["Do not go on waiting: answer, or end what you wait for."],
            others ["Answer what it waits for, or end the wait: {steer}. The user can end it by {stop}"];
    }
    settings {
        /// Agents that wait while none can go on. Circles, and waits for agents that have ended, are reported at any number.
        deadlock_threshold: u32 = 3, "deadlockThreshold", THRESHOLD, Scope::ALERT;
    }
}

/// What an agent waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum For {
    Agent(Id),
    /// An agent that has ended.
    Gone(Id),
    /// A name that no agent has.
    Nobody(Box<str>),
    /// An answer that only somebody can give who does not see the question.
    Unseen,
}

/// One agent at this moment.
#[derive(Debug, Clone)]
pub struct Waiter {
    pub id: Id,
    /// All of it must come before the agent goes on. Empty: it can go on by itself.
    pub waits: Vec<Wait>,
}

#[derive(Debug, Clone)]
pub struct Wait {
    pub on: For,
    /// Milliseconds, since this wait began or what it is for has ended.
    pub since: f64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stall {
    /// Each waits for the next, the last for the first; begins with the smallest id.
    Ring(Vec<Id>),
    Gone {
        waiter: Id,
        on: Id,
    },
    Nobody {
        waiter: Id,
        name: Box<str>,
    },
    Unseen {
        waiter: Id,
    },
    /// None of the agents can go on.
    All(Vec<Id>),
}

impl Stall {
    /// The agents that it concerns, the one that it is told of first.
    pub fn agents(&self) -> Vec<Id> {
        match self {
            Self::Ring(ids) | Self::All(ids) => ids.clone(),
            Self::Gone { waiter, on } => vec![*waiter, *on],
            Self::Nobody { waiter, .. } | Self::Unseen { waiter } => vec![*waiter],
        }
    }
}

/// `threshold`: how many may wait while none can go on; 0: any number. `patience`: ms before a wait counts, because
/// an answer may be on its way.
pub fn stalls(agents: &[Waiter], threshold: u32, patience: f64, now: f64) -> Vec<Stall> {
    let settled = |wait: &Wait| now - wait.since >= patience;
    let mut found = Vec::new();
    for agent in agents {
        for wait in agent.waits.iter().filter(|wait| settled(wait)) {
            match &wait.on {
                For::Agent(_) => {}
                For::Gone(on) => found.push(Stall::Gone { waiter: agent.id, on: *on }),
                For::Nobody(name) => found.push(Stall::Nobody { waiter: agent.id, name: name.clone() }),
                For::Unseen => found.push(Stall::Unseen { waiter: agent.id }),
            }
        }
    }
    let next: HashMap<Id, Id> = agents
        .iter()
        .filter_map(|agent| {
            let on = agent.waits.iter().filter(|wait| settled(wait)).find_map(|wait| match wait.on {
                For::Agent(on) => Some(on),
                _ => None,
            });
            Some((agent.id, on?))
        })
        .collect();
    // Each agent waits for one other at most, so that one walk over all of them finds every circle.
    let mut walked: HashMap<Id, Id> = HashMap::new();
    let mut rings: HashMap<Id, Vec<Id>> = HashMap::new();
    for agent in agents {
        let mut at = agent.id;
        while !walked.contains_key(&at) {
            walked.insert(at, agent.id);
            let Some(on) = next.get(&at) else { break };
            at = *on;
        }
        // It came back to where this very walk had been.
        if walked[&at] == agent.id && next.contains_key(&at) && !rings.contains_key(&at) {
            let mut ring = vec![at];
            let mut on = next[&at];
            while on != at {
                ring.push(on);
                on = next[&on];
            }
            rings.insert(at, ring);
        }
    }
    let places: HashMap<Id, usize> = agents.iter().enumerate().map(|(place, agent)| (agent.id, place)).collect();
    let mut rings: Vec<Vec<Id>> = rings.into_values().collect();
    rings.sort_by_key(|ring| ring.iter().filter_map(|id| places.get(id)).min().copied());
    found.extend(rings.into_iter().map(|ring| Stall::Ring(from_smallest(ring))));
    let stuck: Vec<Id> = agents.iter().filter(|agent| agent.waits.iter().any(settled)).map(|agent| agent.id).collect();
    let none_goes_on = stuck.len() == agents.len();
    if found.is_empty() && threshold > 0 && none_goes_on && stuck.len() >= threshold as usize {
        found.push(Stall::All(stuck));
    }
    found
}

fn from_smallest(mut ring: Vec<Id>) -> Vec<Id> {
    let smallest = ring.iter().enumerate().min_by_key(|(_, id)| **id).map_or(0, |(index, _)| index);
    ring.rotate_left(smallest);
    ring
}

/// A wait counts only after so long: an answer may be on its way.
const PATIENCE_MS: f64 = 30_000.0;
/// So long after its last child has ended an idle parent should have been told.
const UNREAD_MS: f64 = 60_000.0;

impl Family {
    pub(super) fn look_at_waits(&mut self, now: f64) {
        let waiters: Vec<Waiter> = self
            .ids()
            .filter(|id| self.member(*id).running())
            .map(|id| Waiter { id, waits: self.waits_of(id) })
            .collect();
        if waiters.iter().all(|waiter| waiter.waits.is_empty()) {
            return;
        }
        for stall in stalls(&waiters, self.settings.waiting.deadlock_threshold, self.at_most(PATIENCE_MS), now) {
            let agents = stall.agents();
            let about = match &stall {
                Stall::Ring(_) | Stall::All(_) => {
                    // Reported of the one that others depend on least: the deepest.
                    agents.iter().copied().max_by_key(|id| (self.depth(*id), *id)).unwrap_or(ROOT)
                }
                _ => agents[0],
            };
            let subject = fast(format!("{stall:?}").as_bytes());
            if !self.reported.once(matter(DEADLOCK, subject)) {
                continue;
            }
            let (reason, texts) = self.addressed(&agents, |called| words::of_stall(&stall, called));
            let others = agents.iter().filter(|id| **id != about).map(|id| self.member(*id).name.to_string()).collect();
            let (kind, severity, ordinal) = (DEADLOCK, Severity::Warning, 1);
            let found = self.report(NewReport { kind, severity, about, subject, at: now, ordinal, reason });
            parties(found, others);
            address(found, texts);
        }
    }

    /// Who wants to hear of a silence sooner wants to hear of a wait sooner.
    pub(super) fn at_most(&self, patience: f64) -> f64 {
        let limit = self.settings.clock.idle_timeout_sec * 1000.0;
        if limit > 0.0 { patience.min(limit) } else { patience }
    }

    pub(super) fn waits_of(&self, id: Id) -> Vec<Wait> {
        let member = self.member(id);
        let mut waits = Vec::new();
        for call in member.clock.open() {
            let Some(name) = call.addressee.as_deref() else {
                if call.about_agent {
                    waits.extend(self.foreground(id, call.since));
                }
                continue;
            };
            match self.id_of(name).filter(|on| *on != id) {
                Some(on) => waits.push(self.wait_for(on, call.since)),
                None if call.tool.contains("agent") => {
                    waits.push(Wait { on: For::Nobody(name.into()), since: call.since });
                }
                None => {}
            }
        }
        for question in &member.questions {
            match question.to.as_deref() {
                Some(name) => waits.push(match self.id_of(name) {
                    Some(on) if self.passed_on(on, question.since) => continue,
                    Some(on) => self.wait_for(on, question.since),
                    None => Wait { on: For::Nobody(name.into()), since: question.since },
                }),
                // The user sits before the main session; what a child asks may have nobody before it.
                None if id != ROOT && !self.shown(question.since) => {
                    let seen_late = self.settings.clock.idle_timeout_sec * 1000.0 - self.at_most(PATIENCE_MS);
                    waits.push(Wait { on: For::Unseen, since: question.since + seen_late.max(0.0) });
                }
                None => {}
            }
        }
        waits
    }

    /// A dialog of the main session that was opened after a question is taken to show it.
    pub(super) fn shown(&self, asked_at: f64) -> bool {
        self.member(ROOT).questions.iter().any(|open| open.to.is_none() && open.since >= asked_at)
    }

    /// The main agent has heard a question and turned to the user: the answer is a person's matter.
    pub(super) fn passed_on(&self, on: Id, asked_at: f64) -> bool {
        let main = self.member(ROOT);
        on == ROOT && main.state == State::Idle && main.clock.last_sign > asked_at
    }

    /// Its question is with somebody who can answer it: it is quiet because it waits. What is wrong with a wait is seen
    /// by the graph of them.
    pub(super) fn awaits_answer(&self, id: Id) -> bool {
        self.member(id).questions.iter().any(|question| {
            let on = question.to.as_deref().and_then(|name| self.id_of(name));
            on.is_some_and(|on| on != id && (self.member(on).running() || self.passed_on(on, question.since)))
        })
    }

    pub(super) fn wait_for(&self, on: Id, since: f64) -> Wait {
        let other = self.member(on);
        if other.ended() {
            return Wait { on: For::Gone(on), since: since.max(other.idle_since) };
        }
        Wait { on: For::Agent(on), since }
    }

    /// Children that the agent sent off and waits for.
    pub(super) fn foreground(&self, id: Id, since: f64) -> impl Iterator<Item = Wait> {
        self.ids()
            .filter(move |child| {
                let member = self.member(*child);
                member.parent == Some(id) && !member.background && member.running() && member.started_at >= since
            })
            .map(move |child| Wait { on: For::Agent(child), since })
    }

    /// Children ended after their parent had become idle, and nobody told it.
    pub(super) fn look_at_unread(&mut self, now: f64) {
        for id in self.ids() {
            let member = self.member(id);
            if member.state != State::Idle || !member.was_active || member.aborted {
                continue;
            }
            let (rested, sign) = (member.idle_since, member.clock.last_sign);
            let mut last = f64::MIN;
            let mut unread: Vec<Id> = Vec::new();
            let mut running = false;
            for child in self.ids() {
                let other = self.member(child);
                if other.parent != Some(id) || !other.ends {
                    continue;
                }
                running |= other.running();
                if other.ended() && other.idle_since > rested {
                    last = last.max(other.idle_since);
                    unread.push(child);
                }
            }
            if running || unread.is_empty() || sign >= last || now - last < self.at_most(UNREAD_MS) {
                continue;
            }
            let subject = fast(format!("unread {id} {last}").as_bytes());
            if !self.reported.once(matter(DEADLOCK, subject)) {
                continue;
            }
            let have = if unread.len() == 1 { "has" } else { "have" };
            let reason = format!(
                "it waits, and does not know that {} {have} ended {} ago",
                self.titles(&unread),
                words::time(now - last)
            );
            let names = unread.iter().map(|id| self.member(*id).name.to_string()).collect();
            let (kind, severity, ordinal) = (DEADLOCK, Severity::Warning, 1);
            let found = self.report(NewReport { kind, severity, about: id, subject, at: now, ordinal, reason });
            parties(found, names);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn waiter(id: Id, on: &[For]) -> Waiter {
        Waiter { id, waits: on.iter().map(|on| Wait { on: on.clone(), since: 0.0 }).collect() }
    }

    fn found(agents: &[Waiter]) -> Vec<Stall> {
        stalls(agents, 3, 10.0, 100.0)
    }

    #[test]
    fn a_parent_that_waits_for_a_working_child_is_healthy() {
        assert!(found(&[waiter(0, &[For::Agent(1)]), waiter(1, &[])]).is_empty());
        let chain = [waiter(0, &[For::Agent(1)]), waiter(1, &[For::Agent(2)]), waiter(2, &[])];
        assert!(found(&chain).is_empty());
    }

    #[test]
    fn parent_and_child_that_wait_for_each_other_are_a_ring() {
        let both = [waiter(1, &[For::Agent(0)]), waiter(0, &[For::Agent(1)])];
        assert_eq!(found(&both), [Stall::Ring(vec![0, 1])]);
    }

    #[test]
    fn a_ring_of_three_is_found_once_also_from_outside() {
        let agents = [
            waiter(9, &[For::Agent(5)]),
            waiter(5, &[For::Agent(3)]),
            waiter(3, &[For::Agent(4)]),
            waiter(4, &[For::Agent(5)]),
        ];
        assert_eq!(found(&agents), [Stall::Ring(vec![3, 4, 5])]);
    }

    #[test]
    fn waits_for_who_is_gone_or_never_was_or_does_not_see_are_found() {
        let agents = [
            waiter(0, &[For::Gone(7)]),
            waiter(1, &[For::Nobody("x".into())]),
            waiter(2, &[For::Unseen]),
            waiter(3, &[]),
        ];
        let expected = [
            Stall::Gone { waiter: 0, on: 7 },
            Stall::Nobody { waiter: 1, name: "x".into() },
            Stall::Unseen { waiter: 2 },
        ];
        assert_eq!(found(&agents), expected);
    }

    #[test]
    fn a_wait_that_has_only_begun_does_not_count() {
        let agents = [waiter(0, &[For::Gone(7)])];
        assert!(stalls(&agents, 3, 10.0, 9.9).is_empty());
    }

    proptest! {
        /// Against the definition: an agent is in a ring when it reaches itself.
        #[test]
        fn rings_are_what_reaches_itself(edges in proptest::collection::vec(0_u32..9, 1..9)) {
            // Agent n waits for edges[n]; a number beyond them is an agent that works.
            let count = u32::try_from(edges.len()).unwrap();
            let agents: Vec<Waiter> = (0..count)
                .map(|n| {
                    let on = edges[n as usize];
                    waiter(n, &if on < count { vec![For::Agent(on)] } else { vec![] })
                })
                .collect();
            let mut expected: Vec<Id> = (0..count)
                .filter(|start| {
                    let mut at = *start;
                    (0..count).any(|_| {
                        at = if at < count { edges[at as usize] } else { at };
                        at == *start
                    })
                })
                .collect();
            let mut rings: Vec<Id> = stalls(&agents, 0, 0.0, 1.0)
                .into_iter()
                .flat_map(|stall| if let Stall::Ring(ids) = stall { ids } else { vec![] })
                .collect();
            expected.sort_unstable();
            rings.sort_unstable();
            prop_assert_eq!(rings, expected);
        }
    }
}
