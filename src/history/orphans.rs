//! Sessions that nobody ended and whose process is gone, and processes of children whose main session is gone. Found,
//! told once, and closed when a person says so; nothing is ended here.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Row, Transaction, TransactionBehavior, params};
use serde::Serialize;

use super::owner::{Host, Judge, Life, Process};
use super::problem::Problem;
use super::read::{Session, session_of};
use super::{read, writer};
use crate::process::owned;

/// A listing is answered to a person.
const BUSY: Duration = Duration::from_secs(2);

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Orphan {
    #[serde(flatten)]
    pub session: Session,
    /// Process that ran it, or runs it still.
    pub pid: u32,
    /// When the process started, as the system tells it: a later one with its id has another start.
    pub start: String,
    /// The process is there, verified by its start time and its user; its main session is not.
    pub running: bool,
}

struct Run {
    session: Session,
    process: Process,
    life: Life,
    reported: bool,
}

/// All that are not closed, the newest first.
pub fn list(path: &Path, here: &Host) -> Result<Vec<Orphan>, Problem> {
    let connection = read::open(path)?;
    find(&connection, here)
        .map(|runs| runs.into_iter().map(orphan).collect())
        .map_err(|error| Problem::of(path, &error))
}

/// Those that no session was told of yet; they are told by that, in one process only.
pub fn claim(path: &Path, here: &Host) -> Result<Vec<Orphan>, Problem> {
    change(path, |transaction| {
        let fresh: Vec<Run> = find(transaction, here)?.into_iter().filter(|run| !run.reported).collect();
        // What still runs is told with the end of its main session, and alone it is no news.
        let gone: Vec<&str> =
            fresh.iter().filter(|run| run.life == Life::Gone).map(|run| run.session.root_id.as_str()).collect();
        let told = |run: &Run| run.life == Life::Gone || gone.contains(&run.session.root_id.as_str());
        for run in fresh.iter().filter(|run| told(run)) {
            let at = super::database::millis(writer::now());
            transaction
                .prepare_cached(
                    "UPDATE runs SET reported_at = ?4 WHERE session_id = ?1 AND pid = ?2 AND process_start = ?3",
                )?
                .execute(params![run.session.session_id, run.process.pid, run.process.start, at])?;
        }
        let told: Vec<bool> = fresh.iter().map(told).collect();
        Ok(fresh.into_iter().zip(told).filter(|(_, told)| *told).map(|(run, _)| orphan(run)).collect())
    })
}

/// Marks as ended what is gone: all of it, or one session. Returns how many.
pub fn close(path: &Path, here: &Host, only: Option<&str>) -> Result<usize, Problem> {
    change(path, |transaction| {
        let mut closed = 0;
        for run in find(transaction, here)? {
            let asked = only.is_none_or(|id| id == run.session.session_id);
            if run.life == Life::Gone && asked {
                end(transaction, &run, "orphaned")?;
                closed += 1;
            }
        }
        Ok(closed)
    })
}

fn change<T>(path: &Path, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, Problem> {
    // Says what is wrong with the file, if something is.
    drop(read::open(path)?);
    let run = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY)?;
        let transaction = Transaction::new_unchecked(&connection, TransactionBehavior::Immediate)?;
        let result = work(&transaction)?;
        transaction.commit()?;
        Ok(result)
    };
    run().map_err(|error| Problem::of(path, &error))
}

fn end(transaction: &Transaction<'_>, run: &Run, status: &str) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "UPDATE runs SET ended_at = last_at, status = ?4 WHERE session_id = ?1 AND pid = ?2 AND process_start = ?3",
        )?
        .execute(params![run.session.session_id, run.process.pid, run.process.start, status])?;
    transaction
        .prepare_cached(
            "UPDATE incidents SET over_at = last_at, outcome = 'ended' WHERE session_id = ?1 AND over_at IS NULL
               AND NOT EXISTS (SELECT 1 FROM runs WHERE session_id = ?1 AND ended_at IS NULL)",
        )?
        .execute(params![run.session.session_id])?;
    Ok(())
}

const OPEN_RUNS: &str = "
SELECT s.session_id, s.root_id, s.parent_id, s.name, s.agent_type, s.backend, coalesce(s.project, r.project) AS project,
  u.status, u.started_at, u.last_at, u.ended_at,
  (SELECT count(*) FROM incidents WHERE session_id = s.session_id) AS incidents,
  u.tool_calls, u.patches, u.input, u.output, u.cache_read, u.cache_write, u.usd,
  u.pid, u.process_start, u.host, u.boot, u.reported_at
FROM runs u JOIN sessions s USING (session_id) LEFT JOIN sessions r ON r.session_id = s.root_id
WHERE u.ended_at IS NULL ORDER BY u.last_at DESC, s.session_id";

fn find(connection: &Connection, here: &Host) -> rusqlite::Result<Vec<Run>> {
    let mut judge = Judge::new(here.clone());
    let mut open = connection
        .prepare_cached(OPEN_RUNS)?
        .query_map([], |row| run(row, &mut judge))?
        .collect::<rusqlite::Result<Vec<Run>>>()?;
    // Alive, or not to be judged from here.
    let alive: Vec<String> =
        open.iter().filter(|run| run.life != Life::Gone).map(|run| run.session.session_id.clone()).collect();
    open.retain(|run| match run.life {
        // A session that was resumed is not left over.
        Life::Gone => !alive.contains(&run.session.session_id),
        Life::Running => {
            run.process.pid != std::process::id()
                && owned(run.process.pid)
                && run.session.root_id != run.session.session_id
                && !alive.contains(&run.session.root_id)
        }
        Life::Elsewhere => false,
    });
    Ok(open)
}

fn run(row: &Row<'_>, judge: &mut Judge) -> rusqlite::Result<Run> {
    let process = Process { pid: row.get("pid")?, start: read::text(row, "process_start")? };
    let host = Host { name: read::text(row, "host")?, boot: read::text(row, "boot")? };
    let life = judge.life(&process, &host);
    let reported = row.get::<_, Option<i64>>("reported_at")?.is_some();
    Ok(Run { session: session_of(row)?, process, life, reported })
}

fn orphan(run: Run) -> Orphan {
    let Process { pid, start } = run.process;
    Orphan { session: run.session, pid, start, running: run.life == Life::Running }
}
