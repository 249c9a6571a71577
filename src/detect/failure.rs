//! What kind of failure a failed result is, and whether a successful one is an empty answer.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::{error_class, fast, next_digit};

/// Bytes of an output that are looked at for its error; error texts stand at the beginning or at the end.
const LOOKED_AT: usize = 4096;
/// Longest answer that can mean "nothing".
const EMPTY_ANSWER: usize = 80;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// The normalised first error line: equal for the same error with other numbers.
    pub class: u128,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The tool does not exist, or the arguments do not validate: asking again cannot help.
    Unknown,
    /// A person or a policy refused.
    Denied,
    /// The system refused: another user, another mode or another place may be allowed.
    Forbidden,
    Other,
}

impl Failure {
    /// `None` when the output says nothing of the cause (only an exit code, or nothing at all).
    pub fn of(output: &str) -> Option<Self> {
        let head = &output[..output.floor_char_boundary(LOOKED_AT)];
        let class = error_class(head)?;
        if is_exit_code(&class) {
            return None;
        }
        Some(Self { class: fast(class.as_bytes()), kind: kind_of(head) })
    }
}

/// `Command exited with code 1` and nothing else: a grep without hits looks like that.
fn is_exit_code(class: &str) -> bool {
    let lower = class.to_ascii_lowercase();
    lower.is_empty()
        || (lower.starts_with("command exited with code")
            || lower.starts_with("exit code")
            || lower.starts_with("(no output"))
            && !lower.contains(':')
}

fn kind_of(text: &str) -> Kind {
    let first = text.trim_start().split('\n').next().unwrap_or_default().to_lowercase();
    let says = |marks: &[&str]| marks.iter().any(|mark| first.contains(mark));
    let unknown_tool = first.starts_with("tool ") && first.trim_end().ends_with("not found");
    let unknown = [
        "unknown tool",
        "no such tool",
        "tool not found",
        "unknown function",
        "is not a registered tool",
        "unknown command:",
    ];
    let invalid = [
        "validation failed",
        "invalid params",
        "invalid arguments",
        "invalid parameters",
        "missing argument",
        "missing required",
        "missing parameter",
        "missing field",
        "required property",
        "schema validation",
    ];
    let denied = [
        "permission to use",
        "not allowed",
        "was declined",
        "was denied",
        "was rejected",
        "denied by",
        "rejected by",
        "refused by",
        "blocked by",
        "forbidden by",
        "user denied",
        "user rejected",
        "user declined",
        "requires approval",
    ];
    if unknown_tool || says(&unknown) || says(&invalid) {
        Kind::Unknown
    } else if says(&denied) {
        Kind::Denied
    } else if says(&["permission denied", "not permitted", "access denied", "access is denied"]) {
        Kind::Forbidden
    } else {
        Kind::Other
    }
}

/// Whether an answer says that there is nothing.
pub fn is_empty_answer(output: &str) -> bool {
    let text = output.trim();
    if text.len() > EMPTY_ANSWER {
        return false;
    }
    // A failing search adds its exit code.
    let text = text.split("\n\n").next().unwrap_or_default().trim().to_ascii_lowercase();
    let text = text.trim_matches(['(', ')', '.', '!', ' ']);
    let bare = text.is_empty()
        || matches!(
            text,
            "[]" | "{}" | "null" | "none" | "\"\"" | "no output" | "not found" | "nothing found" | "empty" | "0"
        )
        || text.starts_with("command exited with code");
    let things = ["match", "result", "hit", "file", "item", "entr", "row", "record", "document"];
    let counted = ["no ", "0 ", "zero ", "found no ", "found 0 ", "no more "]
        .iter()
        .any(|none| text.strip_prefix(none).is_some_and(|rest| things.iter().any(|thing| rest.starts_with(thing))));
    bare || counted || text.starts_with("no matches")
}

/// Longest answer that can mean "not yet".
const NOT_YET: usize = 300;

/// Whether a brief answer says that what was asked for is still under way: the question was a poll, whatever its name.
pub fn is_unfinished(output: &str) -> bool {
    static UNFINISHED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"(?ix) \b (?:is|are|still|currently) \s (?:still \s)? (?:running|working|pending|processing|in \s progress|queued) \b
              | \b not \s (?:yet \s)? (?:ready|finished|complete|completed|done) \b
              | \b (?:status|state) "? \s* [:=] \s* "? (?:running|pending|queued|in[_\ ]progress|processing|waiting) \b
              | ^ \W* (?:running|pending|queued|in[_\ ]progress|processing|waiting) (?: \s* \(? [\d.]+ \s* % \)? )? \W* $
              | \b check \s back \b"#,
        )
        .expect("a valid pattern")
    });
    // Beyond ASCII the pattern's word boundaries cost ten times as much; each of its branches has one of these.
    static MAY_BE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new("(?i-u:run|wor|pend|pro|queue|ready|fini|complete|done|wait|chec)").expect("a valid pattern")
    });
    let text = output.trim();
    text.len() <= NOT_YET && (text.is_ascii() || MAY_BE.is_match(text)) && UNFINISHED.is_match(text)
}

/// What a failing check says, of its noise-masked output: with places masked (an edit moves lines) and everything else
/// kept, as a new count or another failing case is progress.
pub fn check_signature(masked: &str) -> u128 {
    let mut flat = String::with_capacity(masked.len());
    let mut rest = masked;
    while let Some(at) = next_digit(rest.as_bytes(), 0) {
        let before = &rest[..at];
        let digits = rest[at..].bytes().take_while(u8::is_ascii_digit).count();
        flat.push_str(before);
        let word = before.trim_end().as_bytes();
        let place = before.ends_with([':', '(', ','])
            || word.len() >= 4 && word[word.len() - 4..].eq_ignore_ascii_case(b"line");
        flat.push_str(if place { "_" } else { &rest[at..at + digits] });
        rest = &rest[at + digits..];
    }
    flat.push_str(rest);
    fast(flat.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(output: &str) -> Option<Kind> {
        Failure::of(output).map(|failure| failure.kind)
    }

    #[test]
    fn failures_that_cannot_heal_are_told_from_others() {
        assert_eq!(kind("Tool read_doc not found"), Some(Kind::Unknown));
        assert_eq!(kind("Validation failed for tool \"read\": path: missing"), Some(Kind::Unknown));
        assert_eq!(kind("missing argument: content"), Some(Kind::Unknown));
        assert_eq!(kind("User rejected the command"), Some(Kind::Denied));
        assert_eq!(kind("rm: cannot remove 'x': Permission denied"), Some(Kind::Forbidden));
        assert_eq!(kind("File src/a.rs not found"), Some(Kind::Other));
        assert_eq!(kind("TypeError: x is undefined"), Some(Kind::Other));
    }

    #[test]
    fn an_exit_code_alone_is_no_error_class() {
        assert_eq!(kind("Command exited with code 1"), None);
        assert_eq!(kind("(no output)\n\nCommand exited with code 1"), None);
        assert_eq!(kind(""), None);
    }

    #[test]
    fn answers_that_say_nothing_is_there() {
        for text in [
            "",
            "  \n",
            "[]",
            "{}",
            "No matches found",
            "(no output)",
            "0 results",
            "Found 0 files.",
            "no hits",
            "Command exited with code 1",
            "(no output)\n\nCommand exited with code 1",
            "not found",
        ] {
            assert!(is_empty_answer(text), "{text:?}");
        }
        for text in [
            "[1]",
            "10 results",
            "no",
            "none of the tests failed",
            "ok",
            "0.5",
            "no file was harmed by this long sentence, which says a lot more than that there is nothing to see",
        ] {
            assert!(!is_empty_answer(text), "{text:?}");
        }
    }

    #[test]
    fn a_check_fails_in_the_same_way_when_only_places_moved() {
        let signature = |text| {
            let mut masked = String::new();
            crate::text::mask(text, &mut masked);
            check_signature(&masked)
        };
        assert_eq!(signature("a.py:12: ValueError: bad"), signature("a.py:14: ValueError: bad"));
        assert_eq!(signature("src/a.ts(3,1): TS2304"), signature("src/a.ts(7,22): TS2304"));
        assert_eq!(signature("1 failed in 0.40s"), signature("1 failed in 0.52s"));
        assert_ne!(signature("3 failed, 2 passed"), signature("2 failed, 3 passed"));
        assert_ne!(signature("x case 0"), signature("x case 1"));
        assert_ne!(signature("TS2304"), signature("TS2339"));
    }

    #[test]
    fn answers_that_say_not_yet() {
        for text in [
            "⏳ still running",
            "running",
            "running (12%)",
            "Agent is still running. Check back later.",
            "status: running",
            "{\"status\": \"pending\"}",
            "Not ready",
            "(no new output) still running",
        ] {
            assert!(is_unfinished(text), "{text:?}");
        }
        for text in
            ["running 3 tests", "done", "Todos updated (3 pending)", "statuses: 4", "server running on 3000", ""]
        {
            assert!(!is_unfinished(text), "{text:?}");
        }
    }
}
