//! Targets and their compact events: one store per process, shared by every instance of the extension in it.
//!
//! The core owns no clock: callers pass the time. The store is a value (tests make their own); the process-wide one
//! is [`Store::with_global`].

mod breaker;
mod declared;
mod event;
mod families;
mod memory;
mod passed;
mod remote;
mod target;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

use crate::lifecycle::ChildInfo;
use crate::policy::Config;
use crate::trace::{EventKind, Usage};
pub use event::{Compact, Kind};
use families::{Families, Seat};
pub use memory::{Memory, Totals, Used};
pub use remote::Remote;
pub use target::{Info, Link, NOTICE, Notice, Target, VERDICT};

/// Finished targets kept; older ones are evicted, oldest first.
const KEEP_FINISHED: usize = 100;

/// Targets held at most, whether they ended or not. Far more than one process has sessions at once.
const MOST_TARGETS: usize = 16_384;

/// A target's handle: slot and generation, so that the handle of an evicted target meets nothing.
pub type Handle = u32;
const SLOT_BITS: u32 = 20;
const SLOT_MASK: u32 = (1 << SLOT_BITS) - 1;

/// Index of the last of so many slots; [`MOST_TARGETS`] fits [`SLOT_BITS`].
#[allow(clippy::cast_possible_truncation)]
fn last_slot(slots: usize) -> u32 {
    slots as u32 - 1
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    target: Option<Box<Target>>,
}

/// Why a target could not be named.
#[derive(Debug, PartialEq, Eq)]
pub enum Unresolved {
    Unknown,
    Ambiguous(Vec<String>),
}

#[derive(Debug, Default)]
pub struct Store {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Session ids and aliases.
    names: HashMap<String, Handle>,
    /// Ended targets, oldest first.
    finished: VecDeque<Handle>,
    /// Main sessions whose trees are paused.
    paused: HashSet<String>,
    families: Families,
    evicted: u64,
    observed: u64,
    /// Who is told of targets, for after this process.
    memory: Option<Arc<dyn Memory>>,
}

/// Processes that report by themselves: whoever started one may let it wait for the next question.
const LINKED: &str = "process (link)";

/// Something is due for the tree of a target, see [`Store::take_tree_notice`].
pub const TREE: u32 = 4;
/// An agent of the tree is at work: its clocks must go on.
pub const BUSY: u32 = 8;

static GLOBAL: LazyLock<Mutex<Store>> = LazyLock::new(Mutex::default);

impl Store {
    /// Runs `work` on the store of this process.
    pub fn with_global<T>(work: impl FnOnce(&mut Self) -> T) -> T {
        work(&mut GLOBAL.lock())
    }

    /// Opens the target of a session; one that exists goes on under the same handle.
    pub fn open(&mut self, id: &str, at: f64, info: Info, config: Arc<Config>) -> Handle {
        if let Some(&handle) = self.names.get(id) {
            if let Some(target) = self.get_mut(handle).filter(|target| target.id == id) {
                target.info.merge(info);
                target.configure(config);
                target.reopen(at);
                self.finished.retain(|&other| other != handle);
                self.remember(handle, true);
                self.seat(handle, at);
                return handle;
            }
            // An alias of another target: the session itself has the better claim.
            self.drop_name(id);
        }
        let target = Box::new(Target::new(id, at, info, config));
        if self.free.is_empty() && self.slots.len() >= MOST_TARGETS {
            self.evict_longest_silent();
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 1, target: None });
            last_slot(self.slots.len())
        });
        let entry = &mut self.slots[slot as usize];
        entry.target = Some(target);
        let handle = (entry.generation << SLOT_BITS) | slot;
        self.names.insert(id.to_owned(), handle);
        self.seat(handle, at);
        self.remember(handle, false);
        handle
    }

    fn remember(&mut self, handle: Handle, again: bool) {
        let memory = self.memory.clone();
        if let Some(target) = self.get_mut(handle) {
            target.remember(memory, again);
        }
    }

    /// From now on `memory` is told of all targets; at once of those that have not ended.
    pub fn remember_in(&mut self, memory: Option<&Arc<dyn Memory>>) {
        self.memory = memory.cloned();
        for target in self.slots.iter_mut().filter_map(|slot| slot.target.as_deref_mut()) {
            target.remember(memory.filter(|_| target.ended_at.is_none()).cloned(), false);
        }
    }

    /// Gives a target its place in its family; one that has moved leaves the other.
    fn seat(&mut self, handle: Handle, at: f64) {
        let Some(target) = target_at(&mut self.slots, handle) else { return };
        let info = &target.info;
        let child_info = ChildInfo {
            parent: info.parent_id.as_deref().filter(|parent| *parent != target.id),
            label: info.name.as_deref(),
            agent_type: info.agent_type.as_deref(),
            task: None,
            background: info.background == Some(true),
            // A package that is met exactly tells when its agents end.
            ends: info.link == Some(Link::Exact) && info.backend.as_deref().is_some_and(|backend| backend != LINKED),
            unseen: info.visibility.as_deref() == Some("unseen"),
        };
        let before = target.seat;
        let seat = self.families.seat(Self::root_of(target), &target.id, &child_info, &target.config, at);
        target.seat = Some(seat);
        if let Some(before) = before {
            // What it used so far goes with it.
            if !before.is_beside(seat)
                && let Some(family) = self.families.at(seat)
            {
                family.spend(seat.member, target.usage(), at);
            }
            self.families.vacate(before);
        }
    }

    /// Changes what is known of a target.
    pub fn update(&mut self, handle: Handle, newer: Info) {
        let Some(target) = self.get_mut(handle) else { return };
        let child_info = |info: &Info| {
            (
                info.root_id.clone(),
                info.parent_id.clone(),
                info.name.clone(),
                info.link,
                info.backend.clone(),
                info.visibility.clone(),
            )
        };
        let before = child_info(&target.info);
        target.update(newer);
        if target.ended_at.is_none() && child_info(&target.info) != before {
            let at = target.last_active_at;
            self.seat(handle, at);
        }
    }

    /// New configuration of a target; of a main session it is that of its family.
    pub fn configure(&mut self, handle: Handle, config: &Arc<Config>) {
        let Some(target) = self.get_mut(handle) else { return };
        target.configure(Arc::clone(config));
        let (root, seat) = (target.info.root_id.is_none(), target.seat);
        if let Some(family) = seat.filter(|_| root).and_then(|seat| self.families.at(seat)) {
            family.configure(Arc::clone(&config.tree));
        }
    }

    pub fn get(&self, handle: Handle) -> Option<&Target> {
        let slot = self.slots.get((handle & SLOT_MASK) as usize)?;
        slot.target.as_deref().filter(|_| slot.generation == handle >> SLOT_BITS)
    }

    pub fn get_mut(&mut self, handle: Handle) -> Option<&mut Target> {
        let slot = self.slots.get_mut((handle & SLOT_MASK) as usize)?;
        slot.target.as_deref_mut().filter(|_| slot.generation == handle >> SLOT_BITS)
    }

    /// The event path. Returns bits of the published `Signal`.
    pub fn observe(&mut self, handle: Handle, at: f64, kind: &EventKind<'_>) -> u32 {
        self.observed += 1;
        let Some(target) = target_at(&mut self.slots, handle) else { return 0 };
        if !target.observes() {
            return 0;
        }
        let Some((seat, family)) = target.seat.and_then(|seat| Some((seat, self.families.at(seat)?))) else {
            return target.observe(at, kind).0;
        };
        target.explained = family.explains(seat.member, at, &target.config.tree);
        let (signal, action) = target.observe(at, kind);
        family.observe(seat.member, at, kind, action.as_deref());
        family.set_stuck(seat.member, target.stuck());
        if family.has_found() { signal | self.collect(seat) } else { signal }
    }

    /// What a message used.
    pub fn spend(&mut self, handle: Handle, at: f64, usage: Usage) -> u32 {
        let Some(target) = target_at(&mut self.slots, handle) else { return 0 };
        target.add_usage(usage);
        // An agent may spend more after its package has called it ended.
        let counts = target.config.general.enabled && target.remote.is_none();
        let Some(seat) = target.seat.filter(|_| counts) else { return 0 };
        let Some(family) = self.families.at(seat) else { return 0 };
        family.spend(seat.member, usage, at);
        if family.has_found() { self.collect(seat) } else { 0 }
    }

    /// Takes a batch of events of a session that another process watches; the number of the latest one taken.
    pub fn import(&mut self, handle: Handle, now: f64, events: &str) -> Option<u64> {
        self.observed += 1;
        let target = target_at(&mut self.slots, handle)?;
        let taken = target.import(now, events);
        if let (Some(seat), Some(remote)) = (target.seat, &mut target.remote)
            && let Some(family) = self.families.at(seat)
        {
            let (passed, calls) = remote.take_passed();
            passed::show(family, seat.member, calls, passed);
            family.set_stuck(seat.member, target.stuck());
            target.unresponsive = None;
            self.collect(seat);
        }
        taken
    }

    /// Takes verdict and counts of a session that another process watches.
    pub fn import_state(&mut self, handle: Handle, now: f64, state: &str) -> u32 {
        let Some(target) = target_at(&mut self.slots, handle) else { return 0 };
        let Some((seat, declared)) = target.seat.and_then(|seat| Some((seat, self.families.declared(seat)?))) else {
            return 0;
        };
        let before = target.usage();
        let signal = target.import_state(now, state, declared);
        signal | self.spend_declared(handle, seat, before, now)
    }

    /// Something was heard of the process that watches a session, or the connection to it is gone.
    pub fn contact(&mut self, handle: Handle, now: f64, connected: bool) -> u32 {
        let Some(target) = target_at(&mut self.slots, handle) else { return 0 };
        target.contact(now, connected);
        let Some((seat, declared)) = target.seat.and_then(|seat| Some((seat, self.families.declared(seat)?))) else {
            return 0;
        };
        let before = target.usage();
        target.catch_up(now, declared);
        self.spend_declared(handle, seat, before, now)
    }

    /// What another process says that a session used counts at once; a level of the limit is reported as often as the
    /// tree's allowance goes, and the next time that something of the tree is heard.
    fn spend_declared(&mut self, handle: Handle, seat: Seat, before: Usage, now: f64) -> u32 {
        let Some(more) = self.get(handle).map(|target| target.usage() - before) else { return 0 };
        let Some((family, declared)) = self.families.with_declared(seat) else { return 0 };
        if !declared.may_report(now) {
            family.add_usage(seat.member, more);
            return 0;
        }
        let found = family.found();
        family.spend(seat.member, more, now);
        declared.reported(family.found() - found);
        if family.has_found() { self.collect(seat) } else { 0 }
    }

    /// Time has passed for a whole tree.
    pub fn tick_tree(&mut self, root: &str, at: f64) -> u32 {
        let Some(family) = self.families.of_root(root) else { return 0 };
        family.tick(at);
        let busy = if family.busy(at) { BUSY } else { 0 };
        let due = if self.families.collect(root) { TREE } else { 0 };
        self.mark_unresponsive(root);
        busy | due
    }

    /// This process did not run for `ms` until `at`: nobody of the tree was silent for as long.
    pub fn suspended(&mut self, root: &str, ms: f64, at: f64) {
        if let Some(family) = self.families.of_root(root) {
            family.suspended(ms, at);
        }
        for target in self.slots.iter_mut().filter_map(|slot| slot.target.as_deref_mut()) {
            if Self::root_of(target) == root {
                target.suspended(ms, at);
            }
        }
    }

    fn collect(&mut self, seat: Seat) -> u32 {
        if self.families.collect_seat(seat) { TREE } else { 0 }
    }

    /// Whether an agent responds is part of what is known of its target.
    fn mark_unresponsive(&mut self, root: &str) {
        for (name, evidence) in self.families.unresponsive(root) {
            if let Some(target) = self.names.get(name.as_str()).and_then(|h| target_at(&mut self.slots, *h)) {
                target.unresponsive = evidence;
            }
        }
    }

    /// Why a call of a shell must not run: it would undo what other agents have not saved.
    pub fn destroys(&mut self, handle: Handle, line: &str) -> Option<String> {
        let seat = self.get(handle)?.seat?;
        self.families.at(seat)?.refuses(seat.member, line)
    }

    /// What is due about the agents of a tree; nothing while it is paused. The target is the one that it is about.
    pub fn take_tree_notice(&mut self, root: &str, now: f64) -> Option<(Handle, Notice)> {
        if self.paused(root) {
            return None;
        }
        let cooldown = self.get(*self.names.get(root)?)?.config.general.cooldown_sec;
        let (name, finding) = self.families.take_due(root, now, cooldown)?;
        let handle = *self.names.get(&name).or_else(|| self.names.get(root))?;
        let target = self.get_mut(handle)?;
        if let Some(intervention) = finding.intervention.as_ref().filter(|_| !finding.over) {
            target.note(now, Kind::Alert, &intervention.reason);
        }
        let notice = target.told_of(finding, now);
        Some((handle, notice))
    }

    /// Another name for a target. One that another target has is taken from it, unless it is a session id.
    pub fn alias(&mut self, handle: Handle, name: &str) {
        let owner = self.names.get(name).copied();
        if owner == Some(handle) || owner.and_then(|owner| self.get(owner)).is_some_and(|target| target.id == name) {
            return;
        }
        self.drop_name(name);
        if let Some(target) = self.get_mut(handle) {
            target.aliases.push(name.to_owned());
            let seat = target.seat;
            self.names.insert(name.to_owned(), handle);
            if let Some((seat, family)) = seat.and_then(|seat| Some((seat, self.families.at(seat)?))) {
                family.alias(seat.member, name);
            }
        }
    }

    fn drop_name(&mut self, name: &str) {
        if let Some(owner) = self.names.remove(name).and_then(|owner| self.get_mut(owner)) {
            owner.aliases.retain(|alias| alias != name);
        }
    }

    /// The target has ended. Beyond the kept number the oldest finished ones are evicted.
    pub fn end(&mut self, handle: Handle, at: f64, status: &str) {
        let Some(target) = self.get_mut(handle) else { return };
        target.info.status = Some(status.to_owned());
        if target.ended_at.is_none() {
            target.end(at);
            let seat = target.seat;
            let above = [target.info.parent_id.clone(), target.info.root_id.clone()];
            for parent in above.into_iter().flatten() {
                if let Some(parent) = self.names.get(&parent).copied().and_then(|parent| self.get_mut(parent)) {
                    parent.child_ended = true;
                }
            }
            self.finished.push_back(handle);
            if let Some((seat, family)) = seat.and_then(|seat| Some((seat, self.families.at(seat)?))) {
                family.leave(seat.member, status, at);
                self.collect(seat);
            }
        }
        while self.finished.len() > KEEP_FINISHED {
            if let Some(oldest) = self.finished.pop_front() {
                self.evict(oldest);
            }
        }
    }

    /// The target turned out to be another's double: it goes with all that was counted for it.
    pub fn discard(&mut self, handle: Handle) {
        // The slot of one that has gone may be another's.
        if self.get(handle).is_none() {
            return;
        }
        if let Some((seat, at)) = self.get(handle).and_then(|target| Some((target.seat?, target.last_active_at)))
            && let Some(family) = self.families.at(seat)
        {
            family.retract(seat.member, at);
        }
        self.finished.retain(|&other| other != handle);
        self.evict(handle);
    }

    /// What a tree used, evicted targets included.
    pub fn tree_usage(&mut self, root: &str) -> Usage {
        self.families.of_root(root).map_or_else(Usage::default, |family| family.spent())
    }

    /// Sessions that end without a word are never ended here: beyond the bound the one that was silent longest goes.
    fn evict_longest_silent(&mut self) {
        let silent = self
            .slots
            .iter()
            .zip(0_u32..)
            .filter_map(|(slot, index)| {
                Some((slot.target.as_ref()?.last_active_at, (slot.generation << SLOT_BITS) | index))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, handle)) = silent {
            self.discard(handle);
        }
    }

    fn evict(&mut self, handle: Handle) {
        let Some(slot) = self.slots.get_mut((handle & SLOT_MASK) as usize) else { return };
        if let Some(target) = slot.target.take() {
            slot.generation = (slot.generation + 1) & (u32::MAX >> SLOT_BITS);
            slot.generation = slot.generation.max(1);
            self.free.push(handle & SLOT_MASK);
            self.names.remove(&target.id);
            for alias in &target.aliases {
                self.names.remove(alias);
            }
            self.paused.remove(&target.id);
            if let Some(seat) = target.seat {
                self.families.vacate(seat);
            }
            self.evicted += 1;
        }
    }

    /// The main session of a target's tree: itself, when it has none above.
    pub fn root_of(target: &Target) -> &str {
        target.info.root_id.as_deref().unwrap_or(&target.id)
    }

    /// Running targets first, then by latest activity.
    pub fn targets(&self, root: Option<&str>, completed: bool) -> Vec<&Target> {
        let mut list: Vec<&Target> = self
            .slots
            .iter()
            .filter_map(|slot| slot.target.as_deref())
            .filter(|target| root.is_none_or(|root| Self::root_of(target) == root))
            .filter(|target| completed || target.ended_at.is_none())
            .collect();
        list.sort_by(|a, b| {
            let key = |t: &Target| (t.ended_at.is_some(), -t.last_active_at);
            key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal).then_with(|| a.id.cmp(&b.id))
        });
        list
    }

    /// A target by session id, alias, or unambiguous prefix of either, within a tree.
    pub fn resolve(&self, query: &str, root: Option<&str>) -> Result<Handle, Unresolved> {
        let within = |handle: Handle| {
            self.get(handle).is_some_and(|target| root.is_none_or(|root| Self::root_of(target) == root))
        };
        if let Some(&handle) = self.names.get(query).filter(|&&handle| within(handle)) {
            return Ok(handle);
        }
        let mut found: Vec<Handle> = if query.is_empty() {
            Vec::new()
        } else {
            self.names.iter().filter(|(name, _)| name.starts_with(query)).map(|(_, &handle)| handle).collect()
        };
        found.retain(|&handle| within(handle));
        found.sort_unstable();
        found.dedup();
        match found.as_slice() {
            [] => Err(Unresolved::Unknown),
            [handle] => Ok(*handle),
            many => {
                let mut names: Vec<String> = many.iter().filter_map(|&h| Some(self.get(h)?.id.clone())).collect();
                names.sort();
                names.truncate(10);
                Err(Unresolved::Ambiguous(names))
            }
        }
    }

    pub fn pause(&mut self, root: &str, paused: bool) {
        if paused {
            self.paused.insert(root.to_owned());
        } else {
            self.paused.remove(root);
        }
    }

    pub fn paused(&self, root: &str) -> bool {
        self.paused.contains(root)
    }

    /// See [`Target::take_notice`]; nothing while the tree is paused.
    pub fn take_notice(&mut self, handle: Handle, now: f64) -> Option<Notice> {
        if self.paused(Self::root_of(self.get(handle)?)) {
            return None;
        }
        self.get_mut(handle)?.take_notice(now)
    }

    /// Targets held, events observed in all, targets evicted.
    pub fn stats(&self) -> (usize, u64, u64) {
        (self.slots.iter().filter(|slot| slot.target.is_some()).count(), self.observed, self.evicted)
    }
}

/// Beside the other parts of the store.
fn target_at(slots: &mut [Slot], handle: Handle) -> Option<&mut Target> {
    let slot = slots.get_mut((handle & SLOT_MASK) as usize)?;
    slot.target.as_deref_mut().filter(|_| slot.generation == handle >> SLOT_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::EventKind;

    fn config() -> Arc<Config> {
        Arc::new(Config::default())
    }

    fn call(store: &mut Store, handle: Handle, turn: u32, command: &str, output: &str) -> u32 {
        let at = f64::from(turn) * 1000.0;
        let args = serde_json::json!({ "command": command }).to_string();
        store.observe(handle, at, &EventKind::ToolCall { turn, call_id: "c", tool: "bash", args: &args })
            | store.observe(
                handle,
                at,
                &EventKind::ToolResult {
                    turn,
                    call_id: "c",
                    tool: "bash",
                    output,
                    is_error: false,
                    files: &[],
                    blocked_by: None,
                },
            )
    }

    #[test]
    fn what_was_reported_of_a_tree_is_not_reported_again_within_the_cooldown() {
        for (cooldown_sec, reports) in [(1e6, 1), (0.0, 2)] {
            let mut store = Store::default();
            let config = Arc::new(Config::of(serde_json::json!({ "cooldownSec": cooldown_sec, "staleAfterSec": 0.0 })));
            store.open("main", 0.0, Info::default(), Arc::clone(&config));
            let info = Info { root_id: Some("main".into()), status: Some("running".into()), ..Info::default() };
            let child = store.open("child", 0.0, info, config);
            store.observe(child, 0.0, &EventKind::User { text: "go", synthetic: false });
            let mut timeouts = 0;
            for second in (0..400).step_by(5) {
                let at = f64::from(second) * 1000.0;
                store.tick_tree("main", at);
                while let Some((_, notice)) = store.take_tree_notice("main", at) {
                    timeouts += usize::from(notice.rule == "intervention:timeout");
                }
            }
            assert_eq!(timeouts, reports, "at 180 s, and at 360 s");
        }
    }

    #[test]
    fn every_level_of_a_cost_limit_is_told_once_whatever_the_cooldown() {
        for cooldown_sec in [60.0, 0.0, -1.0] {
            let mut store = Store::default();
            let config = Arc::new(Config::of(serde_json::json!({ "costLimitUsd": 1.0, "cooldownSec": cooldown_sec })));
            let main = store.open("main", 0.0, Info::default(), config);
            let mut told = Vec::new();
            for step in 1..=18 {
                let at = 10_000.0 * f64::from(step);
                store.spend(main, at, Usage { cost_usd: 0.125, ..Usage::default() });
                while let Some((_, notice)) = store.take_tree_notice("main", at) {
                    told.push((step, notice.severity));
                }
            }
            let (remark, over) = (crate::detect::Severity::Info, crate::detect::Severity::Warning);
            assert_eq!(told, [(4, remark), (7, remark), (8, over), (16, over)], "cooldown {cooldown_sec}");
        }
    }

    #[test]
    fn what_has_become_graver_since_it_was_told_does_not_wait_for_the_cooldown() {
        let mut store = Store::default();
        let config =
            Config::of(serde_json::json!({ "cooldownSec": -1.0, "staleAfterSec": 10.0, "autoKillAfterSec": 20.0 }));
        store.open("main", 0.0, Info::default(), Arc::new(config.clone()));
        let child_info = Info { root_id: Some("main".into()), status: Some("running".into()), ..Info::default() };
        let child = store.open("child", 0.0, child_info, Arc::new(config));
        let args = r#"{"command":"make"}"#;
        store.observe(child, 0.0, &EventKind::ToolCall { turn: 1, call_id: "c", tool: "bash", args });
        let mut told = Vec::new();
        let mut tell = |store: &mut Store, at: f64| {
            store.tick_tree("main", at);
            while let Some((_, notice)) = store.take_tree_notice("main", at) {
                told.push((at, notice.severity));
            }
        };
        tell(&mut store, 11_000.0);
        store.families.at(store.get(child).unwrap().seat.unwrap()).unwrap().set_stuck(1, true);
        tell(&mut store, 21_000.0);
        let (remark, graver) = (crate::detect::Severity::Info, crate::detect::Severity::Warning);
        assert_eq!(told, [(11_000.0, remark), (21_000.0, graver)]);
    }

    #[test]
    fn an_agent_of_which_nothing_is_seen_is_not_silent_until_it_is_seen() {
        let mut store = Store::default();
        store.open("main", 0.0, Info::default(), config());
        let child = Info {
            root_id: Some("main".into()),
            link: Some(Link::Exact),
            backend: Some("package".into()),
            ..Info::default()
        };
        let handle = store.open("child", 0.0, child, config());
        let seen = |visibility: &str| Info { visibility: Some(visibility.into()), ..Info::default() };
        let alerts = |store: &mut Store, at: f64| {
            store.tick_tree("main", at);
            std::iter::from_fn(|| store.take_tree_notice("main", at)).count()
        };
        store.update(handle, seen("unseen"));
        assert_eq!(alerts(&mut store, 200_000.0), 0);
        store.update(handle, seen("full"));
        assert!(alerts(&mut store, 201_000.0) > 0);
    }

    #[test]
    fn a_loop_is_told_once_and_again_only_after_the_cooldown() {
        let mut store = Store::default();
        let handle = store.open("s", 0.0, Info::default(), config());
        assert_eq!(call(&mut store, handle, 1, "ls", "a"), 0);
        assert_eq!(call(&mut store, handle, 2, "ls", "a"), 0);
        assert_eq!(call(&mut store, handle, 3, "ls", "a"), VERDICT | NOTICE);
        let notice = store.take_notice(handle, 3000.0).unwrap();
        assert_eq!((notice.ordinal, notice.severity), (1, crate::detect::Severity::Warning));
        assert!(store.take_notice(handle, 3000.0).is_none());
        for turn in 4..=6 {
            call(&mut store, handle, turn, "ls", "a");
        }
        assert!(store.take_notice(handle, 6000.0).is_none(), "cooling down");
        let again = store.take_notice(handle, 64_000.0).unwrap();
        assert_eq!((again.ordinal, again.severity), (2, crate::detect::Severity::Critical));
    }

    #[test]
    fn a_paused_tree_is_watched_and_told_when_it_resumes() {
        let mut store = Store::default();
        let info = Info { root_id: Some("main".into()), ..Info::default() };
        let handle = store.open("child", 0.0, info, config());
        store.pause("main", true);
        for turn in 1..=3 {
            call(&mut store, handle, turn, "ls", "a");
        }
        assert!(store.take_notice(handle, 3000.0).is_none());
        store.pause("main", false);
        assert!(store.take_notice(handle, 3000.0).is_some());
    }

    #[test]
    fn what_waited_for_its_cooldown_is_not_told_when_a_person_has_answered_it() {
        let mut store = Store::default();
        let handle = store.open("s", 0.0, Info::default(), config());
        for turn in 1..=6 {
            call(&mut store, handle, turn, "ls", "a");
            store.take_notice(handle, 1000.0);
        }
        assert_eq!(call(&mut store, handle, 7, "ls", "a") & NOTICE, NOTICE, "one waits");
        let user = EventKind::User { text: "do something else", synthetic: false };
        assert_eq!(store.observe(handle, 8000.0, &user) & NOTICE, 0);
        call(&mut store, handle, 8, "cat b", "b");
        assert!(store.take_notice(handle, 1e9).is_none());
    }

    #[test]
    fn a_call_of_a_loop_is_refused_until_something_else_may_have_helped() {
        let mut store = Store::default();
        let handle = store.open("s", 0.0, Info::default(), config());
        for turn in 1..=3 {
            call(&mut store, handle, turn, "cat a", "no such file");
        }
        let repeats = |store: &Store, line: &str| {
            let action = crate::detect::Action::new("bash", &serde_json::json!({ "command": line }).to_string());
            store.get(handle).unwrap().would_repeat(&action).is_some()
        };
        assert!(repeats(&store, "cat a"));
        assert!(!repeats(&store, "cat b"));
        call(&mut store, handle, 4, "ls", "b");
        assert!(repeats(&store, "cat a"), "nothing was done");
        call(&mut store, handle, 5, "sh ./make-a.sh", "");
        assert!(!repeats(&store, "cat a"));
        call(&mut store, handle, 6, "cat a", "no such file");
        assert!(repeats(&store, "cat a"), "it did not help");
    }

    #[test]
    fn refusals_by_the_watchdog_are_not_told_as_failures_of_the_command() {
        let mut store = Store::default();
        let handle = store.open("s", 0.0, Info::default(), config());
        for turn in 1..=3 {
            call(&mut store, handle, turn, "cat a", "text");
        }
        for turn in 4..=9 {
            let args = r#"{"command":"cat a"}"#;
            store.observe(handle, 4000.0, &EventKind::ToolCall { turn, call_id: "c", tool: "bash", args });
            store.observe(
                handle,
                4000.0,
                &EventKind::ToolResult {
                    turn,
                    call_id: "c",
                    tool: "bash",
                    output: "Refused by the watchdog: permission denied",
                    is_error: true,
                    files: &[],
                    blocked_by: Some("pi-watchdog-supervisor"),
                },
            );
        }
        let analysis = store.get(handle).unwrap().analysis();
        let said: Vec<&str> = analysis.reasons().collect();
        assert!(said.iter().all(|reason| !reason.contains("fail") && !reason.contains("refused")), "{said:?}");
        assert!(said[0].contains("repeated 9 times"), "{said:?}");
    }

    #[test]
    fn an_incident_that_is_over_is_told_only_when_it_was_told_before() {
        let mut store = Store::default();
        let handle = store.open("s", 0.0, Info::default(), config());
        for turn in 1..=3 {
            call(&mut store, handle, turn, "ls", "a");
        }
        assert!(!store.take_notice(handle, 3000.0).unwrap().over);
        for turn in 4..=9 {
            call(&mut store, handle, turn, &format!("cat {turn}"), &format!("text {turn}"));
        }
        assert!(store.take_notice(handle, 9000.0).unwrap().over);
        assert!(store.take_notice(handle, 9000.0).is_none());
    }

    #[test]
    fn a_tree_costs_what_all_its_targets_used_also_those_that_were_evicted_but_not_those_that_were_taken_back() {
        let mut store = Store::default();
        let usd = |cost_usd| Usage { cost_usd, ..Usage::default() };
        let root = store.open("root", 0.0, Info::default(), config());
        let child = |id: &str, store: &mut Store| {
            let info = Info { root_id: Some("root".into()), parent_id: Some("root".into()), ..Info::default() };
            store.open(id, 0.0, info, config())
        };
        store.spend(root, 1.0, usd(0.1));
        for n in 0..2 * KEEP_FINISHED {
            let handle = child(&format!("c{n}"), &mut store);
            store.spend(handle, 1.0, usd(0.5));
            store.end(handle, 2.0, "completed");
        }
        let followed = child("followed", &mut store);
        store.spend(followed, 3.0, usd(7.0));
        store.discard(followed);
        assert!((store.tree_usage("root").cost_usd - 100.1).abs() < 1e-9);
        assert!(store.tree_usage("other").cost_usd.abs() < f64::EPSILON);
    }

    #[test]
    fn a_limit_is_told_right_after_the_remark_on_the_way_to_it_also_when_it_is_met_after_an_end() {
        let mut store = Store::default();
        let usd = |cost_usd| Usage { cost_usd, ..Usage::default() };
        let root = store.open("root", 0.0, Info::default(), config());
        let info = Info { root_id: Some("root".into()), parent_id: Some("root".into()), ..Info::default() };
        let kid = store.open("kid", 0.0, info, config());
        let limit = config().tree.cost.cost_limit_usd;
        assert_eq!(store.spend(root, 1000.0, usd(0.6 * limit)) & TREE, TREE);
        let (_, remark) = store.take_tree_notice("root", 1000.0).unwrap();
        assert_eq!((remark.severity, remark.ordinal), (crate::detect::Severity::Info, 1));
        store.end(kid, 1500.0, "completed");
        assert_eq!(store.spend(kid, 2000.0, usd(0.5 * limit)) & TREE, TREE);
        let (_, told) = store.take_tree_notice("root", 2000.0).unwrap();
        assert_eq!((told.severity, told.ordinal), (crate::detect::Severity::Warning, 1));
        store.spend(root, 9000.0, usd(limit));
        assert_eq!(store.take_tree_notice("root", 9000.0).unwrap().1.ordinal, 2);
    }

    #[test]
    fn levels_of_a_limit_that_are_crossed_in_one_second_are_one_alert_of_each_severity_and_the_highest_later() {
        let mut store = Store::default();
        let config = Arc::new(Config::of(serde_json::json!({ "costLimitUsd": 1.0 })));
        let main = store.open("main", 0.0, Info::default(), config);
        let mut told = Vec::new();
        let mut take = |store: &mut Store, at: f64| {
            while let Some((_, notice)) = store.take_tree_notice("main", at) {
                told.push((at, notice.severity, notice.intervention.unwrap().reason));
            }
        };
        for step in 0..40 {
            let at = 1000.0 + 25.0 * f64::from(step);
            store.spend(main, at, Usage { cost_usd: 0.1, ..Usage::default() });
            take(&mut store, at);
        }
        store.tick_tree("main", 30_000.0);
        take(&mut store, 30_000.0);
        let severities: Vec<_> = told.iter().map(|(_, severity, _)| *severity).collect();
        let (remark, over) = (crate::detect::Severity::Info, crate::detect::Severity::Warning);
        assert_eq!(severities, [remark, over, over]);
        assert_eq!(told[2].2, "$4.00 was used, the limit is $1.00");
    }

    #[test]
    fn what_a_session_used_goes_with_it_into_another_tree() {
        let mut store = Store::default();
        store.open("root", 0.0, Info::default(), config());
        let child = store.open("child", 0.0, Info::default(), config());
        store.spend(child, 1.0, Usage { cost_usd: 0.2, ..Usage::default() });
        let below = |root: &str| Info { root_id: Some(root.into()), parent_id: Some(root.into()), ..Info::default() };
        store.update(child, below("root"));
        assert!((store.tree_usage("root").cost_usd - 0.2).abs() < 1e-9, "it turned out to be a child");
        store.update(child, below("child"));
        assert!((store.tree_usage("child").cost_usd - 0.2).abs() < 1e-9, "it lost its main session");
    }

    #[test]
    fn a_discarded_target_leaves_nothing_behind_and_its_handle_meets_nothing() {
        let mut store = Store::default();
        let handle = store.open("double", 0.0, Info::default(), config());
        store.alias(handle, "agent");
        store.end(handle, 1.0, "completed");
        store.discard(handle);
        store.discard(handle);
        assert_eq!(store.resolve("double", None), Err(Unresolved::Unknown));
        assert_eq!(store.resolve("agent", None), Err(Unresolved::Unknown));
        assert!(store.targets(None, true).is_empty());
        let other = store.open("another", 0.0, Info::default(), config());
        store.discard(handle);
        assert!(store.get(other).is_some(), "its place is another's now");
    }

    #[test]
    fn finished_targets_are_kept_to_a_hundred_and_old_handles_meet_nothing() {
        let mut store = Store::default();
        let first = store.open("s0", 0.0, Info::default(), config());
        store.end(first, 1.0, "completed");
        for n in 1..=150 {
            let handle = store.open(&format!("s{n}"), 0.0, Info::default(), config());
            store.end(handle, 1.0, "completed");
        }
        assert_eq!(store.stats(), (100, 0, 51));
        assert!(store.get(first).is_none());
        assert_eq!(store.resolve("s0", None), Err(Unresolved::Unknown));
        assert!(store.resolve("s150", None).is_ok());
    }

    #[test]
    fn the_ring_drops_the_oldest_and_ids_never_repeat() {
        let mut store = Store::default();
        let small = Arc::new(Config::of(serde_json::json!({ "maxEventsPerAgent": 4 })));
        let handle = store.open("s", 0.0, Info::default(), small);
        for turn in 1..=10 {
            call(&mut store, handle, turn, &format!("cat {turn}"), "x");
        }
        let seqs: Vec<u64> = store.get(handle).unwrap().events(50, None).map(|event| event.seq).collect();
        assert_eq!(seqs, [17, 18, 19, 20]);
        let later: Vec<u64> = store.get(handle).unwrap().events(50, Some(18)).map(|event| event.seq).collect();
        assert_eq!(later, [19, 20]);
    }

    #[test]
    fn targets_are_found_by_alias_and_by_unambiguous_prefix_within_their_tree() {
        let mut store = Store::default();
        let child = |root: &str| Info { root_id: Some(root.into()), ..Info::default() };
        let a = store.open("aaa1", 0.0, child("m"), config());
        let b = store.open("aaa2", 0.0, child("m"), config());
        let other = store.open("abc", 0.0, child("other"), config());
        store.alias(a, "agent-7");
        assert_eq!(store.resolve("agent", Some("m")), Ok(a));
        assert_eq!(store.resolve("aaa2", Some("m")), Ok(b));
        assert_eq!(store.resolve("aaa", Some("m")), Err(Unresolved::Ambiguous(vec!["aaa1".into(), "aaa2".into()])));
        assert_eq!(store.resolve("abc", Some("m")), Err(Unresolved::Unknown), "another tree");
        assert_eq!(store.resolve("abc", None), Ok(other));
        assert_eq!(store.resolve("", None), Err(Unresolved::Unknown));
        store.alias(b, "agent-7");
        assert_eq!(store.resolve("agent-7", None), Ok(b));
        store.alias(b, "aaa1");
        assert_eq!(store.resolve("aaa1", None), Ok(a), "a session id is nobody's alias");
    }

    #[test]
    fn the_same_answer_to_the_end_of_each_child_is_no_repetition() {
        let answers = |children: bool| {
            let mut store = Store::default();
            let main = store.open("main", 0.0, Info::default(), config());
            let mut signal = 0;
            for n in 0..6 {
                if children {
                    let info = Info { root_id: Some("main".into()), ..Info::default() };
                    let child = store.open(&format!("child {n}"), 0.0, info, config());
                    store.end(child, 1.0, "completed");
                }
                let at = f64::from(n) * 1000.0;
                store.observe(main, at, &EventKind::User { text: "A sub-agent is done.", synthetic: true });
                let stop_reason = crate::trace::StopReason::Stop;
                let (text, turn) = ("I will keep waiting.", u32::try_from(n).unwrap());
                let answer = EventKind::Assistant { turn, text, thinking: "", stop_reason, usage: None };
                signal |= store.observe(main, at, &answer);
            }
            signal & NOTICE
        };
        assert_eq!((answers(true), answers(false)), (0, NOTICE));
    }

    #[test]
    fn an_ended_target_is_told_of_no_more() {
        let mut store = Store::default();
        let handle = store.open("s", 0.0, Info::default(), config());
        for turn in 1..=3 {
            call(&mut store, handle, turn, "ls", "a");
        }
        store.end(handle, 4000.0, "completed");
        assert!(store.take_notice(handle, 5000.0).is_none());
        assert_eq!(call(&mut store, handle, 4, "ls", "a"), 0);
        assert_eq!(store.open("s", 6000.0, Info::default(), config()), handle, "a resumed child keeps its handle");
        assert_eq!(store.get(handle).unwrap().event_count(), 6, "and its history");
    }
    #[test]
    fn how_a_target_ended_is_not_overwritten_by_what_its_session_says_later() {
        let mut store = Store::default();
        let handle = store.open("s", 0.0, Info::default(), config());
        let saying = |status: &str| Info { status: Some(status.into()), ..Info::default() };
        store.end(handle, 1.0, "stopped");
        store.get_mut(handle).unwrap().update(saying("idle"));
        assert_eq!(store.get(handle).unwrap().info.status.as_deref(), Some("stopped"));
        store.open("s", 2.0, saying("running"), config());
        store.get_mut(handle).unwrap().update(saying("idle"));
        assert_eq!(store.get(handle).unwrap().info.status.as_deref(), Some("idle"));
    }

    #[test]
    fn what_was_used_is_kept_when_a_session_goes_on() {
        let mut store = Store::default();
        let handle = store.open("s", 0.0, Info::default(), config());
        let used = |input| crate::trace::Usage { input, ..Default::default() };
        store.get_mut(handle).unwrap().add_usage(used(5.0));
        store.end(handle, 1.0, "completed");
        store.open("s", 2.0, Info::default(), config());
        store.open("s", 3.0, Info::default(), config());
        store.get_mut(handle).unwrap().add_usage(used(2.0));
        assert_eq!(store.get(handle).unwrap().usage(), used(7.0));
    }

    #[test]
    fn sessions_that_never_end_are_bounded_too() {
        let mut store = Store::default();
        let first = store.open("s0", 0.0, Info::default(), config());
        for n in 1..=MOST_TARGETS {
            store.open(&format!("s{n}"), n as f64, Info::default(), config());
        }
        assert_eq!(store.stats().0, MOST_TARGETS);
        assert!(store.get(first).is_none(), "the one that was silent longest");
        assert!(store.resolve(&format!("s{MOST_TARGETS}"), None).is_ok());
    }
}
