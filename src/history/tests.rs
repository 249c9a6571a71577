//! The history as a whole, on files in a folder of their own. What needs several processes is in `__test__`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rusqlite::Connection;

use super::orphans;
use super::owner::Host;
use super::problem::Kind;
use super::read::{Filter, Report, read};
use super::retention::{Cleaning, Limits};
use super::{State, Writer, database, schema};
use crate::policy::Config;
use crate::store::{Handle, Info, Memory, Store};
use crate::trace::{EventKind, Usage};

const LIMITS: Limits = Limits { max_days: 90, max_mb: 64 };
/// Bounds a failing test only.
const LONG: Duration = Duration::from_mins(1);

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("watchdog-history-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("deep").join("state.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn here() -> Host {
    Host::here("box")
}

fn writing(path: &Path) -> (Store, Writer) {
    let writer = Writer::start_with(path, LIMITS, here(), Duration::from_millis(200)).unwrap();
    let memory: Arc<dyn Memory> = Arc::new(writer.clone());
    let mut store = Store::default();
    store.remember_in(Some(&memory));
    (store, writer)
}

fn opened(store: &mut Store, id: &str) -> Handle {
    let info = Info { name: Some("fix it".into()), project: Some("/p/one".into()), ..Info::default() };
    store.open(id, 1000.0, info, Arc::new(Config::default()))
}

/// The same call and answer again, `rounds` times.
fn repeat(store: &mut Store, handle: Handle, from: u32, rounds: u32) {
    for turn in from..from + rounds {
        let at = f64::from(turn) * 1000.0;
        store.observe(
            handle,
            at,
            &EventKind::ToolCall { turn, call_id: "c", tool: "bash", args: r#"{"command":"ls secret"}"# },
        );
        let output = "the same";
        let files = &[];
        let (is_error, blocked_by) = (false, None);
        store.observe(
            handle,
            at,
            &EventKind::ToolResult { turn, call_id: "c", tool: "bash", output, is_error, files, blocked_by },
        );
    }
}

fn spend(store: &mut Store, handle: Handle, usd: f64) {
    store.get_mut(handle).unwrap().add_usage(Usage { input: 10.0, cost_usd: usd, ..Usage::default() });
}

fn all(path: &Path) -> Report {
    read(path, &Filter::default()).unwrap()
}

#[test]
fn an_incident_is_kept_with_its_notices_its_end_and_what_the_session_used() {
    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    let handle = opened(&mut store, "s");
    repeat(&mut store, handle, 1, 3);
    spend(&mut store, handle, 0.5);
    assert!(store.take_notice(handle, 3000.0).is_some());
    assert!(writer.flush(LONG));
    let report = all(&path);
    let [incident] = report.incidents.as_slice() else { panic!("{report:?}") };
    assert_eq!(
        (incident.rule.as_str(), incident.severity.as_str(), incident.notices),
        ("repeated_command", "warning", 1)
    );
    assert_eq!(incident.outcome, None);
    assert_eq!(incident.last_command.as_deref(), Some("ls secret"));
    repeat(&mut store, handle, 4, 3);
    assert!(store.take_notice(handle, 70_000.0).is_some());
    spend(&mut store, handle, 0.25);
    store.get_mut(handle).unwrap().observe(80_000.0, &EventKind::User { text: "stop", synthetic: false });
    store.end(handle, 90_000.0, "completed");
    assert!(writer.close(LONG));
    let report = all(&path);
    let [incident] = report.incidents.as_slice() else { panic!("{report:?}") };
    assert_eq!((incident.severity.as_str(), incident.notices), ("critical", 2));
    assert_eq!(incident.outcome.as_deref(), Some("answered"));
    let [session] = report.sessions.as_slice() else { panic!("{report:?}") };
    assert_eq!((session.status.as_str(), session.ended_at), ("completed", Some(90_000)));
    assert!((session.usage.usd - 0.75).abs() < 1e-9 && (session.tool_calls - 6.0).abs() < 1e-9);
}

#[test]
fn the_same_incident_that_begins_anew_is_another_row() {
    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    let handle = opened(&mut store, "s");
    for from in [1, 100] {
        store.open("s", f64::from(from) * 1000.0, Info::default(), Arc::new(Config::default()));
        repeat(&mut store, handle, from, 3);
        assert!(store.take_notice(handle, 1e9 + f64::from(from) * 1e6).is_some());
    }
    assert!(writer.close(LONG));
    let outcomes: Vec<_> = all(&path).incidents.into_iter().map(|incident| incident.outcome).collect();
    assert_eq!(outcomes, [None, Some("ended".to_owned())], "newest first");
}

#[test]
fn without_previews_no_command_no_name_and_no_summary_is_in_the_file() {
    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    let config = Arc::new(Config::of(serde_json::json!({ "historyPreviews": false })));
    let info = Info { name: Some("secret".into()), ..Info::default() };
    let handle = store.open("s", 0.0, info, config);
    repeat(&mut store, handle, 1, 3);
    assert!(store.take_notice(handle, 3000.0).is_some());
    assert!(writer.close(LONG));
    let report = all(&path);
    assert_eq!(report.incidents.len(), 1);
    assert_eq!((&report.incidents[0].summary, &report.incidents[0].last_command), (&None, &None));
    let bytes = std::fs::read(&path).unwrap();
    assert!(!bytes.windows(6).any(|window| window == b"secret"));
}

#[test]
fn a_session_that_wants_no_history_has_none() {
    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    let config = Arc::new(Config::of(serde_json::json!({ "history": false })));
    let handle = store.open("s", 0.0, Info::default(), config);
    repeat(&mut store, handle, 1, 3);
    spend(&mut store, handle, 1.0);
    assert!(store.take_notice(handle, 3000.0).is_some());
    store.end(handle, 4000.0, "completed");
    assert!(writer.close(LONG));
    assert_eq!((all(&path).session_count, all(&path).incident_count), (0, 0));
}

#[test]
fn a_session_that_wants_a_history_later_has_one_from_then_on() {
    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    let config = |history| Arc::new(Config::of(serde_json::json!({ "history": history })));
    let handle = store.open("s", 0.0, Info::default(), config(false));
    spend(&mut store, handle, 0.5);
    store.get_mut(handle).unwrap().configure(config(true));
    spend(&mut store, handle, 0.25);
    store.end(handle, 9.0, "completed");
    assert!(writer.close(LONG));
    let report = all(&path);
    assert_eq!(report.sessions[0].ended_at, Some(9));
    assert!((report.sessions[0].usage.usd - 0.75).abs() < 1e-9, "with what it used before");
}

#[test]
fn what_ran_before_the_history_was_opened_is_in_it() {
    let folder = Folder::new();
    let path = folder.file();
    let mut store = Store::default();
    let handle = opened(&mut store, "early");
    spend(&mut store, handle, 0.5);
    let writer = Writer::start(&path, LIMITS, here()).unwrap();
    let memory: Arc<dyn Memory> = Arc::new(writer.clone());
    store.remember_in(Some(&memory));
    assert!(writer.close(LONG));
    assert!((all(&path).sessions[0].usage.usd - 0.5).abs() < 1e-9);
}

#[test]
fn a_target_that_was_evicted_and_comes_back_adds_to_what_it_used() {
    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    let handle = opened(&mut store, "s");
    spend(&mut store, handle, 0.5);
    store.end(handle, 1.0, "completed");
    for number in 0..101 {
        let other = opened(&mut store, &format!("other-{number}"));
        store.end(other, 2.0, "completed");
    }
    assert!(store.get(handle).is_none(), "evicted");
    let handle = opened(&mut store, "s");
    spend(&mut store, handle, 0.25);
    assert!(writer.close(LONG));
    let filter = Filter { session: Some("s".into()), ..Filter::default() };
    assert!((read(&path, &filter).unwrap().sessions[0].usage.usd - 0.75).abs() < 1e-9);
}

#[test]
fn the_end_of_a_main_session_closes_its_own_tree_only() {
    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    for (id, root) in [("main", None), ("child", Some("main")), ("other", None), ("its-child", Some("other"))] {
        let info = Info { root_id: root.map(str::to_owned), ..Info::default() };
        store.open(id, 1.0, info, Arc::new(Config::default()));
    }
    writer.close_tree("main", 5.0);
    assert!(writer.close(LONG));
    let mut open: Vec<String> = all(&path)
        .sessions
        .into_iter()
        .filter(|session| session.ended_at.is_none())
        .map(|session| session.session_id)
        .collect();
    open.sort();
    assert_eq!(open, ["its-child", "other"]);
}

#[test]
fn filters_leave_in_what_they_say() {
    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    for (id, project) in [("a1", "/p/one"), ("b2", "/p/one/sub"), ("c3", "/p/one-more")] {
        let info = Info { project: Some(project.into()), ..Info::default() };
        let handle = store.open(id, 0.0, info, Arc::new(Config::default()));
        repeat(&mut store, handle, 1, 3);
        let at = f64::from(u32::from(id.as_bytes()[1])) * 1e6;
        assert!(store.take_notice(handle, at).is_some());
    }
    let child = Info { root_id: Some("a1".into()), parent_id: Some("a1".into()), ..Info::default() };
    let child = store.open("kid", 0.0, child, Arc::new(Config::default()));
    repeat(&mut store, child, 1, 3);
    assert!(store.take_notice(child, 1e6).is_some());
    store.end(child, 2e6, "completed");
    assert!(writer.close(LONG));
    let ids = |filter: Filter| -> Vec<String> {
        read(&path, &filter).unwrap().incidents.into_iter().map(|incident| incident.session_id).collect()
    };
    assert_eq!(ids(Filter::default()), ["c3", "b2", "a1", "kid"]);
    assert_eq!(ids(Filter { limit: Some(1), ..Filter::default() }), ["c3"]);
    assert_eq!(ids(Filter { since: Some(5e7), ..Filter::default() }), ["c3", "b2"]);
    assert_eq!(ids(Filter { session: Some("a".into()), ..Filter::default() }), ["a1", "kid"]);
    assert_eq!(ids(Filter { project: Some("/p/one/".into()), ..Filter::default() }), ["b2", "a1", "kid"]);
    assert_eq!(ids(Filter { open: true, ..Filter::default() }), ["c3", "b2", "a1"]);
    assert_eq!(ids(Filter { severity: Some("warning".into()), ..Filter::default() }).len(), 4);
    assert!(ids(Filter { severity: Some("critical".into()), ..Filter::default() }).is_empty());
    assert_eq!(ids(Filter { rule: Some("repeated_command".into()), ..Filter::default() }).len(), 4);
    assert!(ids(Filter { rule: Some("cycle".into()), ..Filter::default() }).is_empty());
}

#[test]
fn every_older_database_becomes_the_present_one_and_keeps_its_rows() {
    for version in 1..schema::VERSION {
        let folder = Folder::new();
        let path = folder.0.join("state.db");
        let old = Connection::open(&path).unwrap();
        schema::create_version(&old, version).unwrap();
        old.execute_batch(
            "INSERT INTO sessions (session_id, root_id, name) VALUES ('old', 'old', 'kept');
             INSERT INTO runs (session_id, pid, process_start, host, boot, started_at, last_at, ended_at, status, usd)
             VALUES ('old', 1, '1', 'h', 'b', 1, 2, 2, 'completed', 0.5);",
        )
        .unwrap();
        drop(old);
        assert!(read(&path, &Filter::default()).is_err(), "not before it was brought up to date");
        let opened = database::open(&path, Duration::ZERO).unwrap();
        assert_eq!(opened.warning, None);
        assert_eq!(schema::version(&opened.connection).unwrap(), schema::VERSION);
        let report = all(&path);
        assert_eq!(report.sessions[0].name.as_deref(), Some("kept"), "version {version}");
    }
}

#[test]
fn a_newer_database_is_left_as_it_is() {
    let folder = Folder::new();
    let path = folder.0.join("state.db");
    let newer = Connection::open(&path).unwrap();
    newer.execute_batch("CREATE TABLE theirs (x); PRAGMA user_version = 99").unwrap();
    drop(newer);
    let before = std::fs::read(&path).unwrap();
    assert_eq!(database::open(&path, Duration::ZERO).unwrap_err().kind, Kind::Newer);
    let (mut store, writer) = writing(&path);
    opened(&mut store, "s");
    assert!(!writer.flush(LONG));
    let status = writer.status();
    assert_eq!(status.state, State::Off);
    assert_eq!(status.warnings.len(), 1, "{:?}", status.warnings);
    assert!(status.warnings[0].contains("update pi-watchdog-supervisor"));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(read(&path, &Filter::default()).unwrap_err().kind, Kind::Newer);
}

#[test]
fn a_damaged_database_is_set_aside_and_a_new_one_begun() {
    let folder = Folder::new();
    let path = folder.0.join("state.db");
    for number in 1..=2 {
        std::fs::write(&path, "this is no database, and long enough to be looked at ".repeat(100)).unwrap();
        let (mut store, writer) = writing(&path);
        opened(&mut store, "s");
        assert!(writer.close(LONG));
        let warnings = writer.status().warnings;
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains(&format!("state.db.corrupt-{number}")), "{warnings:?}");
        assert_eq!(all(&path).session_count, 1);
        let aside = std::fs::read_to_string(folder.0.join(format!("state.db.corrupt-{number}"))).unwrap();
        assert!(aside.starts_with("this is no database"));
    }
}

#[test]
fn a_page_that_is_damaged_later_costs_the_file_and_not_what_runs() {
    let folder = Folder::new();
    let path = folder.0.join("state.db");
    let (mut store, writer) = writing(&path);
    for number in 0..200 {
        let handle = opened(&mut store, &format!("s-{number}"));
        store.end(handle, 1.0, "completed");
    }
    opened(&mut store, "runs");
    assert!(writer.close(LONG));
    let mut bytes = std::fs::read(&path).unwrap();
    let whole = bytes.len();
    bytes[4096..whole].fill(0xAB);
    std::fs::write(&path, bytes).unwrap();
    let (mut store, writer) = writing(&path);
    opened(&mut store, "runs");
    assert!(writer.close(LONG));
    assert_eq!(writer.status().warnings.len(), 1);
    let ids: Vec<String> = all(&path).sessions.into_iter().map(|session| session.session_id).collect();
    assert_eq!(ids, ["runs"]);
}

#[test]
fn a_database_that_was_removed_under_way_is_begun_anew_with_what_runs() {
    let folder = Folder::new();
    let path = folder.0.join("state.db");
    let (mut store, writer) = writing(&path);
    let handle = opened(&mut store, "runs");
    spend(&mut store, handle, 0.5);
    assert!(writer.flush(LONG));
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(folder.0.join(format!("state.db{end}")));
    }
    spend(&mut store, handle, 0.25);
    assert!(writer.flush(LONG));
    let report = all(&path);
    assert!((report.sessions[0].usage.usd - 0.75).abs() < 1e-9, "{report:?}");
}

#[test]
fn a_locked_database_is_said_once_and_written_when_the_lock_is_gone() {
    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    assert!(writer.flush(LONG));
    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    opened(&mut store, "s");
    for _ in 0..3 {
        assert!(!writer.flush(LONG));
    }
    let status = writer.status();
    assert_eq!((status.state, status.warnings.len()), (State::Waiting, 1), "{:?}", status.warnings);
    assert!(status.warnings[0].contains("locked by another program"));
    holder.execute_batch("COMMIT").unwrap();
    assert!(writer.close(LONG));
    assert_eq!(all(&path).session_count, 1);
}

#[test]
fn a_path_that_leads_nowhere_is_said_once_with_what_to_do() {
    let folder = Folder::new();
    let file = folder.0.join("file");
    std::fs::write(&file, "").unwrap();
    for path in [file.join("state.db"), folder.0.clone()] {
        let (mut store, writer) = writing(&path);
        let handle = opened(&mut store, "s");
        repeat(&mut store, handle, 1, 3);
        assert!(store.take_notice(handle, 3000.0).is_some(), "the watchdog goes on");
        assert!(!writer.flush(LONG));
        let status = writer.status();
        assert_eq!((status.state, status.warnings.len()), (State::Off, 1), "{:?}", status.warnings);
        assert!(status.warnings[0].contains("cannot be opened") && status.warnings[0].contains("\"history\": false"));
    }
}

#[test]
fn what_is_too_old_or_too_much_goes_and_what_runs_stays() {
    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    let day = 86_400_000.0;
    for (id, at, ends) in
        [("old", 1.0, true), ("late", 50.0, true), ("unended", 50.0, false), ("forgotten", 1.0, false)]
    {
        let handle = store.open(id, at * day, Info::default(), Arc::new(Config::default()));
        if ends {
            store.end(handle, at * day, "completed");
        }
    }
    assert!(writer.close(LONG));
    let connection = database::open(&path, Duration::ZERO).unwrap().connection;
    let ids = || {
        let mut ids: Vec<String> = all(&path).sessions.into_iter().map(|session| session.session_id).collect();
        ids.sort();
        ids
    };
    clean(&connection, Limits { max_days: 30, max_mb: 64 }, 60.0 * day);
    assert_eq!(ids(), ["late", "unended"]);
    clean(&connection, Limits { max_days: 30, max_mb: 0 }, 60.0 * day);
    assert_eq!(ids(), ["unended"]);
}

/// Cleans to the end; how many steps that took.
fn clean(connection: &Connection, limits: Limits, now: f64) -> usize {
    let mut cleaning = Cleaning::begin(connection, limits, now).unwrap();
    while cleaning.step(connection).unwrap() {}
    cleaning.steps
}

#[test]
fn cleaning_is_done_in_short_steps_whose_number_grows_as_what_there_is_to_drop() {
    let steps = |sessions: u32| {
        let folder = Folder::new();
        let connection = database::open(&folder.file(), Duration::ZERO).unwrap().connection;
        let transaction = connection.unchecked_transaction().unwrap();
        for number in 0..sessions {
            let id = format!("s-{number}");
            transaction
                .execute(
                    "INSERT INTO sessions (session_id, root_id, name) VALUES (?1, ?1, ?2)",
                    [&id, &"x".repeat(200)],
                )
                .unwrap();
            transaction
                .execute(
                    "INSERT INTO runs (session_id, pid, process_start, host, boot, started_at, last_at, ended_at, status)
                     VALUES (?1, 1, 's', 'h', 'b', ?2, ?2, ?2, 'completed')",
                    rusqlite::params![id, number],
                )
                .unwrap();
        }
        transaction.commit().unwrap();
        let steps = clean(&connection, Limits { max_days: 1, max_mb: 512 }, 1e12);
        let left: i64 = connection.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0);
        steps
    };
    let (some, twice) = (steps(2000), steps(4000));
    assert!(some >= 2000 / 16, "{some}: no step drops many");
    assert!(twice <= 2 * some + 2, "{twice} against {some}");
}

#[test]
fn a_tree_that_is_taken_up_again_while_it_is_cleaned_stays() {
    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    let handle = store.open("back", 1000.0, Info::default(), Arc::new(Config::default()));
    store.end(handle, 2000.0, "completed");
    assert!(writer.close(LONG));
    let connection = database::open(&path, Duration::ZERO).unwrap().connection;
    let mut cleaning = Cleaning::begin(&connection, Limits { max_days: 1, max_mb: 512 }, 1e12).unwrap();
    connection.execute_batch("UPDATE runs SET last_at = 1000000000000, ended_at = NULL").unwrap();
    while cleaning.step(&connection).unwrap() {}
    let left: i64 = connection.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 1);
}

#[test]
fn a_short_run_under_a_lock_of_another_process_ends_soon_and_is_in_the_history_afterwards() {
    let folder = Folder::new();
    let path = folder.file();
    database::open(&path, Duration::ZERO).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (mut store, writer) = writing(&path);
    let handle = store.open("short", 1.0, Info::default(), Arc::new(Config::default()));
    store.spend(handle, 2.0, crate::trace::Usage { input: 7.0, ..crate::trace::Usage::default() });
    store.end(handle, 3.0, "completed");
    let began = std::time::Instant::now();
    writer.close(Duration::from_secs(8));
    assert!(began.elapsed() < Duration::from_secs(4), "it does not wait for the lock: {:?}", began.elapsed());
    other.execute_batch("COMMIT").unwrap();
    let (_store, next) = writing(&path);
    assert!(next.flush(LONG));
    let found = read(&path, &Filter::default()).unwrap();
    assert_eq!(found.session_count, 1);
    assert_eq!((found.sessions[0].status.as_str(), found.sessions[0].usage.input), ("completed", 7.0));
    assert!(super::spool::waiting(&path).is_empty(), "it was taken in");
    assert!(next.close(LONG));
}

#[test]
fn a_damaged_line_of_what_was_not_written_costs_itself_only() {
    let folder = Folder::new();
    let path = folder.file();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut name = path.clone().into_os_string();
    name.push(".unwritten-1-0");
    std::fs::write(&name, b"\xff{\n{\"row\":7}\nnull\n").unwrap();
    let (_store, writer) = writing(&path);
    assert!(writer.close(LONG));
    assert!(!std::path::Path::new(&name).exists());
}

#[test]
fn a_damaged_byte_hides_nothing_else() {
    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    for id in ["one", "two"] {
        let handle = store.open(id, 1.0, Info::default(), Arc::new(Config::default()));
        store.end(handle, 2.0, "completed");
    }
    assert!(writer.close(LONG));
    let other = Connection::open(&path).unwrap();
    other.execute_batch("UPDATE sessions SET name = CAST(x'61ff62' AS TEXT) WHERE session_id = 'one'").unwrap();
    let found = read(&path, &Filter::default()).unwrap();
    assert_eq!(found.session_count, 2);
    assert_eq!(found.sessions.len(), 2);
    let one = found.sessions.iter().find(|session| session.session_id == "one").unwrap();
    assert_eq!(one.name.as_deref(), Some("a\u{fffd}b"));
}

#[cfg(unix)]
#[test]
fn what_a_dangling_link_leads_to_is_made_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let path = folder.file();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let real = path.with_file_name("elsewhere.db");
    std::os::unix::fs::symlink(&real, &path).unwrap();
    let (mut store, writer) = writing(&path);
    opened(&mut store, "s");
    assert!(writer.flush(LONG));
    for end in ["", "-wal", "-shm"] {
        let mut name = real.clone().into_os_string();
        name.push(end);
        if let Ok(found) = std::fs::metadata(&name) {
            assert_eq!(found.permissions().mode() & 0o777, 0o600, "{name:?}");
        }
    }
    assert!(writer.close(LONG));
}

#[test]
fn a_database_above_its_size_gives_room_back_to_the_disk() {
    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    for number in 0..400 {
        let info = Info { project: Some("x".repeat(4000)), ..Info::default() };
        let handle = store.open(&format!("s-{number}"), f64::from(number), info, Arc::new(Config::default()));
        store.end(handle, f64::from(number), "completed");
        if number % 50 == 0 {
            assert!(writer.flush(LONG));
        }
    }
    assert!(writer.close(LONG));
    let size = || std::fs::metadata(&path).unwrap().len();
    assert!(size() > 1 << 20);
    let connection = database::open(&path, Duration::ZERO).unwrap().connection;
    clean(&connection, Limits { max_days: 90, max_mb: 1 }, 1000.0);
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    assert!(size() <= 1 << 20, "{}", size());
    let filter = Filter { session: Some("s-399".into()), ..Filter::default() };
    assert_eq!(read(&path, &filter).unwrap().session_count, 1, "the newest stay");
}

#[test]
fn sessions_of_a_process_that_is_gone_are_told_once_and_closed_when_asked() {
    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    opened(&mut store, "lives");
    let child = Info { root_id: Some("dead".into()), ..Info::default() };
    for (id, info) in [("dead", Info::default()), ("dead-child", child), ("resumed", Info::default())] {
        store.open(id, 1.0, info, Arc::new(Config::default()));
    }
    assert!(writer.flush(LONG));
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch(
            "UPDATE runs SET process_start = 'before' WHERE session_id <> 'lives';
             INSERT INTO runs SELECT session_id, pid, (SELECT process_start FROM runs WHERE session_id = 'lives'), host, boot,
               started_at, last_at, ended_at, status, 0, 0, 0, 0, 0, 0, 0, NULL FROM runs WHERE session_id = 'resumed'",
        )
        .unwrap();
    let ids = |found: Vec<orphans::Orphan>| {
        let mut ids: Vec<String> = found.into_iter().map(|orphan| orphan.session.session_id).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(orphans::claim(&path, &here()).unwrap()), ["dead", "dead-child"]);
    assert!(orphans::claim(&path, &here()).unwrap().is_empty(), "told once");
    assert_eq!(ids(orphans::list(&path, &here()).unwrap()), ["dead", "dead-child"], "and listed until closed");
    assert_eq!(orphans::close(&path, &here(), Some("dead-child")).unwrap(), 1);
    assert_eq!(orphans::close(&path, &here(), None).unwrap(), 1);
    assert!(orphans::list(&path, &here()).unwrap().is_empty());
    let open = all(&path).sessions.into_iter().filter(|session| session.ended_at.is_none()).count();
    assert_eq!(open, 2, "what lives stays");
}

#[test]
fn a_child_process_that_outlives_its_main_session_is_told_with_it() {
    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let info =
        Info { root_id: Some("dead".into()), process: Some(super::owner::Process::of(child.id())), ..Info::default() };
    store.open("dead", 1.0, Info::default(), Arc::new(Config::default()));
    store.open("runs-on", 1.0, info, Arc::new(Config::default()));
    assert!(writer.flush(LONG));
    assert!(orphans::claim(&path, &here()).unwrap().is_empty(), "its main session is there");
    Connection::open(&path)
        .unwrap()
        .execute("UPDATE runs SET process_start = 'x' WHERE session_id = 'dead'", [])
        .unwrap();
    let told = orphans::claim(&path, &here()).unwrap();
    let running: Vec<(u32, bool)> = told.iter().map(|orphan| (orphan.pid, orphan.running)).collect();
    assert!(running.contains(&(child.id(), true)), "{told:?}");
    assert_eq!(orphans::close(&path, &here(), None).unwrap(), 1, "what runs is not closed");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(orphans::close(&path, &here(), None).unwrap(), 1);
}

#[test]
fn neither_this_process_nor_another_users_nor_a_later_one_with_the_same_id_is_left_behind() {
    use std::os::unix::process::CommandExt;

    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    let sleep = |uid: Option<u32>| {
        let mut command = std::process::Command::new("sleep");
        command.arg("60");
        uid.map(|uid| command.uid(uid));
        command.spawn().ok()
    };
    let own = sleep(None).unwrap();
    // Only root can start one.
    let foreign = sleep(Some(65_534));
    let mut open = |id: &str, process: super::owner::Process| {
        let info = Info { root_id: Some("dead".into()), process: Some(process), ..Info::default() };
        store.open(id, 1.0, info, Arc::new(Config::default()));
    };
    open("here", super::owner::Process::this());
    open("runs-on", super::owner::Process::of(own.id()));
    open("recycled", super::owner::Process { pid: own.id(), start: "1".into() });
    if let Some(foreign) = &foreign {
        open("foreign", super::owner::Process::of(foreign.id()));
    }
    store.open("dead", 1.0, Info::default(), Arc::new(Config::default()));
    assert!(writer.flush(LONG));
    Connection::open(&path)
        .unwrap()
        .execute("UPDATE runs SET process_start = 'x' WHERE session_id = 'dead'", [])
        .unwrap();
    let found = orphans::list(&path, &here()).unwrap();
    let mut running: Vec<&str> =
        found.iter().filter(|orphan| orphan.running).map(|orphan| orphan.session.session_id.as_str()).collect();
    running.sort_unstable();
    assert_eq!(running, ["runs-on"], "{found:?}");
    let listed = found.iter().find(|orphan| orphan.running).unwrap();
    assert_eq!((listed.pid, &listed.start), (own.id(), &super::owner::Process::of(own.id()).start));
    for mut child in [Some(own), foreign].into_iter().flatten() {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn a_child_process_and_its_main_session_write_one_row_and_what_it_used_counts_once() {
    let folder = Folder::new();
    let path = folder.file();
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let (mut store, writer) = writing(&path);
    let info = Info { root_id: Some("main".into()), ..Info::default() };
    let handle = store.open("kid", 1.0, info, Arc::new(Config::default()));
    spend(&mut store, handle, 0.5);
    assert!(writer.flush(LONG));
    let runs = || -> Vec<(u32, Option<i64>, f64)> {
        let connection = Connection::open(&path).unwrap();
        let mut statement = connection.prepare("SELECT pid, ended_at, usd FROM runs").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    assert_eq!(runs(), [(std::process::id(), None, 0.5)]);
    // Which process runs it is learned later, when that process has written its own row.
    let connection = Connection::open(&path).unwrap();
    let start = super::owner::Process::of(child.id()).start;
    connection
        .execute(
            "INSERT INTO runs SELECT session_id, ?1, ?2, host, boot, started_at, last_at, ended_at, status, 0, 0, 0, 0, 0, 0,
               0.75, NULL FROM runs",
            rusqlite::params![child.id(), start],
        )
        .unwrap();
    store
        .get_mut(handle)
        .unwrap()
        .update(Info { process: Some(super::owner::Process::of(child.id())), ..Info::default() });
    assert!(writer.flush(LONG));
    assert_eq!(runs(), [(child.id(), None, 0.75)]);
    store.end(handle, 9.0, "stopped");
    assert!(writer.close(LONG));
    assert_eq!(runs(), [(child.id(), Some(9), 0.75)]);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_session_that_goes_on_after_its_tree_was_closed_is_open_again() {
    let folder = Folder::new();
    let path = folder.file();
    let (mut store, writer) = writing(&path);
    let handle = opened(&mut store, "s");
    writer.close_tree("s", 5.0);
    assert!(writer.flush(LONG));
    assert_eq!(all(&path).sessions[0].ended_at, Some(5));
    store.get_mut(handle).unwrap().update(Info { status: Some("running".into()), ..Info::default() });
    assert!(writer.flush(LONG));
    assert_eq!(all(&path).sessions[0].ended_at, None);
    store.end(handle, 9.0, "completed");
    store.get_mut(handle).unwrap().update(Info { status: Some("running".into()), ..Info::default() });
    assert!(writer.close(LONG));
    assert_eq!(all(&path).sessions[0].ended_at, Some(9), "an end of its own stands");
}
