//! Normal forms in which equal means "the same for a supervisor": commands, prose and outputs.

use std::sync::LazyLock;

use regex::Regex;

use super::ansi;

/// A command without escape sequences, trimmed, white space collapsed.
pub fn normalize_command(raw: &str) -> String {
    collapse(&ansi::strip(raw))
}

fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Prose: as [`normalize_command`], and dates, times, UUIDs, long hex ids and digit runs become placeholders.
pub fn normalize_message(raw: &str) -> String {
    static NOISE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\b[0-9a-f]{12,}\b|\d+").expect("valid")
    });
    NOISE.replace_all(&collapse(&ansi::strip(raw)), "<n>").into_owned()
}

/// Replaces `out` by `raw` with escape sequences removed and noise masked.
pub fn mask(raw: &str, out: &mut String) {
    static NOISE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?P<time>\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b)",
            r"|(?P<dur>\b\d+(?:\.\d+)?\s?(?:ms|s|sec|seconds|min|minutes)\b)",
            r"|(?P<id>\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b)",
            r"|(?P<addr>\b0x[0-9a-fA-F]{9,}\b)",
        ))
        .expect("valid")
    });
    out.clear();
    out.push_str(&NOISE.replace_all(&ansi::strip(raw), |found: &regex::Captures| {
        let kind = ["time", "dur", "id", "addr"].into_iter().find(|name| found.name(name).is_some());
        format!("<{}>", kind.unwrap_or("n"))
    }));
}
