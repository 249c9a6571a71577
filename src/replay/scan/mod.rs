//! All session files below a folder, replayed and summed up.
//!
//! ```text
//! folder ─► one file after the other ─┬─► worker: replay ─┬─► summary
//!                                     └─► worker: replay ─┘
//! ```
//!
//! Small files are replayed by one thread each, as many at a time as there are cores; a large one by all cores, and only
//! one at a time. Nothing is kept of a file but what it adds to the sums, so memory depends neither on the number of
//! files nor on their size; and sums do not depend on the order in which the files are done.

mod folder;
mod summary;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::UNIX_EPOCH;

use parking_lot::Mutex;

pub use folder::ScanError;
pub use summary::{Row, Session, Summary, Total};

use super::{Cancel, Cores, ReplayError, Scope, replay, stop};
use crate::detector::Detector;
use folder::Folder;

/// From here on a file is worth all cores.
const LARGE: u64 = 8 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Milliseconds. What was before does not count, and files that were last written before are not opened.
    pub from: f64,
    /// Sessions listed as the costliest ones.
    pub costliest: usize,
}

/// How far a scan is. Read by one thread while others count.
#[derive(Debug, Default)]
pub struct Progress {
    pub files: AtomicU64,
    pub bytes: AtomicU64,
    pub total_bytes: AtomicU64,
}

/// Scans the folder. `on_file` is called after each file, from several threads.
pub fn scan(
    folder: &Path,
    detector: &Detector,
    options: Options,
    progress: &Progress,
    cancel: &Cancel,
    on_file: &(impl Fn() + Sync),
) -> Result<Summary, ScanError> {
    let folder = Folder::open(folder)?;
    let going_on = || !cancel.is_cancelled();
    let total = folder.files().take_while(|_| going_on()).filter_map(|file| Some(file.ok()?.size)).sum();
    progress.total_bytes.store(total, Ordering::Relaxed);
    let summary = Mutex::new(Summary::new(options.costliest));
    let files = Mutex::new(folder.files());
    let large = Mutex::new(());
    let next = || if going_on() { files.lock().next() } else { None };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            // Each has a copy: the detector is not shared between threads.
            let detector = detector.clone();
            let (summary, large, next) = (&summary, &large, &next);
            scope.spawn(move || {
                while let Some(file) = next() {
                    match file {
                        Err(warning) => summary.lock().lost(warning.path, warning.message),
                        Ok(file) => {
                            one(&file, &detector, (options.from, cancel), progress, large, summary);
                            progress.files.fetch_add(1, Ordering::Relaxed);
                            on_file();
                        }
                    }
                }
            });
        }
    });
    if cancel.is_cancelled() {
        return Err(ScanError::Cancelled);
    }
    let mut summary = summary.into_inner();
    summary.files = progress.files.load(Ordering::Relaxed);
    summary.bytes = progress.bytes.load(Ordering::Relaxed);
    Ok(summary)
}

fn one(
    file: &folder::SessionFile,
    detector: &Detector,
    (from, cancel): (f64, &Cancel),
    progress: &Progress,
    large: &Mutex<()>,
    summary: &Mutex<Summary>,
) {
    // Pi only appends, so nothing in a file is younger than its last change.
    if file.changed.is_some_and(|at| at.duration_since(UNIX_EPOCH).is_ok_and(|at| at.as_secs_f64() * 1000.0 < from)) {
        progress.bytes.fetch_add(file.size, Ordering::Relaxed);
        return summary.lock().older();
    }
    let big = (file.size >= LARGE).then(|| large.lock());
    let cores = if big.is_some() { Cores::All } else { Cores::One };
    let read = || {
        let source = Counted { source: stop::open(&file.path)?.0, bytes: &progress.bytes, most: file.size, done: 0 };
        replay(source, file.size, detector, Scope { from, own: true, cores, cancel })
    };
    let report = catch_unwind(AssertUnwindSafe(read));
    drop(big);
    let mut summary = summary.lock();
    match report {
        Ok(Ok(report)) => summary.add(&file.path, report),
        Ok(Err(ReplayError::Empty)) => summary.empty(),
        // The whole scan ends, without a summary.
        Ok(Err(ReplayError::Cancelled)) => {}
        Ok(Err(error)) => summary.lost(file.path.clone(), error.to_string()),
        Err(_) => summary.lost(file.path.clone(), "reading it failed inside; please report the file".to_owned()),
    }
}

/// Counts what is read, a file that is read twice once.
struct Counted<'a> {
    source: File,
    bytes: &'a AtomicU64,
    most: u64,
    done: u64,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        let new = (read as u64).min(self.most - self.done);
        self.done += new;
        self.bytes.fetch_add(new, Ordering::Relaxed);
        Ok(read)
    }
}

impl Seek for Counted<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.source.seek(to)
    }
}

impl Drop for Counted<'_> {
    /// What was not read (a file that is no session) is done all the same.
    fn drop(&mut self) {
        self.bytes.fetch_add(self.most - self.done, Ordering::Relaxed);
    }
}
