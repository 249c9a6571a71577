//! Normal forms of commands and of prose.

use super::mask::in_prose;
use super::scan::{View, next_digit};
use crate::text::ansi;

/// A command without escape sequences, trimmed, white space collapsed.
///
/// ```
/// # use pi_watchdog_supervisor::text::normalize_command;
/// assert_eq!(normalize_command("  rg \x1b[1mTOKEN\x1b[0m  src "), "rg TOKEN src");
/// ```
pub fn normalize_command(raw: &str) -> String {
    let mut flat = String::new();
    collapse(&ansi::strip(raw), &mut flat);
    flat
}

/// Prose: as [`normalize_command`], and dates, times, UUIDs, long hex ids and digit runs become placeholders.
pub fn normalize_message(raw: &str) -> String {
    let mut prose = Prose::default();
    prose.normalize(raw);
    prose.out
}

/// Does what [`normalize_message`] does, text after text in the same memory.
#[derive(Debug, Default)]
pub struct Prose {
    flat: String,
    out: String,
}

impl Prose {
    pub fn normalize(&mut self, raw: &str) -> &str {
        collapse(&ansi::strip(raw), &mut self.flat);
        mask_numbers(&self.flat, &mut self.out);
        &self.out
    }
}

fn mask_numbers(text: &str, out: &mut String) {
    let bytes = text.as_bytes();
    out.clear();
    out.reserve(text.len());
    let mut view = View { bytes, floor: 0 };
    let mut at = 0;
    while let Some(digit) = next_digit(bytes, at) {
        let hex = long_hex(&view, digit);
        let (start, end, placeholder) = match (in_prose(&view, digit), hex) {
            (Some(hit), _) => (hit.start, hit.end, hit.kind.placeholder()),
            (None, Some((start, end))) => (start, end, "<id>"),
            (None, None) => (digit, view.digits(digit), "<n>"),
        };
        out.push_str(&text[view.floor..start]);
        out.push_str(placeholder);
        view.floor = end;
        at = end;
    }
    out.push_str(&text[view.floor..]);
}

/// In prose every number is masked, so a hexadecimal word needs no context: seven digits are a short revision.
fn long_hex(view: &View, digit: usize) -> Option<(usize, usize)> {
    const LONGEST: usize = 128;
    let start = view.back_while(digit, |byte| byte.is_ascii_alphanumeric());
    let end = view.skip_up_to(digit, LONGEST + 1, |byte| byte.is_ascii_alphanumeric());
    let word = view.slice(start, end);
    let letters = word.iter().any(u8::is_ascii_alphabetic);
    (letters && (7..=LONGEST).contains(&word.len()) && word.iter().all(u8::is_ascii_hexdigit)).then_some((start, end))
}

/// Replaces `out` by the words of `text`, one blank between them.
fn collapse(text: &str, out: &mut String) {
    out.clear();
    out.reserve(text.len());
    let text = text.trim();
    let bytes = text.as_bytes();
    let mut copied = 0;
    let mut at = 0;
    // Most blanks are single and stay; only what lies between two of the others is copied.
    while let Some(&byte) = bytes.get(at) {
        let white = match byte {
            b' ' if matches!(bytes[at + 1], b'!'..=b'~') => 0,
            b' ' | b'\t'..=b'\r' | 0xc2 | 0xe1..=0xe3 => white(&text[at..]),
            _ => 0,
        };
        if white == 0 {
            at += 1;
            continue;
        }
        out.push_str(&text[copied..at]);
        out.push(' ');
        at += white;
        copied = at;
    }
    out.push_str(&text[copied..]);
}

/// Bytes of white space at the start.
fn white(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{View, long_hex};

    proptest! {
        /// A word is looked at no further than it takes to see that it is too long.
        #[test]
        fn a_longer_look_at_a_word_finds_the_same(text in "([0-9a-f]{1,140}|[0-9a-z]{1,20}| ){1,4}", floor in 0..40_usize) {
            let view = View { bytes: text.as_bytes(), floor: floor.min(text.len()) };
            for at in (view.floor..text.len()).filter(|&at| text.as_bytes()[at].is_ascii_digit()) {
                let start = view.back_while(at, |byte| byte.is_ascii_alphanumeric());
                let end = view.skip_while(at, |byte| byte.is_ascii_alphanumeric());
                let word = &text[start..end];
                let hex = word.bytes().all(|byte| byte.is_ascii_hexdigit()) && (7..=128).contains(&word.len());
                let found = (hex && word.bytes().any(|byte| byte.is_ascii_alphabetic())).then_some((start, end));
                prop_assert_eq!(long_hex(&view, at), found);
            }
        }

        #[test]
        fn collapsed_text_is_its_words(text in r"[ \t\n\x0b\x0c\r\x1c\u{85}\u{a0}\u{1680}\u{2003}\u{2028}\u{3000}\u{200b}ab1é。→]{0,30}") {
            let mut flat = String::from("old");
            super::collapse(&text, &mut flat);
            prop_assert_eq!(flat, text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
}
