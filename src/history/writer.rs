//! The background writer: takes what the store tells, and writes it in batches. Nobody waits for it but who asks to
//! (`flush`, `close`), and then for a bounded time.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::{Condvar, Mutex};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::apply::{Row, apply};
use super::change::{Change, Known, Told, sum};
use super::database;
use super::owner::{Host, Process};
use super::problem::{Kind, Problem};
use super::retention::{Cleaning, Limits};
use super::spool;
use crate::store::{Memory, Notice, Target, Totals, Used};

/// From the first change to its batch.
const BATCH: Duration = Duration::from_millis(100);
/// Changes on their way to the writer; beyond them they are counted as lost.
const QUEUE: usize = 4096;
/// Rows kept while the database cannot be written.
const PENDING: usize = 20_000;
/// Sessions whose totals are remembered after they ended, in case they come back.
const REMEMBERED: usize = 4096;
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(30);
const CLEANED_EVERY: Duration = Duration::from_hours(6);
/// Between two steps of a cleaning; changes that come in meanwhile are written first.
const BETWEEN_STEPS: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Opening,
    Open,
    /// Cannot be written now; what was not written is kept and tried again.
    Waiting,
    /// Cannot be written at all.
    Off,
    Closed,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Open => "open",
            Self::Waiting => "waiting",
            Self::Off => "off",
            Self::Closed => "closed",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Status {
    pub state: State,
    pub path: PathBuf,
    /// What a user should know, each said once.
    pub warnings: Vec<String>,
    /// Changes that were not kept.
    pub lost: u64,
}

#[derive(Debug)]
struct Control {
    state: State,
    warnings: Vec<String>,
    /// Flushes that were asked for, and those that are done.
    wanted: u64,
    done: u64,
    /// Whether the latest flush wrote all there was.
    written: bool,
    closing: bool,
    finished: bool,
}

#[derive(Debug)]
struct Shared {
    control: Mutex<Control>,
    settled: Condvar,
    /// Totals changed since the writer last looked.
    dirty: AtomicBool,
    /// The process is about to end: nobody waits long any more.
    ending: Arc<AtomicBool>,
    lost: AtomicU64,
}

/// The store's memory; clones are the same writer.
#[derive(Debug, Clone)]
pub struct Writer {
    sender: SyncSender<Change>,
    shared: Arc<Shared>,
    path: PathBuf,
}

impl Writer {
    /// Starts the thread, which opens the database.
    pub fn start(path: &Path, limits: Limits, host: Host) -> std::io::Result<Self> {
        Self::start_with(path, limits, host, database::BUSY)
    }

    pub(super) fn start_with(path: &Path, limits: Limits, host: Host, busy: Duration) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(QUEUE);
        let shared = Arc::new(Shared {
            control: Mutex::new(Control {
                state: State::Opening,
                warnings: Vec::new(),
                wanted: 0,
                done: 0,
                written: true,
                closing: false,
                finished: false,
            }),
            settled: Condvar::new(),
            dirty: AtomicBool::new(false),
            ending: Arc::default(),
            lost: AtomicU64::new(0),
        });
        let mut thread = Thread {
            path: path.to_owned(),
            limits,
            host,
            busy,
            this: None,
            shared: Arc::clone(&shared),
            connection: None,
            file: None,
            anew: false,
            live: HashMap::new(),
            pending: Vec::new(),
            said: HashSet::new(),
            retry: FIRST_RETRY,
            cleaned: None,
            cleaning: None,
        };
        std::thread::Builder::new().name("watchdog-history".to_owned()).spawn(move || {
            // A fault here costs the history only.
            let run = std::panic::AssertUnwindSafe(|| thread.run(&receiver));
            let fault = std::panic::catch_unwind(run).is_err();
            // Who waits for the end finds the files as they stay.
            thread.connection = None;
            let mut control = thread.shared.control.lock();
            if fault {
                control.warnings.push(
                    "The history failed by a fault of its own and is off until Pi starts again; please report this."
                        .to_owned(),
                );
            }
            if control.state != State::Off {
                control.state = if fault { State::Off } else { State::Closed };
            }
            control.finished = true;
            control.done = control.wanted;
            drop(control);
            thread.shared.settled.notify_all();
        })?;
        Ok(Self { sender, shared, path: path.to_owned() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is the same writer.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    pub fn status(&self) -> Status {
        let control = self.shared.control.lock();
        Status {
            state: control.state,
            path: self.path.clone(),
            warnings: control.warnings.clone(),
            lost: self.shared.lost.load(Ordering::Relaxed),
        }
    }

    pub fn close_tree(&self, root: &str, at: f64) {
        self.send(Change::TreeClosed { root: root.into(), at });
    }

    /// Waits until all that was told so far is written; false when it is not.
    pub fn flush(&self, most: Duration) -> bool {
        self.settle(most, false)
    }

    /// As [`Self::flush`], and ends the writer.
    pub fn close(&self, most: Duration) -> bool {
        self.settle(most, true)
    }

    /// Somebody closed it, and has waited as long as was good.
    pub fn closing(&self) -> bool {
        self.shared.control.lock().closing
    }

    fn settle(&self, most: Duration, close: bool) -> bool {
        let mut control = self.shared.control.lock();
        if control.finished {
            return control.written && control.state != State::Off;
        }
        control.wanted += 1;
        control.closing |= close;
        if close {
            self.shared.ending.store(true, Ordering::Relaxed);
        }
        let wanted = control.wanted;
        drop(control);
        if close {
            // Whoever else waits would hold up the end of the process.
            self.shared.settled.notify_all();
        }
        // Wakes it; when there is no room it is awake.
        let _ = self.sender.try_send(Change::Used);
        let end = Instant::now() + most;
        let mut control = self.shared.control.lock();
        while if close { !control.finished } else { control.done < wanted } {
            if control.closing && !close {
                return false;
            }
            if self.shared.settled.wait_until(&mut control, end).timed_out() {
                return false;
            }
        }
        control.written && control.state != State::Off
    }

    fn send(&self, change: Change) {
        if let Err(TrySendError::Full(_)) = self.sender.try_send(change) {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Memory for Writer {
    fn opened(&self, target: &Target, totals: &Arc<Totals>, again: bool) {
        self.send(Change::Opened { known: Box::new(Known::new(target)), totals: Arc::clone(totals), again });
    }

    fn changed(&self, target: &Target) {
        self.send(Change::Changed(Box::new(Known::new(target))));
    }

    fn ended(&self, target: &Target) {
        let at = target.ended_at.unwrap_or(target.last_active_at);
        self.send(Change::Ended { known: Box::new(Known::new(target)), at });
    }

    fn told(&self, target: &Target, notice: &Notice, at: f64) {
        self.send(Change::Told(Box::new(Told::new(target, notice, at))));
    }

    fn answered(&self, target: &Target, at: f64) {
        self.send(Change::Answered { session: target.id.as_str().into(), at });
    }

    fn used(&self) {
        if !self.shared.dirty.swap(true, Ordering::AcqRel) {
            // When there is no room, the writer is awake, and looks at all totals with every batch.
            let _ = self.sender.try_send(Change::Used);
        }
    }
}

/// A session that this process has a hand in.
struct Live {
    known: Box<Known>,
    owner: Process,
    totals: Arc<Totals>,
    /// What the run used before its target was opened.
    before: Used,
    written: Option<Used>,
    ended: bool,
}

struct Thread {
    path: PathBuf,
    limits: Limits,
    host: Host,
    busy: Duration,
    this: Option<Process>,
    shared: Arc<Shared>,
    connection: Option<Connection>,
    /// Which file is open: somebody may have put another one in its place.
    file: Option<(u64, u64)>,
    /// What runs is to be told again: the file that knew it is gone.
    anew: bool,
    live: HashMap<String, Live>,
    pending: Vec<Row>,
    said: HashSet<Kind>,
    retry: Duration,
    cleaned: Option<Instant>,
    cleaning: Option<Cleaning>,
}

impl Thread {
    fn run(&mut self, receiver: &Receiver<Change>) {
        database::patience::until(&self.shared.ending);
        let mut failed = self.write().err();
        loop {
            let ended = match &failed {
                Some(problem) if !problem.passes() => return self.give_up(),
                Some(_) if self.flushing() => false,
                // New changes come in meanwhile, and do not shorten the wait.
                Some(_) => self.gather(receiver, self.retry),
                None => match self.next(receiver) {
                    Err(RecvTimeoutError::Timeout) => {
                        self.clean();
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => true,
                    Ok(change) => {
                        self.take(change);
                        self.gather(receiver, BATCH)
                    }
                },
            };
            let (wanted, closing) = {
                let control = self.shared.control.lock();
                (control.wanted, control.closing || ended)
            };
            while let Ok(change) = receiver.try_recv() {
                self.take(change);
            }
            failed = self.write().err();
            let mut control = self.shared.control.lock();
            control.written = failed.is_none();
            control.done = wanted;
            drop(control);
            self.shared.settled.notify_all();
            if closing {
                self.keep();
                return;
            }
        }
    }

    /// The next change; while there is something to clean, only for as long as others may want the lock.
    fn next(&self, receiver: &Receiver<Change>) -> Result<Change, RecvTimeoutError> {
        if self.cleaning.is_some() {
            return receiver.recv_timeout(BETWEEN_STEPS);
        }
        receiver.recv().map_err(|_| RecvTimeoutError::Disconnected)
    }

    fn flushing(&self) -> bool {
        let control = self.shared.control.lock();
        control.closing || control.wanted > control.done
    }

    /// Takes what comes for so long, less when somebody waits. Returns whether nothing can come any more.
    fn gather(&mut self, receiver: &Receiver<Change>, most: Duration) -> bool {
        let end = Instant::now() + most;
        while !self.flushing() {
            match receiver.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(change) => self.take(change),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return true,
            }
        }
        false
    }

    /// What a change means for the rows to write. No database here.
    fn take(&mut self, change: Change) {
        match change {
            Change::Used => {}
            Change::Opened { known, totals, again } => {
                let owner = self.owner(known.process.as_ref());
                let before = match self.live.get(&known.id) {
                    Some(live) if live.owner != owner => Used::default(),
                    Some(live) if again => live.before,
                    Some(live) => sum(&live.before, &live.totals.get()),
                    None => Used::default(),
                };
                self.forget_ended();
                let row = Row::Opened { known: known.clone(), owner: owner.clone() };
                let live = Live { known, owner, totals, before, written: None, ended: false };
                self.live.insert(live.known.id.clone(), live);
                self.push(row);
            }
            Change::Changed(known) => {
                if let Some(owner) = self.refresh(&known) {
                    self.push(Row::Changed { known, owner });
                }
            }
            Change::Ended { known, at } => {
                let Some(owner) = self.refresh(&known) else { return };
                let live = self.live.get_mut(&known.id);
                let used = live.map(|live| {
                    live.ended = true;
                    sum(&live.before, &live.totals.get())
                });
                if let Some(used) = used {
                    self.push(Row::Used { session: known.id.as_str().into(), owner: owner.clone(), used });
                }
                self.push(Row::Ended { known, owner, at });
            }
            Change::Told(told) => self.push(Row::Told(told)),
            Change::Answered { session, at } => self.push(Row::Answered { session, at }),
            Change::TreeClosed { root, at } => {
                let owner = self.owner(None);
                self.push(Row::TreeClosed { root, owner, at });
            }
        }
    }

    /// What is known anew of a session, and the process that runs it. Nothing when its beginning was lost.
    fn refresh(&mut self, known: &Known) -> Option<Process> {
        let before = &self.live.get(&known.id)?.known.process;
        let owner = if *before == known.process { None } else { Some(self.owner(known.process.as_ref())) };
        let live = self.live.get_mut(&known.id)?;
        live.known.as_mut().clone_from(known);
        let Some(to) = owner.filter(|owner| *owner != live.owner) else { return Some(live.owner.clone()) };
        let from = std::mem::replace(&mut live.owner, to.clone());
        self.push(Row::Moved { session: known.id.as_str().into(), from, to: to.clone() });
        Some(to)
    }

    fn owner(&mut self, process: Option<&Process>) -> Process {
        match process.filter(|process| process.pid != std::process::id()) {
            Some(process) => process.clone(),
            None => self.this.get_or_insert_with(Process::this).clone(),
        }
    }

    fn forget_ended(&mut self) {
        if self.live.len() >= REMEMBERED {
            self.live.retain(|_, live| !live.ended);
        }
    }

    fn push(&mut self, row: Row) {
        if self.pending.len() < PENDING {
            self.pending.push(row);
        } else {
            self.lose(1);
        }
    }

    #[allow(clippy::cast_possible_truncation)] // counts
    fn lose(&self, rows: usize) {
        self.shared.lost.fetch_add(rows as u64, Ordering::Relaxed);
    }

    /// One batch. What is not written stays.
    fn write(&mut self) -> Result<(), Problem> {
        let result = match self.attempt() {
            // A damaged file is set aside as it is opened again.
            Err(problem) if problem.kind == Kind::Corrupt => {
                self.connection = None;
                self.anew = true;
                self.attempt()
            }
            other => other,
        };
        match &result {
            Ok(()) => {
                self.retry = FIRST_RETRY;
                self.clean();
            }
            Err(problem) => {
                self.retry = (self.retry * 2).min(LAST_RETRY);
                self.warn(problem.kind, problem.to_string());
            }
        }
        if self.shared.lost.load(Ordering::Relaxed) > 0 && self.said.insert(Kind::Other) {
            let text = format!(
                "The history {} lost some changes: they came faster than they could be written.",
                self.path.display()
            );
            self.shared.control.lock().warnings.push(text);
        }
        self.shared.control.lock().state = if result.is_ok() { State::Open } else { State::Waiting };
        result
    }

    fn warn(&mut self, kind: Kind, text: String) {
        if self.said.insert(kind) {
            self.shared.control.lock().warnings.push(text);
        }
    }

    fn attempt(&mut self) -> Result<(), Problem> {
        self.shared.dirty.swap(false, Ordering::AcqRel);
        // Asked while it is open: the number of a file that is gone may be another one's next.
        if self.connection.is_some() && self.file != file_at(&self.path) {
            self.connection = None;
            self.anew = true;
        }
        if self.connection.is_none() {
            let opened = database::open(&self.path, self.busy)?;
            if let Some(warning) = opened.warning {
                self.warn(Kind::Corrupt, warning);
            }
            // Another file than before knows nothing of what runs.
            if std::mem::take(&mut self.anew) {
                let runs = self.live.values_mut().filter(|live| !live.ended).map(|live| {
                    live.written = None;
                    Row::Opened { known: live.known.clone(), owner: live.owner.clone() }
                });
                let runs: Vec<Row> = runs.collect();
                self.pending.splice(0..0, runs);
            }
            self.file = file_at(&self.path);
            self.take_in(&opened.connection).map_err(|error| Problem::of(&self.path, &error))?;
            self.connection = Some(opened.connection);
        }
        let Some(connection) = &self.connection else { return Ok(()) };
        let mut used: Vec<(&mut Live, Used)> = Vec::new();
        for live in self.live.values_mut() {
            let now = sum(&live.before, &live.totals.get());
            if live.written != Some(now) {
                used.push((live, now));
            }
        }
        if self.pending.is_empty() && used.is_empty() {
            return Ok(());
        }
        let problem = |error: rusqlite::Error| Problem::of(&self.path, &error);
        let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate).map_err(problem)?;
        for row in &self.pending {
            apply(&transaction, row, &self.host).map_err(problem)?;
        }
        for (live, now) in &used {
            let row = Row::Used { session: live.known.id.as_str().into(), owner: live.owner.clone(), used: *now };
            apply(&transaction, &row, &self.host).map_err(problem)?;
        }
        transaction.commit().map_err(problem)?;
        for (live, now) in used {
            live.written = Some(now);
        }
        self.pending.clear();
        Ok(())
    }

    /// Old history goes when there is time, a step at a time; that it cannot go now is no reason to say anything.
    fn clean(&mut self) {
        if self.flushing() {
            return;
        }
        let Some(connection) = &self.connection else {
            self.cleaning = None;
            return;
        };
        let due = self.cleaned.is_none_or(|cleaned| cleaned.elapsed() >= CLEANED_EVERY);
        if self.cleaning.is_none() && due {
            self.cleaned = Some(Instant::now());
            self.cleaning = Cleaning::begin(connection, self.limits, now()).ok();
        } else if let Some(cleaning) = &mut self.cleaning
            && !cleaning.step(connection).unwrap_or(false)
        {
            self.cleaning = None;
        }
    }

    /// The process ends: what could not be written waits beside the database for the next writer.
    fn keep(&mut self) {
        let mut rows = std::mem::take(&mut self.pending);
        for live in self.live.values() {
            let used = sum(&live.before, &live.totals.get());
            if live.written != Some(used) {
                rows.push(Row::Used { session: live.known.id.as_str().into(), owner: live.owner.clone(), used });
            }
        }
        if rows.is_empty() {
            return;
        }
        let kept = spool::put(&self.path, &rows, &self.host).unwrap_or(0);
        self.lose(rows.len() - kept);
    }

    /// What processes before this one could not write.
    fn take_in(&self, connection: &Connection) -> rusqlite::Result<()> {
        for file in spool::waiting(&self.path) {
            let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
            // Under the lock: another process may have taken it in.
            if !file.exists() {
                continue;
            }
            spool::take(&transaction, &file)?;
            transaction.commit()?;
            let _ = std::fs::remove_file(&file);
        }
        Ok(())
    }

    fn give_up(&mut self) {
        self.connection = None;
        self.pending.clear();
        self.shared.control.lock().state = State::Off;
    }
}

pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1000.0)
}

#[cfg(unix)]
fn file_at(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Where a file that is open cannot be moved, it is always the same one.
#[cfg(not(unix))]
fn file_at(path: &Path) -> Option<(u64, u64)> {
    path.exists().then_some((0, 0))
}
