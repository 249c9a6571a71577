//! What the passing of time means for a family: who is silent or too old, and which waits will never end.

use std::collections::{BTreeMap, HashMap};

use super::clock::Silence;
use super::member::{Member, State};
use super::waiting::{For, Stall, Wait, Waiter, stalls};
use super::{Family, Id, ROOT, Telling, address, matter, parties, suggest, words};
use crate::detect::Severity;
use crate::detect::intervention::{Action, Kind};
use crate::text::fast;

/// A wait counts only after so long: an answer may be on its way.
const PATIENCE_MS: f64 = 30_000.0;
/// So long after its last child has ended an idle parent should have been told.
const UNREAD_MS: f64 = 60_000.0;

/// What is known of all that is below an agent.
#[derive(Debug, Clone, Copy)]
struct Below {
    running: bool,
    /// One of them runs and is not silent.
    active: bool,
    /// The latest sign of any of them.
    sign: f64,
}

impl Default for Below {
    fn default() -> Self {
        Self { running: false, active: false, sign: f64::MIN }
    }
}

impl Family {
    /// Time has passed for all agents.
    pub fn tick(&mut self, at: f64) {
        let silent = self.silences(at);
        for (id, silence) in silent {
            match silence {
                Some(silence) => self.silent(id, &silence, at),
                None if self.member(id).silent => self.not_silent(id, at),
                None => {}
            }
            self.age(id, at);
        }
        self.look_at_waits(at);
        self.look_at_unread(at);
    }

    /// The silence of each running agent. What happens below an agent is its activity.
    fn silences(&self, now: f64) -> Vec<(Id, Option<Silence>)> {
        let mut below: Vec<Below> = vec![Below::default(); self.members.len()];
        let mut found: Vec<(Id, Option<Silence>)> = Vec::new();
        // From below, so that children are judged before their parents.
        for id in self.deepest_first() {
            let member = self.member(id);
            let Below { running, active, sign } = below[id as usize];
            let silence = if member.running() {
                let waits_for_child =
                    running && member.clock.open().iter().any(|call| call.about_agent || call.addressee.is_some());
                // The silence of a child is told of the child.
                let quiet = member.unseen || active || waits_for_child || self.awaits_answer(id);
                let silence = if quiet { None } else { member.clock.silence(&self.config, sign, now) };
                let is_active = silence.is_none();
                found.push((id, silence));
                Some(is_active)
            } else {
                None
            };
            if let Some(parent) = member.parent {
                let above = &mut below[parent as usize];
                above.running |= running || silence.is_some();
                above.active |= active || silence == Some(true);
                above.sign = above.sign.max(sign).max(member.clock.last_sign).max(member.rested_at);
            }
        }
        found
    }

    fn silent(&mut self, id: Id, silence: &Silence, at: f64) {
        let over_time = !matches!(silence, Silence::OpenTool { past_declared: false, .. });
        let reason = self.words_of_silence(id, silence);
        let analysis = over_time.then(|| self.is_unresponsive(id, &reason, silence.for_ms(), at));
        let member = self.member_mut(id);
        member.silent = true;
        member.unresponsive = analysis.as_ref().and_then(|analysis| analysis.evidence.first().cloned());
        let subject = u128::from(id);
        let Some(ordinal) = self.told.due(matter(Kind::Timeout, subject), silence.for_ms()) else { return };
        let (kind, severity) = (Kind::Timeout, Severity::Warning);
        let found = self.tell(Telling { kind, severity, about: id, subject, at, ordinal, reason });
        found.analysis = analysis.unwrap_or_default();
    }

    /// A running child that is old is worth a remark; one past its limit that is silent or stuck, a warning.
    fn age(&mut self, id: Id, at: f64) {
        let member = self.member(id);
        // One that has done nothing yet, or waits as it was told to, is the clocks' business.
        if id == ROOT || member.state != State::Running || member.clock.excused(at) {
            return;
        }
        let age = at - member.started_at;
        let (stale, limit) = (self.config.stale_after_sec * 1000.0, self.config.auto_kill_after_sec * 1000.0);
        let bad = member.silent || member.stuck;
        let past = limit > 0.0 && age >= limit;
        let name = fast(member.name.as_bytes());
        let silent = member.silent;
        if past && bad {
            if !self.told.once(matter(Kind::Timeout, name ^ 2)) {
                return;
            }
            let how = if silent { "silent" } else { "stuck" };
            let reason =
                format!("it has run for {}, past its limit of {}, and is {how}", words::time(age), words::time(limit));
            let auto = self.config.auto_kill;
            self.old(id, at, Severity::Warning, reason, auto);
        } else if (past || stale > 0.0 && age >= stale) && !silent {
            let step = u128::from(past);
            if !self.told.once(matter(Kind::Timeout, name ^ (3 + step))) {
                return;
            }
            let of = if past { format!(", past its limit of {}", words::time(limit)) } else { String::new() };
            let reason = format!("it has run for {}{of}, and is at work", words::time(age));
            self.old(id, at, Severity::Info, reason, false);
        }
    }

    fn old(&mut self, id: Id, at: f64, severity: Severity, reason: String, auto_execute: bool) {
        let subject = fast(self.member(id).name.as_bytes()) ^ 5;
        let (kind, ordinal) = (Kind::Timeout, 1);
        let found = self.tell(Telling { kind, severity, about: id, subject, at, ordinal, reason });
        suggest(found, Action::Kill);
        if let Some(intervention) = &mut found.intervention {
            intervention.auto_execute = auto_execute;
        }
    }

    fn look_at_waits(&mut self, now: f64) {
        let mut children: HashMap<Id, Vec<Id>> = HashMap::new();
        for child in self.ids().filter(|id| self.member(*id).running()) {
            if let Some(parent) = self.member(child).parent {
                children.entry(parent).or_default().push(child);
            }
        }
        let children_of = |id| children.get(&id).map_or(&[][..], Vec::as_slice);
        let waiters: Vec<Waiter> = self
            .ids()
            .filter(|id| self.member(*id).running())
            .map(|id| Waiter { id, waits: self.waits_of(id, children_of(id)) })
            .collect();
        if waiters.iter().all(|waiter| waiter.waits.is_empty()) {
            return;
        }
        for stall in stalls(&waiters, self.config.deadlock_threshold, self.at_most(PATIENCE_MS), now) {
            let agents = stall.agents();
            let about = match &stall {
                Stall::Ring(_) | Stall::All(_) => {
                    // Told of the one that others depend on least: the deepest.
                    agents.iter().copied().max_by_key(|id| (self.depth(*id), *id)).unwrap_or(ROOT)
                }
                _ => agents[0],
            };
            let subject = fast(format!("{stall:?}").as_bytes());
            if !self.told.once(matter(Kind::Deadlock, subject)) {
                continue;
            }
            let (reason, texts) = self.addressed(&agents, |called| words::of_stall(&stall, called));
            let others = agents.iter().filter(|id| **id != about).map(|id| self.member(*id).name.to_string()).collect();
            let (kind, severity, ordinal) = (Kind::Deadlock, Severity::Warning, 1);
            let found = self.tell(Telling { kind, severity, about, subject, at: now, ordinal, reason });
            parties(found, others);
            address(found, texts);
        }
    }

    /// Who wants to hear of a silence sooner wants to hear of a wait sooner.
    fn at_most(&self, patience: f64) -> f64 {
        let limit = self.config.idle_timeout_sec * 1000.0;
        if limit > 0.0 { patience.min(limit) } else { patience }
    }

    /// `children`: those that run.
    fn waits_of(&self, id: Id, children: &[Id]) -> Vec<Wait> {
        let member = self.member(id);
        let mut waits = Vec::new();
        for call in member.clock.open() {
            let Some(name) = call.addressee.as_deref() else {
                if call.about_agent {
                    waits.extend(self.foreground(children, call.since));
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
                    let seen_late = self.config.idle_timeout_sec * 1000.0 - self.at_most(PATIENCE_MS);
                    waits.push(Wait { on: For::Unseen, since: question.since + seen_late.max(0.0) });
                }
                None => {}
            }
        }
        waits
    }

    /// A dialog of the main session that was opened after a question is taken to show it.
    fn shown(&self, asked_at: f64) -> bool {
        self.member(ROOT).questions.iter().any(|open| open.to.is_none() && open.since >= asked_at)
    }

    /// The main agent has heard a question and turned to the user: the answer is a person's matter.
    fn passed_on(&self, on: Id, asked_at: f64) -> bool {
        let main = self.member(ROOT);
        on == ROOT && main.state == State::Idle && main.clock.last_sign > asked_at
    }

    /// Its question is with somebody who can answer it: it is quiet because it waits. What is wrong with a wait is seen
    /// by the graph of them.
    fn awaits_answer(&self, id: Id) -> bool {
        self.member(id).questions.iter().any(|question| {
            let on = question.to.as_deref().and_then(|name| self.id_of(name));
            on.is_some_and(|on| on != id && (self.member(on).running() || self.passed_on(on, question.since)))
        })
    }

    fn wait_for(&self, on: Id, since: f64) -> Wait {
        let other = self.member(on);
        if other.ended() {
            return Wait { on: For::Gone(on), since: since.max(other.rested_at) };
        }
        Wait { on: For::Agent(on), since }
    }

    /// Children that the agent sent off and waits for.
    fn foreground(&self, children: &[Id], since: f64) -> impl Iterator<Item = Wait> {
        let waited_for = move |child: &&Id| {
            let member = self.member(**child);
            !member.background && member.started_at >= since
        };
        children.iter().filter(waited_for).map(move |child| Wait { on: For::Agent(*child), since })
    }

    /// Children ended after their parent had become idle, and nobody told it.
    fn look_at_unread(&mut self, now: f64) {
        let waits = |member: &Member| member.state == State::Idle && member.stirred && !member.aborted;
        let mut unread_of: BTreeMap<Id, (bool, f64, Vec<Id>)> = BTreeMap::new();
        for child in self.ids() {
            let other = self.member(child);
            let Some(parent) = other.parent.filter(|parent| other.ends && waits(self.member(*parent))) else {
                continue;
            };
            let (running, last, unread) = unread_of.entry(parent).or_insert((false, f64::MIN, Vec::new()));
            *running |= other.running();
            if other.ended() && other.rested_at > self.member(parent).rested_at {
                *last = last.max(other.rested_at);
                unread.push(child);
            }
        }
        for (id, (running, last, unread)) in unread_of {
            let sign = self.member(id).clock.last_sign;
            if running || unread.is_empty() || sign >= last || now - last < self.at_most(UNREAD_MS) {
                continue;
            }
            let subject = fast(format!("unread {id} {last}").as_bytes());
            if !self.told.once(matter(Kind::Deadlock, subject)) {
                continue;
            }
            let have = if unread.len() == 1 { "has" } else { "have" };
            let reason = format!(
                "it waits, and does not know that {} {have} ended {} ago",
                self.titles(&unread),
                words::time(now - last)
            );
            let names = unread.iter().map(|id| self.member(*id).name.to_string()).collect();
            let (kind, severity, ordinal) = (Kind::Deadlock, Severity::Warning, 1);
            let found = self.tell(Telling { kind, severity, about: id, subject, at: now, ordinal, reason });
            parties(found, names);
        }
    }
}
