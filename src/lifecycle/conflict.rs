//! Which agent changed which file, and when two of them get into each other's way. A change after having read the
//! other's is no conflict, nor is one of an agent that was not there yet or is no more.

use std::collections::HashMap;

use super::member::Member;
use super::{Family, Id, NewReport, Settings as AllSettings, address, matter, parties, words};
use crate::detect::Severity;
use crate::rule;
use crate::setting::{Scope, Shape};
use crate::shell::git::Effect;
use crate::text::fast;
use crate::text::path;

rule! {
    /// Files that two agents change.
    interventions {
        /// an agent changes a file over the change of another one that still runs and that it has not read; a command would
        /// undo what another running agent has not committed (`git checkout .`, `checkout -f`, `restore <folder>`, `reset
        /// --hard`, `clean -f`, `stash`, or the very files)
        FILE_CONFLICT = "file_conflict", proposes Warn, audience Parties,
            state "in a file conflict", brief "conflict", footer "in conflict",
            itself ["Agree on who changes the file, and read it again before your next change."],
            others ["Decide which agent changes the file, and have it read again before the next change."];
    }
    settings {
        /// Whether two running agents that change the same file are reported, and git commands that would undo another
        /// agent's unsaved work in the tree, folders or files that they concern.
        file_conflicts: bool = true, "fileConflicts", Shape::Bool, Scope::CONFLICT_SWITCH;
    }
}

/// Files remembered; the one that was longest untouched is forgotten.
const FILES: usize = 4096;
/// Files of one agent that count as unsaved.
const UNSAVED: usize = 1024;

#[derive(Debug, Clone)]
struct Touched {
    path: Box<str>,
    by: Id,
    at: f64,
    /// Agents that have seen the latest change.
    seen_by: Vec<Id>,
    /// Changes over another agent's that was not read.
    clashes: u32,
}

/// An agent changed a file over another one's change.
#[derive(Debug, Clone, PartialEq)]
pub struct Clash {
    pub path: Box<str>,
    pub before: Id,
    /// Milliseconds since the other's change.
    pub after_ms: f64,
    /// How many there were of this file.
    pub count: u32,
}

#[derive(Debug, Clone, Default)]
pub struct Conflicts {
    files: HashMap<u128, Touched>,
    unsaved: HashMap<Id, Vec<Box<str>>>,
}

impl Conflicts {
    pub fn read(&mut self, by: Id, path: &str) {
        if let Some(file) = self.files.get_mut(&fast(path.as_bytes()))
            && !file.seen_by.contains(&by)
        {
            file.seen_by.push(by);
        }
    }

    /// It has seen every change there is below a folder.
    pub fn read_all(&mut self, by: Id, below: &str) {
        for file in self.files.values_mut() {
            if !file.seen_by.contains(&by) && path::inside(&file.path, below) {
                file.seen_by.push(by);
            }
        }
    }

    /// A shell line that names a file has most likely shown it.
    pub fn read_by_line(&mut self, by: Id, line: &str) {
        for file in self.files.values_mut() {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            if file.by != by && !file.seen_by.contains(&by) && !name.is_empty() && line.contains(name) {
                file.seen_by.push(by);
            }
        }
    }

    /// `party`: whether an agent was there when the other made its change, and still is.
    pub fn changed(&mut self, by: Id, path: &str, at: f64, party: impl Fn(Id, f64) -> bool) -> Option<Clash> {
        let unsaved = self.unsaved.entry(by).or_default();
        if !unsaved.iter().any(|known| **known == *path) {
            if unsaved.len() >= UNSAVED {
                unsaved.remove(0);
            }
            unsaved.push(path.into());
        }
        let key = fast(path.as_bytes());
        let Some(file) = self.files.get_mut(&key) else {
            self.make_room();
            self.files.insert(key, Touched { path: path.into(), by, at, seen_by: vec![by], clashes: 0 });
            return None;
        };
        let clash = (file.by != by && !file.seen_by.contains(&by) && party(file.by, file.at)).then(|| {
            file.clashes += 1;
            Clash { path: file.path.clone(), before: file.by, after_ms: at - file.at, count: file.clashes }
        });
        file.by = by;
        file.at = at;
        file.seen_by = vec![by];
        clash
    }

    fn make_room(&mut self) {
        if self.files.len() < FILES {
            return;
        }
        let oldest = self.files.iter().min_by(|a, b| a.1.at.total_cmp(&b.1.at)).map(|(key, _)| *key);
        if let Some(oldest) = oldest {
            self.files.remove(&oldest);
        }
    }

    /// What the agent wrote is committed; with `all` what everybody wrote.
    pub fn saved(&mut self, by: Id, all: bool) {
        if all {
            self.unsaved.clear();
        } else {
            self.unsaved.remove(&by);
        }
    }

    /// Unsaved files of others that `by` would undo with everything below a place, which may be a file itself.
    pub fn at_risk(&self, by: Id, below: &str) -> Vec<(Id, &str)> {
        let mut found: Vec<(Id, &str)> = self
            .unsaved
            .iter()
            .filter(|(owner, _)| **owner != by)
            .flat_map(|(owner, paths)| paths.iter().map(move |path| (*owner, &**path)))
            .filter(|(_, path)| path::inside(path, below))
            .collect();
        found.sort_unstable();
        found
    }

    /// An agent has ended: it is no party any more, and what it left is the tree's.
    pub fn left(&mut self, id: Id) {
        self.unsaved.remove(&id);
        self.files.retain(|_, file| file.by != id);
    }
}

/// Work of others that a command would undo.
pub(super) struct Risk {
    pub owners: Vec<Id>,
    pub words: String,
}

impl Family {
    pub(super) fn changed(&mut self, id: Id, at: f64, path: &str) {
        self.member_mut(id).changed_at = at;
        if !self.settings.conflict.file_conflicts {
            return;
        }
        let path = self.absolute(id, path);
        let since = self.member(id).started_at;
        let members = &self.members;
        let party = |other: Id, then: f64| {
            let other = &members[other as usize];
            // Who waits for its own child works through it.
            other.running() && then > since
        };
        let Some(clash) = self.conflicts.changed(id, &path, at, party) else { return };
        self.member_mut(id).clash_at = at;
        self.member_mut(clash.before).clash_at = at;
        let subject = fast(clash.path.as_bytes());
        let Some(ordinal) = self.reported.due(matter(FILE_CONFLICT, subject), f64::from(clash.count)) else {
            return;
        };
        let again = if clash.count > 1 { format!(" ({} times between them)", clash.count) } else { String::new() };
        let (path, ago) = (words::bare(&clash.path), words::time(clash.after_ms));
        let (reason, texts) = self.addressed(&[id, clash.before], |called| {
            let (who, before) = (called(id), called(clash.before));
            format!("{who} changed {path} over what {before} had changed {ago} before, without reading it{again}")
        });
        let party = self.member(clash.before).name.to_string();
        let (kind, severity) = (FILE_CONFLICT, Severity::Warning);
        let found = self.report(NewReport { kind, severity, about: id, subject, at, ordinal, reason });
        parties(found, vec![party]);
        address(found, texts);
    }

    /// A command that undoes what is not committed.
    pub(super) fn sweep(&mut self, id: Id, at: f64, line: &str) {
        let Some(Risk { owners, words }) = self.risk_of(id, line) else { return };
        let subject = fast(line.as_bytes()) ^ u128::from(id);
        self.member_mut(id).clash_at = at;
        let Some(ordinal) = self.reported.due(matter(FILE_CONFLICT, subject), 1.0) else { return };
        let names = owners.iter().map(|owner| self.member(*owner).name.to_string()).collect();
        let (kind, severity) = (FILE_CONFLICT, Severity::Warning);
        let found = self.report(NewReport { kind, severity, about: id, subject, at, ordinal, reason: words });
        parties(found, names);
    }

    pub(super) fn risk_of(&self, id: Id, line: &str) -> Option<Risk> {
        if !self.settings.conflict.file_conflicts || self.members.len() < 2 {
            return None;
        }
        let effect = Effect::of(line);
        let cwd = &self.member(id).cwd;
        let places = effect.sweeps.iter().map(|place| self.tree_of(id, place));
        let places = places.chain(effect.undoes.iter().map(|path| path::absolute(cwd, path)));
        let mut risk: Vec<(Id, &str)> = Vec::new();
        for place in places {
            let at_risk = self.conflicts.at_risk(id, &place).into_iter();
            risk.extend(at_risk.filter(|(owner, _)| {
                let Member { worktree, .. } = self.member(*owner);
                // A working tree within another one is no part of it.
                let apart = !place.is_empty() && worktree.len() > place.len() && path::inside(worktree, &place);
                self.member(*owner).running() && !apart
            }));
        }
        risk.sort_unstable();
        risk.dedup();
        let (_, example) = *risk.first()?;
        let mut owners: Vec<Id> = risk.iter().map(|(owner, _)| *owner).collect();
        owners.dedup();
        let more = if risk.len() > 1 { format!(" and {} more", risk.len() - 1) } else { String::new() };
        let words = format!(
            "{} would undo what {} has not committed: {}{more}",
            words::quoted(line),
            self.titles(&owners),
            words::bare(example)
        );
        Some(Risk { owners, words })
    }

    /// Top of the working tree that a place is in, as far as anybody's is known; else where the agent is.
    pub(super) fn tree_of(&self, id: Id, place: &str) -> String {
        let Member { cwd, .. } = self.member(id);
        let folder = path::absolute(cwd, place);
        let trees = self.members.iter().map(|member| member.worktree.as_str());
        let known = trees.filter(|tree| !tree.is_empty() && path::inside(&folder, tree)).max_by_key(|tree| tree.len());
        match known {
            Some(tree) => tree.to_owned(),
            None if path::inside(&folder, cwd) => cwd.clone(),
            None => folder,
        }
    }

    /// Two agents in each other's way look like loops each; what goes round between them is told as their conflict.
    pub fn explains(&self, id: Id, at: f64, settings: &AllSettings) -> bool {
        const RECENT_MS: f64 = 120_000.0;
        let clash_at = self.member(id).clash_at;
        settings.conflict.file_conflicts && clash_at > 0.0 && at - clash_at <= RECENT_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Id = 1;
    const B: Id = 2;

    fn both(_: Id, _: f64) -> bool {
        true
    }

    #[test]
    fn a_blind_change_over_another_agents_is_a_clash() {
        let mut conflicts = Conflicts::default();
        assert_eq!(conflicts.changed(A, "/r/a", 0.0, both), None);
        assert_eq!(conflicts.changed(A, "/r/a", 1.0, both), None, "its own file");
        let clash = conflicts.changed(B, "/r/a", 5.0, both).unwrap();
        assert_eq!((clash.before, clash.after_ms, clash.count), (A, 4.0, 1));
        assert_eq!(conflicts.changed(A, "/r/a", 6.0, both).unwrap().count, 2);
        assert_eq!(conflicts.changed(B, "/r/b", 6.0, both), None);
    }

    #[test]
    fn a_change_after_reading_the_others_is_none() {
        let mut conflicts = Conflicts::default();
        conflicts.changed(A, "/r/a", 0.0, both);
        conflicts.read(B, "/r/a");
        assert_eq!(conflicts.changed(B, "/r/a", 5.0, both), None);
        assert!(conflicts.changed(A, "/r/a", 6.0, both).is_some(), "A has not seen what B made of it");
    }

    #[test]
    fn who_has_gone_or_was_not_there_is_no_party() {
        let mut conflicts = Conflicts::default();
        conflicts.changed(A, "/r/a", 0.0, both);
        assert_eq!(conflicts.changed(B, "/r/a", 5.0, |id, _| id != A), None);
    }

    #[test]
    fn what_an_agent_left_when_it_ended_is_nobodys_even_if_it_comes_back() {
        let mut conflicts = Conflicts::default();
        conflicts.changed(A, "/r/a", 0.0, both);
        conflicts.left(A);
        assert_eq!(conflicts.changed(B, "/r/a", 5.0, both), None);
    }

    #[test]
    fn unsaved_work_of_others_is_at_risk_until_it_is_committed() {
        let mut conflicts = Conflicts::default();
        conflicts.changed(A, "/r/src/a", 0.0, both);
        conflicts.changed(B, "/r/b", 0.0, both);
        conflicts.changed(A, "/other/a", 0.0, both);
        assert_eq!(conflicts.at_risk(B, "/r"), [(A, "/r/src/a")]);
        assert_eq!(conflicts.at_risk(A, "/r"), [(B, "/r/b")]);
        assert_eq!(conflicts.at_risk(B, "/r/src/a"), [(A, "/r/src/a")]);
        assert!(conflicts.at_risk(B, "/r/x").is_empty());
        conflicts.saved(A, false);
        assert!(conflicts.at_risk(B, "/").is_empty());
        conflicts.saved(A, true);
        assert!(conflicts.at_risk(A, "/").is_empty());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut conflicts = Conflicts::default();
        for n in 0..2 * FILES {
            conflicts.changed(A, &format!("/f{n}"), n as f64, both);
        }
        assert!(conflicts.files.len() <= FILES && conflicts.unsaved[&A].len() <= UNSAVED);
    }

    #[test]
    fn the_file_that_was_longest_untouched_is_forgotten_first() {
        let mut conflicts = Conflicts::default();
        for n in 0..FILES {
            conflicts.changed(A, &format!("/f{n}"), n as f64, both);
        }
        assert_eq!(conflicts.files.len(), FILES, "as many as fit are all kept");
        conflicts.changed(A, "/f0", FILES as f64, both);
        conflicts.changed(A, "/new", FILES as f64 + 1.0, both);
        assert_eq!(conflicts.files.len(), FILES);
        let before = |conflicts: &mut Conflicts, path| conflicts.changed(B, path, 9e9, both).map(|clash| clash.before);
        for path in ["/f0", "/new", "/f2"] {
            assert_eq!(before(&mut conflicts, path), Some(A), "{path} is remembered");
        }
        assert_eq!(before(&mut conflicts, "/f1"), None, "the oldest change is forgotten");
    }

    #[test]
    fn the_latest_unsaved_files_of_an_agent_are_kept() {
        let mut conflicts = Conflicts::default();
        for n in 0..UNSAVED {
            conflicts.changed(A, &format!("/f{n}"), n as f64, both);
        }
        assert_eq!(conflicts.unsaved[&A].len(), UNSAVED);
        conflicts.changed(A, "/new", UNSAVED as f64, both);
        let kept = &conflicts.unsaved[&A];
        assert_eq!((kept.len(), &*kept[0], &*kept[UNSAVED - 1]), (UNSAVED, "/f1", "/new"));
    }
}
