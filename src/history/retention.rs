//! What the database does not keep: sessions that ended long ago, and the oldest ones when it grows beyond its size.
//! A tree that still runs, or that nobody said the end of, stays until its time is over as well.
//!
//! Done in steps, each of them short, so that no writer waits long for the lock: what may go is listed once, oldest
//! first, and dropped a few trees at a time.

use std::collections::VecDeque;

use rusqlite::{Connection, params};

use super::database::millis;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub max_days: u32,
    pub max_mb: u32,
}

const DAY: f64 = 86_400_000.0;
/// Trees dropped in one transaction.
const TREES: usize = 16;
/// Pages given back in one step.
const PAGES: u32 = 256;

/// Main sessions by when something was last heard of them, the longest silent ones first. Those that still run here are
/// not silent: their processes write.
const SILENT: &str = "
SELECT s.root_id, max(r.last_at) AS last, max(r.ended_at IS NULL)
FROM runs r JOIN sessions s USING (session_id)
GROUP BY s.root_id
ORDER BY last";

/// The same of one tree, as it is now.
const SILENT_NOW: &str = "
SELECT max(r.last_at), max(r.ended_at IS NULL)
FROM sessions s JOIN runs r USING (session_id) WHERE s.root_id = ?1";

/// A cleaning that is under way.
#[derive(Debug)]
pub struct Cleaning {
    /// Trees that may go, with when they were last heard of; oldest first.
    trees: VecDeque<(String, i64)>,
    /// Who was silent since then is too old.
    oldest: i64,
    /// Bytes.
    most: i64,
    /// The file is too large, and is brought well below its size.
    shrinks: bool,
    dropped: bool,
    /// Statements that were run: what a test counts.
    #[cfg(test)]
    pub steps: usize,
}

impl Cleaning {
    pub fn begin(connection: &Connection, limits: Limits, now: f64) -> rusqlite::Result<Self> {
        let oldest = millis(now - f64::from(limits.max_days) * DAY);
        let most = i64::from(limits.max_mb) * 1024 * 1024;
        let shrinks = used(connection)? > most;
        let mut statement = connection.prepare_cached(SILENT)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, bool>(2)?)))?;
        let mut trees = VecDeque::new();
        for row in rows {
            let (root, last, runs): (String, i64, bool) = row?;
            if last < oldest || shrinks && !runs {
                trees.push_back((root, last));
            }
        }
        Ok(Self {
            trees,
            oldest,
            most,
            shrinks,
            dropped: false,
            #[cfg(test)]
            steps: 0,
        })
    }

    /// One short step. False when there is nothing left to do.
    pub fn step(&mut self, connection: &Connection) -> rusqlite::Result<bool> {
        #[cfg(test)]
        {
            self.steps += 1;
        }
        // Well below its size, or the next cleaning would find it too large again.
        let goes = |(_, last): &(String, i64), shrinks: bool| *last < self.oldest || shrinks;
        let shrinks = self.shrinks && used(connection)? > self.most / 10 * 9;
        let count = self.trees.iter().take(TREES).take_while(|tree| goes(tree, shrinks)).count();
        if count == 0 {
            self.trees.clear();
            return if self.dropped { give_back(connection) } else { Ok(false) };
        }
        let trees: Vec<String> = self.trees.drain(..count).map(|(root, _)| root).collect();
        self.dropped |= drop_trees(connection, &trees, self.oldest, self.shrinks)?;
        Ok(true)
    }
}

fn drop_trees(connection: &Connection, roots: &[String], oldest: i64, shrinks: bool) -> rusqlite::Result<bool> {
    let transaction = rusqlite::Transaction::new_unchecked(connection, rusqlite::TransactionBehavior::Immediate)?;
    let mut dropped = false;
    for root in roots {
        // It may have been taken up again since it was listed.
        let (last, runs): (Option<i64>, Option<bool>) =
            transaction.prepare_cached(SILENT_NOW)?.query_row([root], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if last.is_some_and(|last| last >= oldest && !(shrinks && runs == Some(false))) {
            continue;
        }
        for table in ["incidents", "runs"] {
            let sessions = "SELECT session_id FROM sessions WHERE root_id = ?1";
            transaction
                .prepare_cached(&format!("DELETE FROM {table} WHERE session_id IN ({sessions})"))?
                .execute([root])?;
        }
        transaction.prepare_cached("DELETE FROM sessions WHERE root_id = ?1")?.execute(params![root])?;
        dropped = true;
    }
    transaction.commit()?;
    Ok(dropped)
}

/// Gives some free pages back to the file system. False when there are none.
fn give_back(connection: &Connection) -> rusqlite::Result<bool> {
    if pragma(connection, "freelist_count")? == 0 {
        return Ok(false);
    }
    // Each row is one page.
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
    let mut rows = statement.query([])?;
    let mut some = false;
    while rows.next()?.is_some() {
        some = true;
    }
    // Files that were made without it keep their pages.
    Ok(some)
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
}

/// Bytes in use: pages that are free are no load.
fn used(connection: &Connection) -> rusqlite::Result<i64> {
    Ok((pragma(connection, "page_count")? - pragma(connection, "freelist_count")?) * pragma(connection, "page_size")?)
}
