//! What kind of error a failed output reports, so that "the same error" holds across arguments.

use super::ansi;
use super::noise::mask;

/// Only the beginning of an output is searched; errors that only come later are found by the outcome's hash.
const MAX_BYTES: usize = 65_536;
/// Characters of a class; the rest of such a line is data.
const MAX_CHARS: usize = 300;

/// The first line that reports an error, noise and numbers masked; codes stay: errno, HTTP status, exit code, `TS2304`.
///
/// Without such a line the first line that says anything; `None` for blank output. Names and paths stay too: the same
/// error about another file is another class, since looking for a file in several places is no loop.
///
/// ```
/// # use pi_watchdog_supervisor::text::error_class;
/// assert_eq!(error_class("> build\nsrc/a.ts(14,7): error TS2322: no").as_deref(), Some("src/a.ts(<n>,<n>): error TS2322: no"));
/// assert_eq!(error_class("cat: f1: no such file"), error_class("cat: f2: no such file"));
/// assert_ne!(error_class("fetch failed: HTTP 403"), error_class("fetch failed: HTTP 429"));
/// ```
pub fn error_class(output: &str) -> Option<String> {
    let text = ansi::strip_to(output, MAX_BYTES);
    let line = error_line(&text)?;
    let mut masked = String::new();
    mask(line, &mut masked);
    Some(mask_numbers(&masked))
}

fn error_line(text: &str) -> Option<&str> {
    let mut first = None;
    let mut status = None;
    let mut traceback = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        // The error of a Python traceback is the first line behind it that is not indented.
        if trimmed.starts_with("Traceback (") {
            traceback = true;
        } else if traceback {
            if !line.starts_with([' ', '\t']) {
                return Some(trimmed);
            }
        } else if is_exit_status(trimmed) {
            status = status.or(Some(trimmed));
        } else if reports_error(trimmed) {
            return Some(trimmed);
        } else {
            first = first.or(Some(trimmed));
        }
    }
    first.or(status)
}

/// What a shell tool adds to the output of any command that fails.
fn is_exit_status(line: &str) -> bool {
    if line.len() > 100 {
        return false;
    }
    let lower = line.to_ascii_lowercase();
    let said = ["exited with", "exit code", "exit status", "exit "].iter().any(|word| lower.contains(word));
    let code = lower.trim_end_matches([')', '.', ']']).bytes().last().is_some_and(|byte| byte.is_ascii_digit());
    said && code && lower.split_whitespace().count() <= 6
}

/// Beginnings of words that report an error. English, as the programs that agents run.
const WORDS: [&str; 27] = [
    "error",
    "exception",
    "fail",
    "fatal",
    "panic",
    "cannot",
    "can't",
    "couldn't",
    "denied",
    "refused",
    "timeout",
    "timed",
    "invalid",
    "unable",
    "undefined",
    "unexpected",
    "unknown",
    "unrecognized",
    "missing",
    "forbidden",
    "unauthorized",
    "abort",
    "segmentation",
    "killed",
    "conflict",
    "unresolved",
    "mismatch",
];
/// What `not` must be followed by to report an error.
const NOT: [&str; 6] = ["found", "ok", "permitted", "allowed", "exist", "recognized"];
const MARKS: [&str; 5] = ["✗", "✘", "✖", "❌", "×"];

fn reports_error(line: &str) -> bool {
    if MARKS.iter().any(|mark| line.starts_with(mark)) {
        return true;
    }
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).peekable();
    let mut before = "";
    while let Some(word) = words.next() {
        let reports = if word.eq_ignore_ascii_case("not") {
            words.peek().is_some_and(|next| NOT.iter().any(|end| starts(next, end)))
        } else if word.eq_ignore_ascii_case("no") {
            words.peek().is_some_and(|next| starts(next, "such"))
        } else {
            begins_as_error(word) || word.ends_with("Error") || word.ends_with("Exception") || is_errno(word)
        };
        // `0 errors`, `no failures` report success.
        let none = before == "0" || before.eq_ignore_ascii_case("no") || before.eq_ignore_ascii_case("without");
        if reports && !none {
            return true;
        }
        before = word;
    }
    false
}

/// Whether a word begins like one of [`WORDS`]; most words are told by their first two letters.
fn begins_as_error(word: &str) -> bool {
    /// By the first letter: the letters behind it, as bits.
    const SECOND: [u32; 32] = {
        let mut second = [0; 32];
        let mut index = 0;
        while index < WORDS.len() {
            let begin = WORDS[index].as_bytes();
            second[(begin[0] & 31) as usize] |= 1 << (begin[1] & 31);
            index += 1;
        }
        second
    };
    let [first, next, ..] = *word.as_bytes() else { return false };
    SECOND[usize::from(first & 31)] >> (next & 31) & 1 == 1 && WORDS.iter().any(|begin| starts(word, begin))
}

fn starts(word: &str, begin: &str) -> bool {
    word.as_bytes().get(..begin.len()).is_some_and(|head| head.eq_ignore_ascii_case(begin.as_bytes()))
}

/// `ENOENT`, `ECONNREFUSED`, `EACCES`.
fn is_errno(word: &str) -> bool {
    word.len() >= 5 && word.starts_with('E') && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Words before a number that make it a code.
const CODE_WORDS: [&str; 12] =
    ["errno", "code", "status", "http", "exit", "error", "signal", "sqlstate", "curl", "rc", "returned", "exited"];

fn mask_numbers(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    let mut chars = 0;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        chars += 1;
        if chars > MAX_CHARS {
            break;
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            let (number, tail) = rest.split_at(digits);
            out.push_str(if is_code(&word, number, tail) { number } else { "<n>" });
            rest = tail;
            continue;
        }
        if c.is_alphabetic() {
            // The last word before the number; punctuation between does not count, another number does.
            if !out.ends_with(char::is_alphabetic) {
                word.clear();
            }
            word.push(c);
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// `HTTP 403`, `[Errno 2]`, `exit code 1`, `403 Forbidden`, `TS2304`, `E0308`.
fn is_code(before: &str, number: &str, after: &str) -> bool {
    let glued = before.len() <= 5 && before.bytes().all(|byte| byte.is_ascii_uppercase()) && !before.is_empty();
    let named = CODE_WORDS.iter().any(|word| before.eq_ignore_ascii_case(word));
    let short = number.len() <= 5;
    let http = number.len() == 3
        && matches!(number.as_bytes()[0], b'4' | b'5')
        && HTTP_REASONS.iter().any(|reason| starts(after.trim_start(), reason));
    short && (named || http || glued && number.len() >= 3)
}

const HTTP_REASONS: [&str; 14] = [
    "bad request",
    "unauthorized",
    "forbidden",
    "not found",
    "method",
    "request timeout",
    "conflict",
    "gone",
    "too many",
    "internal",
    "bad gateway",
    "service unavailable",
    "gateway",
    "client error",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn class(output: &str) -> String {
        error_class(output).unwrap_or_default()
    }

    #[test]
    fn the_first_error_line_is_the_class() {
        for (output, expected) in [
            (
                "> app@1.0.0 build\n> tsc\n\nsrc/a.ts(14,7): error TS2322: no\nsrc/b.ts(1,1): error TS1: x",
                "src/a.ts(<n>,<n>): error TS2322: no",
            ),
            (
                "  Cell In[4], line 49\n    x = (\n        ^\nSyntaxError: incomplete input",
                "SyntaxError: incomplete input",
            ),
            ("running 3 tests\ntest a ... ok\ntest b ... FAILED\n", "test b ... FAILED"),
            ("0 errors, 2 warnings\nfatal: not a git repository", "fatal: not a git repository"),
            (
                "ENOENT: no such file or directory, access 'a.json'",
                "ENOENT: no such file or directory, access 'a.json'",
            ),
            ("✓ one\n✗ two (expected 10, got 11)", "✗ two (expected <n>, got <n>)"),
            (
                "\x1b[31mbash: foo: command not found\x1b[0m\n\nCommand exited with code 127",
                "bash: foo: command not found",
            ),
            (
                "Traceback (most recent call last):\n  File \"error.py\", line 3, in <module>\n    main()\nValueError: bad state at a.py:12",
                "ValueError: bad state at a.py:<n>",
            ),
        ] {
            assert_eq!(class(output), expected, "{output:?}");
        }
    }

    #[test]
    fn without_an_error_line_the_first_line_counts_and_the_exit_status_only_if_alone() {
        assert_eq!(class("6 problems\nmore\n\nCommand exited with code 1"), "<n> problems");
        assert_eq!(class("\n\nCommand exited with code 1\n"), "Command exited with code 1");
        assert_eq!(error_class(" \n\t\n"), None);
        assert_eq!(error_class(""), None);
    }

    #[test]
    fn numbers_are_masked_and_codes_are_not() {
        for (left, right) in [
            ("cat: missing0: No such file", "cat: missing7: No such file"),
            ("error at line 41", "error at line 52"),
            ("timed out at 10:00:00 (attempt 0)", "timed out at 11:01:02 (attempt 3)"),
            ("4 tests FAILED", "3 tests FAILED"),
            ("request timed out after 3.2s", "request timed out after 900ms"),
        ] {
            assert_eq!(class(left), class(right));
        }
        for (left, right) in [
            ("[Errno 2] error", "[Errno 13] error"),
            ("fetch failed: HTTP 403", "fetch failed: HTTP 429"),
            ("failed with status code 500", "failed with status code 503"),
            ("403 Forbidden", "404 Not Found"),
            ("process failed: exit code 1", "process failed: exit code 2"),
            ("error TS2304: x", "error TS2339: x"),
            ("error[E0308]: x", "error[E0382]: x"),
            ("curl: (7) Failed to connect", "curl: (28) Failed to connect"),
            ("ENOENT: a", "EACCES: a"),
            ("cannot open a.txt", "cannot open b.txt"),
        ] {
            assert_ne!(class(left), class(right));
        }
    }

    #[test]
    fn a_class_is_short_whatever_the_output() {
        assert!(class(&format!("error {}", "é".repeat(100_000))).chars().count() <= MAX_CHARS);
        assert!(class(&format!("{}\nerror", "x\n".repeat(1_000_000))).len() <= MAX_CHARS);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in any::<String>()) {
            if let Some(class) = error_class(&text) {
                prop_assert!(!class.is_empty() && !class.contains('\n'));
            }
        }
    }
}
