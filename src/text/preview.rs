//! Makes text from models and processes safe to show: nothing in it can move a cursor, hide or reorder text.

use super::ansi;

/// Characters of a line unless the caller says otherwise.
pub const MAX_LINE_CHARS: usize = 200;
/// Lines of a quotation unless the caller says otherwise.
pub const MAX_LINES: usize = 10;

/// More than the lines that anybody shows; keeps the work bounded whatever the text.
const MAX_BYTES: usize = 262_144;

const ELLIPSIS: char = '…';

/// The first `lines` lines, sanitised, each at most [`MAX_LINE_CHARS`] characters.
pub fn preview(text: &str, lines: usize) -> String {
    if lines == 0 {
        return String::new();
    }
    // No newline is ever taken out: what comes behind so many of them is not looked at.
    let end = memchr::memchr_iter(b'\n', text.as_bytes()).nth(lines - 1).unwrap_or(text.len());
    let text = ansi::strip_to(&text[..end], MAX_BYTES);
    let mut out = String::new();
    for (index, line) in split(&text).take(lines).enumerate() {
        if index > 0 {
            out.push('\n');
        }
        push_line(&mut out, line, MAX_LINE_CHARS, false);
    }
    out.truncate(out.trim_end().len());
    out
}

/// The text sanitised, without blank lines around it, at most `max_lines` lines of at most `max_chars_per_line`
/// characters; `…` at the end of a line shows that something was cut. Usual limits: [`MAX_LINE_CHARS`], [`MAX_LINES`].
pub fn quote(text: &str, max_chars_per_line: usize, max_lines: usize) -> String {
    let text = ansi::strip_to(text, MAX_BYTES);
    let mut lines = split(&text).skip_while(|line| is_blank(line)).peekable();
    let mut out = String::new();
    for index in 0..max_lines {
        let Some(line) = lines.next() else { break };
        if index > 0 {
            out.push('\n');
        }
        let more = index + 1 == max_lines && lines.any(|line| !is_blank(line));
        push_line(&mut out, line, max_chars_per_line, more);
    }
    out.truncate(out.trim_end().len());
    out
}

/// Foreign text as data within a sentence: one line, cut, in quotes that it cannot close.
pub fn quoted(text: &str) -> String {
    format!("{:?}", quote(text, NAME, 1))
}

/// The name of a tool or a file: bare when it is one plain word, else as data.
pub fn bare(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./@+:~".contains(c);
    if !name.is_empty() && name.len() <= 4 * NAME && name.chars().all(plain) { name.to_owned() } else { quoted(name) }
}

/// Characters of a name that are shown.
const NAME: usize = 80;

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\u{2028}', '\u{2029}'])
}

fn is_blank(line: &str) -> bool {
    line.chars().filter_map(visible).all(char::is_whitespace)
}

/// Appends the visible characters of a line; when it is too long, or `more` follows, the last is an ellipsis.
fn push_line(out: &mut String, line: &str, max_chars: usize, more: bool) {
    let line = line.trim_end();
    // Most lines are short and plain.
    if !more && line.len() <= max_chars && line.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        out.push_str(line);
        return;
    }
    let start = out.len();
    let mut chars = line.chars().filter_map(visible);
    let mut count = 0;
    // Where the text must end if an ellipsis has to follow.
    let mut room = start;
    for c in chars.by_ref().take(max_chars) {
        count += 1;
        if count == max_chars {
            room = out.len();
        }
        out.push(c);
    }
    if max_chars > 0 && (more || chars.next().is_some()) {
        if count == max_chars {
            out.truncate(room);
        }
        out.push(ELLIPSIS);
    }
}

/// What is shown for a character; nothing for those that act on text instead of being text.
fn visible(c: char) -> Option<char> {
    match c {
        '\t' => Some(' '),
        ' '..='~' => Some(c),
        _ if c.is_control() || is_invisible(c) => None,
        _ => Some(c),
    }
}

/// Characters that are not seen and can hide or reorder text, in order: the properties `Default_Ignorable_Code_Point` and
/// `Bidi_Control` of Unicode 17 (`DerivedCoreProperties.txt`, `PropList.txt`: zero width characters and joiners, fillers,
/// variation selectors, tags and what is reserved beside them), line and paragraph separators, the empty Braille cell,
/// annotation marks, format controls of hieroglyphs, the Khitan filler and the null note head. The extension takes out
/// the same by the names of the properties (`shared/plain.js`); a test holds both equal for every code point.
const INVISIBLE: [(char, char); 22] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fdd0}', '\u{fdef}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{16fe4}', '\u{16fe4}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d159}', '\u{1d159}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

fn is_invisible(c: char) -> bool {
    // The last two code points of each plane are no characters.
    if u32::from(c) & 0xfffe == 0xfffe {
        return true;
    }
    let after = INVISIBLE.partition_point(|(first, _)| *first <= c);
    after.checked_sub(1).is_some_and(|index| c <= INVISIBLE[index].1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn short_text_is_quoted_as_it_is() {
        assert_eq!(quote("Zürich → 東京\nline 2", 200, 10), "Zürich → 東京\nline 2");
        assert_eq!(quote("", 200, 10), "");
    }

    #[test]
    fn long_lines_and_long_texts_end_in_an_ellipsis_within_the_limit() {
        assert_eq!(quote("abcdef", 5, 1), "abcd…");
        assert_eq!(quote("abcde", 5, 1), "abcde");
        assert_eq!(quote("éééééé", 5, 1), "éééé…");
        assert_eq!(quote("a\nb\nc", 5, 2), "a\nb…");
        assert_eq!(quote("a\nabcde\nc", 5, 2), "a\nabcd…");
        assert_eq!(quote("a\nb\n\n \n", 5, 2), "a\nb");
        assert_eq!(quote("abc", 0, 5), "");
        assert_eq!(quote("abc", 5, 0), "");
    }

    #[test]
    fn blank_lines_around_are_dropped_and_those_between_stay() {
        assert_eq!(quote("\n  \na\n\nb\n\n", 200, 10), "a\n\nb");
    }

    #[test]
    fn nothing_can_reorder_hide_or_move() {
        assert!(INVISIBLE.is_sorted() && INVISIBLE.iter().all(|(first, last)| first <= last));
        assert_eq!(quote("a\u{202e}b\u{2066}c\u{200b}d\u{feff}e\u{ad}f\u{e0041}g", 200, 10), "abcdefg");
        assert_eq!(quote("\x1b[2J\x1b]0;t\x07x\u{9b}1my\x00\x7f\tz", 200, 10), "xy z");
        assert_eq!(quote("one\u{2028}two\u{2029}three", 200, 10), "one\ntwo\nthree");
        assert_eq!(quote("real\rfake", 200, 10), "fake");
    }

    #[test]
    fn a_preview_is_the_first_lines() {
        assert_eq!(preview("a\nb\nc", 2), "a\nb");
        assert_eq!(preview("a\nb\nc", 0), "");
        assert_eq!(preview("\x1b[1ma\x1b[0m\r\n\r\nb\r\n\r\n", 20), "a\n\nb");
        assert_eq!(preview(&"x".repeat(1000), 1).chars().count(), MAX_LINE_CHARS);
    }

    proptest! {
        #[test]
        fn limits_hold_for_any_text(text in any::<String>(), chars in 0..12_usize, lines in 0..5_usize) {
            let quoted = quote(&text, chars, lines);
            prop_assert!(quoted.lines().count() <= lines);
            prop_assert!(quoted.lines().all(|line| line.chars().count() <= chars));
            prop_assert!(quoted.chars().all(|c| c == '\n' || visible(c) == Some(c)));
        }
    }
}
