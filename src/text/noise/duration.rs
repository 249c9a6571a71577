//! How long something took, how fast it was, and how old it is.

use super::scan::{Hit, Kind, View, is_word};

/// A duration or a rate at `at`, which is the first digit of its word.
pub fn find(view: &View, at: usize) -> Option<Hit> {
    // What may follow the first digits. Most numbers end here.
    if !matches!(view.at(view.digits(at)), b' ' | b'%' | b',' | b'.' | b'a'..=b'z' | b'A'..=b'Z' | 0x80..) {
        return None;
    }
    let before = view.before(at, 1);
    let glued = before == b'-' && is_word(view.before(at, 2));
    // `%5s` and `$1s` are formats and patterns, `1.2.3` is a version, `1,234` is entered at its first digit.
    if is_word(before) || glued || matches!(before, b'.' | b'%' | b'$' | b'\\' | b'#' | b'@' | b'/') {
        return None;
    }
    if before == b',' && view.before(at, 2).is_ascii_digit() {
        return None;
    }
    let number = amount(view, at)?;
    // A unit follows, at once or behind a blank.
    let next = view.at(number);
    let unit = view.at(number + 1);
    match next {
        b'a'..=b'z' | b'A'..=b'Z' | b'%' | 0x80.. => {}
        b' ' if unit.is_ascii_alphabetic() || unit >= 0x80 => {}
        _ => return None,
    }
    let hit = |end, kind| Some(Hit { start: at, end, kind });
    if let Some(end) = span(view, at, number) {
        return hit(end, Kind::Duration);
    }
    if let Some(end) = rate(view, number) {
        return hit(end, Kind::Rate);
    }
    if let Some(end) = relative(view, number) {
        return hit(end, Kind::Duration);
    }
    processor(view, at, number).and_then(|end| hit(end, Kind::Duration))
}

/// The end of `12`, `1,234` or `3.41`; none for `1.2.3`.
fn amount(view: &View, at: usize) -> Option<usize> {
    let mut end = view.digits(at);
    while view.at(end) == b',' && view.digits(end + 1) == end + 4 && end - at <= 15 {
        end += 4;
    }
    if view.at(end) == b'.' && view.at(end + 1).is_ascii_digit() {
        end = view.digits(end + 1);
        if view.at(end) == b'.' && view.at(end + 1).is_ascii_digit() {
            return None;
        }
    }
    Some(end)
}

/// Units from large to small, so that `1m 3s` is one duration and `3s 1m` is two.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Day,
    Hour,
    Minute,
    Second,
    Milli,
    Micro,
    Nano,
}

/// Words that stand behind a number with or without a space.
fn unit_word(word: &[u8]) -> Option<Unit> {
    Some(match word {
        b"hours" | b"hour" | b"hrs" | b"hr" => Unit::Hour,
        b"minutes" | b"minute" | b"mins" | b"min" => Unit::Minute,
        b"seconds" | b"second" | b"secs" | b"sec" => Unit::Second,
        b"milliseconds" | b"millisecond" | b"millis" | b"msecs" | b"msec" => Unit::Milli,
        b"microseconds" | b"microsecond" | b"usecs" | b"usec" => Unit::Micro,
        b"nanoseconds" | b"nanosecond" => Unit::Nano,
        _ => return None,
    })
}

/// Only glued to the number, in the way of GNU `time`.
fn is_usage(word: &[u8]) -> bool {
    matches!(word, b"user" | b"system" | b"elapsed" | b"maxresident" | b"minor" | b"major" | b"inputs" | b"outputs")
}

fn unit(view: &View, at: usize) -> Option<(usize, Unit)> {
    let letter = view.at(at);
    if !letter.is_ascii_alphabetic() && letter < 0x80 {
        return None;
    }
    // A micro sign or a Greek mu, both two bytes.
    let micro = view.starts_with(at, "µs".as_bytes()) || view.starts_with(at, "μs".as_bytes());
    let (end, unit) = if micro {
        (at + 3, Unit::Micro)
    } else if !is_word(view.at(at + 1)) {
        let unit = match letter {
            b'h' => Unit::Hour,
            b'm' => Unit::Minute,
            b's' => Unit::Second,
            b'd' => Unit::Day,
            _ => return None,
        };
        (at + 1, unit)
    } else if view.at(at + 1) == b's' && !is_word(view.at(at + 2)) {
        let unit = match letter {
            b'm' => Unit::Milli,
            b'u' => Unit::Micro,
            b'n' => Unit::Nano,
            _ => return None,
        };
        (at + 2, unit)
    } else {
        let (word, end) = view.lower(at);
        (end, unit_word(word.get())?)
    };
    (!is_word(view.at(end))).then_some((end, unit))
}

/// `1h2m3.5s`, `2m 5s`, `0m0.03s`: a unit that a digit follows is a unit only if the next part follows it.
fn glued_unit(view: &View, at: usize) -> Option<(usize, Unit)> {
    let unit = match view.at(at) {
        b'd' => Unit::Day,
        b'h' => Unit::Hour,
        b'm' => Unit::Minute,
        b's' => Unit::Second,
        _ => return None,
    };
    view.at(at + 1).is_ascii_digit().then_some((at + 1, unit))
}

fn span(view: &View, start: usize, number: usize) -> Option<usize> {
    let glued = number;
    let spaced = if view.at(number) == b' ' { number + 1 } else { number };
    let (word, end) = view.lower(glued);
    if is_usage(word.get()) {
        return Some(end);
    }
    if let Some((end, large)) = glued_unit(view, glued) {
        return next_part(view, end, large);
    }
    let (end, large) = unit(view, spaced)?;
    let fraction = view.slice(start, number).contains(&b'.');
    // Only the last part of a composed duration has a fraction.
    if let Some(end) = following(view, spaced, end, large).filter(|_| !fraction) {
        return Some(end);
    }
    let letter_only = end - spaced == 1;
    match large {
        // `3d` is also a dimension, and `512m` a size.
        Unit::Day => None,
        Unit::Minute if letter_only => (spaced == number
            && !fraction
            && number - start <= 2
            && view.value(start, number).is_some_and(|minutes| minutes < 60))
        .then_some(end),
        Unit::Hour if letter_only => (spaced == number).then_some(end),
        _ => Some(end),
    }
}

/// A smaller part behind a blank; behind a comma or `and` only where units are written out, since `1s, 20ms` are two.
fn following(view: &View, unit: usize, end: usize, large: Unit) -> Option<usize> {
    let joints: &[&str] = if end - unit > 2 { &[" ", ", ", " and "] } else { &[" "] };
    joints.iter().find_map(|joint| {
        let next = end + joint.len();
        (view.starts_with(end, joint.as_bytes()) && view.at(next).is_ascii_digit())
            .then(|| next_part(view, next, large))?
    })
}

fn next_part(view: &View, at: usize, large: Unit) -> Option<usize> {
    let number = amount(view, at)?;
    if let Some((end, small)) = glued_unit(view, number).filter(|(_, small)| *small > large) {
        return next_part(view, end, small);
    }
    let spaced = if view.at(number) == b' ' { number + 1 } else { number };
    let (end, small) = unit(view, spaced).filter(|(_, small)| *small > large)?;
    let fraction = view.slice(at, number).contains(&b'.');
    Some(following(view, spaced, end, small).filter(|_| !fraction).unwrap_or(end))
}

/// `12.3 MB/s`, `14.2it/s`, `1,234 ops/sec`, `3.4s/it`.
fn rate(view: &View, number: usize) -> Option<usize> {
    let word = if view.at(number) == b' ' { number + 1 } else { number };
    let slash = view.skip_while(word, |byte| byte.is_ascii_alphabetic());
    if slash == word || slash - word > 12 || view.at(slash) != b'/' {
        return None;
    }
    if let Some(length) = view.word(slash + 1, &["s", "sec", "second"]) {
        return Some(slash + 1 + length);
    }
    (view.slice(word, slash) == b"s").then(|| view.word(slash + 1, &["it"]))?.map(|length| slash + 1 + length)
}

/// `3 days ago`, `2 weeks old`.
fn relative(view: &View, number: usize) -> Option<usize> {
    if view.at(number) != b' ' {
        return None;
    }
    let (word, end) = view.lower(number + 1);
    let long = matches!(word.get(), b"days" | b"day" | b"weeks" | b"week" | b"months" | b"month" | b"years" | b"year");
    (long && view.at(end) == b' ').then(|| view.word(end + 1, &["ago", "old"]))?.map(|_| end)
}

/// The rest of what the shells' `time` prints: `96% cpu 0.031 total`, `0%CPU`.
fn processor(view: &View, start: usize, number: usize) -> Option<usize> {
    if view.at(number) == b'%' {
        let word = if view.at(number + 1) == b' ' { number + 2 } else { number + 1 };
        return view.word(word, &["cpu"]).map(|_| number);
    }
    let decimal = view.slice(start, number).contains(&b'.');
    let after_cpu = start >= view.floor + 4 && view.slice(start - 4, start) == b"cpu ";
    (decimal && after_cpu && view.at(number) == b' ').then(|| view.word(number + 1, &["total"]))?.map(|_| number)
}
