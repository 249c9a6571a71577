//! What the passing of time means for a family: who is silent or too old, and which waits will never end.

use super::clock::Silence;
use super::member::State;
use super::waiting::{For, Stall, Wait, Waiter, stalls};
use super::{Family, Id, ROOT, Telling, address, matter, parties, suggest, words};
use crate::detect::Severity;
use crate::detect::intervention::Action;
use crate::text::fast;

/// A wait counts only after so long: an answer may be on its way.
const PATIENCE_MS: f64 = 30_000.0;
/// So long after its last child has ended an idle parent should have been told.
const UNREAD_MS: f64 = 60_000.0;

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
                above.sign = above.sign.max(own.sign).max(member.clock.last_sign).max(member.rested_at);
            }
        }
        found
    }

    /// How far below the main session each agent is.
    fn depths(&self) -> Vec<u32> {
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

    fn silent(&mut self, id: Id, silence: &Silence, at: f64) {
        let over_time = !matches!(silence, Silence::OpenTool { past_declared: false, .. });
        let reason = self.words_of_silence(id, silence);
        let analysis = over_time.then(|| self.is_unresponsive(id, &reason, silence.for_ms(), at));
        let member = self.member_mut(id);
        member.silent = true;
        member.unresponsive = analysis.as_ref().and_then(|analysis| analysis.evidence.first().cloned());
        let subject = u128::from(id);
        let Some(ordinal) = self.told.due(matter(super::clock::TIMEOUT, subject), silence.for_ms()) else { return };
        let (kind, severity) = (super::clock::TIMEOUT, Severity::Warning);
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
        let (stale, limit) =
            (self.settings.clock.stale_after_sec * 1000.0, self.settings.clock.auto_kill_after_sec * 1000.0);
        let bad = member.silent || member.stuck;
        let past = limit > 0.0 && age >= limit;
        let name = fast(member.name.as_bytes());
        let silent = member.silent;
        if past && bad {
            if !self.told.once(matter(super::clock::TIMEOUT, name ^ 2)) {
                return;
            }
            let how = if silent { "silent" } else { "stuck" };
            let reason =
                format!("it has run for {}, past its limit of {}, and is {how}", words::time(age), words::time(limit));
            let auto = self.settings.clock.auto_kill;
            self.old(id, at, Severity::Warning, reason, auto);
        } else if (past || stale > 0.0 && age >= stale) && !silent {
            let step = u128::from(past);
            if !self.told.once(matter(super::clock::TIMEOUT, name ^ (3 + step))) {
                return;
            }
            let of = if past { format!(", past its limit of {}", words::time(limit)) } else { String::new() };
            let reason = format!("it has run for {}{of}, and is at work", words::time(age));
            self.old(id, at, Severity::Info, reason, false);
        }
    }

    fn old(&mut self, id: Id, at: f64, severity: Severity, reason: String, auto_execute: bool) {
        let subject = fast(self.member(id).name.as_bytes()) ^ 5;
        let (kind, ordinal) = (super::clock::TIMEOUT, 1);
        let found = self.tell(Telling { kind, severity, about: id, subject, at, ordinal, reason });
        suggest(found, Action::Kill);
        if let Some(intervention) = &mut found.intervention {
            intervention.auto_execute = auto_execute;
        }
    }

    fn look_at_waits(&mut self, now: f64) {
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
                    // Told of the one that others depend on least: the deepest.
                    agents.iter().copied().max_by_key(|id| (self.depth(*id), *id)).unwrap_or(ROOT)
                }
                _ => agents[0],
            };
            let subject = fast(format!("{stall:?}").as_bytes());
            if !self.told.once(matter(super::waiting::DEADLOCK, subject)) {
                continue;
            }
            let (reason, texts) = self.addressed(&agents, |called| words::of_stall(&stall, called));
            let others = agents.iter().filter(|id| **id != about).map(|id| self.member(*id).name.to_string()).collect();
            let (kind, severity, ordinal) = (super::waiting::DEADLOCK, Severity::Warning, 1);
            let found = self.tell(Telling { kind, severity, about, subject, at: now, ordinal, reason });
            parties(found, others);
            address(found, texts);
        }
    }

    /// Who wants to hear of a silence sooner wants to hear of a wait sooner.
    fn at_most(&self, patience: f64) -> f64 {
        let limit = self.settings.clock.idle_timeout_sec * 1000.0;
        if limit > 0.0 { patience.min(limit) } else { patience }
    }

    fn waits_of(&self, id: Id) -> Vec<Wait> {
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
    fn foreground(&self, id: Id, since: f64) -> impl Iterator<Item = Wait> {
        self.ids()
            .filter(move |child| {
                let member = self.member(*child);
                member.parent == Some(id) && !member.background && member.running() && member.started_at >= since
            })
            .map(move |child| Wait { on: For::Agent(child), since })
    }

    /// Children ended after their parent had become idle, and nobody told it.
    fn look_at_unread(&mut self, now: f64) {
        for id in self.ids() {
            let member = self.member(id);
            if member.state != State::Idle || !member.stirred || member.aborted {
                continue;
            }
            let (rested, sign) = (member.rested_at, member.clock.last_sign);
            let mut last = f64::MIN;
            let mut unread: Vec<Id> = Vec::new();
            let mut running = false;
            for child in self.ids() {
                let other = self.member(child);
                if other.parent != Some(id) || !other.ends {
                    continue;
                }
                running |= other.running();
                if other.ended() && other.rested_at > rested {
                    last = last.max(other.rested_at);
                    unread.push(child);
                }
            }
            if running || unread.is_empty() || sign >= last || now - last < self.at_most(UNREAD_MS) {
                continue;
            }
            let subject = fast(format!("unread {id} {last}").as_bytes());
            if !self.told.once(matter(super::waiting::DEADLOCK, subject)) {
                continue;
            }
            let have = if unread.len() == 1 { "has" } else { "have" };
            let reason = format!(
                "it waits, and does not know that {} {have} ended {} ago",
                self.titles(&unread),
                words::time(now - last)
            );
            let names = unread.iter().map(|id| self.member(*id).name.to_string()).collect();
            let (kind, severity, ordinal) = (super::waiting::DEADLOCK, Severity::Warning, 1);
            let found = self.tell(Telling { kind, severity, about: id, subject, at: now, ordinal, reason });
            parties(found, names);
        }
    }
}
