//! What a change does to the tables. Each statement touches rows of one session only (the end of a tree: runs of one
//! process only), so that processes that write at the same time cannot undo each other's work.

use rusqlite::{Connection, params};

use super::change::{Known, Told};
use super::database::millis;
use super::owner::{Host, Process};
use crate::detect::Severity;
use crate::store::Used;

/// What is written, with all that it needs.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub enum Row {
    Opened {
        known: Box<Known>,
        owner: Process,
    },
    Changed {
        known: Box<Known>,
        owner: Process,
    },
    /// The process turned out to be another one.
    Moved {
        session: Box<str>,
        from: Process,
        to: Process,
    },
    Ended {
        known: Box<Known>,
        owner: Process,
        at: f64,
    },
    Used {
        session: Box<str>,
        owner: Process,
        used: Used,
    },
    Told(Box<Told>),
    Answered {
        session: Box<str>,
        at: f64,
    },
    TreeClosed {
        root: Box<str>,
        owner: Process,
        at: f64,
    },
}

pub fn apply(connection: &Connection, row: &Row, host: &Host) -> rusqlite::Result<()> {
    match row {
        Row::Opened { known, owner } => {
            session(connection, known)?;
            // A child process says itself when its incidents are over.
            if known.process.is_none() {
                end_incidents(connection, &known.id, known.last_active_at, "ended")?;
            }
            run(connection, known, owner, host)
        }
        Row::Changed { known, owner } => {
            session(connection, known)?;
            run_goes_on(connection, known, owner)
        }
        Row::Moved { session, from, to } => {
            // The process itself may have written its row already, and knows better.
            connection
                .prepare_cached(
                    "UPDATE OR IGNORE runs SET pid = ?4, process_start = ?5
                     WHERE session_id = ?1 AND pid = ?2 AND process_start = ?3",
                )?
                .execute(params![session, from.pid, from.start, to.pid, to.start])?;
            connection
                .prepare_cached("DELETE FROM runs WHERE session_id = ?1 AND pid = ?2 AND process_start = ?3")?
                .execute(params![session, from.pid, from.start])?;
            Ok(())
        }
        Row::Ended { known, owner, at } => {
            session(connection, known)?;
            connection
                .prepare_cached(
                    "UPDATE runs SET status = ?4, ended_at = ?5, last_at = max(last_at, ?5)
                     WHERE session_id = ?1 AND pid = ?2 AND process_start = ?3",
                )?
                .execute(params![known.id, owner.pid, owner.start, known.status, millis(*at)])?;
            end_incidents(connection, &known.id, *at, "ended")
        }
        Row::Used { session, owner, used } => usage(connection, session, owner, used),
        Row::Told(told) if told.over => {
            connection
                .prepare_cached(
                    "UPDATE incidents SET over_at = ?3, outcome = 'over'
                     WHERE session_id = ?1 AND incident = ?2 AND over_at IS NULL",
                )?
                .execute(params![told.session, told.incident, millis(told.at)])?;
            Ok(())
        }
        Row::Told(told) => tell(connection, told),
        Row::Answered { session, at } => end_incidents(connection, session, *at, "answered"),
        Row::TreeClosed { root, owner, at } => {
            connection
                .prepare_cached(
                    "UPDATE runs SET status = 'stopped', ended_at = ?4
                     WHERE ended_at IS NULL AND pid = ?2 AND process_start = ?3
                       AND session_id IN (SELECT session_id FROM sessions WHERE root_id = ?1)",
                )?
                .execute(params![root, owner.pid, owner.start, millis(*at)])?;
            Ok(())
        }
    }
}

fn session(connection: &Connection, known: &Known) -> rusqlite::Result<()> {
    // What is known stays where it is not known any more, or may not be kept any more.
    connection
        .prepare_cached(
            "INSERT INTO sessions (session_id, root_id, parent_id, name, kind, agent_type, backend, project)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (session_id) DO UPDATE SET
               root_id = CASE WHEN excluded.root_id = excluded.session_id THEN root_id ELSE excluded.root_id END,
               parent_id = coalesce(excluded.parent_id, parent_id),
               name = coalesce(excluded.name, name),
               kind = coalesce(excluded.kind, kind),
               agent_type = coalesce(excluded.agent_type, agent_type),
               backend = coalesce(excluded.backend, backend),
               project = coalesce(excluded.project, project)",
        )?
        .execute(params![
            known.id,
            known.root,
            known.parent,
            known.name,
            known.kind,
            known.agent_type,
            known.backend,
            known.project
        ])?;
    Ok(())
}

fn run(connection: &Connection, known: &Known, owner: &Process, host: &Host) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO runs (session_id, pid, process_start, host, boot, started_at, last_at, status)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (session_id, pid, process_start) DO UPDATE SET
               status = excluded.status, last_at = max(last_at, excluded.last_at), ended_at = NULL, reported_at = NULL",
        )?
        .execute(params![
            known.id,
            owner.pid,
            owner.start,
            host.name,
            host.boot,
            millis(known.started_at),
            millis(known.last_active_at),
            known.status
        ])?;
    Ok(())
}

/// The end of a run that was told stands, unless the process that runs it says otherwise: a main session that is gone
/// says of its children that they ended, and one may go on alone.
fn run_goes_on(connection: &Connection, known: &Known, owner: &Process) -> rusqlite::Result<()> {
    let knows_better = known.process.is_none() && !known.ended;
    connection
        .prepare_cached(
            "UPDATE runs SET status = ?4, last_at = max(last_at, ?5), ended_at = CASE WHEN ?6 THEN NULL ELSE ended_at END
             WHERE session_id = ?1 AND pid = ?2 AND process_start = ?3 AND (?6 OR ended_at IS NULL)",
        )?
        .execute(params![known.id, owner.pid, owner.start, known.status, millis(known.last_active_at), knows_better])?;
    Ok(())
}

/// A child process and its parent may both say what it used; it never gets less.
fn usage(connection: &Connection, session: &str, owner: &Process, used: &Used) -> rusqlite::Result<()> {
    let Used { usage, tool_calls, patches, last_active_at } = used;
    connection
        .prepare_cached(
            "UPDATE runs SET tool_calls = max(tool_calls, ?4), patches = max(patches, ?5), input = max(input, ?6),
               output = max(output, ?7), cache_read = max(cache_read, ?8), cache_write = max(cache_write, ?9),
               usd = max(usd, ?10), last_at = max(last_at, ?11)
             WHERE session_id = ?1 AND pid = ?2 AND process_start = ?3",
        )?
        .execute(params![
            session,
            owner.pid,
            owner.start,
            tool_calls,
            patches,
            usage.input,
            usage.output,
            usage.cache_read,
            usage.cache_write,
            usage.cost_usd,
            millis(*last_active_at)
        ])?;
    Ok(())
}

fn end_incidents(connection: &Connection, session: &str, at: f64, outcome: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE incidents SET over_at = max(last_at, ?2), outcome = ?3 WHERE session_id = ?1 AND over_at IS NULL",
        )?
        .execute(params![session, millis(at), outcome])?;
    Ok(())
}

/// One more notice of an incident that goes on, else the first of one that begins.
fn tell(connection: &Connection, told: &Told) -> rusqlite::Result<()> {
    let rank = |severity: Severity| severity as i64;
    let Told { session, incident, rule, severity, cost, evidence_key, summary, last_command, .. } = told;
    let at = millis(told.at);
    let known: Option<(i64, String, i64)> = connection
        .prepare_cached(
            "SELECT number, severity, last_at FROM incidents WHERE session_id = ?1 AND incident = ?2 AND over_at IS NULL
             ORDER BY number DESC LIMIT 1",
        )?
        .query_map(params![session, incident], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .next()
        .transpose()?;
    let Some((number, worst, _)) = known else {
        connection
            .prepare_cached(
                "INSERT INTO incidents (session_id, incident, number, rule, severity, first_at, last_at, notices, rounds,
                   tokens, usd, wall_ms, evidence_key, summary, last_command)
                 VALUES (?1, ?2, (SELECT coalesce(max(number), 0) + 1 FROM incidents WHERE session_id = ?1 AND incident = ?2),
                   ?3, ?4, ?5, ?5, 1, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?
            .execute(params![
                session,
                incident,
                rule.as_ref(),
                severity.name(),
                at,
                cost.rounds,
                cost.tokens,
                cost.usd,
                cost.wall_ms,
                evidence_key,
                summary,
                last_command
            ])?;
        return Ok(());
    };
    let worst = [Severity::Info, Severity::Warning, Severity::Critical]
        .into_iter()
        .find(|known| known.name() == worst)
        .filter(|known| rank(*known) > rank(*severity))
        .unwrap_or(*severity);
    connection
        .prepare_cached(
            "UPDATE incidents SET rule = ?4, severity = ?5, last_at = ?6, notices = notices + 1, rounds = ?7, tokens = ?8,
               usd = ?9, wall_ms = ?10, evidence_key = ?11, summary = ?12, last_command = ?13
             WHERE session_id = ?1 AND incident = ?2 AND number = ?3",
        )?
        .execute(params![
            session,
            incident,
            number,
            rule.as_ref(),
            worst.name(),
            at,
            cost.rounds,
            cost.tokens,
            cost.usd,
            cost.wall_ms,
            evidence_key,
            summary,
            last_command
        ])?;
    Ok(())
}
