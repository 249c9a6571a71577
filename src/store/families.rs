//! The families of the store's targets: which family a target is in, and what was found about families and waits to be
//! told. A family is made when the first of its targets is opened, and goes with the last of them.

use std::collections::HashMap;
use std::sync::Arc;

use super::declared::Declared;
use crate::detect::{Evidence, Finding};
use crate::lifecycle::cost::EXCESSIVE_COST;
use crate::lifecycle::{ChildInfo, Family, Id};
use crate::policy::{Config, should_alert};

/// A target's place in its family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seat {
    family: u32,
    pub member: Id,
}

impl Seat {
    /// In the same family.
    pub fn is_beside(self, other: Self) -> bool {
        self.family == other.family
    }
}

#[derive(Debug)]
struct Entry {
    root: Box<str>,
    family: Family,
    /// What its processes may say of themselves.
    declared: Declared,
    targets: u32,
    due: Vec<Finding>,
    /// When what was last told, by incident, severity and agent.
    last: HashMap<String, f64>,
    /// Incidents that were told and are not over.
    told: Vec<String>,
}

/// Between two alerts of levels of one limit, at least.
const LEVELS_MS: f64 = 5000.0;

/// Findings that wait, at most: while a tree is paused nobody takes them.
const WAITING: usize = 256;

#[derive(Debug, Default)]
pub struct Families {
    entries: Vec<Option<Entry>>,
    by_root: HashMap<Box<str>, u32>,
}

impl Families {
    /// Seats a target; `child_info.parent` absent: below the root, or the root itself.
    pub fn seat(&mut self, root: &str, name: &str, child_info: &ChildInfo<'_>, config: &Arc<Config>, at: f64) -> Seat {
        let index = self.index(root, config);
        let entry = self.entries[index as usize].as_mut().expect("a family that was just looked up");
        entry.targets += 1;
        if root == name {
            entry.family.configure(Arc::clone(&config.tree));
            if let Some(label) = child_info.label {
                entry.family.label(entry.family.root(), label);
            }
            return Seat { family: index, member: entry.family.root() };
        }
        Seat { family: index, member: entry.family.join(name, child_info, at) }
    }

    fn index(&mut self, root: &str, config: &Arc<Config>) -> u32 {
        if let Some(&index) = self.by_root.get(root) {
            return index;
        }
        let entry = Entry {
            root: root.into(),
            family: Family::new(root, Arc::clone(&config.tree)),
            declared: Declared::default(),
            targets: 0,
            due: Vec::new(),
            last: HashMap::new(),
            told: Vec::new(),
        };
        let free = self.entries.iter().position(Option::is_none);
        let index = free.unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() - 1
        });
        self.entries[index] = Some(entry);
        let index = u32::try_from(index).expect("there are fewer families than targets");
        self.by_root.insert(root.into(), index);
        index
    }

    /// A target was evicted, or moved.
    pub fn vacate(&mut self, seat: Seat) {
        let slot = &mut self.entries[seat.family as usize];
        if let Some(entry) = slot {
            entry.targets = entry.targets.saturating_sub(1);
            if entry.targets == 0 {
                self.by_root.remove(&entry.root);
                *slot = None;
            }
        }
    }

    pub fn at(&mut self, seat: Seat) -> Option<&mut Family> {
        Some(&mut self.entries.get_mut(seat.family as usize)?.as_mut()?.family)
    }

    pub fn declared(&mut self, seat: Seat) -> Option<&mut Declared> {
        Some(&mut self.entries.get_mut(seat.family as usize)?.as_mut()?.declared)
    }

    pub fn with_declared(&mut self, seat: Seat) -> Option<(&mut Family, &mut Declared)> {
        let entry = self.entries.get_mut(seat.family as usize)?.as_mut()?;
        Some((&mut entry.family, &mut entry.declared))
    }

    pub fn of_root(&mut self, root: &str) -> Option<&mut Family> {
        let index = *self.by_root.get(root)?;
        Some(&mut self.entries[index as usize].as_mut()?.family)
    }

    /// The clocks' evidence against each agent that runs, or its absence.
    pub fn unresponsive(&self, root: &str) -> Vec<(String, Option<Evidence>)> {
        let entry = self.by_root.get(root).and_then(|index| self.entries[*index as usize].as_ref());
        entry.map(|entry| entry.family.unresponsive()).unwrap_or_default()
    }

    /// Takes over what a family found; true when something waits to be told.
    pub fn collect(&mut self, root: &str) -> bool {
        let Some(&index) = self.by_root.get(root) else { return false };
        self.collect_at(index)
    }

    pub fn collect_seat(&mut self, seat: Seat) -> bool {
        self.collect_at(seat.family)
    }

    fn collect_at(&mut self, index: u32) -> bool {
        let Some(entry) = &mut self.entries[index as usize] else { return false };
        for finding in entry.family.take() {
            entry.due.retain(|waiting| waiting.incident != finding.incident || waiting.agent != finding.agent);
            // What nobody was told of ends without a word.
            if (!finding.over || entry.told.contains(&finding.incident)) && entry.due.len() < WAITING {
                entry.due.push(finding);
            }
        }
        !entry.due.is_empty()
    }

    /// The finding that is due now, with the name of its target; taking it counts as having told it.
    pub fn take_due(&mut self, root: &str, now: f64, cooldown_sec: f64) -> Option<(String, Finding)> {
        let index = *self.by_root.get(root)?;
        let entry = self.entries[index as usize].as_mut()?;
        // A limit is news after the remark on half of it, however soon.
        let key = |finding: &Finding| {
            let agent = finding.agent.as_deref().unwrap_or_default();
            format!("{} {:?} {agent}", finding.incident, finding.severity)
        };
        let position = entry.due.iter().position(|finding| {
            let key = key(finding);
            let last = entry.last.get(&key).map(|at| (key.as_str(), *at));
            // Each level of a cost limit comes once: there is nothing to hold back.
            let level = finding.rule == EXCESSIVE_COST.rule();
            // Levels that are crossed fast one after the other are one alert, of the highest.
            let fast = level && last.is_some_and(|(_, at)| now - at < LEVELS_MS);
            finding.over || level && !fast || !level && should_alert(last, true, &key, now, cooldown_sec)
        })?;
        let finding = entry.due.remove(position);
        if finding.over {
            entry.told.retain(|incident| *incident != finding.incident);
        } else {
            if entry.last.len() >= WAITING {
                entry.last.clear();
            }
            entry.last.insert(key(&finding), now);
            if !entry.told.contains(&finding.incident) {
                entry.told.push(finding.incident.clone());
                if entry.told.len() > WAITING {
                    entry.told.remove(0);
                }
            }
        }
        let name = finding.agent.clone().unwrap_or_else(|| root.to_owned());
        Some((name, finding))
    }
}
