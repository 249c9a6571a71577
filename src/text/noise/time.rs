//! Dates, clock times and time stamps.

use super::scan::{Hit, Kind, Lower, View, is_word};

/// A date (with or without a time), a time stamp or a clock time at `at`, which is the first digit of its word.
pub fn find(view: &View, at: usize) -> Option<Hit> {
    if may_be_time(view, at) { forms(view, at) } else { None }
}

pub(super) fn forms(view: &View, at: usize) -> Option<Hit> {
    let (start, end) = stamp(view, at)
        .map(|end| (at, end))
        .or_else(|| month_first(view, at))
        .or_else(|| clock(view, at).map(|end| (at, end)))
        .or_else(|| epoch(view, at).map(|end| (at, end)))?;
    Some(Hit { start, end, kind: Kind::Time })
}

/// Whether any of the forms begins with so many digits and what stands beside them. Most numbers are none.
fn may_be_time(view: &View, at: usize) -> bool {
    let end = view.digits(at);
    let next = view.at(end + 1);
    match end - at {
        1 | 2 => match view.at(end) {
            b':' => next.is_ascii_digit() && view.at(end + 2).is_ascii_digit(),
            b'/' => next.is_ascii_alphanumeric(),
            b'.' => next.is_ascii_digit(),
            b'-' => next.is_ascii_alphabetic(),
            b' ' | b',' => {
                let month_before = view.before(at, 1) == b' '
                    && (view.before(at, 2).is_ascii_alphabetic() || view.before(at, 3).is_ascii_alphabetic());
                month_before || next.is_ascii_alphabetic()
            }
            _ => false,
        },
        4 => matches!(view.at(end), b'-' | b'/') && next.is_ascii_digit(),
        8 | 10 | 13 | 14 | 16 | 19 => matches!(view.at(at), b'1' | b'2'),
        _ => false,
    }
}

fn is_month(word: &[u8]) -> bool {
    matches!(
        Lower::of(word).get(),
        b"jan"
            | b"january"
            | b"feb"
            | b"february"
            | b"mar"
            | b"march"
            | b"apr"
            | b"april"
            | b"may"
            | b"jun"
            | b"june"
            | b"jul"
            | b"july"
            | b"aug"
            | b"august"
            | b"sep"
            | b"september"
            | b"oct"
            | b"october"
            | b"nov"
            | b"november"
            | b"dec"
            | b"december"
    )
}

fn is_weekday(word: &[u8]) -> bool {
    matches!(
        Lower::of(word).get(),
        b"mon"
            | b"monday"
            | b"tue"
            | b"tuesday"
            | b"wed"
            | b"wednesday"
            | b"thu"
            | b"thursday"
            | b"fri"
            | b"friday"
            | b"sat"
            | b"saturday"
            | b"sun"
            | b"sunday"
    )
}

fn year(view: &View, at: usize) -> Option<usize> {
    let end = view.digits(at);
    (end - at == 4 && view.value(at, end).is_some_and(|year| (1970..2100).contains(&year))).then_some(end)
}

fn two(view: &View, at: usize, from: u8, to: u8) -> Option<usize> {
    let (tens, ones) = (view.at(at), view.at(at + 1));
    let valid = tens.is_ascii_digit() && ones.is_ascii_digit();
    let value = if valid { (tens - b'0') * 10 + (ones - b'0') } else { return None };
    (from..=to).contains(&value).then_some(at + 2)
}

/// A date that begins with a digit, and the time behind it.
fn stamp(view: &View, at: usize) -> Option<usize> {
    let before = view.before(at, 1);
    if is_word(before) && before != b'_' || before == b'.' {
        return None;
    }
    if let Some(end) = compact(view, at) {
        return Some(end);
    }
    let date = iso(view, at).or_else(|| day_first(view, at))?;
    if let Some(end) = time_after_date(view, date) {
        return Some(end);
    }
    // A bare date within a longer name (`notes-2024-01-02.md`, an API version in a path) says which thing is meant.
    let glued_before = matches!(before, b'_' | b'/') || before == b'-' && is_word(view.before(at, 2));
    (!glued_before && ends(view, date) && view.at(date) != b':').then_some(date)
}

/// `2024-01-02`, `2009/11/10`.
fn iso(view: &View, at: usize) -> Option<usize> {
    let at = year(view, at)?;
    let separator = view.at(at);
    let month = two(view, at + 1, 1, 12).filter(|_| matches!(separator, b'-' | b'/'))?;
    (view.at(month) == separator).then(|| two(view, month + 1, 1, 31))?.filter(|&end| !view.at(end).is_ascii_digit())
}

/// `28/06/2024`, `28.06.2024`, `28 Jun 2024`, `10/Oct/2000`, `28-Jun-2024`.
fn day_first(view: &View, at: usize) -> Option<usize> {
    let day_end = view.digits(at);
    let day = view.value(at, day_end).unwrap_or_default();
    if day_end - at > 2 || day == 0 || day > 31 {
        return None;
    }
    let separator = view.at(day_end);
    let month_at = day_end + 1;
    let month_end = if view.at(month_at).is_ascii_digit() {
        let end = view.digits(month_at);
        let month = view.value(month_at, end).unwrap_or_default();
        let wide = end - month_at == 2 && day_end - at == 2;
        let valid = (separator == b'/' && end - month_at <= 2) || (separator == b'.' && wide);
        // Either order of day and month.
        (valid && (1..=31).contains(&month) && (day <= 12 || month <= 12)).then_some(end)?
    } else {
        let (month, end) = if matches!(separator, b' ' | b'-' | b'/') { view.lower(month_at) } else { return None };
        is_month(month.get()).then_some(end)?
    };
    if view.at(month_end) != separator {
        return None;
    }
    year(view, month_end + 1)
}

/// `20240102T100233Z`, `20240102-100233`, `20240102100233`.
fn compact(view: &View, at: usize) -> Option<usize> {
    let digits = view.digits(at);
    if !matches!(digits - at, 8 | 14) {
        return None;
    }
    let valid_year = matches!((view.at(at), view.at(at + 1)), (b'1', b'9') | (b'2', b'0'));
    let day = two(view, at + 4, 1, 12).and_then(|month| two(view, month, 1, 31)).filter(|_| valid_year)?;
    let time = if digits - at == 14 {
        day
    } else if matches!(view.at(day), b'T' | b'_' | b'-') {
        day + 1
    } else {
        return None;
    };
    let second = two(view, time, 0, 23).and_then(|at| two(view, at, 0, 59)).and_then(|at| two(view, at, 0, 60))?;
    let end = zone(view, fraction(view, second));
    (!is_word(view.at(end))).then_some(end)
}

/// `Jun 28 10:02`, `Jun 28 2024`, `Tue Jun 28 10:02:33 2024`: `at` is the day.
fn month_first(view: &View, at: usize) -> Option<(usize, usize)> {
    let day_end = view.digits(at);
    let day = view.value(at, day_end).unwrap_or_default();
    if day_end - at > 2 || day == 0 || day > 31 || view.before(at, 1) != b' ' {
        return None;
    }
    let month_end = view.back_while(at, |byte| byte == b' ');
    let month = view.back_while(month_end, |byte| byte.is_ascii_alphabetic());
    if at - month_end > 2 || is_word(view.before(month, 1)) || !is_month(view.slice(month, month_end)) {
        return None;
    }
    let mut rest = day_end;
    if view.at(rest) == b',' {
        rest += 1;
    }
    rest = view.skip_while(rest, |byte| byte == b' ');
    let end = if let Some(end) = year(view, rest).filter(|&end| ends(view, end)) {
        time_after_date(view, end).unwrap_or(end)
    } else {
        let end = hours(view, rest, b":")
            .map(|(end, _)| end)
            .filter(|&end| rest > day_end && ends(view, end) && !view.joined(end, b":"))?;
        if view.at(end) == b' ' { year(view, end + 1).filter(|&end| ends(view, end)).unwrap_or(end) } else { end }
    };
    let weekday_end = view.back_while(month, |byte| matches!(byte, b' ' | b','));
    let weekday = view.back_while(weekday_end, |byte| byte.is_ascii_alphabetic());
    let has_weekday = (1..=2).contains(&(month - weekday_end))
        && is_weekday(view.slice(weekday, weekday_end))
        && !is_word(view.before(weekday, 1));
    Some((if has_weekday { weekday } else { month }, end))
}

/// What may follow a date: `T10:02:33.123Z`, ` 10:02`, `_10-02-33`, `:13:55:36 -0700`.
fn time_after_date(view: &View, date: usize) -> Option<usize> {
    let (separators, at): (&[u8], usize) = match view.at(date) {
        b'T' | b't' | b'_' => (b":_-", date + 1),
        b'-' => (b":-", date + 1),
        b' ' | b':' => (b":", date + 1),
        b',' if view.at(date + 1) == b' ' => (b":", date + 2),
        _ => return None,
    };
    let (end, seconds) = hours(view, at, separators)?;
    // Without seconds, a dash or a colon is not enough to make it a time.
    let sure = seconds || matches!(view.at(date), b'T' | b't' | b' ' | b',');
    (sure && !is_word(view.at(end)) && !view.joined(end, b":")).then_some(end)
}

/// `10:02`, `10:02:33`, `10:02:33.123`, then am/pm or a zone. Also says whether there were seconds.
fn hours(view: &View, at: usize, separators: &[u8]) -> Option<(usize, bool)> {
    let hour_end = view.digits(at);
    if hour_end - at > 2 || view.value(at, hour_end).is_none_or(|hour| hour > 23) {
        return None;
    }
    let separator = view.at(hour_end);
    if !separators.contains(&separator) {
        return None;
    }
    let minute = two(view, hour_end + 1, 0, 59)?;
    let second = if view.at(minute) == separator { two(view, minute + 1, 0, 60) } else { None };
    let mut end = second.unwrap_or(minute);
    if second.is_some() {
        end = fraction(view, end);
        // File names have no colon or point: `T10_02_33_123Z`.
        if separator != b':' && view.at(end) == separator {
            let digits = view.digits(end + 1);
            if digits - end == 4 {
                end = digits;
            }
        }
    }
    Some((zone(view, half(view, end)), second.is_some()))
}

fn fraction(view: &View, at: usize) -> usize {
    if matches!(view.at(at), b'.' | b',') {
        let end = view.digits(at + 1);
        let whole = !is_word(view.at(end)) || zone(view, end) > end;
        if whole && (2..=10).contains(&(end - at)) {
            return end;
        }
    }
    at
}

fn half(view: &View, at: usize) -> usize {
    let word = if view.at(at) == b' ' { at + 1 } else { at };
    view.word(word, &["am", "pm"]).map_or(at, |length| word + length)
}

fn zone(view: &View, at: usize) -> usize {
    if matches!(view.at(at), b'Z' | b'z') && !is_word(view.at(at + 1)) {
        return at + 1;
    }
    let sign = if view.at(at) == b' ' { at + 1 } else { at };
    if matches!(view.at(sign), b'+' | b'-')
        && let Some(hours) = two(view, sign + 1, 0, 14)
    {
        let minutes = if view.at(hours) == b':' { hours + 1 } else { hours };
        if let Some(end) = two(view, minutes, 0, 59).filter(|&end| !is_word(view.at(end))) {
            return end;
        }
    }
    at
}

/// A time without a date. `12:30` alone may be line and column, so it needs more: seconds, a fraction, am/pm or a
/// leading zero, which no line number has.
fn clock(view: &View, at: usize) -> Option<usize> {
    let before = view.before(at, 1);
    if is_word(before) || matches!(before, b':' | b'.' | b'/') || before == b'-' && is_word(view.before(at, 2)) {
        return None;
    }
    let hour_end = view.digits(at);
    if !(1..=2).contains(&(hour_end - at)) || view.at(hour_end) != b':' {
        return None;
    }
    let minute = two(view, hour_end + 1, 0, 59)?;
    let end = if view.at(minute) == b':' {
        zone(view, half(view, fraction(view, two(view, minute + 1, 0, 60)?)))
    } else if matches!(view.at(minute), b'.') && view.at(minute + 1).is_ascii_digit() {
        let end = view.digits(minute + 1);
        view.word(end, &["elapsed"]).map_or(end, |length| end + length)
    } else {
        let end = half(view, minute);
        (end > minute || view.at(at) == b'0' && hour_end - at == 2).then_some(end)?
    };
    (!is_word(view.at(end)) && view.at(end) != b':' && !view.joined(end, b".")).then_some(end)
}

/// Seconds with a fraction, milli-, micro- or nanoseconds since 1970, between 2014 and 2033.
fn epoch(view: &View, at: usize) -> Option<usize> {
    let before = view.before(at, 1);
    if is_word(before) || matches!(before, b'.' | b'-' | b'+' | b'/') {
        return None;
    }
    let digits = view.digits(at);
    if view.at(at) != b'1' || !(b'4'..=b'9').contains(&view.at(at + 1)) {
        return None;
    }
    let end = match digits - at {
        13 | 16 | 19 => digits,
        10 if view.at(digits) == b'.' && view.digits(digits + 1) - digits >= 4 => view.digits(digits + 1),
        _ => return None,
    };
    ends(view, end).then_some(end)
}

/// Nothing goes on at `at`: neither a word nor, behind a joint, more of the same name.
fn ends(view: &View, at: usize) -> bool {
    !is_word(view.at(at)) && !view.joined(at, b"-./")
}
