//! The wait-for graph: who waits for whom, and the three ways in which nobody will ever go on: a circle, a wait for an
//! agent that has ended or never was, and so many waiting that none is left to work. Pure over a picture of one moment.

use std::collections::HashMap;

use super::Id;
use crate::rule;
use crate::setting::{Scope, THRESHOLD};

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
