//! Opening the database for writing: the folder, the file, its tables, and what to do with a file that is none.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::problem::{Kind, Problem};
use super::schema;

/// How long a writer waits for another one.
pub const BUSY: Duration = Duration::from_secs(5);
/// A file up to this size is looked through as it is opened (bytes); that takes a few milliseconds for each MB.
const LOOKED_THROUGH: u64 = 64 << 20;
/// Damaged files that are set aside at most; nobody has so many.
const ASIDE: u32 = 1000;

/// For the columns: whole milliseconds.
#[allow(clippy::cast_possible_truncation)] // saturates; what is no number is 0
pub fn millis(at: f64) -> i64 {
    at as i64
}

/// A database to write, and what there is to say about how it was opened.
#[derive(Debug)]
pub struct Opened {
    pub connection: Connection,
    pub warning: Option<String>,
}

/// Opens the database, makes it where there is none, and sets a damaged one aside.
pub fn open(path: &Path, busy: Duration) -> Result<Opened, Problem> {
    match attempt(path, busy) {
        Err(problem) if problem.kind == Kind::Corrupt => {
            let aside = set_aside(path, busy)?;
            let connection = attempt(path, busy)?;
            let warning = aside.map(|aside| {
                format!(
                    "The history {} was damaged ({}). It was set aside as {}, and a new one was begun; the old one can be deleted, or read with sqlite3's .recover.",
                    path.display(),
                    problem.detail,
                    aside.display()
                )
            });
            Ok(Opened { connection, warning })
        }
        other => other.map(|connection| Opened { connection, warning: None }),
    }
}

fn attempt(path: &Path, busy: Duration) -> Result<Connection, Problem> {
    let unreachable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::ReadOnlyFilesystem => Problem::new(Kind::ReadOnly, path, error.to_string()),
        std::io::ErrorKind::StorageFull => Problem::new(Kind::Full, path, error.to_string()),
        _ => Problem::new(Kind::Unreachable, path, error.to_string()),
    };
    if let Some(folder) = path.parent() {
        make_folder(folder).map_err(unreachable)?;
    }
    make_private(path).map_err(unreachable)?;
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(Problem::new(Kind::Unreachable, path, "it is no file"));
    }
    let problem = |error: rusqlite::Error| Problem::of(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(problem)?;
    patience::set(&mut connection, busy).map_err(problem)?;
    // Before anything is written: what a newer version made is not to be touched.
    let found = schema::version(&connection).map_err(|error| match problem(error) {
        // The file is there; what cannot be made are the files beside it.
        unreachable if unreachable.kind == Kind::Unreachable => Problem { kind: Kind::ReadOnly, ..unreachable },
        other => other,
    })?;
    if found > schema::VERSION {
        let detail = format!("schema {found}, this version knows {}", schema::VERSION);
        return Err(Problem::new(Kind::Newer, path, detail));
    }
    // Opens a file without write permission without a word; the first write would tell.
    if connection.is_readonly(rusqlite::MAIN_DB).map_err(problem)? {
        return Err(Problem::new(Kind::ReadOnly, path, "no permission"));
    }
    let small = fs::metadata(path).is_ok_and(|found| found.len() <= LOOKED_THROUGH);
    if found > 0 && small {
        let verdict: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(problem)?;
        if verdict != "ok" {
            return Err(Problem::new(Kind::Corrupt, path, verdict));
        }
    }
    prepare(&connection, found == 0).map_err(problem)?;
    schema::migrate(&mut connection).map_err(problem)?;
    Ok(connection)
}

fn prepare(connection: &Connection, new: bool) -> rusqlite::Result<()> {
    if new {
        // Only before the first table.
        connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL")?;
    }
    // Where the file system cannot do it, SQLite stays with its old journal, which serves as well, slower.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    // A process may be killed at any moment and loses nothing by it; only a machine without power may lose the last batches.
    connection.execute_batch("PRAGMA synchronous = NORMAL")
}

/// The folder of the database; one that is made here is its owner's alone.
pub fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Commands may be in it: for its owner alone. `SQLite` gives the files beside it the same permissions. A link is followed
/// where it leads to a file, as people who keep their settings elsewhere have one. Where it leads to nothing, `SQLite` would
/// make the file with anybody's permissions, so it is made here.
fn make_private(path: &Path) -> std::io::Result<()> {
    let end = link_end(path)?;
    let path = end.as_deref().unwrap_or(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Where a link leads, through further ones; nothing for what is no link.
fn link_end(path: &Path) -> std::io::Result<Option<PathBuf>> {
    let mut at: Option<PathBuf> = None;
    for _ in 0..40 {
        let here = at.as_deref().unwrap_or(path);
        match fs::read_link(here) {
            Ok(next) => at = Some(here.parent().map_or(next.clone(), |folder| folder.join(&next))),
            Err(_) => return Ok(at),
        }
    }
    Err(std::io::Error::other("its link leads in a circle"))
}

/// How long a writer waits for another one that has the database, and less when its process is about to end.
pub mod patience {
    use std::cell::RefCell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use rusqlite::Connection;

    const STEP: Duration = Duration::from_millis(10);
    /// Steps that are waited when the process ends.
    const ENDING: u128 = 30;

    struct Patience {
        steps: u128,
        ending: Option<Arc<AtomicBool>>,
    }

    thread_local! {
        static PATIENCE: RefCell<Patience> = const { RefCell::new(Patience { steps: 0, ending: None }) };
    }

    /// Set on the writer's thread: `ending` says that the process is about to end.
    pub fn until(ending: &Arc<AtomicBool>) {
        PATIENCE.with_borrow_mut(|patience| patience.ending = Some(Arc::clone(ending)));
    }

    pub fn set(connection: &mut Connection, busy: Duration) -> rusqlite::Result<()> {
        PATIENCE.with_borrow_mut(|patience| patience.steps = busy.as_millis() / STEP.as_millis());
        connection.busy_handler(Some(wait))
    }

    fn wait(count: i32) -> bool {
        let most = PATIENCE.with_borrow(|patience| {
            let ending = patience.ending.as_ref().is_some_and(|ending| ending.load(Ordering::Relaxed));
            if ending { patience.steps.min(ENDING) } else { patience.steps }
        });
        if u128::from(count.unsigned_abs()) >= most {
            return false;
        }
        std::thread::sleep(STEP);
        true
    }
}

/// Moves a damaged database away, unless another process just did. Returns where it is now.
fn set_aside(path: &Path, busy: Duration) -> Result<Option<PathBuf>, Problem> {
    let failed = |error: std::io::Error| {
        Problem::new(Kind::Unreachable, path, format!("it is damaged and cannot be set aside: {error}"))
    };
    // Two processes may find the damage at once; the second must not move the first one's new file. Where a folder cannot
    // be locked, the second look is what is left.
    let folder = path.parent().and_then(|folder| File::open(folder).ok());
    let _lock = folder.filter(|folder| folder.lock().is_ok());
    match attempt(path, busy) {
        Ok(_) => return Ok(None),
        Err(problem) if problem.kind != Kind::Corrupt => return Err(problem),
        Err(_) => {}
    }
    let with = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let aside = (1..ASIDE).map(|number| with(&format!(".corrupt-{number}"))).find(|aside| !aside.exists());
    let aside = aside.ok_or_else(|| failed(std::io::Error::other("too many are set aside already")))?;
    fs::rename(path, &aside).map_err(failed)?;
    for end in ["-wal", "-shm"] {
        let mut beside = aside.as_os_str().to_owned();
        beside.push(end);
        // The journal belongs to the damaged file, and would be taken for the new one's.
        let _ = fs::rename(with(end), PathBuf::from(beside));
    }
    Ok(Some(aside))
}
