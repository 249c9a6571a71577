//! What no rule of one agent can see because nothing repeats: silence, age, money, files that two agents change, waits
//! that never end, agents that outlive their owner, children of children, plans that stand still.
//!
//! [`Family`] is a main session with all agents below it. It takes what was observed of each of them and the time, and
//! gives findings with an intervention. It acts on nothing, and knows no clock: ticks come from outside.
//!
//! - [`clock`] and `silence`, [`cost`], [`waiting`], [`conflict`], [`orphan`], [`depth`], [`plan`]: one matter each, with its
//!   kinds, keys and words
//! - `observe`: what an event means for them · `member`: what is known of one agent · `words`: how names, times and sums are
//!   said

mod fields;
#[cfg(test)]
mod foreign;
mod member;
mod observe;
mod reported;
mod silence;
mod suspension;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashMap;
use std::sync::Arc;

use crate::detect::intervention::{Action, Intervention, InterventionKind};
use crate::detect::{Evidence, Finding, LoopCost, Severity, StuckAnalysis};
use crate::kinds::RuleInfo;
use crate::text::fast;
use crate::trace::Usage;
use conflict::Conflicts;
use cost::Budget;
pub use member::ChildInfo;
use member::{Member, State};
use reported::Reported;

macro_rules! matters {
    ($($name:ident,)+) => {
        $(pub mod $name;)+

        /// The keys of all matters.
        #[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
        pub struct Settings {
            $(#[serde(flatten)] pub $name: $name::Settings,)+
        }

        /// All matters, for the reference.
        pub const ABOUT: &[RuleInfo] = &[$($name::ABOUT),+];
    };
}

matters! {
    clock,
    cost,
    waiting,
    conflict,
    orphan,
    depth,
    plan,
}

/// An agent of a family; valid until the agent is forgotten.
pub type Id = u32;

/// Agents remembered, ended ones included; the one that ended first is forgotten.
const MEMBERS: usize = CROWD as usize;
/// Stands for all agents that there is no room for, because so many run at once. Nothing is found about it.
const CROWD: Id = 4096;

/// A main session and the agents below it.
#[derive(Debug, Clone)]
pub struct Family {
    settings: Arc<Settings>,
    members: Vec<Member>,
    /// Names and aliases.
    names: HashMap<Box<str>, Id>,
    budget: Budget,
    conflicts: Conflicts,
    /// Processes of agents that were told to have outlived them: owner and how many.
    processes: HashMap<u64, Id>,
    /// How often a task was given by one parent after it had been done.
    tasks: HashMap<u128, u32>,
    reported: Reported,
    found: Vec<Finding>,
}

/// The clocks go on for so long after the last agent has ended.
const LINGER_MS: f64 = 120_000.0;

/// The main session is always there.
const ROOT: Id = 0;

impl Family {
    /// `name`: of the main agent.
    pub fn new(name: &str, settings: Arc<Settings>) -> Self {
        let root = Member { name: name.into(), ..Member::default() };
        Self {
            settings,
            members: vec![root],
            names: HashMap::from([(name.into(), ROOT)]),
            budget: Budget::default(),
            conflicts: Conflicts::default(),
            processes: HashMap::new(),
            tasks: HashMap::new(),
            reported: Reported::default(),
            found: Vec::new(),
        }
    }

    pub fn configure(&mut self, settings: Arc<Settings>) {
        if (settings.cost.cost_limit_usd - self.settings.cost.cost_limit_usd).abs() > f64::EPSILON {
            self.budget.limit_changed();
            for member in &mut self.members {
                member.budget.limit_changed();
            }
        }
        self.settings = settings;
    }

    pub fn root(&self) -> Id {
        ROOT
    }

    pub fn id_of(&self, name: &str) -> Option<Id> {
        self.names.get(name).copied()
    }

    /// Another name of an agent. A name that is taken stays with whom it names.
    pub fn alias(&mut self, id: Id, name: &str) {
        if id == CROWD {
            return;
        }
        self.names.entry(name.into()).or_insert(id);
    }

    pub fn label(&mut self, id: Id, label: &str) {
        self.members[id as usize].label = label.into();
    }

    /// An agent is at work, or one has ended so recently that somebody may still have to be told.
    pub fn busy(&self, now: f64) -> bool {
        self.members.iter().any(|member| member.running() || member.ended() && now - member.idle_since < LINGER_MS)
    }

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

    /// Found since it was last asked.
    pub fn take(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.found)
    }

    /// The evidence against each agent that runs: what is told of a silence goes for as long as it lasts.
    pub fn unresponsive(&self) -> Vec<(String, Option<Evidence>)> {
        let running = self.members.iter().filter(|member| member.running());
        running.map(|member| (member.name.to_string(), member.unresponsive.clone())).collect()
    }

    /// How many findings wait to be taken.
    pub fn found(&self) -> usize {
        self.found.len()
    }

    pub fn has_found(&self) -> bool {
        !self.found.is_empty()
    }

    /// What the rules say of an agent: a stuck one may be too old.
    pub fn set_stuck(&mut self, id: Id, stuck: bool) {
        if let Some(member) = self.members.get_mut(id as usize) {
            member.stuck = stuck;
        }
    }

    /// Nothing that was seen of an agent has happened: another one is followed in its place.
    pub fn retract(&mut self, id: Id, at: f64) {
        let spent = std::mem::take(&mut self.member_mut(id).budget.spent);
        self.budget.spent = self.budget.spent - spent;
        let member = self.member_mut(id);
        member.ends = false;
        member.set_resting(State::Ended, at);
        self.conflicts.left(id);
    }

    /// What the main session and everything below it used, agents that were forgotten since included.
    pub fn spent(&self) -> Usage {
        self.budget.spent
    }

    /// Adds what an agent used, and looks at the limits.
    pub fn spend(&mut self, id: Id, usage: Usage, at: f64) {
        self.add_usage(id, usage);
        self.look_at_costs(id, at);
    }

    /// As [`Self::spend`], and levels of the limit are looked at later.
    pub fn add_usage(&mut self, id: Id, usage: Usage) {
        self.budget.add(usage);
        self.members[id as usize].budget.add(usage);
    }

    /// Why a call must not be made: it would undo what other agents have not saved.
    pub fn refuses(&self, id: Id, line: &str) -> Option<String> {
        self.risk_of(id, line).map(|risk| risk.words)
    }

    fn member(&self, id: Id) -> &Member {
        &self.members[id as usize]
    }

    fn member_mut(&mut self, id: Id) -> &mut Member {
        &mut self.members[id as usize]
    }

    fn ids(&self) -> impl Iterator<Item = Id> + use<> {
        0..u32::try_from(self.members.len()).unwrap_or(u32::MAX)
    }

    fn depth(&self, id: Id) -> u32 {
        let mut depth = 0;
        let mut at = id;
        while let Some(parent) = self.member(at).parent {
            depth += 1;
            at = parent;
        }
        depth
    }

    /// Whether `id` is somewhere below `above`.
    fn below(&self, id: Id, above: Id) -> bool {
        let mut at = id;
        while let Some(parent) = self.member(at).parent {
            if parent == above {
                return true;
            }
            at = parent;
        }
        false
    }

    /// Everything below an agent, each looked at once.
    fn all_below(&self, above: Id) -> Vec<Id> {
        let mut is_below: Vec<Option<bool>> = vec![None; self.members.len()];
        is_below[above as usize] = Some(false);
        let mut path = Vec::new();
        for id in self.ids() {
            let mut at = Some(id);
            while let Some(open) = at.filter(|open| is_below[*open as usize].is_none()) {
                path.push(open);
                at = self.member(open).parent;
            }
            let answer = at.is_some_and(|end| end == above || is_below[end as usize] == Some(true));
            path.drain(..).for_each(|id| is_below[id as usize] = Some(answer));
        }
        self.ids().filter(|id| is_below[*id as usize] == Some(true)).collect()
    }

    /// The id for a new agent; of one that has ended long ago when there is no more room, and [`CROWD`] if none has.
    fn place(&mut self) -> Id {
        if self.members.len() >= MEMBERS {
            let oldest = self
                .ids()
                .skip(1)
                .filter(|id| self.member(*id).ended())
                .min_by(|a, b| self.member(*a).idle_since.total_cmp(&self.member(*b).idle_since));
            if let Some(oldest) = oldest {
                self.forget(oldest);
                return oldest;
            }
            self.members.resize_with(MEMBERS + 1, Member::default);
            return CROWD;
        }
        self.members.push(Member::default());
        u32::try_from(self.members.len() - 1).unwrap_or(u32::MAX)
    }

    fn forget(&mut self, id: Id) {
        self.names.retain(|_, named| *named != id);
        self.conflicts.left(id);
        for member in &mut self.members {
            if member.parent == Some(id) {
                member.parent = Some(ROOT);
            }
        }
    }

    fn report(&mut self, new: NewReport) -> &mut Finding {
        let NewReport { kind, severity, about, subject, at, ordinal, reason } = new;
        let agent = (about != ROOT).then(|| self.member(about).name.to_string());
        self.found.push(Finding {
            rule: kind.rule(),
            severity,
            at,
            agent,
            incident: incident(kind, subject),
            analysis: StuckAnalysis::default(),
            cost: LoopCost::default(),
            ordinal,
            over: false,
            intervention: Some(Intervention::new(kind, reason)),
        });
        self.found.last_mut().expect("it was just pushed")
    }

    /// What was told is over.
    fn report_over(&mut self, kind: InterventionKind, about: Id, subject: u128, at: f64) {
        let reason = String::new();
        let ordinal = 1;
        let new_report = NewReport { kind, severity: Severity::Info, about, subject, at, ordinal, reason };
        self.report(new_report).over = true;
    }

    fn is_unresponsive(&self, id: Id, reason: &str, for_ms: f64, at: f64) -> StuckAnalysis {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of a session")]
        let seconds = (for_ms / 1000.0) as u32;
        StuckAnalysis::from_evidence(vec![Evidence {
            kind: clock::UNRESPONSIVE,
            summary: reason.to_owned(),
            count: seconds,
            period: 0,
            command: None,
            first_at: at - for_ms,
            last_at: at,
            trigger: fast(self.member(id).name.as_bytes()),
        }])
    }
}

/// One thing to report.
struct NewReport {
    kind: InterventionKind,
    severity: Severity,
    about: Id,
    subject: u128,
    at: f64,
    ordinal: u32,
    reason: String,
}

fn suggest(found: &mut Finding, action: Action) {
    if let Some(intervention) = &mut found.intervention {
        intervention.suggested = action;
    }
}

fn parties(found: &mut Finding, names: Vec<String>) {
    if let Some(intervention) = &mut found.intervention {
        intervention.parties = names;
    }
}

fn incident(kind: InterventionKind, subject: u128) -> String {
    format!("{:016x}", matter(kind, subject) >> 64)
}

/// What each of those that it concerns is told.
fn address(found: &mut Finding, texts: Vec<(String, String)>) {
    if let Some(intervention) = &mut found.intervention {
        intervention.texts = texts;
    }
}

/// One key for a kind and what it is about.
fn matter(kind: InterventionKind, subject: u128) -> u128 {
    let mut bytes = kind.rule().as_bytes().to_vec();
    bytes.extend_from_slice(&subject.to_le_bytes());
    fast(&bytes)
}
