//! Session files: every path from a root to a last entry, the parts that paths share only once.

use std::io::{Read, Seek};

use super::lines::{Lines, Place};
use super::tree::{Stretch, Tree};
use super::{Located, Observer, ReplayError, Report, Warnings};
use crate::trace::{Link, SessionReader, Usage, link_of};

/// First version whose entries name their parents.
const TREE_VERSION: u64 = 2;

pub fn replay<R: Read + Seek, O: Observer>(
    mut lines: Lines<R>,
    version: u64,
    observer: &O,
) -> Result<Report<O::Finding>, ReplayError> {
    let tree = if version < TREE_VERSION { Tree::linear(lines.size()) } else { Tree::read(&mut lines)? };
    let mut walk = Walk::new(lines, version >= TREE_VERSION);
    for &line in &tree.orphans {
        walk.warnings.add(line, "its parent is not in the file; what follows is read as a history of its own");
    }
    walk.all(&tree, observer)?;
    Ok(walk.report(&tree))
}

/// Where one path stands.
#[derive(Clone)]
struct State<O> {
    reader: SessionReader,
    observer: O,
    /// Events on the path so far.
    events: u64,
}

struct Walk<R, O: Observer> {
    lines: Lines<R>,
    /// Entries are counted only where the tree cuts between them.
    tree: bool,
    found: Vec<O::Finding>,
    /// With the stretch in which they were made.
    findings: Vec<(u32, Located<O::Finding>)>,
    warnings: Warnings,
    session_id: Option<String>,
    line_count: u64,
    events: u64,
    usage: Usage,
}

impl<R: Read + Seek, O: Observer> Walk<R, O> {
    fn new(lines: Lines<R>, tree: bool) -> Self {
        Self {
            lines,
            tree,
            found: Vec::new(),
            findings: Vec::new(),
            warnings: Warnings::default(),
            session_id: None,
            line_count: 0,
            events: 0,
            usage: Usage::default(),
        }
    }

    fn all(&mut self, tree: &Tree, observer: &O) -> Result<(), ReplayError> {
        let fresh = State { reader: SessionReader::default(), observer: observer.clone(), events: 0 };
        // Where the stretches begin whose start is known only when the one before has been read.
        let mut begin: Vec<Option<Place>> = tree.stretches.iter().map(|stretch| stretch.start).collect();
        let mut open = vec![(fresh, tree.roots.iter())];
        while let Some((state, children)) = open.last_mut() {
            let Some(&index) = children.next() else {
                open.pop();
                continue;
            };
            // The last child takes the state itself.
            let mut state = if children.as_slice().is_empty() {
                open.pop().expect("it was just looked at").0
            } else {
                state.clone()
            };
            let stretch = &tree.stretches[index as usize];
            let place = begin[index as usize].expect("a continued stretch is read before its continuation");
            self.stretch(index, stretch, place, &mut state)?;
            if stretch.children.is_empty() {
                state.observer.finish(&mut self.found);
                let (event_index, line) = (state.events.saturating_sub(1), self.lines.place().number.saturating_sub(1));
                self.findings.extend(self.found.drain(..).map(|finding| {
                    (index, Located { finding, event_index, line, entry_id: Some(stretch.last_id.clone()), branch: None })
                }));
            }
            if let Some(next) = begin.get_mut(index as usize + 1)
                && next.is_none()
            {
                *next = Some(self.lines.place());
            }
            open.push((state, stretch.children.iter()));
        }
        Ok(())
    }

    fn stretch(
        &mut self,
        index: u32,
        stretch: &Stretch,
        place: Place,
        state: &mut State<O>,
    ) -> Result<(), ReplayError> {
        self.lines.go_to(place)?;
        let mut entries = 0;
        loop {
            match stretch.end {
                Some(end) if self.lines.place().offset >= end => break,
                None if entries == stretch.entries => break,
                _ => {}
            }
            let Some(line) = self.lines.next()? else { break };
            self.line_count += 1;
            if line.too_long {
                self.warnings.add(line.place.number, "too long to be a line that Pi wrote; it is left out");
                continue;
            }
            if line.bytes.is_empty() {
                continue;
            }
            if self.tree && stretch.end.is_none() && matches!(link_of(line.bytes), Link::Entry { .. }) {
                entries += 1;
            }
            let (observer, found, findings) = (&mut state.observer, &mut self.found, &mut self.findings);
            let (events, all_events) = (&mut state.events, &mut self.events);
            let read = state.reader.read(line.bytes, |event, entry_id| {
                observer.observe(event, found);
                findings.extend(found.drain(..).map(|finding| {
                    let entry_id = (!entry_id.is_empty()).then(|| entry_id.to_owned());
                    let line = line.place.number;
                    (index, Located { finding, event_index: *events, line, entry_id, branch: None })
                }));
                *events += 1;
                *all_events += 1;
            });
            match read {
                Ok(read) => {
                    self.usage += read.usage;
                    if let Some(header) = read.header {
                        self.session_id = self.session_id.take().or(header.id);
                    }
                }
                Err(_) if !line.ended => {
                    self.warnings.add(
                        line.place.number,
                        "the last line is cut off: the session is still being written, or its process was killed",
                    );
                }
                Err(error) => self.warnings.add(line.place.number, error.to_string()),
            }
        }
        Ok(())
    }

    fn report(mut self, tree: &Tree) -> Report<O::Finding> {
        let branches = tree.branches();
        if branches > 1 {
            for (stretch, located) in &mut self.findings {
                let tip = tree.stretches[*stretch as usize].tip;
                located.branch = Some(tree.stretches[tip as usize].last_id.clone());
            }
        }
        let mut findings: Vec<_> = self.findings.into_iter().map(|(_, located)| located).collect();
        findings.sort_by_key(|located| located.line);
        self.warnings.listed.sort_by_key(|warning| warning.line);
        Report {
            kind: "session",
            session_id: self.session_id,
            lines: self.line_count,
            events: self.events,
            branches: branches as u32,
            findings,
            warnings: self.warnings,
            usage: self.usage,
        }
    }
}
