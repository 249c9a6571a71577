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
    let bytes = text.as_bytes();
    match next_special(bytes, 0) {
        None => Cow::Borrowed(text),
        Some(first) => Cow::Owned(strip_from(text, first)),
    }
}

fn strip_from(text: &str, first: usize) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut line_start = 0;
    let mut overwrite = false;
    let mut copied = 0;
    let mut next = Some(first);
    loop {
        let end = next.unwrap_or(bytes.len());
        push(&mut out, &text[copied..end], &mut line_start, &mut overwrite);
        let Some(at) = next else { return out };
        copied = match bytes[at] {
            b'\r' => {
                overwrite = true;
                at + 1
            }
            ESC => after_escape(bytes, at),
            C2 => after_c1(bytes, at),
            _ => at + 1,
        };
        next = next_special(bytes, copied);
    }
}

fn push(out: &mut String, segment: &str, line_start: &mut usize, overwrite: &mut bool) {
    if segment.is_empty() {
        return;
    }
    if *overwrite {
        if !segment.starts_with('\n') {
            out.truncate(*line_start);
        }
        *overwrite = false;
    }
    let base = out.len();
    out.push_str(segment);
    if let Some(newline) = memchr::memrchr(b'\n', segment.as_bytes()) {
        *line_start = base + newline + 1;
    }
}

/// Whether a byte can begin something to remove. `U+00A0`–`U+00BF` share their first byte with C1 and are sorted out
/// by [`next_special`].
const fn special(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\n' && byte != b'\t') || byte == DEL || byte == C2
}

fn next_special(bytes: &[u8], from: usize) -> Option<usize> {
    const BLOCK: usize = 64;
    let mut at = from;
    loop {
        // Branch-free over a block, so that the compiler can use vector compares.
        while let Some(block) = bytes.get(at..at + BLOCK) {
            if block.iter().fold(false, |hit, &byte| hit | special(byte)) {
                break;
            }
            at += BLOCK;
        }
        let end = bytes.len().min(at + BLOCK);
        for position in at..end {
            let byte = bytes[position];
            if special(byte) && (byte != C2 || matches!(bytes.get(position + 1), Some(0x80..=0x9f))) {
                return Some(position);
            }
        }
        if end == bytes.len() {
            return None;
        }
        at = end;
    }
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
