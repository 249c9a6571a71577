//! The pass over an output: from one digit or temporary path to the next, first rule that matches wins.

use std::cell::RefCell;

use super::scan::{Hit, Kind, View, next_digit};
use super::{duration, id, key, temp, time};
use crate::text::ansi;

/// Replaces `out` by `raw` with escape sequences removed and noise masked: two outputs are the same outcome when their
/// masked texts are equal. Linear in the input; masking a masked text changes nothing.
///
/// ```
/// # use pi_watchdog_supervisor::text::mask;
/// let (mut first, mut second) = (String::new(), String::new());
/// mask("41 failed in 3.41s (pid 4711)", &mut first);
/// mask("41 failed in 3.52s (pid 4802)", &mut second);
/// assert_eq!(first, second);
/// mask("2 failed in 3.52s (pid 4802)", &mut second);
/// assert_ne!(first, second);
/// ```
pub fn mask(raw: &str, out: &mut String) {
    let mut noise = String::new();
    with_masked(raw, &mut noise, |masked| {
        out.clear();
        out.push_str(masked);
    });
}

/// Hands on what [`mask`] makes of `raw`, which is not copied when there is no noise in it. `out` is a buffer.
pub fn with_masked<R>(raw: &str, out: &mut String, read: impl FnOnce(&str) -> R) -> R {
    thread_local! {
        /// One allocation per thread for texts with escape sequences.
        static PLAIN: RefCell<String> = const { RefCell::new(String::new()) };
    }
    PLAIN.with_borrow_mut(|plain| with_masked_plain(ansi::strip_in(raw, plain), out, read))
}

/// The same for a text that was stripped before.
pub fn with_masked_plain<R>(text: &str, out: &mut String, read: impl FnOnce(&str) -> R) -> R {
    read(if mask_plain(text, out) { out } else { text })
}

/// False when there is no noise in `text`; then `out` is empty.
fn mask_plain(text: &str, out: &mut String) -> bool {
    out.clear();
    let bytes = text.as_bytes();
    let mut view = View { bytes, floor: 0 };
    let mut candidates = temp::Candidates::new(bytes);
    let mut candidate = candidates.peek();
    let mut digit = next_digit(bytes, 0);
    let mut replace = |view: &mut View, hit: Hit| {
        if out.is_empty() {
            out.reserve(text.len());
        }
        out.push_str(&text[view.floor..hit.start]);
        out.push_str(hit.kind.placeholder());
        view.floor = hit.end;
    };
    loop {
        let next = digit.unwrap_or(usize::MAX).min(candidate.unwrap_or(usize::MAX));
        if next == usize::MAX {
            break;
        }
        let floor = view.floor;
        if candidate == Some(next) {
            candidates.find(&view, next).into_iter().flatten().for_each(|hit| replace(&mut view, hit));
        } else if let Some(hit) = find(&view, next) {
            replace(&mut view, hit);
        }
        let at = if view.floor > floor {
            view.floor
        } else {
            // A run without noise is passed as a whole: its later digits have the same neighbours.
            view.skip_while(next, |byte| byte.is_ascii_alphanumeric()).max(next + 1)
        };
        if candidate.is_some_and(|candidate| candidate < at) {
            candidates.advance(at);
            candidate = candidates.peek();
        }
        if digit.is_some_and(|digit| digit < at) {
            digit = next_digit(bytes, at);
        }
    }
    // A placeholder stands before the floor.
    let noisy = view.floor > 0;
    if noisy {
        out.push_str(&text[view.floor..]);
    }
    noisy
}

/// The rules at a digit, from the most to the least particular.
fn find(view: &View, at: usize) -> Option<Hit> {
    if is_bare(view, at) {
        return key::find(view, at);
    }
    let starts_word = !view.before(at, 1).is_ascii_alphanumeric();
    let timed = || if starts_word { time::find(view, at).or_else(|| duration::find(view, at)) } else { None };
    id::find(view, at).or_else(timed).or_else(|| key::find(view, at))
}

/// A short number that begins a word, and what follows it makes it no id, moment or duration: only a key can make it
/// noise. Most numbers in code and in lists of places are such.
fn is_bare(view: &View, at: usize) -> bool {
    let end = view.digits(at);
    let follows = match view.at(end) {
        b'"' | b'\'' | b'`' | b')' | b']' | b'}' | b'>' | b';' | b'|' | b'\n' => true,
        b':' => !view.at(end + 1).is_ascii_digit(),
        _ => false,
    };
    follows && end - at < 4 && !view.before(at, 1).is_ascii_alphanumeric()
}

/// Whether `kind` is a moment or an id; what prose is also freed of.
pub(super) fn in_prose(view: &View, at: usize) -> Option<Hit> {
    let starts_word = !view.before(at, 1).is_ascii_alphanumeric();
    let hit = id::find(view, at).or_else(|| if starts_word { time::find(view, at) } else { None })?;
    matches!(hit.kind, Kind::Time | Kind::Id).then_some(hit)
}
