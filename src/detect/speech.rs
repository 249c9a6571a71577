//! What a message without a tool call does: announce work, ask something, or answer. Read from the common phrases of
//! English coding agents; other languages are taken for answers.

use std::sync::LazyLock;

use regex::Regex;

/// Characters of a message that are looked at, from its end: what comes next stands last.
const LOOKED_AT: usize = 600;
/// A longer message carries its result itself.
const BRIEF: usize = 600;

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
            pattern(
                r"(?i)\b(?:i'?ll|i will|i am going to|i'm going to|let me|about to)\b|\b(?:i am|i'm) (?:now )?(?:working|continuing|proceeding|starting|moving|resuming|beginning|going|implementing|editing|writing|fixing|running|creating|updating|checking|reading|testing|building|adding|making|preparing|looking|investigating|analy[sz]ing|refactoring|applying)\b|^\W*(?:now )?(?:continuing|proceeding|working|starting|resuming|moving)\b|\b(?:in progress|under ?way)\b",
            )
        });
        // An offer, or a wait for the person: nothing is announced that the agent could do now.
        static OFFERS: LazyLock<Regex> = LazyLock::new(|| {
            pattern(
                r"(?i)\b(?:let me know|tell me|feel free|happy to|glad to)\b|\b(?:if|once|when|whenever|unless|until|as soon as) (?:you|that|this|it|needed|anything|something)\b|\b(?:i'?ll|i will) (?:wait|be here|stand by|leave|stop|stay)\b",
            )
        });
        static CLAIMS: LazyLock<Regex> = LazyLock::new(|| {
            pattern(
                r"(?i)\b(?:i have|i've|i) (?:now |just |already )?(?:created|edited|updated|written|wrote|fixed|changed|deleted|removed|added|read|verified|ran|run|saved|implemented)\b",
            )
        });
        static SHOWS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)```|\b(?:here is|here's|here are|below)\b"));
        let text = text.trim();
        let start = text.len().saturating_sub(LOOKED_AT);
        let last = last_sentence(&text[text.ceil_char_boundary(start)..]);
        Self {
            announces: ANNOUNCES.is_match(last) && !OFFERS.is_match(last),
            asks: last.ends_with('?') || last.ends_with('？'),
            claims: CLAIMS.is_match(text) && text.len() <= BRIEF && !SHOWS.is_match(text),
        }
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}

/// What stands last says what comes next. A full stop within a name or a number ends no sentence.
fn last_sentence(text: &str) -> &str {
    let bytes = text.trim_end().as_bytes();
    let end = bytes.len();
    let ends = |at: usize| {
        matches!(bytes[at], b'\n') || matches!(bytes[at], b'.' | b'!' | b'?') && matches!(bytes[at + 1], b' ' | b'\n')
    };
    let from = (0..end.saturating_sub(1)).rev().find(|&at| ends(at)).map_or(0, |at| at + 1);
    text[from..end].trim()
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
        for text in [
            "They are values. Let me know if you want an example.",
            "If you like, I'll show you a longer one.",
            "I'm assuming the 2021 edition.",
            "I'll explain with an example.\n\n1. first a\n2. then b\n\nThat is all.",
            "Done. I'll wait for your answer.",
        ] {
            assert!(!Speech::of(text).announces, "{text}");
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
        assert!(!Speech::of("I've updated the paragraph. Here is the new version:\n\nDear team, …").claims);
    }
}
