//! Questions about the history. Opens the database for reading only, also while others write it.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row, named_params};
use serde::{Deserialize, Serialize};

use super::database::{self, millis};
use super::problem::{Kind, Problem};
use super::schema;

/// What is asked for; a field that is not set leaves everything in.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Filter {
    /// Milliseconds: what was told last before that is left out.
    pub since: Option<f64>,
    /// Beginning of a session id: the session and, if it is a main one, its tree.
    pub session: Option<String>,
    /// An evidence type, or an intervention's kind with or without `intervention:`.
    pub rule: Option<String>,
    /// This one and graver ones.
    pub severity: Option<String>,
    /// Folder: sessions in it and below it.
    pub project: Option<String>,
    /// Only incidents that are not over.
    pub open: bool,
    pub limit: Option<u32>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    rounds: i64,
    tokens: f64,
    usd: f64,
    wall_ms: f64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Incident {
    pub session_id: String,
    root_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    pub incident: String,
    number: i64,
    pub rule: String,
    pub severity: String,
    first_at: i64,
    last_at: i64,
    pub notices: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    over_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    cost: Cost,
    evidence_key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_command: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
    pub usd: f64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    pub session_id: String,
    pub root_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub status: String,
    pub started_at: i64,
    pub last_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
    pub incidents: i64,
    pub tool_calls: f64,
    pub patches: f64,
    pub usage: Usage,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Newest first.
    pub incidents: Vec<Incident>,
    /// All that fit, also those beyond the limit.
    pub incident_count: i64,
    /// Newest first; those that fit `since`, `session` and `project`.
    pub sessions: Vec<Session>,
    pub session_count: i64,
}

const LIMIT: u32 = 50;

/// Sessions that fit. `:session` is a beginning; the tree of a main session goes with it.
const SESSIONS_THAT_FIT: &str = "
  (:session IS NULL OR substr(s.session_id, 1, length(:session)) = :session
    OR substr(s.root_id, 1, length(:session)) = :session)
  AND (:project IS NULL OR coalesce(s.project, r.project) = :project
    OR substr(coalesce(s.project, r.project), 1, length(:project) + 1) IN (:project || '/', :project || '\\'))";

const INCIDENTS_THAT_FIT: &str = "
  FROM incidents i JOIN sessions s USING (session_id) LEFT JOIN sessions r ON r.session_id = s.root_id
  WHERE (:since IS NULL OR i.last_at >= :since)
    AND (:rule IS NULL OR i.rule = :rule OR i.rule = 'intervention:' || :rule)
    AND (:severity IS NULL OR i.severity IN (SELECT value FROM json_each(:severity)))
    AND (NOT :open OR i.over_at IS NULL
      AND EXISTS (SELECT 1 FROM runs u WHERE u.session_id = i.session_id AND u.ended_at IS NULL)) AND";

pub fn read(path: &Path, filter: &Filter) -> Result<Report, Problem> {
    let connection = open(path)?;
    answer(&connection, filter).map_err(|error| Problem::of(path, &error))
}

/// For reading only; never makes a file.
pub fn open(path: &Path) -> Result<Connection, Problem> {
    if !path.exists() {
        return Err(Problem::new(Kind::Unreachable, path, "there is no such file"));
    }
    let problem = |error: rusqlite::Error| Problem::of(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let attempt = |connection: Connection| -> rusqlite::Result<(Connection, i32)> {
        connection.busy_timeout(database::BUSY)?;
        let version = schema::version(&connection)?;
        Ok((connection, version))
    };
    let found = Connection::open_with_flags(path, flags).and_then(attempt);
    let (connection, version) = match found {
        // In a folder that cannot be written the files beside it cannot be made. Without a journal there is nothing in
        // them, and nobody who writes.
        Err(error)
            if matches!(Problem::of(path, &error).kind, Kind::Unreachable | Kind::ReadOnly) && !journal(path) =>
        {
            let uri = format!("file:{}?immutable=1", escaped(path));
            Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI).and_then(attempt).map_err(problem)?
        }
        other => other.map_err(problem)?,
    };
    match version {
        schema::VERSION => Ok(connection),
        newer if newer > schema::VERSION => {
            Err(Problem::new(Kind::Newer, path, format!("schema {newer}, this version knows {}", schema::VERSION)))
        }
        0 => Err(Problem::new(Kind::Other, path, "there is no history in it yet")),
        older => Err(Problem::new(Kind::Other, path, format!("schema {older}; start Pi once to bring it up to date"))),
    }
}

fn journal(path: &Path) -> bool {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    std::fs::metadata(wal).is_ok_and(|found| found.len() > 0)
}

/// A path within a URI.
fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}

fn answer(connection: &Connection, filter: &Filter) -> rusqlite::Result<Report> {
    let since = filter.since.map(millis);
    let project = filter.project.as_deref().map(|project| project.trim_end_matches(['/', '\\']));
    let severities = filter.severity.as_deref().map(|lowest| match lowest {
        "critical" => "[\"critical\"]",
        "warning" => "[\"warning\",\"critical\"]",
        _ => "[\"info\",\"warning\",\"critical\"]",
    });
    let (session, rule) = (filter.session.as_deref(), filter.rule.as_deref());
    let limit = filter.limit.unwrap_or(LIMIT);
    // One moment for all questions.
    let connection = connection.unchecked_transaction()?;
    let incident_count =
        connection.prepare(&format!("SELECT count(*) {INCIDENTS_THAT_FIT} {SESSIONS_THAT_FIT}"))?.query_row(
            named_params! {
                ":since": since, ":rule": rule, ":severity": severities, ":open": filter.open, ":session": session,
                ":project": project,
            },
            |row| row.get(0),
        )?;
    let incidents = connection
        .prepare(&format!(
            "SELECT i.*, s.root_id, s.name, s.agent_type, coalesce(s.project, r.project) AS project,
               (SELECT CASE WHEN max(ended_at IS NULL) THEN NULL ELSE max(ended_at) END
                FROM runs WHERE session_id = i.session_id) AS session_ended {INCIDENTS_THAT_FIT}
             {SESSIONS_THAT_FIT} ORDER BY i.last_at DESC, i.session_id, i.incident, i.number DESC LIMIT :limit"
        ))?
        .query_map(
            named_params! {
                ":since": since, ":rule": rule, ":severity": severities, ":open": filter.open, ":session": session,
                ":project": project, ":limit": limit,
            },
            incident,
        )?
        .collect::<Result<_, _>>()?;
    let of_sessions = format!(
        "FROM sessions s LEFT JOIN sessions r ON r.session_id = s.root_id JOIN runs u ON u.session_id = s.session_id
         WHERE {SESSIONS_THAT_FIT} GROUP BY s.session_id HAVING :since IS NULL OR max(u.last_at) >= :since"
    );
    let fit = named_params! { ":since": since, ":session": session, ":project": project };
    let session_count = connection
        .prepare(&format!("SELECT count(*) FROM (SELECT 1 {of_sessions})"))?
        .query_row(fit, |row| row.get(0))?;
    let sessions = connection
        .prepare(&format!(
            "SELECT s.session_id, s.root_id, s.parent_id, s.name, s.agent_type, s.backend,
               coalesce(s.project, r.project) AS project,
               (SELECT status FROM runs WHERE session_id = s.session_id ORDER BY last_at DESC LIMIT 1) AS status,
               min(u.started_at) AS started_at, max(u.last_at) AS last_at,
               CASE WHEN max(u.ended_at IS NULL) THEN NULL ELSE max(u.ended_at) END AS ended_at,
               (SELECT count(*) FROM incidents WHERE session_id = s.session_id) AS incidents,
               sum(u.tool_calls) AS tool_calls, sum(u.patches) AS patches, sum(u.input) AS input,
               sum(u.output) AS output, sum(u.cache_read) AS cache_read, sum(u.cache_write) AS cache_write,
               sum(u.usd) AS usd
             {of_sessions} ORDER BY last_at DESC, s.session_id LIMIT :limit"
        ))?
        .query_map(
            named_params! { ":since": since, ":session": session, ":project": project, ":limit": limit },
            session_of,
        )?
        .collect::<Result<_, _>>()?;
    Ok(Report { incidents, incident_count, sessions, session_count })
}

fn incident(row: &Row<'_>) -> rusqlite::Result<Incident> {
    // What a session was in as it ended does not go on, also where nobody said that it is over.
    let over_at: Option<i64> = row.get("over_at")?;
    let session_ended: Option<i64> = row.get("session_ended")?;
    let ended = over_at.is_none() && session_ended.is_some();
    Ok(Incident {
        session_id: text(row, "session_id")?,
        root_id: text(row, "root_id")?,
        name: optional_text(row, "name")?,
        agent_type: optional_text(row, "agent_type")?,
        project: optional_text(row, "project")?,
        incident: text(row, "incident")?,
        number: row.get("number")?,
        rule: text(row, "rule")?,
        severity: text(row, "severity")?,
        first_at: row.get("first_at")?,
        last_at: row.get("last_at")?,
        notices: row.get("notices")?,
        over_at: over_at.or(session_ended),
        outcome: if ended { Some("ended".to_owned()) } else { optional_text(row, "outcome")? },
        cost: Cost {
            rounds: row.get("rounds")?,
            tokens: row.get("tokens")?,
            usd: row.get("usd")?,
            wall_ms: row.get("wall_ms")?,
        },
        evidence_key: text(row, "evidence_key")?,
        summary: optional_text(row, "summary")?,
        last_command: optional_text(row, "last_command")?,
    })
}

/// A text as far as it is one: a damaged byte must not hide the rest of the history.
pub(super) fn optional_text(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<String>> {
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(match row.get_ref(column)? {
        ValueRef::Null => None,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(lossy(bytes)),
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
    })
}

pub(super) fn text(row: &Row<'_>, column: &str) -> rusqlite::Result<String> {
    Ok(optional_text(row, column)?.unwrap_or_default())
}

pub(super) fn session_of(row: &Row<'_>) -> rusqlite::Result<Session> {
    Ok(Session {
        session_id: text(row, "session_id")?,
        root_id: text(row, "root_id")?,
        parent_id: optional_text(row, "parent_id")?,
        name: optional_text(row, "name")?,
        agent_type: optional_text(row, "agent_type")?,
        backend: optional_text(row, "backend")?,
        project: optional_text(row, "project")?,
        status: text(row, "status")?,
        started_at: row.get("started_at")?,
        last_at: row.get("last_at")?,
        ended_at: row.get("ended_at")?,
        incidents: row.get("incidents")?,
        tool_calls: row.get("tool_calls")?,
        patches: row.get("patches")?,
        usage: Usage {
            input: row.get("input")?,
            output: row.get("output")?,
            cache_read: row.get("cache_read")?,
            cache_write: row.get("cache_write")?,
            usd: row.get("usd")?,
        },
    })
}
