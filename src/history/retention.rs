//! What the database does not keep: sessions that ended long ago, and the oldest ones when it grows beyond its size.
//! A tree that still runs, or that nobody said the end of, stays until its time is over as well.

use rusqlite::{Connection, params};

use super::database::millis;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub max_days: u32,
    pub max_mb: u32,
}

const DAY: f64 = 86_400_000.0;

/// Main sessions of which nothing was heard since `?1`, the longest silent ones first. Those that still run here are not
/// silent: their processes write.
const SILENT: &str = "
SELECT s.root_id, max(r.last_at) AS last FROM runs r JOIN sessions s USING (session_id)
GROUP BY s.root_id
HAVING last < ?1 AND (max(r.ended_at IS NULL) = 0 OR last < ?2)
ORDER BY last LIMIT ?3";

/// Drops what is too old or too much. Returns the number of trees dropped.
pub fn clean(connection: &Connection, limits: Limits, now: f64) -> rusqlite::Result<usize> {
    let oldest = millis(now - f64::from(limits.max_days) * DAY);
    let mut dropped = 0;
    loop {
        let some = drop_trees(connection, oldest, oldest, 200)?;
        dropped += some;
        if some == 0 {
            break;
        }
    }
    let most = i64::from(limits.max_mb) * 1024 * 1024;
    if used(connection)? > most {
        // Well below, or the next hour would find it too large again.
        while used(connection)? > most / 10 * 9 {
            let some = drop_trees(connection, i64::MAX, oldest, 50)?;
            dropped += some;
            if some == 0 {
                break;
            }
        }
    }
    if dropped > 0 {
        // Each step gives one page back.
        let mut statement = connection.prepare("PRAGMA incremental_vacuum")?;
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
    }
    Ok(dropped)
}

fn drop_trees(connection: &Connection, before: i64, unended_before: i64, most: i64) -> rusqlite::Result<usize> {
    let transaction = rusqlite::Transaction::new_unchecked(connection, rusqlite::TransactionBehavior::Immediate)?;
    let roots: Vec<String> = transaction
        .prepare_cached(SILENT)?
        .query_map(params![before, unended_before, most], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for root in &roots {
        for table in ["incidents", "runs"] {
            transaction.execute(
                &format!(
                    "DELETE FROM {table} WHERE session_id IN (SELECT session_id FROM sessions WHERE root_id = ?1)"
                ),
                [root],
            )?;
        }
        transaction.execute("DELETE FROM sessions WHERE root_id = ?1", [root])?;
    }
    transaction.commit()?;
    Ok(roots.len())
}

/// Bytes in use: pages that are free are no load.
fn used(connection: &Connection) -> rusqlite::Result<i64> {
    let pragma = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
    Ok((pragma("page_count")? - pragma("freelist_count")?) * pragma("page_size")?)
}
