//! What a message without a tool call does: announce work, ask something, or answer. Read from the common phrases of
//! English coding agents; other languages are taken for answers.

use std::sync::LazyLock;

use regex::Regex;

/// Characters of a message that are looked at, from its end: what comes next stands last.
const LOOKED_AT: usize = 600;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Speech {
    pub announces: bool,
    pub asks: bool,
    /// Says that work was done; without a tool call it was not.
    pub claims: bool,
}

impl Speech {
    pub fn of(text: &str) -> Self {
        static ANNOUNCES: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(
                r"(?i)\b(?:i'?ll|i will|i am going to|i'm going to|let me|about to)\b|\b(?:i am|i'm) (?:now )?\w+ing\b|^\W*(?:now )?(?:continuing|proceeding|working|starting|resuming|moving)\b|\b(?:in progress|under ?way)\b",
            )
            .expect("a valid pattern")
        });
        static CLAIMS: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"(?i)\b(?:i have|i've|i) (?:now |just |already )?(?:created|edited|updated|written|wrote|fixed|changed|deleted|removed|added|read|verified|ran|run|saved|implemented)\b")
                .expect("a valid pattern")
        });
        let text = text.trim();
        let start = text.len().saturating_sub(LOOKED_AT);
        let tail = &text[text.ceil_char_boundary(start)..];
        Self {
            announces: ANNOUNCES.is_match(tail),
            asks: tail.ends_with('?') || tail.ends_with('？'),
            claims: CLAIMS.is_match(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_are_told_from_answers() {
        for text in [
            "I'll make that change now.",
            "Continuing with the parser.",
            "I am proceeding with step 2.",
            "The migration is under way.",
            "Let me check the file.",
        ] {
            assert!(Speech::of(text).announces, "{text}");
        }
        for text in ["The function returns 3.", "Done.", "It will be slow.", "Use `npm test` for that.", "你好", ""] {
            assert!(!Speech::of(text).announces, "{text}");
        }
    }

    #[test]
    fn claims_of_finished_work_are_seen() {
        assert!(Speech::of("I read the configs back and both are confirmed.").claims);
        assert!(Speech::of("I have now edited the file.").claims);
        assert!(!Speech::of("The file was edited by somebody.").claims);
    }
}
