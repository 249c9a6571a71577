//! The labelled cases: streamed pieces and single answers of a trace. They lie outside the repository.

use std::path::PathBuf;

use serde_json::Value;

use super::Stream;

fn directory() -> PathBuf {
    let default = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/cases");
    std::env::var_os("CASES_DIR").map_or_else(default, PathBuf::from)
}

/// Event indices at which a trace's assistant texts are found to go round. Pieces that follow each other are one
/// message; anything else ends it.
fn findings(events: &[Value]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut stream = Stream::default();
    for (index, event) in events.iter().enumerate() {
        let text = event["text"].as_str().unwrap_or("");
        let partial = event["type"] == "assistant" && event["partial"] == true;
        if partial {
            found.extend(stream.feed(text).map(|_| index));
            continue;
        }
        stream.reset();
        if event["type"] == "assistant" {
            found.extend(stream.feed(text).or_else(|| stream.finish()).map(|_| index));
            stream.reset();
        }
    }
    found
}

#[test]
fn holds_every_labelled_case() {
    let directory = directory();
    if !directory.is_dir() {
        eprintln!("skipped: no cases at {}", directory.display());
        return;
    }
    let mut wrong = Vec::new();
    let mut held = 0;
    for file in ["reports.jsonl", "scenarios.jsonl"] {
        let text = std::fs::read_to_string(directory.join(file)).unwrap();
        for case in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            let events = case["events"].as_array().unwrap();
            let texts: Vec<&Value> = events.iter().filter(|event| event["type"] == "assistant").collect();
            if texts.is_empty() {
                continue;
            }
            let streamed = texts.iter().any(|event| event["partial"] == true);
            // A case is about repetition within a message when it has pieces of one, or nothing but one message that is whole.
            let cut_off = texts.iter().any(|event| event["stopReason"] == "toolUse");
            let about_text = streamed || (events.len() == 2 && !cut_off);
            let expected = match (case["label"].as_str(), case["intervention"].as_str()) {
                (Some("stuck"), _) => about_text,
                (Some("intervention"), Some("stream_loop")) => true,
                (Some("either"), _) => continue,
                _ => false,
            };
            let index = |key: &str| case[key].as_u64().map(|index| usize::try_from(index).unwrap());
            let window = index("notBefore").filter(|_| expected).unwrap_or(0)
                ..=index("latest").filter(|_| expected).unwrap_or(usize::MAX);
            let found = findings(events);
            let right = match found.first() {
                Some(first) => expected && window.contains(first),
                None => !expected,
            };
            if !right {
                wrong.push(format!("{} {}: {:?} for {:?}", case["id"], case["class"], found, window));
            }
            held += 1;
        }
    }
    assert!(held > 20, "only {held} cases with texts");
    assert!(wrong.is_empty(), "{} of {held} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
