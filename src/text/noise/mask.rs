//! The pass over an output: from one digit or temporary path to the next, first rule that matches wins.

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
    let text = ansi::strip(raw);
    out.clear();
    out.reserve(text.len());
    let bytes = text.as_bytes();
    let mut view = View { bytes, floor: 0 };
    let mut candidates = temp::Candidates::new(bytes);
    let mut candidate = candidates.peek();
    let mut digit = next_digit(bytes, 0);
    let mut replace = |view: &mut View, hit: Hit| {
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
    out.push_str(&text[view.floor..]);
}

/// The rules at a digit, from the most to the least particular.
fn find(view: &View, at: usize) -> Option<Hit> {
    let starts_word = !view.before(at, 1).is_ascii_alphanumeric();
    let timed = || if starts_word { time::find(view, at).or_else(|| duration::find(view, at)) } else { None };
    id::find(view, at).or_else(timed).or_else(|| key::find(view, at))
}

/// Whether `kind` is a moment or an id; what prose is also freed of.
pub(super) fn in_prose(view: &View, at: usize) -> Option<Hit> {
    let starts_word = !view.before(at, 1).is_ascii_alphanumeric();
    let hit = id::find(view, at).or_else(|| if starts_word { time::find(view, at) } else { None })?;
    matches!(hit.kind, Kind::Time | Kind::Id).then_some(hit)
}
