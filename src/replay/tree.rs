//! The tree of a session file, cut into stretches of entries that follow each other both in the file and in the tree.
//!
//! One cheap pass over the file finds out where a line does not continue the entry before it. It keeps eight bytes
//! an entry (a hash of its id, to find the parents of branches) and one small record a stretch.

#![allow(clippy::cast_possible_truncation, reason = "no session has 2^32 entries: Pi holds all of them in memory")]

use std::collections::{HashMap, HashSet};
use std::io::{Read, Seek};

use xxhash_rust::xxh3::xxh3_64;

use super::ReplayError;
use super::lines::{Lines, Place};
use crate::trace::{Link, Parent, link_of};

/// Entries that follow each other without a branch leaving between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// Where its lines begin. `None`: right behind the stretch that it continues.
    pub start: Option<Place>,
    pub entries: u32,
    /// Offset at which its lines end, where that is not simply behind its last entry.
    pub end: Option<u64>,
    /// Stretches that continue it, the one with the most entries behind it last.
    pub children: Vec<u32>,
    /// The youngest stretch without children among those that come from it.
    pub tip: u32,
    /// Id of its last entry; empty when a stretch continues it in the file.
    pub last_id: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tree {
    /// In file order; a parent comes before its children.
    pub stretches: Vec<Stretch>,
    pub roots: Vec<u32>,
    /// Lines of entries whose parent is not in the file.
    pub orphans: Vec<u64>,
}

impl Tree {
    /// A file without branches (version 1).
    pub fn linear(size: u64) -> Self {
        let start = Some(Place { offset: 0, number: 1 });
        let only =
            Stretch { start, entries: u32::MAX, end: Some(size), children: vec![], tip: 0, last_id: String::new() };
        Self { stretches: vec![only], roots: vec![0], orphans: vec![] }
    }

    /// Paths from a root to a last entry.
    pub fn branches(&self) -> u32 {
        self.stretches.iter().filter(|stretch| stretch.children.is_empty()).count() as u32
    }

    /// Last entry of the youngest branch that a stretch is part of.
    pub fn branch_of(&self, stretch: u32) -> &str {
        let tip = self.stretches[stretch as usize].tip;
        &self.stretches[tip as usize].last_id
    }

    /// Every stretch, each after the one that it continues.
    pub fn order(&self) -> impl Iterator<Item = u32> {
        let mut visit = self.visit(());
        std::iter::from_fn(move || visit.next())
    }

    /// A walk in the same order, which carries a state along every path, `fresh` at the roots.
    pub fn visit<S: Clone>(&self, fresh: S) -> Visit<'_, S> {
        Visit { tree: self, now: None, open: vec![(fresh, self.roots.iter())] }
    }

    pub fn read<R: Read + Seek>(lines: &mut Lines<'_, R>) -> Result<Self, ReplayError> {
        let mut runs = Runs::default();
        while let Some(line) = lines.next()? {
            match link_of(line.bytes) {
                Link::Entry { id, parent } => runs.entry(line.place, &id, &parent),
                Link::Header => {}
                Link::Unusable => runs.gap |= line.too_long || !line.bytes.is_empty(),
            }
        }
        let size = lines.size();
        Ok(runs.into_tree(size))
    }
}

/// A walk over the tree. The state that a stretch leaves is copied for each stretch that continues it, except the last.
pub struct Visit<'a, S> {
    tree: &'a Tree,
    now: Option<(u32, S)>,
    open: Vec<(S, std::slice::Iter<'a, u32>)>,
}

impl<S: Clone> Visit<'_, S> {
    /// The state in `stretch`, which is the one visited now or a later one.
    pub fn at(&mut self, stretch: u32) -> &mut S {
        while self.now.as_ref().is_none_or(|(now, _)| *now != stretch) {
            self.next().expect("stretches are asked for in the order of the walk");
        }
        &mut self.now.as_mut().expect("it was just visited").1
    }

    fn next(&mut self) -> Option<u32> {
        if let Some((now, state)) = self.now.take() {
            self.open.push((state, self.tree.stretches[now as usize].children.iter()));
        }
        while let Some((state, children)) = self.open.last_mut() {
            let Some(&index) = children.next() else {
                self.open.pop();
                continue;
            };
            let state = if children.as_slice().is_empty() { self.open.pop()?.0 } else { state.clone() };
            self.now = Some((index, state));
            return Some(index);
        }
        None
    }
}

/// Tells where an entry is not the child of the one before it in the file.
#[derive(Default)]
pub struct Chain {
    begun: bool,
    last_id: String,
}

impl Chain {
    /// Takes the next line; false when it begins a branch.
    pub fn goes_on(&mut self, line: &[u8]) -> bool {
        match link_of(line) {
            Link::Entry { id, parent } => self.takes(&id, &parent),
            Link::Header | Link::Unusable => true,
        }
    }

    fn takes(&mut self, id: &str, parent: &Parent<'_>) -> bool {
        let goes_on = match parent {
            _ if !self.begun => true,
            Parent::Previous => true,
            Parent::Root => false,
            Parent::Of(parent) => **parent == *self.last_id,
        };
        self.begun = true;
        self.last_id.clear();
        self.last_id.push_str(id);
        goes_on
    }
}

/// What the pass over the file gathers.
#[derive(Default)]
struct Runs {
    /// Hash of each entry's id.
    ids: Vec<u64>,
    begun: Vec<Run>,
    chain: Chain,
    /// Lines since the last entry that might have been entries.
    gap: bool,
}

/// Entries each of which is the child of the one before.
struct Run {
    start: Place,
    /// Ordinal of its first entry.
    first: u32,
    origin: Origin,
    /// A lost line stands before it.
    after_gap: bool,
    last_id: String,
}

#[derive(Clone, Copy)]
enum Origin {
    Root,
    /// Hash of the parent's id.
    Of(u64),
}

impl Runs {
    fn entry(&mut self, place: Place, id: &str, parent: &Parent<'_>) {
        let ordinal = self.ids.len() as u32;
        let last_id = self.chain.last_id.clone();
        let goes_on = self.chain.takes(id, parent);
        if ordinal == 0 || !goes_on {
            self.close(last_id);
            let origin = match parent {
                Parent::Of(parent) if ordinal > 0 => Origin::Of(xxh3_64(parent.as_bytes())),
                _ => Origin::Root,
            };
            // What stands before the first entry (the header, lost lines) goes with it.
            let start = if ordinal == 0 { Place { offset: 0, number: 1 } } else { place };
            self.begun.push(Run { start, first: ordinal, origin, after_gap: self.gap, last_id: String::new() });
        }
        self.gap = false;
        self.ids.push(xxh3_64(id.as_bytes()));
    }

    fn close(&mut self, last_id: String) {
        if let Some(run) = self.begun.last_mut() {
            run.last_id = last_id;
        }
    }

    fn into_tree(mut self, size: u64) -> Tree {
        if self.begun.is_empty() {
            // Nothing but lost lines; they are still read, for their warnings.
            return Tree::linear(size);
        }
        let last_id = std::mem::take(&mut self.chain.last_id);
        self.close(last_id);
        let mut orphans = Vec::new();
        let parents = self.parents(&mut orphans);
        let total = self.ids.len() as u32;

        // A stretch begins with a run, and behind every entry that a run branches from.
        let mut starts: Vec<u32> = self.begun.iter().map(|run| run.first).collect();
        starts.extend(parents.iter().flatten().map(|parent| parent + 1).filter(|start| *start < total));
        starts.sort_unstable();
        starts.dedup();
        let ending_with = |entry: u32| starts.partition_point(|start| *start <= entry) as u32 - 1;

        let mut stretches = Vec::with_capacity(starts.len());
        let mut parent_of = Vec::with_capacity(starts.len());
        let mut run = 0;
        for (index, &start) in starts.iter().enumerate() {
            let end = starts.get(index + 1).copied().unwrap_or(total);
            let begins_run = self.begun.get(run + 1).is_some_and(|next| next.first == start);
            run += usize::from(begins_run);
            let begins_run = begins_run || index == 0;
            let next_run = self.begun.get(run + 1);
            let ends_run = next_run.map_or(total, |next| next.first) == end;
            parent_of.push(if begins_run { parents[run].map(ending_with) } else { Some(index as u32 - 1) });
            stretches.push(Stretch {
                start: begins_run.then_some(self.begun[run].start),
                entries: end - start,
                end: ends_run.then(|| next_run.map_or(size, |next| next.start.offset)),
                children: Vec::new(),
                tip: index as u32,
                last_id: if ends_run { std::mem::take(&mut self.begun[run].last_id) } else { String::new() },
            });
        }
        let roots = connect(&mut stretches, &parent_of);
        Tree { stretches, roots, orphans }
    }

    /// The entry that each run continues: the latest one before it with the id that its first entry names.
    fn parents(&self, orphans: &mut Vec<u64>) -> Vec<Option<u32>> {
        let wanted: HashSet<u64> = self
            .begun
            .iter()
            .filter_map(|run| match run.origin {
                Origin::Of(id) => Some(id),
                Origin::Root => None,
            })
            .collect();
        let mut latest = HashMap::with_capacity(wanted.len());
        let mut seen = 0;
        let mut parents = Vec::with_capacity(self.begun.len());
        for run in &self.begun {
            if !wanted.is_empty() {
                for entry in seen..run.first {
                    let id = self.ids[entry as usize];
                    if wanted.contains(&id) {
                        latest.insert(id, entry);
                    }
                }
                seen = run.first;
            }
            parents.push(match run.origin {
                Origin::Root => None,
                Origin::Of(id) => latest.get(&id).copied().or_else(|| {
                    // The parent was most likely on the lost line, and that line followed the entry before it.
                    let lost = run.after_gap && run.first > 0;
                    if !lost {
                        orphans.push(run.start.number);
                    }
                    lost.then(|| run.first - 1)
                }),
            });
        }
        parents
    }
}

/// Fills in children and tips; returns the roots.
fn connect(stretches: &mut [Stretch], parent_of: &[Option<u32>]) -> Vec<u32> {
    let mut weights: Vec<u64> = stretches.iter().map(|stretch| u64::from(stretch.entries)).collect();
    let mut roots = Vec::new();
    // From the end: children come after their parents, so each is complete when its turn comes.
    for index in (0..stretches.len()).rev() {
        // Lighter ones first: a state is kept aside only while a lighter half is walked, so that at most log2(entries)
        // of them exist at a time.
        stretches[index].children.reverse();
        stretches[index].children.sort_by_key(|child| weights[*child as usize]);
        match parent_of[index] {
            None => roots.push(index as u32),
            Some(parent) => {
                let tip = stretches[index].tip;
                weights[parent as usize] += weights[index];
                let parent = &mut stretches[parent as usize];
                parent.children.push(index as u32);
                parent.tip = parent.tip.max(tip);
            }
        }
    }
    roots.reverse();
    roots.sort_by_key(|root| weights[*root as usize]);
    roots
}
