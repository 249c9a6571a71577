//! Random ids, and addresses in memory.

use super::scan::{Hit, Kind, View, is_word};

/// An id or address of which `at` is the first digit.
pub fn find(view: &View, at: usize) -> Option<Hit> {
    let (start, end) = around(view, at);
    let length = end - start;
    if length < SHORTEST_GROUP {
        return None;
    }
    let before = view.before(start, 1);
    let grouped = matches!(length, 4 | 8 | 12) && (view.at(end) == b'-' || before == b'-');
    let marked = length >= SHORTEST && (before == b'@' || view.at(start + 1) | 0x20 == b'x');
    if grouped || marked || length >= SHORTEST_RANDOM { forms(view, at) } else { None }
}

pub(super) fn forms(view: &View, at: usize) -> Option<Hit> {
    forms_in(view, at, around(view, at))
}

fn forms_in(view: &View, at: usize, (start, end): (usize, usize)) -> Option<Hit> {
    let run = Run::of(view.slice(start, end), start);
    if let Some(hit) = uuid(view, at) {
        return Some(hit);
    }
    if let Some(end) = address(view, &run) {
        return Some(Hit { start: run.start, end, kind: Kind::Address });
    }
    if identity(view, &run) {
        return Some(Hit { start: run.start, end: run.end, kind: Kind::Address });
    }
    let random = run.is_long_hex() || run.is_nonce();
    (random && !is_digest(view, &run)).then_some(Hit { start: run.start, end: run.end, kind: Kind::Id })
}

/// Of a UUID's groups.
const SHORTEST_GROUP: usize = 4;
/// Of what its first characters or those before it say to be an address: the identity hash is the shortest.
const SHORTEST: usize = 6;
/// Of an id by itself.
const SHORTEST_RANDOM: usize = 12;
/// Longer runs are data, not names.
const LONGEST: usize = 64;

/// ASCII letters and digits without a break, and what they are made of.
pub struct Run<'a> {
    pub start: usize,
    pub end: usize,
    text: &'a [u8],
    upper: usize,
    lower: usize,
    digits: usize,
    hex: bool,
    /// How often a letter of one case, a letter of the other and a digit follow each other.
    changes: usize,
}

/// The run that `at` lies in; of a longer one than any rule takes, as much as shows that.
fn around(view: &View, at: usize) -> (usize, usize) {
    let alphanumeric = |byte: u8| byte.is_ascii_alphanumeric();
    (view.back_while(at, alphanumeric), view.skip_up_to(at, LONGEST + 1, alphanumeric))
}

impl<'a> Run<'a> {
    pub fn of(text: &'a [u8], start: usize) -> Self {
        let mut run =
            Run { start, end: start + text.len(), text, upper: 0, lower: 0, digits: 0, hex: true, changes: 0 };
        if text.len() > LONGEST {
            run.hex = false;
            return run;
        }
        let mut last = 0_u8;
        for &byte in text {
            let class = match byte {
                b'A'..=b'Z' => 1,
                b'a'..=b'z' => 2,
                _ => 3,
            };
            run.upper += usize::from(class == 1);
            run.lower += usize::from(class == 2);
            run.digits += usize::from(class == 3);
            run.changes += usize::from(last != 0 && class != last);
            run.hex &= byte.is_ascii_hexdigit();
            last = class;
        }
        run
    }

    fn letters(&self) -> usize {
        self.upper + self.lower
    }

    /// The lengths that ids and keys have; a hex dump has others.
    fn is_long_hex(&self) -> bool {
        self.hex && self.digits > 0 && self.letters() > 0 && matches!(self.text.len(), 16..=40 | 64)
    }

    /// Letters and digits mixed in a way that no name is: random text changes class at more than every second step
    /// (62 characters) or every third (36), `Base64Encoder` and `sha512sum` hardly.
    fn is_nonce(&self) -> bool {
        let length = self.text.len();
        // Hexadecimal digits of another length than ids have are data.
        if self.hex || self.digits == 0 || self.letters() == 0 {
            return false;
        }
        if self.upper > 0 && self.lower > 0 {
            length >= SHORTEST_RANDOM && self.changes * 100 >= (length - 1) * 45
        } else {
            length >= 16 && self.changes >= 5 && self.changes * 5 >= length - 1
        }
    }

    /// As an id within a key such as `id=…` may be: hexadecimal, or with digits between letters.
    pub fn is_short_id(&self) -> bool {
        let mixed = self.digits > 0 && self.letters() > 0;
        let length = self.text.len();
        mixed && (self.hex && length >= 4 || length >= 8 && self.changes >= 4) && length <= LONGEST
    }
}

/// `at` lies in a UUID: groups of 8, 4, 4, 4 and 12 hex digits.
fn uuid(view: &View, at: usize) -> Option<Hit> {
    let start = view.back_while(at, |byte| byte.is_ascii_hexdigit() || byte == b'-');
    let start = view.skip_while(start, |byte| byte == b'-');
    let mut end = start;
    for (index, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            if view.at(end) != b'-' {
                return None;
            }
            end += 1;
        }
        let group = view.bytes.get(end..end + length)?;
        if !group.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        end += length;
    }
    let alone = !view.before(start, 1).is_ascii_alphanumeric() && !view.at(end).is_ascii_alphanumeric();
    (alone && end > at).then_some(Hit { start, end, kind: Kind::Id })
}

/// `0x7f3a5c0012d0`. Eight digits are an address only where the text says so: they may as well be an error code.
fn address(view: &View, run: &Run) -> Option<usize> {
    let digits = run.text.strip_prefix(b"0x").or_else(|| run.text.strip_prefix(b"0X"))?;
    if !digits.iter().all(u8::is_ascii_hexdigit) || digits.len() > 16 {
        return None;
    }
    let said = view.before(run.start, 1) == b'@'
        || view.before(run.start, 1) == b' '
            && view.before(run.start, 2) == b't'
            && view.before(run.start, 3) == b'a'
            && !is_word(view.before(run.start, 4));
    (digits.len() >= 9 || said && digits.len() >= 6).then_some(run.end)
}

/// The identity hash of an object in its printed form, `Session@1b6d3586`. A revision (`checkout@1b6d3586`) has no
/// class name before it.
fn identity(view: &View, run: &Run) -> bool {
    let length = run.text.len();
    if !run.hex || !(6..=8).contains(&length) || view.before(run.start, 1) != b'@' {
        return false;
    }
    let name_end = run.start - 1;
    let name = view.back_while(name_end, |byte| is_word(byte) || matches!(byte, b'$' | b';'));
    let class = view.at(name).is_ascii_uppercase() || view.before(name_end, 1) == b';';
    name < name_end && class && !matches!(view.at(run.end), b'.' | b'-' | b'@' | b'/')
}

/// What hash functions and version control print stands for content: another one means other content.
const DIGESTS: [&[u8]; 14] = [
    b"sha",
    b"sha1",
    b"sha256",
    b"sha384",
    b"sha512",
    b"md5",
    b"blake2",
    b"blake3",
    b"digest",
    b"checksum",
    b"integrity",
    b"commit",
    b"tree",
    b"hash",
];

fn is_digest(view: &View, run: &Run) -> bool {
    // `sha256:…`, `commit …`, `"integrity": "sha512-…`
    let joint = view.back_while(run.start, |byte| matches!(byte, b':' | b'=' | b'-' | b' ' | b'"' | b'\'' | b'/'));
    let name = view.back_while(joint, |byte| byte.is_ascii_alphanumeric());
    let named = joint < run.start
        && run.start - joint <= 4
        && DIGESTS.iter().any(|digest| view.slice(name, joint).eq_ignore_ascii_case(digest));
    // A line of `sha256sum`: digest, blank, blank or asterisk, file.
    let listed = view.before(run.start, 1) == b'\n'
        && run.hex
        && view.at(run.end) == b' '
        && matches!(view.at(run.end + 1), b' ' | b'*')
        && !view.at(run.end + 2).is_ascii_whitespace();
    named || listed
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A run is looked at no further than it takes to see that it is too long for an id.
        #[test]
        fn a_longer_look_finds_the_same(text in "([0-9a-f]{1,90}|[0-9A-Za-z]{1,90}|0x|[ :@.-]){1,6}", floor in 0..40_usize) {
            let view = View { bytes: text.as_bytes(), floor: floor.min(text.len()) };
            for at in (view.floor..text.len()).filter(|&at| text.as_bytes()[at].is_ascii_digit()) {
                let alphanumeric = |byte: u8| byte.is_ascii_alphanumeric();
                let whole = (view.back_while(at, alphanumeric), view.skip_while(at, alphanumeric));
                prop_assert_eq!(forms(&view, at), forms_in(&view, at, whole));
            }
        }
    }
}
