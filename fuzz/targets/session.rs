//! Any bytes as a recorded session, a trace or labelled cases. A file may be garbage; the report of it must not be.

#![no_main]

use std::collections::HashSet;
use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use pi_watchdog_supervisor::detector::Detector;
use pi_watchdog_supervisor::policy::Config;
use pi_watchdog_supervisor::replay::{self, Cores, Scope};
use pi_watchdog_supervisor::trace::{Link, link_of, read_case};

fuzz_target!(|data: &[u8]| {
    let detector = Detector::new(&Config::default());
    // Starting threads would be most of the work.
    let scope = Scope { cores: Cores::One, ..Scope::default() };
    if let Ok(report) = replay::replay(Cursor::new(data), data.len() as u64, &detector, scope) {
        let ends = data.iter().filter(|byte| **byte == b'\n').count() as u64;
        let lines = ends + u64::from(data.last().is_some_and(|last| *last != b'\n'));
        assert_eq!(report.lines, lines, "every line is read once");
        assert!(report.branches >= 1);
        for finding in &report.findings {
            assert!((1..=lines).contains(&finding.line));
            assert!(finding.event_index < report.events.max(1));
            assert_eq!(finding.branch.is_some(), report.branches > 1);
        }
        assert!(report.findings.is_sorted_by_key(|finding| finding.line));
        assert!(report.warnings.listed.iter().all(|warning| (1..=lines).contains(&warning.line)));
        // At most one for the entry and one for the parent that it names.
        assert!(report.warnings.count <= 2 * lines);
        let places: HashSet<_> = report.findings.iter().map(|found| (found.line, found.event_index)).collect();
        assert!(places.len() as u64 <= report.events.max(1), "no event is reported on in two places");
    }
    for line in data.split(|byte| *byte == b'\n') {
        if let Link::Entry { id, .. } = link_of(line) {
            assert!(id.len() <= 3 * line.len());
        }
        let _ = read_case(line, |_, events| events.len());
    }
});
