//! Incidents: reports that belong together, and when one is worth telling.
//!
//! Reports share an incident when they share an action or a trigger, or come in the same or the next round: what an
//! agent does in turn is one trouble. The first report is told at once (`warning`);
//! while the agent goes on the notice comes again after `distance` more rounds, then after twice as many, and so on
//! (`critical`: a warning was ignored). An incident ends when the world changed, a person spoke, or the agent did
//! other things for a while. One that is taken up again soon goes on where it was.

use super::analysis::StuckAnalysis;
use super::evidence::{Evidence, EvidenceType, LoopCost, Report};
use super::intervention::Intervention;
pub use crate::kinds::Severity;

/// Something to tell.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Main evidence type.
    pub rule: &'static str,
    pub severity: Severity,
    /// Milliseconds.
    pub at: f64,
    /// `None`: the main agent.
    pub agent: Option<String>,
    /// Same for all findings of one incident.
    pub incident: String,
    pub analysis: StuckAnalysis,
    pub cost: LoopCost,
    /// 1 for the first notice of the incident.
    pub ordinal: u32,
    /// The incident that was told is over; the agent went on.
    pub over: bool,
    /// Set when this is no verdict but an intervention.
    pub intervention: Option<Intervention>,
}

#[derive(Debug, Clone)]
struct Incident {
    id: u128,
    members: Vec<u128>,
    triggers: Vec<u128>,
    /// Tool and answer of its rounds.
    sayings: Vec<u128>,
    /// Latest evidence of each type.
    evidence: Vec<Evidence>,
    cost: LoopCost,
    distance: u32,
    /// Rounds with a report since the latest notice.
    rounds: u32,
    notices: u32,
    /// Everything reported so far is early; and it was remarked on.
    early: bool,
    remarked: bool,
    /// Told, and not yet told to be over.
    open: bool,
    mild: bool,
    last_round: u64,
    /// Rounds without a report after which it is over.
    patience: u64,
    active: bool,
}

/// Ended incidents that are remembered, for a loop that is taken up again.
const REMEMBERED: usize = 8;
/// Triggers and actions kept per incident; more only make it broader.
const MAX_PARTS: usize = 64;
/// Rounds of other work after which an incident is over, at least.
const PATIENCE: u64 = 3;

/// All incidents of one agent.
#[derive(Debug, Clone, Default)]
pub struct Incidents {
    list: Vec<Incident>,
}

impl Incidents {
    /// Takes the reports of one event; returns what is to be told.
    pub fn take(&mut self, mut reports: Vec<Report>, round: u64, at: f64) -> Vec<Finding> {
        // What carries a known incident on goes first, so that what else comes with it joins it.
        reports.sort_by_key(|report| !self.list.iter().any(|incident| incident.has(report)));
        let mut touched: Vec<u128> = Vec::new();
        for report in reports {
            let index = self.index_for(&report, round);
            let incident = &mut self.list[index];
            incident.absorb(report, round);
            if !touched.contains(&incident.id) {
                touched.push(incident.id);
            }
        }
        let mut findings = Vec::new();
        for id in touched {
            if let Some(incident) = self.list.iter_mut().find(|incident| incident.id == id) {
                findings.extend(incident.due(at));
            }
        }
        findings
    }

    /// The incidents that this round carried on got this answer from a tool.
    pub fn heard(&mut self, saying: u128, round: u64) {
        for incident in self.list.iter_mut().filter(|incident| incident.active && incident.last_round == round) {
            if !incident.sayings.contains(&saying) && incident.sayings.len() < MAX_PARTS {
                incident.sayings.push(saying);
            }
        }
    }

    /// A tool of a told loop gave the same answer to other words: the loop goes on.
    pub fn reworded(&mut self, saying: u128, round: u64, at: f64) -> Option<Finding> {
        let incident = self.list.iter_mut().find(|i| i.active && i.notices > 0 && i.sayings.contains(&saying))?;
        if incident.last_round != round {
            incident.rounds += 1;
            incident.last_round = round;
        }
        incident.due(at)
    }

    /// A round without a report ended: incidents that were not taken up for a while are over.
    pub fn age(&mut self, round: u64, at: f64) -> Vec<Finding> {
        self.end_where(at, |incident| round.saturating_sub(incident.last_round) > incident.patience)
    }

    /// What goes on was answered (the world changed). Not what goes on while the world changes.
    pub fn answered(&mut self, at: f64) -> Vec<Finding> {
        self.end_where(at, |incident| !incident.mild)
    }

    /// A person spoke: that answers everything but work that is announced again, whatever the person says.
    pub fn person(&mut self) {
        self.list.retain_mut(|incident| {
            incident.active = false;
            incident.evidence.iter().any(|evidence| evidence.kind.info().outlives_person)
        });
    }

    /// The run ended: what the agent had left behind it by then is over. `worked`: the latest round with a result.
    pub fn left_behind(&mut self, worked: u64, at: f64) -> Vec<Finding> {
        self.end_where(at, |incident| incident.last_round < worked)
    }

    /// The agent ended: nothing is told, nothing is remembered.
    pub fn forget(&mut self) {
        self.list.clear();
    }

    pub fn any_active(&self) -> bool {
        self.list.iter().any(|incident| incident.active)
    }

    /// The evidence that holds now.
    pub fn analysis(&self) -> StuckAnalysis {
        let active = self.list.iter().filter(|incident| incident.active);
        StuckAnalysis::from_evidence(active.flat_map(|incident| incident.evidence.iter().cloned()).collect())
    }

    /// Whether `action` would carry an incident on that was told before.
    pub fn blocks(&self, action: u128) -> Option<(u32, &Evidence)> {
        self.list
            .iter()
            .filter(|incident| incident.active && incident.notices > 0 && incident.members.contains(&action))
            .find_map(|incident| Some((incident.notices, incident.evidence.first()?)))
    }

    /// Cost of all active incidents together.
    pub fn cost(&self) -> LoopCost {
        self.list.iter().filter(|i| i.active).map(|i| i.cost).fold(LoopCost::default(), |a, b| LoopCost {
            rounds: a.rounds + b.rounds,
            tokens: a.tokens + b.tokens,
            usd: a.usd + b.usd,
            wall_ms: a.wall_ms.max(b.wall_ms),
        })
    }

    fn index_for(&mut self, report: &Report, round: u64) -> usize {
        let belongs = |incident: &Incident| incident.has(report);
        let found = self
            .list
            .iter()
            .position(|i| i.active && belongs(i))
            .or_else(|| self.list.iter().position(belongs))
            .or_else(|| self.list.iter().position(|i| i.active && round.saturating_sub(i.last_round) <= 1));
        if let Some(index) = found {
            return index;
        }
        if self.list.len() >= REMEMBERED {
            let oldest =
                self.list.iter().enumerate().min_by_key(|(_, i)| (i.active, i.last_round)).map_or(0, |(i, _)| i);
            self.list.remove(oldest);
        }
        self.list.push(Incident::new(report.evidence.trigger));
        self.list.len() - 1
    }

    fn end_where(&mut self, at: f64, ends: impl Fn(&Incident) -> bool) -> Vec<Finding> {
        let mut findings = Vec::new();
        for incident in self.list.iter_mut().filter(|incident| incident.active) {
            if ends(incident) {
                incident.active = false;
                if std::mem::take(&mut incident.open) {
                    findings.push(incident.finding(Severity::Info, at, true));
                }
                incident.evidence.clear();
                // One that goes on behind other work is counted on.
                if !incident.mild {
                    incident.rounds = 0;
                }
            }
        }
        findings
    }
}

impl Incident {
    fn new(id: u128) -> Self {
        Self {
            id,
            members: Vec::new(),
            triggers: Vec::new(),
            sayings: Vec::new(),
            evidence: Vec::new(),
            cost: LoopCost::default(),
            distance: 1,
            rounds: 0,
            notices: 0,
            early: true,
            remarked: false,
            open: false,
            mild: true,
            last_round: 0,
            patience: PATIENCE,
            active: false,
        }
    }

    fn has(&self, report: &Report) -> bool {
        self.triggers.contains(&report.evidence.trigger)
            || report.members.iter().any(|member| self.members.contains(member))
    }

    fn absorb(&mut self, report: Report, round: u64) {
        if !self.active {
            self.active = true;
            self.early = true;
            self.remarked = false;
            self.mild = true;
            self.distance = 1;
            self.open = false;
            self.cost = LoopCost::default();
        }
        if self.last_round != round || self.rounds == 0 && self.notices == 0 {
            self.rounds += 1;
        }
        self.last_round = round;
        // The longest of what it began with; what joins once it was told changes nothing.
        if !self.open {
            self.distance = self.distance.max(report.distance);
        }
        self.early &= report.early;
        self.mild &= report.mild;
        self.patience = PATIENCE.max(2 * u64::from(report.evidence.period));
        if report.cost.rounds >= self.cost.rounds {
            self.cost = report.cost;
        }
        for (known, new) in
            [(&mut self.members, report.members.as_slice()), (&mut self.triggers, &[report.evidence.trigger])]
        {
            for part in new {
                if !known.contains(part) && known.len() < MAX_PARTS {
                    known.push(*part);
                }
            }
        }
        let kind = report.evidence.kind;
        match self.evidence.iter_mut().find(|evidence| evidence.kind == kind) {
            Some(evidence) => *evidence = report.evidence,
            None => self.evidence.push(report.evidence),
        }
    }

    /// Told at first, then at doubling distance. What is only early is remarked on once.
    fn due(&mut self, at: f64) -> Option<Finding> {
        if self.early {
            return (!std::mem::replace(&mut self.remarked, true)).then(|| self.finding(Severity::Info, at, false));
        }
        let wanted = match self.notices {
            0 => 1,
            notices => self.distance.saturating_mul(1 << (notices - 1).min(20)),
        };
        if self.rounds < wanted {
            return None;
        }
        let severity = if self.notices == 0 || self.mild { Severity::Warning } else { Severity::Critical };
        self.notices += 1;
        self.open = true;
        self.rounds = 0;
        Some(self.finding(severity, at, false))
    }

    fn finding(&self, severity: Severity, at: f64, over: bool) -> Finding {
        let analysis = StuckAnalysis::from_evidence(self.evidence.clone());
        let rule = self.evidence.iter().map(|evidence| evidence.kind).min().map_or("", EvidenceType::name);
        Finding {
            rule,
            severity,
            at,
            agent: None,
            incident: format!("{:016x}", self.id >> 64),
            analysis,
            cost: self.cost,
            ordinal: self.notices,
            over,
            intervention: None,
        }
    }
}
