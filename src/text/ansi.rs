//! Takes escape sequences and control characters out of terminal output. Interprets nothing but line endings.
//!
//! Decisions:
//!
//! - Removed: CSI, OSC, DCS, SOS, PM and APC sequences in their 7-bit (`ESC [`) and C1 (`U+009B`) forms, every other
//!   `ESC` sequence, and all control characters except `\n` and `\t`.
//! - A control string ends at its terminator (`ESC \`, `U+009C`, for OSC also BEL), at `CAN`/`SUB`, and at the latest
//!   before the next newline: real ones stay on one line, and one that was cut off must not hide the lines below it.
//!   A CSI sequence ends before a newline for the same reason.
//! - `\r\n` (also `\r\r\n`) is a newline. A lone `\r` followed by text overwrites: only what follows the last `\r` of a
//!   line is kept, which is what a progress bar leaves on the screen.

use std::borrow::Cow;

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const DEL: u8 = 0x7f;
/// First byte of every UTF-8 encoded C1 control (`U+0080`–`U+009F`), and of `U+00A0`–`U+00BF`.
const C2: u8 = 0xc2;

/// The text without escape sequences and control characters. Borrowed when there are none.
///
/// Linear in the input; the result contains no control character but `\n` and `\t`, so it is a fixed point.
pub fn strip(text: &str) -> Cow<'_, str> {
    match next_special(text.as_bytes(), 0) {
        None => Cow::Borrowed(text),
        Some(first) => Cow::Owned(strip_from(text, first, usize::MAX, String::new())),
    }
}

/// As [`strip`], with a buffer for what is not borrowed.
pub fn strip_in<'a>(text: &'a str, buffer: &'a mut String) -> &'a str {
    match next_special(text.as_bytes(), 0) {
        None => text,
        Some(first) => {
            *buffer = strip_from(text, first, usize::MAX, std::mem::take(buffer));
            buffer
        }
    }
}

/// As [`strip`], cut to `limit` bytes at a character boundary; reads no further than to the end of the line of the cut.
pub fn strip_to(text: &str, limit: usize) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let cut = text.floor_char_boundary(limit);
    let line = memchr::memchr(b'\n', &bytes[cut..]).map_or(bytes.len(), |length| cut + length);
    // With the character across the limit: as a C1 control it takes no room.
    let first = next_special(&bytes[..text.ceil_char_boundary(limit)], 0);
    // The rest of the line matters only if it overwrites the line.
    let first = first.or_else(|| memchr::memchr(b'\r', &bytes[cut..line]).and_then(|_| next_special(bytes, cut)));
    match first {
        None => Cow::Borrowed(&text[..cut]),
        Some(first) => Cow::Owned(strip_from(text, first, limit, String::new())),
    }
}

fn strip_from(text: &str, first: usize, limit: usize, out: String) -> String {
    let bytes = text.as_bytes();
    let mut screen = Screen::new(limit, bytes.len(), out);
    let mut copied = 0;
    let mut next = Some(first);
    loop {
        let end = next.unwrap_or(bytes.len());
        screen.print(&text[copied..end]);
        let Some(at) = next.filter(|_| !screen.done) else { return screen.out };
        copied = match bytes[at] {
            b'\r' => {
                screen.returned = true;
                at + 1
            }
            ESC => after_escape(bytes, at),
            C2 => after_c1(bytes, at),
            _ => at + 1,
        };
        next = next_special(bytes, copied);
    }
}

/// What is printed, up to `limit` bytes.
struct Screen {
    out: String,
    limit: usize,
    /// A carriage return came and nothing behind it yet.
    returned: bool,
    /// The limit is reached on the current line, which may still be overwritten.
    full: bool,
    /// The limit is reached for good.
    done: bool,
}

impl Screen {
    fn new(limit: usize, length: usize, mut out: String) -> Self {
        out.clear();
        out.reserve(limit.min(length));
        Self { out, limit, returned: false, full: false, done: false }
    }

    fn print(&mut self, segment: &str) {
        if segment.is_empty() {
            return;
        }
        if self.returned {
            if !segment.starts_with('\n') {
                // Sought only now: most text has no carriage return, and what is passed over here is dropped.
                let line_start = memchr::memrchr(b'\n', self.out.as_bytes()).map_or(0, |newline| newline + 1);
                self.out.truncate(line_start);
                self.full = false;
            }
            self.returned = false;
        }
        let room = if self.full { 0 } else { self.limit - self.out.len() };
        let fits = segment.floor_char_boundary(room);
        self.out.push_str(&segment[..fits]);
        if fits < segment.len() {
            self.full = true;
            self.done = memchr::memchr(b'\n', &segment.as_bytes()[fits..]).is_some();
        }
    }
}

/// Whether a byte can begin something to remove. `U+00A0`–`U+00BF` share their first byte with C1 and are sorted out
/// by [`next_special`].
const fn special(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\n' && byte != b'\t') || byte == DEL || byte == C2
}

fn next_special(bytes: &[u8], from: usize) -> Option<usize> {
    const BLOCK: usize = 64;
    /// Coloured text has its next sequence a few words on; only behind that whole blocks pay.
    const NEAR: usize = 32;
    let mut at = from;
    let mut near = from + NEAR;
    loop {
        // Branch-free over a block, so that the compiler can use vector compares.
        while at >= near
            && let Some(block) = bytes.get(at..at + BLOCK)
        {
            if block.iter().fold(false, |hit, &byte| hit | special(byte)) {
                near = at + BLOCK;
                break;
            }
            at += BLOCK;
        }
        let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else { break };
        let mut hits = suspects(u64::from_le_bytes(*chunk));
        while hits != 0 {
            let position = at + (hits.trailing_zeros() / 8) as usize;
            if begins(bytes, position) {
                return Some(position);
            }
            hits &= hits - 1;
        }
        at += 8;
    }
    (at.min(bytes.len())..bytes.len()).find(|&position| begins(bytes, position))
}

/// Whether something to remove begins at `at`.
fn begins(bytes: &[u8], at: usize) -> bool {
    special(bytes[at]) && (bytes[at] != C2 || matches!(bytes.get(at + 1), Some(0x80..=0x9f)))
}

/// The high bits of those of eight bytes that may be [`special`]: control characters (newline and tab among them), `DEL`
/// and [`C2`]. No carry passes from one byte to the next.
const fn suspects(eight: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOW: u64 = ONES * 0x7f;
    const HIGH: u64 = ONES * 0x80;
    const fn not_zero(eight: u64) -> u64 {
        ((eight & LOW) + LOW) | eight
    }
    let control = !(((eight & LOW) + ONES * 0x60) | eight);
    let del = !not_zero(eight ^ (ONES * DEL as u64));
    let c2 = !not_zero(eight ^ (ONES * C2 as u64));
    (control | del | c2) & HIGH
}

/// `at` is an `ESC`; the position behind its sequence.
fn after_escape(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at + 1) {
        Some(b'[') => after_csi(bytes, at + 2),
        Some(b']') => after_string(bytes, at + 2, true),
        Some(b'P' | b'X' | b'^' | b'_') => after_string(bytes, at + 2, false),
        _ => {
            let mut end = at + 1;
            while matches!(bytes.get(end), Some(0x20..=0x2f)) {
                end += 1;
            }
            if matches!(bytes.get(end), Some(0x30..=0x7e)) { end + 1 } else { end }
        }
    }
}

/// `at` is the first byte of a C1 control; the position behind it and what it introduces.
fn after_c1(bytes: &[u8], at: usize) -> usize {
    match bytes[at + 1] {
        0x9b => after_csi(bytes, at + 2),
        0x9d => after_string(bytes, at + 2, true),
        0x90 | 0x98 | 0x9e | 0x9f => after_string(bytes, at + 2, false),
        _ => at + 2,
    }
}

fn after_csi(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = bytes.get(at) {
        match byte {
            0x40..=0x7e => return at + 1,
            b'\n' | b'\r' | ESC | 0x80.. => return at,
            CAN | SUB => return at + 1,
            _ => at += 1,
        }
    }
    at
}

fn after_string(bytes: &[u8], mut at: usize, bell_ends: bool) -> usize {
    while let Some(&byte) = bytes.get(at) {
        match byte {
            BEL if bell_ends => return at + 1,
            CAN | SUB => return at + 1,
            // `ESC \` is removed as a sequence of its own.
            b'\n' | ESC => return at,
            C2 if bytes.get(at + 1) == Some(&0x9c) => return at,
            _ => at += 1,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_text_is_borrowed() {
        for text in ["", "plain\ttext\nwith lines", "Zürich → 東京 « » \u{a0}"] {
            assert!(matches!(strip(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn sequences_of_every_kind_are_removed() {
        for (text, expected) in [
            ("\x1b[1;31mred\x1b[0m", "red"),
            ("\x1b[38:2::1:2:3mred\x1b[m", "red"),
            ("\x1b[?25lhidden\x1b[?25h", "hidden"),
            ("a\x1b[2Kb\x1b[10Cc", "abc"),
            ("\x1b]0;title\x07text", "text"),
            ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1bPq#0;2;0\x1b\\after", "after"),
            ("\x1b_Gpayload\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\z", "z"),
            ("\x1b(Bascii\x1b7\x1b8\x1b=", "ascii"),
            ("\u{9b}31mred\u{9b}0m", "red"),
            ("\u{9d}0;title\u{9c}text\u{90}q\u{9c}", "text"),
            ("a\u{85}b\u{8d}c", "abc"),
            ("bell\x07 back\x08 nul\0 del\x7f", "bell back nul del"),
            ("\x1b\x1b[1mx", "x"),
            ("\x1bé", "é"),
            ("\x1b[é", "é"),
        ] {
            assert_eq!(strip(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_was_cut_off_hides_no_later_line() {
        assert_eq!(strip("\x1b]0;no end\nnext"), "\nnext");
        assert_eq!(strip("\x1bPno end\nnext"), "\nnext");
        assert_eq!(strip("\x1b[12;\nnext"), "\nnext");
        assert_eq!(strip("end\x1b"), "end");
        assert_eq!(strip("end\x1b["), "end");
        assert_eq!(strip("end\x1b]8;;"), "end");
    }

    #[test]
    fn carriage_returns_end_or_overwrite_lines() {
        for (text, expected) in [
            ("a\r\nb\r\n", "a\nb\n"),
            ("a\r\r\nb", "a\nb"),
            ("10%\r50%\r100%\ndone", "100%\ndone"),
            ("10%\r\x1b[K100%", "100%"),
            ("kept\r", "kept"),
            ("first\nlong line\rx", "first\nx"),
        ] {
            assert_eq!(strip(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_cut_reads_no_further_than_its_line() {
        assert_eq!(strip_to("aé", 2), "a");
        assert_eq!(strip_to("\x1b[1maéb", 2), "a");
        assert_eq!(strip_to("abcdef\rxy\nz", 4), "xy\nz");
        assert_eq!(strip_to("abcdef\nxy", 4), "abcd");
        assert!(matches!(strip_to("abcdef\n\x1b[1m", 4), Cow::Borrowed("abcd")));
    }

    fn soup() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[a-z0-9;:?!\\[\\]()\\\\ ]{0,4}",
            prop::sample::select(vec![
                "\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b_", "\x1b\\", "\x07", "\x18", "\u{9b}", "\u{9d}", "\u{9c}",
                "\u{90}", "\r", "\r\n", "\n", "\t", "m", "é", "→", "\u{a0}", "\0", "\x7f",
            ])
            .prop_map(str::to_owned),
        ];
        prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn nothing_that_acts_on_a_terminal_is_left(text in soup()) {
            let stripped = strip(&text);
            prop_assert!(stripped.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'), "{:?}", stripped);
            prop_assert_eq!(strip(&stripped), stripped.as_ref());
        }

        #[test]
        fn a_cut_is_the_beginning_of_the_whole(text in soup(), limit in 0..40_usize) {
            let whole = strip(&text);
            prop_assert_eq!(strip_to(&text, limit), &whole[..whole.floor_char_boundary(limit)]);
        }

        /// The reference drops tabs and carriage returns, ends nothing at a newline, and knows C1 only as raw bytes.
        #[test]
        fn complete_sequences_are_removed_as_the_reference_does(
            pieces in prop::collection::vec(prop_oneof![
                "[a-zA-Zé→ 0-9\n]{0,12}",
                "\x1b\\[[0-9;?]{0,6}[A-Za-z]",
                "\x1b\\][0-9];[a-z:/]{0,9}(\x07|\x1b\\\\)",
                "\x1bP[a-z0-9]{0,6}\x1b\\\\",
                "\x1b[()][AB0]",
                "\x1b[78=>M]",
                "[\x01-\x07\x08\x0e\x0f]",
            ], 0..20)
        ) {
            let text = pieces.concat();
            prop_assert_eq!(strip(&text).into_owned(), strip_ansi_escapes::strip_str(&text));
        }
    }
}
