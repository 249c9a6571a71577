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
    collapse(&ansi::strip(raw))
}

/// Prose: as [`normalize_command`], and dates, times, UUIDs, long hex ids and digit runs become placeholders.
pub fn normalize_message(raw: &str) -> String {
    let text = collapse(&ansi::strip(raw));
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
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
    out
}

/// In prose every number is masked, so a hexadecimal word needs no context: seven digits are a short revision.
fn long_hex(view: &View, digit: usize) -> Option<(usize, usize)> {
    let start = view.back_while(digit, |byte| byte.is_ascii_alphanumeric());
    let end = view.skip_while(digit, |byte| byte.is_ascii_alphanumeric());
    let word = view.slice(start, end);
    let letters = word.iter().any(u8::is_ascii_alphabetic);
    (letters && (7..=128).contains(&word.len()) && word.iter().all(u8::is_ascii_hexdigit)).then_some((start, end))
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
