//! Traces, one event a line, and labelled cases, one trace a line.

use std::io::{Read, Seek};

use super::lines::Lines;
use super::{Cancel, CaseResult, Cases, Located, Observer, ReplayError, Report, Warnings};
use crate::trace::{Event, EventKind, TraceReader, Usage, read_case};

const TOO_LONG: &str = "too long to be read; it is left out";

pub fn replay<R: Read + Seek, O: Observer>(
    mut lines: Lines<'_, R>,
    observer: &O,
    from: f64,
) -> Result<Report<O::Finding>, ReplayError> {
    let mut observer = observer.clone();
    let mut reader = TraceReader::default();
    let mut found = Vec::new();
    let mut report = Report {
        kind: "trace",
        session_id: None,
        lines: 0,
        events: 0,
        branches: 1,
        findings: Vec::new(),
        warnings: Warnings::default(),
        usage: Usage::default(),
    };
    let mut last_line = 0;
    let mut event_index = 0;
    let mut counts = true;
    while let Some(line) = lines.next()? {
        report.lines += 1;
        let number = line.place.number;
        if line.too_long {
            report.warnings.add(number, TOO_LONG);
        }
        if line.bytes.is_empty() {
            continue;
        }
        let read = reader.read(line.bytes, |event| {
            observer.observe(event, O::gist(event), &mut found);
            counts = event.at >= from;
            if counts {
                report.usage += usage_of(event);
            }
        });
        match read {
            Ok(()) => {}
            Err(_) if !line.ended => {
                report.warnings.add(number, "the last line is cut off: the trace is not complete");
                continue;
            }
            Err(error) => {
                report.warnings.add(number, error.to_string());
                continue;
            }
        }
        if !counts {
            found.clear();
        }
        report.findings.extend(found.drain(..).map(|finding| Located {
            finding,
            event_index,
            line: number,
            entry_id: None,
            branch: None,
        }));
        last_line = number;
        event_index += 1;
        report.events += u64::from(counts);
    }
    if counts {
        observer.finish(&mut found);
    }
    report.findings.extend(found.drain(..).map(|finding| Located {
        finding,
        event_index: event_index.saturating_sub(1),
        line: last_line,
        entry_id: None,
        branch: None,
    }));
    Ok(report)
}

fn usage_of(event: &Event<'_>) -> Usage {
    match &event.kind {
        EventKind::Assistant { usage, .. } => usage.unwrap_or_default(),
        _ => Usage::default(),
    }
}

pub fn replay_cases<R: Read + Seek, O: Observer>(
    mut lines: Lines<'_, R>,
    observer: &O,
) -> Result<Cases<O::Finding>, ReplayError> {
    if lines.size() == 0 {
        return Err(ReplayError::Empty);
    }
    let cancel = lines.cancel();
    let mut cases = Cases { results: Vec::new(), warnings: Warnings::default() };
    while let Some(line) = lines.next()? {
        let number = line.place.number;
        if line.too_long {
            cases.warnings.add(number, TOO_LONG);
        }
        if line.bytes.is_empty() {
            continue;
        }
        let warnings = &mut cases.warnings;
        match read_case(line.bytes, |id, events| case(id, events, number, observer, cancel, warnings)) {
            Ok(result) => cases.results.push(result?),
            Err(error) => cases.warnings.add(number, error.to_string()),
        }
    }
    if cases.results.is_empty() { Err(ReplayError::NoCases) } else { Ok(cases) }
}

fn case<O: Observer>(
    id: &str,
    events: &[&str],
    line: u64,
    observer: &O,
    cancel: &Cancel,
    warnings: &mut Warnings,
) -> Result<CaseResult<O::Finding>, ReplayError> {
    let mut observer = observer.clone();
    let mut reader = TraceReader::default();
    let mut found = Vec::new();
    let mut findings = Vec::new();
    for (index, event) in events.iter().enumerate() {
        cancel.check()?;
        // A broken event keeps its index: the labels of the case count it.
        if let Err(error) = reader.read(event.as_bytes(), |event| observer.observe(event, O::gist(event), &mut found)) {
            warnings.add(line, format!("event {index}: {error}"));
        }
        findings.extend(found.drain(..).map(|finding| (index, finding)));
    }
    observer.finish(&mut found);
    findings.extend(found.drain(..).map(|finding| (events.len().saturating_sub(1), finding)));
    Ok(CaseResult { id: id.to_owned(), findings })
}
