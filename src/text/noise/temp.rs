//! Generated names below the directories for temporary files, and wrapper ids. The rest of a path is signal.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::scan::{Hit, Kind, REACH, View, is_token, is_word};

/// Where the next thing may be that can be noise without a digit.
pub struct Candidates<'a> {
    bytes: &'a [u8],
    next: [Option<usize>; 4],
}

type Rule = fn(&View, usize) -> Hits;

/// At most two pieces, in order.
pub type Hits = [Option<Hit>; 2];

const NONE: Hits = [None, None];

static NEEDLES: LazyLock<[(Finder<'static>, Rule); 4]> = LazyLock::new(|| {
    [
        (Finder::new(b"/tmp/"), unix as Rule),
        (Finder::new(b"/var/folders/"), folders),
        (Finder::new(b"\\Temp\\"), windows),
        (Finder::new(b"<<"), wrapper),
    ]
});

impl<'a> Candidates<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut next = [None; 4];
        for (slot, (finder, _)) in next.iter_mut().zip(NEEDLES.iter()) {
            *slot = finder.find(bytes);
        }
        Self { bytes, next }
    }

    /// The first candidate at or behind `from`.
    pub fn peek(&self) -> Option<usize> {
        self.next.iter().flatten().min().copied()
    }

    /// Forgets candidates before `from`.
    pub fn advance(&mut self, from: usize) {
        for (slot, (finder, _)) in self.next.iter_mut().zip(NEEDLES.iter()) {
            if slot.is_some_and(|at| at < from) {
                *slot = finder.find(&self.bytes[from..]).map(|offset| from + offset);
            }
        }
    }

    pub fn find(&self, view: &View, at: usize) -> Hits {
        let rule = self.next.iter().position(|next| *next == Some(at));
        rule.map_or(NONE, |rule| NEEDLES[rule].1(view, at))
    }
}

/// A path begins at `at`: no directory stands before it.
fn is_root(view: &View, at: usize) -> bool {
    let before = view.before(at, 1);
    let scheme = before == b'/' && view.before(at, 2) == b'/' && view.before(at, 3) == b':';
    scheme || !(is_token(before) || matches!(before, b'.' | b'/' | b'~' | b'}' | b')' | b'>'))
}

fn unix(view: &View, at: usize) -> Hits {
    let prefixes: [&[u8]; 3] = [b"/private/var", b"/private", b"/var"];
    let root = prefixes
        .into_iter()
        .find_map(|prefix| {
            let start = at.checked_sub(prefix.len()).filter(|&start| start >= view.floor)?;
            (view.slice(start, at) == prefix).then_some(start)
        })
        .unwrap_or(at);
    if is_root(view, root) { below(view, at + b"/tmp/".len(), b'/') } else { NONE }
}

/// macOS: `/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/name`.
fn folders(view: &View, at: usize) -> Hits {
    let root =
        at.checked_sub(8).filter(|&start| start >= view.floor && view.slice(start, at) == b"/private").unwrap_or(at);
    let user = at + b"/var/folders/".len();
    let first = component(view, user, b'/');
    let second = component(view, first + 1, b'/');
    if !is_root(view, root) || view.at(first) != b'/' || first == user || second == first + 1 {
        return NONE;
    }
    let own = Some(Hit { start: user, end: second, kind: Kind::Temp });
    if view.starts_with(second, b"/T/") { [own, below(view, second + 3, b'/')[0]] } else { [own, None] }
}

/// `C:\Users\me\AppData\Local\Temp\name`, also with doubled backslashes.
fn windows(view: &View, at: usize) -> Hits {
    let name = view.skip_while(at + b"\\Temp\\".len(), |byte| byte == b'\\');
    below(view, name, b'\\')
}

/// The end of a path component.
fn component(view: &View, at: usize, separator: u8) -> usize {
    let limit = at + 2 * REACH;
    let mut end = at;
    while end < limit
        && let byte = view.at(end)
        && byte != separator
        && (is_token(byte) || matches!(byte, b'.' | b'+' | b'@' | b'~' | b'%'))
    {
        end += 1;
    }
    // A full stop ends a sentence.
    while end > at && view.at(end - 1) == b'.' {
        end -= 1;
    }
    end
}

/// The first component below a temporary directory if it was generated, and the second if it is only a number.
fn below(view: &View, at: usize, separator: u8) -> Hits {
    let end = component(view, at, separator);
    let first = is_generated(view.slice(at.min(end), end)).then_some(Hit { start: at, end, kind: Kind::Temp });
    if view.at(end) != separator || end == at {
        return [first, None];
    }
    let next = end + 1;
    let stop = component(view, next, separator);
    let numbered = view.slice(next.min(stop), stop);
    let digits = numbered.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let run = digits > 0 && (digits == numbered.len() || numbered[numbered.len() - digits - 1] == b'-');
    let second = run.then_some(Hit { start: next, end: stop, kind: Kind::Temp });
    if first.is_some() { [first, second] } else { [second, None] }
}

/// Whether a name directly below a temporary directory was made up: it counts, mixes cases, or says `tmp`.
fn is_generated(name: &[u8]) -> bool {
    let counted = name.iter().any(u8::is_ascii_digit);
    let mixed = name.windows(2).any(|pair| pair[0].is_ascii_alphanumeric() && pair[1].is_ascii_uppercase())
        && name.iter().any(u8::is_ascii_lowercase);
    let said = name.starts_with(b"tmp") && name.len() >= 7 && !name.contains(&b'_');
    counted || mixed || said
}

/// The id of a marker around foreign text: `<<BEGIN id=1eef>>`.
fn wrapper(view: &View, at: usize) -> Hits {
    let inner = at + 2;
    let end = view.skip_up_to(inner, REACH + 1, |byte| is_token(byte) || matches!(byte, b' ' | b'=' | b':' | b'"'));
    if end - inner > REACH || !view.starts_with(end, b">>") {
        return NONE;
    }
    let marker = view.slice(inner, end);
    let key = [b" id=".as_slice(), b" id:", b" id "]
        .into_iter()
        .find_map(|key| memchr::memmem::find(marker, key).map(|found| inner + found + key.len()));
    let Some(key) = key else { return NONE };
    let start = view.skip_while(key, |byte| matches!(byte, b' ' | b'"'));
    let stop = view.skip_while(start, is_token);
    if stop > start && is_word(view.at(start)) { [Some(Hit { start, end: stop, kind: Kind::Id }), None] } else { NONE }
}
