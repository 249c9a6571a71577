//! Whole files: every structure that a session file can have, and what happens when parts of it are missing.

use proptest::prelude::*;

use super::fixtures::{HEADER, Recorder, replayed, user};
use super::{NEVER, Report, replay_file};
use crate::detector::Detector;
use crate::policy::Config;

/// Line, branch and history of every event.
fn histories(lines: &[String]) -> Vec<(u64, Option<String>, String)> {
    shown(&replayed(lines.join("\n").as_bytes(), &Recorder::default()).unwrap())
}

fn shown(report: &Report<String>) -> Vec<(u64, Option<String>, String)> {
    report.findings.iter().map(|found| (found.line, found.branch.clone(), found.finding.clone())).collect()
}

fn expect(lines: &[String], expected: &[(u64, &str, &str)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|(line, branch, history)| {
            (*line, (!branch.is_empty()).then(|| (*branch).to_owned()), (*history).to_owned())
        })
        .collect();
    assert_eq!(histories(lines), expected);
}

#[test]
fn a_chain_is_one_branch() {
    let lines = [HEADER.to_owned(), user("a", None), user("b", Some("a")), user("c", Some("b"))];
    expect(&lines, &[(2, "", "a"), (3, "", "a b"), (4, "", "a b c")]);
    let report = replayed(lines.join("\n").as_bytes(), &Recorder::default()).unwrap();
    assert_eq!((report.kind, report.session_id.as_deref()), ("session", Some("s1")));
    assert_eq!((report.lines, report.events, report.branches, report.warnings.count), (4, 3, 1, 0));
    assert_eq!(report.findings[2].entry_id.as_deref(), Some("c"));
    assert_eq!(report.findings[2].event_index, 2);
}

#[test]
fn branches_share_what_came_before_them_and_report_it_once() {
    // a ─ b ─ c
    //  │   └─ d ─ e
    //  └─ f
    let lines = [
        HEADER.to_owned(),
        user("a", None),
        user("b", Some("a")),
        user("c", Some("b")),
        user("d", Some("b")),
        user("e", Some("d")),
        user("f", Some("a")),
    ];
    expect(
        &lines,
        &[(2, "f", "a"), (3, "e", "a b"), (4, "c", "a b c"), (5, "e", "a b d"), (6, "e", "a b d e"), (7, "f", "a f")],
    );
    let report = replayed(lines.join("\n").as_bytes(), &Recorder::default()).unwrap();
    assert_eq!((report.branches, report.events, report.lines), (3, 6, 7));
    assert_eq!(report.findings[5].event_index, 1);
}

#[test]
fn a_branch_may_be_left_and_taken_up_again() {
    let lines = [
        HEADER.to_owned(),
        user("a", None),
        user("b", Some("a")),
        user("x", Some("a")),
        user("c", Some("b")),
        user("y", Some("x")),
        user("d", Some("c")),
    ];
    expect(
        &lines,
        &[(2, "d", "a"), (3, "d", "a b"), (4, "y", "a x"), (5, "d", "a b c"), (6, "y", "a x y"), (7, "d", "a b c d")],
    );
}

#[test]
fn several_roots_are_several_histories() {
    let lines = [HEADER.to_owned(), user("a", None), user("b", Some("a")), user("c", None), user("d", Some("a"))];
    expect(&lines, &[(2, "d", "a"), (3, "b", "a b"), (4, "c", "c"), (5, "d", "a d")]);
}

#[test]
fn a_lost_line_does_not_cut_the_history() {
    let cut = &user("b", Some("a"))[..60];
    let lines = [HEADER.to_owned(), user("a", None), cut.to_owned(), user("c", Some("b")), user("d", Some("a"))];
    expect(&lines, &[(2, "d", "a"), (4, "c", "a c"), (5, "d", "a d")]);
    let lines = [HEADER.to_owned(), user("a", None), "\u{1}garbage".to_owned(), user("c", Some("b"))];
    expect(&lines, &[(2, "", "a"), (4, "", "a c")]);
    let report = replayed(lines.join("\n").as_bytes(), &Recorder::default()).unwrap();
    assert_eq!(report.warnings.count, 1);
    assert_eq!(report.warnings.listed[0].line, 3);
}

#[test]
fn an_entry_without_its_parent_is_a_root_and_a_warning() {
    let lines = [HEADER.to_owned(), user("a", None), user("c", Some("elsewhere"))];
    expect(&lines, &[(2, "a", "a"), (3, "c", "c")]);
    let report = replayed(lines.join("\n").as_bytes(), &Recorder::default()).unwrap();
    assert_eq!(report.warnings.listed[0].line, 3);
    assert!(report.warnings.listed[0].message.contains("parent is not in the file"));
}

#[test]
fn versions_one_and_two() {
    let plain = |text: &str| format!(r#"{{"type":"message","message":{{"role":"user","content":"{text}"}}}}"#);
    let header = |version: &str| HEADER.replace(r#""version":3,"#, version);
    expect(&[header(""), plain("a"), plain("b")], &[(2, "", "a"), (3, "", "a b")]);
    // Pi appends the new fields when it brings a version 1 file up to date.
    let migrated = |id: &str, parent: &str| {
        format!(r#"{{"type":"message","message":{{"role":"user","content":"{id}"}},"id":"{id}","parentId":{parent}}}"#)
    };
    let lines = [header(r#""version":2,"#), migrated("a", "null"), migrated("b", r#""a""#), migrated("c", r#""a""#)];
    expect(&lines, &[(2, "c", "a"), (3, "b", "a b"), (4, "c", "a c")]);
}

#[test]
fn a_lost_header_is_missed_by_nobody() {
    expect(&["{\"type\":\"sess".to_owned(), user("a", None)], &[(2, "", "a")]);
    expect(&[user("a", None), user("b", Some("a"))], &[(1, "", "a"), (2, "", "a b")]);
}

#[test]
fn carriage_returns_marks_nuls_and_blank_lines() {
    let text = format!("\u{feff}{HEADER}\r\n\r\n{}\r\n\0\0\0{}\r\n\n", user("a", None), user("b", Some("a")));
    let report = replayed(text.as_bytes(), &Recorder::default()).unwrap();
    assert_eq!(shown(&report), [(3, None, "a".to_owned()), (4, None, "a b".to_owned())]);
    assert_eq!((report.warnings.count, report.lines), (0, 5));
}

#[test]
fn a_very_long_line_is_read() {
    let long =
        user("b", Some("a")).replace(r#""content":"b""#, &format!(r#""content":"{}""#, "x\\n".repeat(20_000_000)));
    let text = [HEADER.to_owned(), user("a", None), long, user("c", Some("b"))].join("\n");
    let report = replayed(text.as_bytes(), &Recorder::default()).unwrap();
    assert_eq!((report.events, report.warnings.count), (3, 0));
    assert!(report.findings[2].finding.len() > 40_000_000);
}

#[test]
fn the_unfinished_last_line_of_a_running_session_is_one_warning() {
    let mut text = [HEADER.to_owned(), user("a", None), user("b", Some("a"))].join("\n");
    text.truncate(text.len() - 5);
    let report = replayed(text.as_bytes(), &Recorder::default()).unwrap();
    assert_eq!((report.events, report.warnings.count), (1, 1));
    assert!(report.warnings.listed[0].message.contains("cut off"), "{:?}", report.warnings);
}

#[test]
fn warnings_are_counted_and_not_hoarded() {
    let mut lines = vec![HEADER.to_owned()];
    lines.resize(501, "{".to_owned());
    let report = replayed(lines.join("\n").as_bytes(), &Recorder::default()).unwrap();
    assert_eq!((report.warnings.count, report.warnings.listed.len()), (500, 100));
}

#[test]
fn many_short_branches_need_few_states() {
    // Every entry has two children, one of which ends at once: half of all entries are leaves.
    let mut lines = vec![HEADER.to_owned(), user("n0", None)];
    for n in 1..500 {
        lines.push(user(&format!("n{n}"), Some(&format!("n{}", n - 1))));
        lines.push(user(&format!("x{n}"), Some(&format!("n{}", n - 1))));
    }
    let recorder = Recorder::default();
    let report = replayed(lines.join("\n").as_bytes(), &recorder).unwrap();
    assert_eq!(report.branches, 500);
    assert!(recorder.most_alive() <= 3, "{}", recorder.most_alive());
}

#[test]
fn a_chain_of_a_hundred_thousand_branch_points_does_not_overflow_the_stack() {
    #[derive(Clone)]
    struct Counter(u64);
    impl super::Observer for Counter {
        type Finding = u64;
        type Gist = ();
        fn gist(_: &crate::trace::Event<'_>) {}
        fn observe(&mut self, _: &crate::trace::Event<'_>, (): (), found: &mut Vec<u64>) {
            self.0 += 1;
            found.push(self.0);
        }
    }
    let mut lines = vec![HEADER.to_owned(), user("n0", None)];
    for n in 1..100_000 {
        lines.push(user(&format!("n{n}"), Some(&format!("n{}", n - 1))));
        lines.push(user(&format!("x{n}"), Some(&format!("n{}", n - 1))));
    }
    let report = replayed(lines.join("\n").as_bytes(), &Counter(0)).unwrap();
    assert_eq!(report.branches, 100_000);
    assert_eq!(report.findings.iter().map(|found| found.finding).max(), Some(100_000));
}

#[test]
fn files_that_cannot_be_replayed_say_what_to_do() {
    let error = |text: &[u8]| replayed(text, &Recorder::default()).unwrap_err().to_string();
    assert!(error(b"").contains("empty"));
    assert!(error(b"\x7fELF\x02\x01\n\x00\xff\n").contains("neither a Pi session file nor a trace"));
    assert!(error(b"hello\nworld\n").contains("neither"));
    assert!(error(br#"{"id":"x","events":[]}"#).contains("--cases"));
    let directory = std::env::temp_dir();
    assert!(replay_file(&directory, &Recorder::default(), &NEVER).unwrap_err().to_string().contains("directory"));
    let missing = directory.join("pi-watchdog-no-such-file");
    assert!(replay_file(&missing, &Recorder::default(), &NEVER).unwrap_err().to_string().contains("no such file"));
}

#[test]
fn a_trace_is_one_history() {
    let text = "\n{\"at\":1,\"type\":\"user\",\"text\":\"a\"}\n{\"at\":1,\"type\":\"dream\"}\n{\"at\":2,\"type\":\"user\",\"text\":\"b\"}\n{\"at\":3,";
    let report = replayed(text.as_bytes(), &Recorder::default()).unwrap();
    assert_eq!(report.kind, "trace");
    assert_eq!(shown(&report), [(2, None, "a".to_owned()), (4, None, "a b".to_owned())]);
    assert_eq!(report.findings[1].event_index, 1);
    assert_eq!(report.warnings.listed.iter().map(|warning| warning.line).collect::<Vec<_>>(), [3, 5]);
}

#[test]
fn cases_start_afresh_and_keep_the_indices_of_their_events() {
    let text = concat!(
        "{\"id\":\"one\",\"events\":[{\"at\":0,\"type\":\"user\",\"text\":\"a\"},{\"type\":\"dream\"},{\"type\":\"user\",\"text\":\"b\"}]}\n",
        "broken\n",
        "{\"id\":\"two\",\"label\":\"stuck\",\"events\":[{\"at\":0,\"type\":\"user\",\"text\":\"c\"}]}\n",
    );
    let lines = super::Lines::new(std::io::Cursor::new(text), text.len() as u64, &NEVER);
    let cases = super::traces::replay_cases(lines, &Recorder::default()).unwrap();
    let results: Vec<_> = cases.results.iter().map(|case| (case.id.as_str(), case.findings.clone())).collect();
    assert_eq!(
        results,
        [("one", vec![(0, "a".to_owned()), (2, "a b".to_owned())]), ("two", vec![(0, "c".to_owned())])]
    );
    assert_eq!(cases.warnings.listed.iter().map(|warning| warning.line).collect::<Vec<_>>(), [1, 2]);
}

/// A session in which one command fails in the same way again and again, then another does.
fn looping_session() -> String {
    let mut lines = vec![HEADER.to_owned(), user("u", None)];
    let mut parent = "u".to_owned();
    for turn in 0..10 {
        let command = if turn < 6 { "rg TOKEN src" } else { "make check" };
        for (id, message) in [
            (
                format!("a{turn}"),
                format!(
                    r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"c{turn}","name":"bash","arguments":{{"command":"{command}"}}}}],"usage":{{"input":100,"cost":{{"total":0.5}}}},"stopReason":"toolUse"}}"#
                ),
            ),
            (
                format!("r{turn}"),
                format!(
                    r#"{{"role":"toolResult","toolCallId":"c{turn}","toolName":"bash","content":[{{"type":"text","text":"no → match"}}],"isError":true}}"#
                ),
            ),
        ] {
            lines.push(format!(
                r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-01-01T00:00:{:02}.000Z","message":{message}}}"#,
                lines.len()
            ));
            parent = id;
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn the_detector_finds_the_loops_of_a_recorded_session() {
    let report = replayed(looping_session().as_bytes(), &Detector::new(&Config::default())).unwrap();
    let verdicts = || report.findings.iter().filter(|found| found.finding.intervention.is_none());
    let first = verdicts().next().unwrap();
    assert_eq!((first.line, first.entry_id.as_deref(), first.event_index), (8, Some("r2"), 9));
    assert_eq!(first.finding.rule, "repeated_command");
    assert_eq!(first.finding.cost.rounds, 2);
    assert!(verdicts().any(|found| found.line > 14), "the second loop is another one");
}

#[test]
fn a_session_cut_at_any_byte_gives_the_same_findings_before_the_cut() {
    let text = looping_session();
    let detector = Detector::new(&Config::default());
    let whole = replayed(text.as_bytes(), &detector).unwrap();
    for cut in 0..text.len() {
        let Ok(part) = replayed(&text.as_bytes()[..cut], &detector) else {
            assert!(cut < HEADER.len(), "{cut}");
            continue;
        };
        let lines = memchr::memchr_iter(b'\n', &text.as_bytes()[..cut]).count() as u64;
        let before = whole.findings.iter().filter(|found| found.line <= lines);
        // A last line that lacks nothing but its line end counts as well.
        let mut found = part.findings.iter().filter(|found| found.line <= lines);
        assert!(before.eq(found.by_ref()), "{cut}");
    }
}

/// One line of a random session file.
#[derive(Debug, Clone)]
enum Step {
    Continue,
    BranchFrom(proptest::sample::Index),
    Root,
    Blank,
    /// A line cut behind its links: lost, but its place in the tree is known.
    Cut,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => Just(Step::Continue),
        2 => any::<proptest::sample::Index>().prop_map(Step::BranchFrom),
        1 => Just(Step::Root),
        1 => Just(Step::Blank),
        1 => Just(Step::Cut),
    ]
}

/// The file, and for every line that holds a readable entry its number and history, found the slow way.
fn file_and_histories(steps: &[Step]) -> (String, Vec<(u64, String)>) {
    let mut text = format!("{HEADER}\n");
    let mut entries: Vec<String> = Vec::new(); // history of each entry
    let mut expected = Vec::new();
    for (number, step) in (2..).zip(steps) {
        let last = entries.len().checked_sub(1);
        let (parent, cut) = match step {
            Step::Blank => {
                text.push('\n');
                continue;
            }
            Step::Continue => (last, false),
            Step::Cut => (last, true),
            Step::Root => (None, false),
            Step::BranchFrom(index) => (last.map(|_| index.index(entries.len())), false),
        };
        let id = format!("e{}", entries.len());
        let line = user(&id, parent.map(|parent| format!("e{parent}")).as_deref());
        let before = parent.map(|parent| entries[parent].clone()).unwrap_or_default();
        let history = if cut { before } else { format!("{before} {id}").trim_start().to_owned() };
        if cut {
            text.push_str(&line[..line.len() - 20]);
        } else {
            text.push_str(&line);
            expected.push((number, history.clone()));
        }
        text.push('\n');
        entries.push(history);
    }
    (text, expected)
}

proptest! {
    #[test]
    fn every_entry_of_any_tree_sees_exactly_its_ancestors(steps in proptest::collection::vec(step(), 0..80)) {
        let (text, expected) = file_and_histories(&steps);
        let recorder = Recorder::default();
        let report = replayed(text.as_bytes(), &recorder).unwrap();
        let seen: Vec<_> = report.findings.iter().map(|found| (found.line, found.finding.clone())).collect();
        prop_assert_eq!(&seen, &expected);
        prop_assert_eq!(report.events, expected.len() as u64);
        prop_assert_eq!(report.lines, steps.len() as u64 + 1);
        let entries = steps.iter().filter(|step| !matches!(step, Step::Blank)).count();
        prop_assert!(recorder.most_alive() <= 2 + (entries.max(1)).ilog2() as usize, "{}", recorder.most_alive());
    }

    #[test]
    fn cutting_a_file_anywhere_keeps_what_was_found_before(
        steps in proptest::collection::vec(step(), 1..30),
        cut in any::<proptest::sample::Index>(),
    ) {
        let (text, _) = file_and_histories(&steps);
        let whole = replayed(text.as_bytes(), &Recorder::default()).unwrap();
        let cut = cut.index(text.len() + 1);
        let lines = text[..cut].matches('\n').count() as u64;
        match replayed(&text.as_bytes()[..cut], &Recorder::default()) {
            Err(error) => prop_assert_eq!(lines, 0, "{}", error),
            Ok(part) => {
                let before = |report: &Report<String>| -> Vec<_> {
                    let found = report.findings.iter().filter(|found| found.line <= lines);
                    found.map(|found| (found.line, found.event_index, found.finding.clone())).collect()
                };
                prop_assert_eq!(before(&part), before(&whole));
            }
        }
    }

    #[test]
    fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut text = HEADER.as_bytes().to_vec();
        text.push(b'\n');
        text.extend(bytes);
        prop_assert!(replayed(&text, &Recorder::default()).is_ok());
    }
}
