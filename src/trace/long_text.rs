//! Takes the first text block out of a message line before the line is parsed. Knows the order in which Pi writes keys,
//! and nothing of what they mean.
//!
//! Outputs are most of a session file. A JSON reader takes their escapes apart one by one, grows a buffer for each, and
//! copies it; here it is one pass into memory that is reused, and the reader sees a short line. A line that looks
//! different in any way is left to the reader.

/// Texts shorter than this cost the same either way.
const SHORTEST: usize = 64;

/// Reused from line to line.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    text: Vec<u8>,
    /// The line with an empty text.
    rest: Vec<u8>,
}

impl Buffers {
    /// The first block's text, if the content begins with a text block, and the line without it.
    pub fn split<'a>(&'a mut self, line: &'a [u8]) -> Option<(&'a str, &'a str)> {
        let start = line.len() - text_block(line)?.len();
        let raw = &line[start..];
        let first = memchr::memchr2(b'"', b'\\', raw)?;
        let (text, length) = if raw[first] == b'"' {
            (&raw[..first], first)
        } else {
            let length = unescape(raw, first, &mut self.text)?;
            (&self.text[..], length)
        };
        if length < SHORTEST {
            return None;
        }
        self.rest.clear();
        self.rest.extend_from_slice(&line[..start]);
        self.rest.extend_from_slice(&raw[length..]);
        let sound = simdutf8::basic::from_utf8;
        Some((sound(text).ok()?, sound(&self.rest).ok()?))
    }
}

/// What comes behind `"content":[{"type":"text","text":"` of the message.
fn text_block(line: &[u8]) -> Option<&[u8]> {
    let mut rest = line.strip_prefix(br#"{"type":"message","#)?;
    let mut in_message = false;
    loop {
        let (key, value) = string(rest)?;
        let value = value.strip_prefix(b":")?;
        rest = match key {
            b"content" if in_message => return value.strip_prefix(br#"[{"type":"text","text":""#),
            b"message" if !in_message => {
                in_message = true;
                value.strip_prefix(b"{")?
            }
            _ => {
                let after = value.strip_prefix(b"null").or_else(|| string(value).map(|(_, after)| after))?;
                after.strip_prefix(b",")?
            }
        };
    }
}

/// A string without escapes, and what comes after it.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = bytes.strip_prefix(b"\"")?;
    // Keys and ids are short.
    let end = rest.iter().take(SHORTEST).position(|byte| matches!(byte, b'"' | b'\\'))?;
    (rest[end] == b'"').then(|| (&rest[..end], &rest[end + 1..]))
}

/// Replaces `out` by the string that `raw` begins with, whose first backslash is at `first`. Returns where its closing
/// quote is; `None` when it has none, or an escape that needs a closer look.
fn unescape(raw: &[u8], first: usize, out: &mut Vec<u8>) -> Option<usize> {
    out.clear();
    out.extend_from_slice(&raw[..first]);
    let mut at = first;
    loop {
        if raw[at] == b'"' {
            return Some(at);
        }
        let (byte, length) = match raw.get(at + 1)? {
            b'n' => (b'\n', 2),
            same @ (b'"' | b'\\' | b'/') => (*same, 2),
            b't' => (b'\t', 2),
            b'r' => (b'\r', 2),
            b'b' => (0x08, 2),
            b'f' => (0x0c, 2),
            b'u' => {
                let Ok(byte @ 0..0x80) = u8::try_from(code(raw, at + 2)?) else {
                    at += wide(raw, at, out)?;
                    at += next(&raw[at..], out)?;
                    continue;
                };
                (byte, 6)
            }
            _ => return None,
        };
        out.push(byte);
        at += length;
        at += next(&raw[at..], out)?;
    }
}

/// Copies up to the next quote or backslash.
fn next(raw: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    // Line ends with indentation are escapes side by side.
    if matches!(raw.first(), Some(b'\\' | b'"')) {
        return Some(0);
    }
    let length = memchr::memchr2(b'"', b'\\', raw)?;
    out.extend_from_slice(&raw[..length]);
    Some(length)
}

/// An escaped character beyond ASCII; a half of one is left to the reader.
fn wide(raw: &[u8], at: usize, out: &mut Vec<u8>) -> Option<usize> {
    let high = code(raw, at + 2)?;
    let (c, length) = if let Some(c) = char::from_u32(high) {
        (c, 6)
    } else {
        let low = if high < 0xdc00 && raw.get(at + 6..at + 8)? == b"\\u" { code(raw, at + 8)? } else { return None };
        if !(0xdc00..0xe000).contains(&low) {
            return None;
        }
        (char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))?, 12)
    };
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    Some(length)
}

/// Four hexadecimal digits.
fn code(raw: &[u8], at: usize) -> Option<u32> {
    raw.get(at..at + 4)?.iter().try_fold(0, |code, digit| Some(code << 4 | char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(text: &str) -> String {
        format!(
            r#"{{"type":"message","id":"a","parentId":null,"message":{{"role":"toolResult","content":[{{"type":"text","text":"{text}"}}],"isError":true}}}}"#
        )
    }

    #[test]
    fn the_text_is_taken_out_of_lines_as_pi_writes_them() {
        let long = "x".repeat(SHORTEST);
        let text = format!(r#"a\n\t\"\\\/\u001b\u00e9\ud83d\ude00é{long}"#);
        let line = line(&text);
        let mut buffers = Buffers::default();
        let (text, rest) = buffers.split(line.as_bytes()).unwrap();
        assert_eq!(text, format!("a\n\t\"\\/\x1bé😀é{long}"));
        assert_eq!(rest, self::line(""));
    }

    #[test]
    fn other_lines_are_left_alone() {
        let long = "x".repeat(SHORTEST);
        for text in [
            "short".to_owned(),
            format!(r"\x{long}"),
            format!(r"\ud83d{long}"),
            format!(r"\ud83d\u0041{long}"),
            format!(r"\ude00{long}"),
            format!(r"\u00{long}"),
        ] {
            assert_eq!(Buffers::default().split(line(&text).as_bytes()), None, "{text}");
        }
        for other in [
            line(&long).replace(r#""type":"text","#, ""),
            line(&long).replace("content", "contents"),
            line(&long).replace("message", "custom_message"),
            line(&long).replace(r#""id":"a""#, r#""id":1"#),
            line(&long).replace(r#""content""#, r#" "content""#),
        ] {
            assert_eq!(Buffers::default().split(other.as_bytes()), None, "{other}");
        }
        let cut = line(&long);
        assert_eq!(Buffers::default().split(&cut.as_bytes()[..cut.len() - 40]), None);
    }

    proptest! {
        #[test]
        fn says_what_a_json_reader_says(raw in prop_oneof![
            r#"([a-zé→ ]|\\[nrtbf"\\/]|\\u00[0-9a-fA-F]{2}|\\u[0-9a-f]{4}|\\ud83d\\ude0[0-9]|\\|"){0,40}"#,
            any::<String>(),
        ]) {
            let mut out = Vec::new();
            let bytes = format!("{raw}\"");
            let first = memchr::memchr2(b'"', b'\\', bytes.as_bytes()).unwrap();
            let ours = unescape(bytes.as_bytes(), first, &mut out)
                .map(|end| (end, String::from_utf8(out).unwrap()));
            let quoted = format!("\"{bytes}");
            let mut reader = serde_json::Deserializer::from_str(&quoted).into_iter::<String>();
            // The reader refuses control characters that are not escaped; the lines' reader does not.
            if let Some(Ok(text)) = reader.next() {
                prop_assert_eq!(ours, Some((reader.byte_offset() - 2, text)));
            } else if !raw.contains(char::is_control) {
                prop_assert_eq!(ours, None);
            }
        }
    }
}
