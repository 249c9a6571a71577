//! Session files: every path from a root to a last entry, the parts that paths share only once.

use std::io::{Read, Seek};

use super::lines::Lines;
use super::pipeline::{self, Entry, Plan};
use super::tree::{Tree, Visit};
use super::{Located, Observer, ReplayError, Report, Scope, Warnings};
use crate::trace::{Outline, Path, Usage};

/// First version whose entries name their parents.
const TREE_VERSION: u64 = 2;

pub fn replay<R: Read + Seek + Send, O: Observer>(
    mut lines: Lines<'_, R>,
    version: u64,
    observer: &O,
    scope: Scope<'_>,
) -> Result<Report<O::Finding>, ReplayError> {
    let plan = if version < TREE_VERSION { Plan::Straight } else { Plan::StraightWhileTrue };
    let start = lines.place();
    let tree = Tree::linear(lines.size());
    let mut walk = Walk::new(&tree, observer, scope.from);
    if pipeline::run::<R, O>(&mut lines, plan, scope.cores, |entry, events| walk.take(entry, events))? {
        return Ok(walk.report());
    }
    // Most sessions have one branch. Only the others pay for a look at the whole file first.
    lines.go_to(start)?;
    let tree = Tree::read(&mut lines)?;
    let mut walk = Walk::new(&tree, observer, scope.from);
    pipeline::run::<R, O>(&mut lines, Plan::Along(&tree), scope.cores, |entry, events| walk.take(entry, events))?;
    Ok(walk.report())
}

/// Where one path stands.
#[derive(Clone)]
struct State<O> {
    path: Path,
    observer: O,
    /// Events on the path so far.
    events: u64,
    /// Time of the latest of them.
    at: f64,
}

struct Walk<'a, O: Observer> {
    tree: &'a Tree,
    from: f64,
    visit: Visit<'a, State<O>>,
    found: Vec<O::Finding>,
    /// With the stretch in which they were made.
    findings: Vec<(u32, Located<O::Finding>)>,
    report: Report<O::Finding>,
}

impl<'a, O: Observer> Walk<'a, O> {
    fn new(tree: &'a Tree, observer: &O, from: f64) -> Self {
        let fresh = State { path: Path::default(), observer: observer.clone(), events: 0, at: 0.0 };
        let mut warnings = Warnings::default();
        for &line in &tree.orphans {
            warnings.add(line, "its parent is not in the file; what follows is read as a history of its own");
        }
        let report = Report {
            kind: "session",
            session_id: None,
            lines: 0,
            events: 0,
            branches: tree.branches(),
            findings: Vec::new(),
            warnings,
            usage: Usage::default(),
        };
        Self { tree, from, visit: tree.visit(fresh), found: Vec::new(), findings: Vec::new(), report }
    }

    fn take(&mut self, entry: Entry, events: &mut dyn Iterator<Item = (Outline, O::Gist)>) {
        let report = &mut self.report;
        report.lines += 1;
        let read = match entry.read {
            Ok(read) => read,
            Err(message) => return report.warnings.add(entry.number, message),
        };
        report.session_id = report.session_id.take().or(read.session_id.map(String::from));
        let state = self.visit.at(entry.stretch);
        for (outline, gist) in events {
            let mut event = outline.event();
            state.path.settle(&mut event);
            state.observer.observe(&event, gist, &mut self.found);
            state.at = event.at;
            let counts = state.at >= self.from;
            if !counts {
                self.found.clear();
            }
            for finding in self.found.drain(..) {
                let located = Located {
                    finding,
                    event_index: state.events,
                    line: entry.number,
                    entry_id: (!read.id.is_empty()).then(|| read.id.to_string()),
                    branch: None,
                };
                self.findings.push((entry.stretch, located));
            }
            state.events += 1;
            report.events += u64::from(counts);
        }
        if state.at >= self.from {
            report.usage += read.usage;
        }
    }

    fn report(self) -> Report<O::Finding> {
        let mut report = self.report;
        let branch = |stretch: u32| (report.branches > 1).then(|| self.tree.branch_of(stretch).to_owned());
        report.findings = self
            .findings
            .into_iter()
            .map(|(stretch, located)| Located { branch: branch(stretch), ..located })
            .collect();
        // Paths were walked one after the other; people read files from top to bottom.
        report.findings.sort_by_key(|located| located.line);
        report.warnings.listed.sort_by_key(|warning| warning.line);
        report
    }
}
