//! The lines of a session file in the order in which its paths are walked, read on all cores.
//!
//! ```text
//! one thread: file ─► batches of lines ─┬─► worker: parse, read texts ─┬─► caller, in the order of the file's paths
//!                                       └─► worker: parse, read texts ─┘
//! ```
//!
//! Batches go round the workers in turn and come back in the same turn, so nothing has to be sorted. Every queue holds
//! one batch: what is in memory does not depend on the file. Where other files keep the cores busy, one thread does all.

use std::io::{self, Read, Seek};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

use super::lines::{Line, Lines, Place};
use super::tree::{Chain, Tree};
use super::{Cancel, Cores, Observer, ReplayError};
use crate::trace::{EntryRead, Event, Link, Outline, link_of, read_entry};

/// Bytes of a batch: enough work that handing it over costs nothing against it.
const BATCH: usize = 256 * 1024;
/// More do not help: handing out lines and walking the paths is one thread's work each.
const MOST_WORKERS: usize = 8;

/// One line, read.
pub struct Entry {
    pub stretch: u32,
    /// Line of the file.
    pub number: u64,
    pub read: Result<EntryRead, String>,
    /// How many events it holds.
    events: usize,
}

/// Lines, read, and the events of all of them: one allocation for many lines.
struct Entries<G> {
    entries: Vec<Entry>,
    events: Events<G>,
}

type Events<G> = Vec<(Outline, G)>;

impl<G> Entries<G> {
    /// False when the replay was cancelled on the way.
    fn each(self, cancel: &Cancel, take: &mut impl FnMut(Entry, &mut dyn Iterator<Item = (Outline, G)>)) -> bool {
        let mut events = self.events.into_iter();
        for entry in self.entries {
            if cancel.is_cancelled() {
                return false;
            }
            let own = entry.events;
            take(entry, &mut events.by_ref().take(own));
        }
        true
    }
}

/// Which lines are read, and in which order.
#[derive(Clone, Copy)]
pub enum Plan<'a> {
    /// From the first to the last, as one path.
    Straight,
    /// The same, until one of them turns out to begin a branch.
    StraightWhileTrue,
    /// Stretch by stretch in the order of [`Tree::order`].
    Along(&'a Tree),
}

/// Hands every line of the plan to `take`. False when the plan did not hold.
pub fn run<R, O>(
    lines: &mut Lines<'_, R>,
    plan: Plan<'_>,
    cores: Cores,
    mut take: impl FnMut(Entry, &mut dyn Iterator<Item = (Outline, O::Gist)>),
) -> Result<bool, ReplayError>
where
    R: Read + Seek + Send,
    O: Observer,
{
    if cores == Cores::One {
        let mut events = Vec::new();
        let line = |stretch, line: &Line<'_>| {
            let entry = RawLine::of(stretch, line, 0).entry::<O>(line.bytes, &mut events);
            take(entry, &mut events.drain(..));
            Ok(())
        };
        return Reader { lines, line }.run(plan);
    }
    let cancel = lines.cancel();
    let workers = thread::available_parallelism().map_or(1, usize::from).min(MOST_WORKERS);
    thread::scope(|scope| {
        let mut queues = Vec::with_capacity(workers);
        let mut results = Vec::with_capacity(workers);
        let (used, spare) = channel();
        for _ in 0..workers {
            let (queue, batches) = sync_channel::<Batch>(1);
            let (done, result) = sync_channel(1);
            queues.push(queue);
            results.push(result);
            let used = used.clone();
            scope.spawn(move || {
                for batch in batches {
                    if cancel.is_cancelled() {
                        return;
                    }
                    if done.send(batch.read::<O>()).is_err() {
                        return;
                    }
                    // Once the file has been handed out nobody wants it back.
                    let _ = used.send(batch);
                }
            });
        }
        let reading = scope.spawn(move || {
            let mut batches = Batches { queues: &queues, next: 0, spare: &spare, batch: Batch::default() };
            let held = Reader { lines, line: |stretch, line: &Line<'_>| batches.push(stretch, line) }.run(plan)?;
            // Whether the last batch is heard or not, the file was read.
            let _ = batches.send();
            Ok::<_, ReplayError>(held)
        });
        for result in results.iter().cycle() {
            // No answer from the one whose turn it is: there was no batch for it, so there is none for anyone.
            let Ok(entries) = result.recv() else { break };
            if !entries.each(cancel, &mut take) {
                break;
            }
        }
        // Whoever still waits to be heard (a worker died, or the replay was cancelled) must not wait for ever.
        drop(results);
        let held = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        // The reader may have been done before.
        cancel.check()?;
        Ok(held)
    })
}

/// Reads the lines of a plan in its order.
struct Reader<'a, 'c, R, L> {
    lines: &'a mut Lines<'c, R>,
    /// Takes a line and the stretch that it is part of.
    line: L,
}

/// Nobody listens any more, or reading has failed or was cancelled.
enum Stop {
    Unheard,
    Failed(ReplayError),
}

impl From<ReplayError> for Stop {
    fn from(error: ReplayError) -> Self {
        Self::Failed(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl<R: Read + Seek, L: FnMut(u32, &Line<'_>) -> Result<(), Stop>> Reader<'_, '_, R, L> {
    fn run(mut self, plan: Plan<'_>) -> Result<bool, ReplayError> {
        let read = match plan {
            Plan::Straight => self.straight(None),
            Plan::StraightWhileTrue => self.straight(Some(Chain::default())),
            Plan::Along(tree) => self.along(tree).map(|()| true),
        };
        match read {
            Ok(held) => Ok(held),
            Err(Stop::Unheard) => Ok(true),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    fn straight(&mut self, mut chain: Option<Chain>) -> Result<bool, Stop> {
        while let Some(line) = self.lines.next()? {
            if chain.as_mut().is_some_and(|chain| !chain.goes_on(line.bytes)) {
                return Ok(false);
            }
            (self.line)(0, &line)?;
        }
        Ok(true)
    }

    fn along(&mut self, tree: &Tree) -> Result<(), Stop> {
        // Where stretches begin whose start is known only when the one before them in the file has been read.
        let mut begin: Vec<Option<Place>> = tree.stretches.iter().map(|stretch| stretch.start).collect();
        for index in tree.order() {
            let stretch = &tree.stretches[index as usize];
            self.lines.go_to(begin[index as usize].expect("a continued stretch is read before its continuation"))?;
            let mut entries = 0;
            loop {
                match stretch.end {
                    Some(end) if self.lines.place().offset >= end => break,
                    None if entries == stretch.entries => break,
                    _ => {}
                }
                let Some(line) = self.lines.next()? else { break };
                if stretch.end.is_none() && matches!(link_of(line.bytes), Link::Entry { .. }) {
                    entries += 1;
                }
                (self.line)(index, &line)?;
            }
            if let Some(next @ None) = begin.get_mut(index as usize + 1) {
                *next = Some(self.lines.place());
            }
        }
        Ok(())
    }
}

/// Gathers lines into batches and hands them out.
struct Batches<'a> {
    queues: &'a [SyncSender<Batch>],
    next: usize,
    spare: &'a Receiver<Batch>,
    batch: Batch,
}

impl Batches<'_> {
    fn push(&mut self, stretch: u32, line: &Line<'_>) -> Result<(), Stop> {
        self.batch.push(stretch, line);
        if self.batch.bytes.len() < BATCH { Ok(()) } else { self.send() }
    }

    fn send(&mut self) -> Result<(), Stop> {
        let mut spare = self.spare.try_recv().unwrap_or_default();
        spare.clear();
        let batch = std::mem::replace(&mut self.batch, spare);
        let queue = &self.queues[self.next];
        self.next = (self.next + 1) % self.queues.len();
        queue.send(batch).map_err(|_| Stop::Unheard)
    }
}

#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    lines: Vec<RawLine>,
}

struct RawLine {
    stretch: u32,
    number: u64,
    /// Where it ends in `bytes`; it begins where the one before ends.
    end: usize,
    ended: bool,
    too_long: bool,
}

impl Batch {
    fn clear(&mut self) {
        self.bytes.clear();
        self.lines.clear();
    }

    fn push(&mut self, stretch: u32, line: &Line<'_>) {
        self.bytes.extend_from_slice(line.bytes);
        self.lines.push(RawLine::of(stretch, line, self.bytes.len()));
    }

    fn read<O: Observer>(&self) -> Entries<O::Gist> {
        let mut begin = 0;
        let mut entries = Vec::with_capacity(self.lines.len());
        let mut events = Vec::with_capacity(self.lines.len() * 2);
        for line in &self.lines {
            entries.push(line.entry::<O>(&self.bytes[begin..line.end], &mut events));
            begin = line.end;
        }
        Entries { entries, events }
    }
}

impl RawLine {
    fn of(stretch: u32, line: &Line<'_>, end: usize) -> Self {
        Self { stretch, number: line.place.number, end, ended: line.ended, too_long: line.too_long }
    }

    /// Appends the line's events.
    fn entry<O: Observer>(&self, bytes: &[u8], events: &mut Events<O::Gist>) -> Entry {
        let before = events.len();
        let read = self.read(bytes, |event| events.push((Outline::of(event), O::gist(event))));
        if read.is_err() {
            events.truncate(before);
        }
        Entry { stretch: self.stretch, number: self.number, read, events: events.len() - before }
    }

    fn read(&self, bytes: &[u8], sink: impl FnMut(&Event<'_>)) -> Result<EntryRead, String> {
        if self.too_long {
            return Err("too long to be a line that Pi wrote; it is left out".to_owned());
        }
        if bytes.is_empty() {
            return Ok(EntryRead::default());
        }
        read_entry(bytes, sink).map_err(|error| {
            if self.ended {
                error.to_string()
            } else {
                "the last line is cut off: the session is still being written, or its process was killed".to_owned()
            }
        })
    }
}
