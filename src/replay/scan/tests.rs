//! Folders of hand-made sessions, through the real detector.

#![allow(clippy::float_cmp, reason = "sums of whole numbers are exact in f64")]

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::{LARGE, Options, Progress, ScanError, Summary, scan};
use crate::detector::Detector;
use crate::policy::Config;
use crate::replay::{Cancel, NEVER};

const DEFAULT: Options = Options { from: f64::NEG_INFINITY, costliest: 10 };

/// A folder that is gone at the end of the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("watchdog-scan-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn scan(&self, options: Options) -> Summary {
        scan(&self.0, &Detector::new(&Config::default()), options, &Progress::default(), &NEVER, &|| {}).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A session of `day` January 2026 in which `rg` gives the same answer `times` times.
fn session(day: u32, header: &str, times: usize) -> String {
    let mut lines = vec![format!(
        r#"{{"type":"session","version":3,"id":"s{day}","timestamp":"2026-01-{day:02}T00:00:00.000Z","cwd":"/p"{header}}}"#
    )];
    lines.extend(rounds(day, times));
    lines.join("\n") + "\n"
}

fn rounds(day: u32, times: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut parent = "null".to_owned();
    let mut entry = |message: &str| {
        let number = lines.len();
        let (minute, second) = (number / 60, number % 60);
        lines.push(format!(
            r#"{{"type":"message","id":"d{day}e{number}","parentId":{parent},"timestamp":"2026-01-{day:02}T00:{minute:02}:{second:02}.000Z","message":{message}}}"#
        ));
        parent = format!(r#""d{day}e{number}""#);
    };
    entry(r#"{"role":"user","content":"find it"}"#);
    for turn in 0..times {
        entry(&format!(
            r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"c{turn}","name":"bash","arguments":{{"command":"rg TOKEN src"}}}}],"stopReason":"toolUse","usage":{{"input":100,"output":10,"cost":{{"total":0.01}}}}}}"#
        ));
        entry(&format!(
            r#"{{"role":"toolResult","toolCallId":"c{turn}","toolName":"bash","content":[{{"type":"text","text":"no match"}}],"isError":true}}"#
        ));
    }
    lines
}

#[test]
fn incidents_are_summed_by_rule_over_all_folders() {
    let folder = Folder::new("sum");
    folder.write("calm.jsonl", session(1, "", 2));
    folder.write("a/loop.jsonl", session(2, "", 3));
    folder.write("a/b/loop.jsonl", session(3, "", 3));
    folder.write("a/notes.txt", "no session, and none of our business");
    let summary = folder.scan(DEFAULT);
    assert_eq!((summary.sessions, summary.stuck_sessions, summary.lost), (3, 2, 0));
    let [row] = summary.incidents()[..] else { panic!("{:?}", summary.incidents()) };
    assert_eq!((row.rule, row.count, row.sessions), ("repeated_command", 2, 2));
    assert_eq!((row.cost.rounds(), row.cost.tokens(), row.cost.usd()), (4.0, 440.0, 0.04));
    assert!(row.cost.wall_ms() > 0.0);
    assert_eq!((summary.usage.tokens(), summary.usage.usd()), (880.0, 0.08));
    assert!(summary.interventions().is_empty());
    assert_eq!(summary.warnings().count(), 0);
}

#[test]
fn the_costliest_sessions_come_first_and_are_bounded() {
    let folder = Folder::new("costliest");
    for (day, times) in [(1, 3), (2, 20), (3, 8)] {
        folder.write(&format!("{day}.jsonl"), session(day, "", times));
    }
    let ids = |summary: &Summary| {
        summary.costliest().iter().map(|session| session.id.clone().unwrap_or_default()).collect::<Vec<_>>()
    };
    let summary = folder.scan(DEFAULT);
    assert_eq!(ids(&summary), ["s2", "s3", "s1"]);
    let costliest = &summary.costliest()[0];
    assert_eq!((costliest.incidents, &costliest.rules[..]), (1, &["repeated_command"][..]));
    assert!(costliest.cost.usd() < costliest.usage.usd());
    assert_eq!(ids(&folder.scan(Options { costliest: 2, ..DEFAULT })), ["s2", "s3"]);
    assert!(folder.scan(Options { costliest: 0, ..DEFAULT }).costliest().is_empty());
}

#[test]
fn the_same_loop_after_a_person_spoke_is_another_incident() {
    let folder = Folder::new("again");
    let twice = session(1, "", 8) + &rounds(2, 3).join("\n").replacen("\"parentId\":null", "\"parentId\":\"d1e16\"", 1);
    folder.write("twice.jsonl", twice);
    let summary = folder.scan(DEFAULT);
    let [row] = summary.incidents()[..] else { panic!("{:?}", summary.incidents()) };
    assert_eq!((row.count, row.sessions), (2, 1));
    // Of eight rounds the first is work; the loop was told at the third and at the sixth. Then two of three.
    assert_eq!(row.cost.rounds(), 5.0 + 2.0);
    assert_eq!(summary.costliest()[0].incidents, 2);
}

#[test]
fn only_what_happened_since_counts() {
    let folder = Folder::new("since");
    folder.write("old.jsonl", session(1, "", 3));
    folder.write("new.jsonl", session(9, "", 3));
    // Begun before and carried on after: the loop of before is history.
    let both =
        session(2, "", 3) + &rounds(10, 4)[1..].join("\n").replace(r#""parentId":"d10e0""#, r#""parentId":"d2e6""#);
    folder.write("both.jsonl", both);
    // 2026-01-05
    let from = 1_767_571_200_000.0;
    let summary = folder.scan(Options { from, ..DEFAULT });
    assert_eq!((summary.sessions, summary.older, summary.stuck_sessions), (2, 1, 2), "{summary:?}");
    assert_eq!(summary.usage.tokens(), (3.0 + 4.0) * 110.0);
    assert_eq!(folder.scan(DEFAULT).sessions, 3);
}

#[test]
fn a_file_that_was_last_written_before_is_not_opened() {
    let folder = Folder::new("mtime");
    let path = folder.write("broken.jsonl", "this would be a warning");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
    fs::File::options().append(true).open(&path).unwrap().set_modified(long_ago).unwrap();
    let summary = folder.scan(Options { from: 2_000_000.0, ..DEFAULT });
    assert_eq!((summary.older, summary.lost), (1, 0));
    assert_eq!(folder.scan(Options { from: 500_000.0, ..DEFAULT }).lost, 1);
}

#[test]
fn what_a_fork_copied_counts_in_its_parent_only() {
    let folder = Folder::new("fork");
    folder.write("parent.jsonl", session(1, "", 3));
    let copied = rounds(1, 3).join("\n");
    let fork = r#"{"type":"session","version":3,"id":"f","timestamp":"2026-01-04T00:00:00.000Z","cwd":"/p","parentSession":"/p/parent.jsonl"}"#;
    folder.write("fork.jsonl", format!("{fork}\n{copied}\n"));
    let summary = folder.scan(DEFAULT);
    assert_eq!((summary.sessions, summary.older), (1, 1));
    assert_eq!(summary.incidents()[0].count, 1);
    assert_eq!(summary.usage.tokens(), 330.0);
}

#[test]
fn broken_files_cost_a_warning_each() {
    let folder = Folder::new("broken");
    folder.write("binary.jsonl", [0x7f, 0x45, 0xff, 0, 10]);
    folder.write("foreign.jsonl", "{\"hello\":1}\n");
    folder.write("cases.jsonl", "{\"id\":\"x\",\"events\":[]}\n");
    folder.write("empty.jsonl", "");
    folder.write("torn.jsonl", format!("{}{{\"type\":\"mess", session(1, "", 3)));
    let summary = folder.scan(DEFAULT);
    assert_eq!((summary.sessions, summary.stuck_sessions, summary.lost, summary.older), (1, 1, 3, 1));
    let names: Vec<_> = summary.warnings().map(|(path, _)| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["binary.jsonl", "cases.jsonl", "foreign.jsonl", "torn.jsonl"]);
    assert!(summary.warnings().last().unwrap().1.contains("line 9: the last line is cut off"));
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_costs_a_warning_and_is_not_waited_for() {
    let folder = Folder::new("pipes");
    folder.write("loop.jsonl", session(1, "", 3));
    let pipe = folder.0.join("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", folder.0.join("zero.jsonl")).unwrap();
    let summary = folder.scan(DEFAULT);
    assert_eq!((summary.sessions, summary.lost), (1, 2));
    assert!(summary.warnings().all(|(_, message)| message.contains("not a regular file")));
}

#[test]
fn a_cancelled_scan_ends_after_the_files_that_are_open() {
    let folder = Folder::new("cancelled");
    for number in 0..200 {
        folder.write(&format!("{number}.jsonl"), session(1, "", 3));
    }
    let cancel = Cancel::default();
    let progress = Progress::default();
    let detector = Detector::new(&Config::default());
    let ended = scan(&folder.0, &detector, DEFAULT, &progress, &cancel, &|| cancel.cancel());
    assert!(matches!(ended, Err(ScanError::Cancelled)));
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    assert!(progress.files.into_inner() <= threads);
}

#[test]
fn warnings_are_bounded_and_counted() {
    let folder = Folder::new("warnings");
    for number in 0..120 {
        folder.write(&format!("{number:03}.jsonl"), "x");
    }
    let summary = folder.scan(DEFAULT);
    assert_eq!((summary.warnings().count(), summary.warning_count, summary.lost), (100, 120, 120));
    assert!(summary.warnings().last().unwrap().0.ends_with("099.jsonl"));
}

#[cfg(unix)]
#[test]
fn links_are_followed_out_of_the_folder_and_never_in_rings() {
    use std::os::unix::fs::symlink;
    let (folder, elsewhere) = (Folder::new("links"), Folder::new("elsewhere"));
    folder.write("a/loop.jsonl", session(1, "", 3));
    elsewhere.write("far/loop.jsonl", session(2, "", 3));
    symlink(&folder.0, folder.0.join("a/up")).unwrap();
    symlink(folder.0.join("a"), folder.0.join("same")).unwrap();
    symlink(folder.0.join("a/loop.jsonl"), folder.0.join("same.jsonl")).unwrap();
    symlink(&elsewhere.0, folder.0.join("away")).unwrap();
    symlink(&elsewhere.0, elsewhere.0.join("far/ring")).unwrap();
    symlink(folder.0.join("nowhere"), folder.0.join("dangling.jsonl")).unwrap();
    let summary = folder.scan(DEFAULT);
    assert_eq!((summary.sessions, summary.incidents()[0].count), (2, 2));
    let warnings: Vec<_> = summary.warnings().collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].0.ends_with("dangling.jsonl") && warnings[0].1.contains("leads nowhere"));
}

#[test]
fn a_folder_that_cannot_be_scanned_is_an_error() {
    let folder = Folder::new("errors");
    let file = folder.write("x.jsonl", "");
    let scan_it = |path: &PathBuf| {
        scan(path, &Detector::new(&Config::default()), DEFAULT, &Progress::default(), &NEVER, &|| {}).unwrap_err()
    };
    assert!(matches!(scan_it(&file), ScanError::NotAFolder));
    assert!(scan_it(&folder.0.join("none")).to_string().contains("no such folder"));
}

/// A large file takes the way over all cores, a small one that of a single thread; both must say the same.
#[test]
fn large_and_small_files_are_read_alike_and_all_bytes_are_counted() {
    let folder = Folder::new("large");
    let small = session(1, "", 30);
    // Lines that mean nothing make it large.
    let filler = format!("{{\"type\":\"label\",\"label\":\"{}\"}}\n", "x".repeat(1 << 20));
    let large = small.clone() + &filler.repeat(usize::try_from(LARGE >> 20).unwrap());
    folder.write("small.jsonl", &small);
    let expected = folder.scan(DEFAULT);
    fs::remove_file(folder.0.join("small.jsonl")).unwrap();
    folder.write("large.jsonl", &large);
    folder.write("empty/empty.jsonl", "");
    let progress = Progress::default();
    let files = std::sync::atomic::AtomicU64::new(0);
    let count = || {
        files.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    };
    let summary = scan(&folder.0, &Detector::new(&Config::default()), DEFAULT, &progress, &NEVER, &count).unwrap();
    assert_eq!(summary.incidents(), expected.incidents());
    assert_eq!(summary.costliest()[0].cost, expected.costliest()[0].cost);
    assert_eq!((files.into_inner(), progress.files.into_inner()), (2, 2));
    assert_eq!(progress.bytes.into_inner(), large.len() as u64);
    assert_eq!(progress.total_bytes.into_inner(), large.len() as u64);
}
