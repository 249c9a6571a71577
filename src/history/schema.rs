//! The tables, and how older ones become the present ones. `user_version` says which they are; a database of a version
//! above ours is left alone.

use rusqlite::Connection;

/// Step `n` makes version `n + 1` out of version `n`. What was released is never changed, only added to.
const MIGRATIONS: [&str; 2] = [V1, V2];

/// What is known of a session lies in `sessions`; a `run` is a session in one process, with what it used there; of an
/// incident there is a row each time it begins.
const V1: &str = "
CREATE TABLE sessions (
  session_id TEXT PRIMARY KEY,
  root_id TEXT NOT NULL,
  parent_id TEXT,
  name TEXT,
  kind TEXT,
  agent_type TEXT,
  backend TEXT
) WITHOUT ROWID;
CREATE INDEX sessions_by_root ON sessions (root_id);

CREATE TABLE runs (
  session_id TEXT NOT NULL,
  pid INTEGER NOT NULL,
  process_start TEXT NOT NULL,
  host TEXT NOT NULL,
  boot TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  ended_at INTEGER,
  status TEXT NOT NULL,
  tool_calls REAL NOT NULL DEFAULT 0,
  patches REAL NOT NULL DEFAULT 0,
  input REAL NOT NULL DEFAULT 0,
  output REAL NOT NULL DEFAULT 0,
  cache_read REAL NOT NULL DEFAULT 0,
  cache_write REAL NOT NULL DEFAULT 0,
  usd REAL NOT NULL DEFAULT 0,
  reported_at INTEGER,
  PRIMARY KEY (session_id, pid, process_start)
) WITHOUT ROWID;
CREATE INDEX runs_open ON runs (last_at) WHERE ended_at IS NULL;

CREATE TABLE incidents (
  session_id TEXT NOT NULL,
  incident TEXT NOT NULL,
  number INTEGER NOT NULL,
  rule TEXT NOT NULL,
  severity TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  notices INTEGER NOT NULL,
  over_at INTEGER,
  outcome TEXT,
  rounds INTEGER NOT NULL,
  tokens REAL NOT NULL,
  usd REAL NOT NULL,
  wall_ms REAL NOT NULL,
  evidence_key TEXT NOT NULL,
  summary TEXT,
  last_command TEXT,
  PRIMARY KEY (session_id, incident, number)
) WITHOUT ROWID;
CREATE INDEX incidents_by_time ON incidents (last_at);
";

/// Where a session worked.
const V2: &str = "ALTER TABLE sessions ADD COLUMN project TEXT;";

#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // a handful
pub const VERSION: i32 = MIGRATIONS.len() as i32;

pub fn version(connection: &Connection) -> rusqlite::Result<i32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Brings the tables up to date. Returns the version that was found; nothing is touched when it is above [`VERSION`].
pub fn migrate(connection: &mut Connection) -> rusqlite::Result<i32> {
    let found = version(connection)?;
    if found >= VERSION {
        return Ok(found);
    }
    // Another process may do the same at this moment: only one has the lock, and the version is asked again under it.
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    for (step, version) in MIGRATIONS.iter().zip(1..) {
        if version > found {
            transaction.execute_batch(step)?;
            transaction.pragma_update(None, "user_version", version)?;
        }
    }
    transaction.commit()?;
    Ok(found)
}

/// The tables as an older version of this package left them.
#[cfg(test)]
pub fn create_version(connection: &Connection, version: i32) -> rusqlite::Result<()> {
    for (step, number) in MIGRATIONS.iter().zip(1..=version) {
        connection.execute_batch(step)?;
        connection.pragma_update(None, "user_version", number)?;
    }
    Ok(())
}
