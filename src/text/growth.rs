//! Holds the cost of text functions to the length of the text. For tests.
//!
//! One line a function: `growth::is_linear(|text| drop(my_function(text)))`. The texts are units repeated, pairs of units
//! repeated, and a run of one unit behind a run of another, so that scans to the left, scans to the right and rescans of
//! what was passed already each meet the text that is worst for them.

use std::hint::black_box;
use std::time::Duration;

/// What texts are made of: everything that some scanner treats in a way of its own, and what it may take for a beginning
/// that never ends.
pub const UNITS: &[&str] = &[
    // Numbers, hexadecimal, ids, encodings
    "0",
    "7 ",
    "a1",
    "6080604052348015",
    "0x7f3a5c0012d0 ",
    "0123456789abcdef0123456789abcdef ",
    "0b5e9c1a-7f3d-4e2b-9a6c-1d2e3f405162 ",
    "toolu_01AbXdEfG7hJkLmN9p ",
    "aGVsbG8gd29ybGQ",
    "A1b2C3d4",
    "1-",
    "1,111",
    "1.",
    "1:",
    "404 ",
    "E0308",
    // Times and amounts
    "2024-01-02T10:02:33.123Z ",
    "Tue Jun 28 10:02:33 2022 ",
    "Jun 1 ",
    "12:00:33",
    "1d2h3m4s",
    "3.41s, ",
    "1700000000123 ",
    "pid 4711 ",
    "attempt 3/5 ",
    "session_id=1a-",
    // Dashes, blanks, line ends, punctuation
    "-",
    "- ",
    "_",
    " ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    " \n",
    "a\r",
    ",",
    ".",
    ". ",
    "a. ",
    "?",
    ":",
    "::",
    "=",
    "<",
    "<< id=",
    ">",
    "2>&1 > ",
    "|",
    ";",
    "&& ",
    // Brackets, quotes, escapes
    "(",
    "((a) ",
    "[",
    "{",
    "{\"a\":",
    "[1,",
    "$(",
    "`",
    "```\n",
    "\"",
    "\\\"",
    "'",
    "\\",
    "\\n",
    "\\u0041",
    "\\ud83d",
    "\"a\":\"b\",",
    // Escape sequences that are opened and not closed, and ones that are
    "\u{1b}",
    "\u{1b}[",
    "\u{1b}[1;",
    "\u{1b}[31mred\u{1b}[0m ",
    "\u{1b}]",
    "\u{1b}]8;;http://x",
    "\u{1b}]0;t\u{7}",
    "\u{1b}P",
    "\u{1b}_",
    "\u{1b}(",
    "\u{9b}",
    "\u{9d}",
    "\u{9c}",
    "\u{7}",
    "\0",
    // Shell lines
    "A=1 ",
    "sudo ",
    "env nohup ",
    "timeout 5 ",
    "-a ",
    "--flag=value ",
    "git -C a ",
    "cd a && ",
    "git checkout -- a && ",
    "git stash push ",
    "<<EOF\n",
    "npm run test; ",
    "ls a.b ",
    // Paths and addresses
    "/",
    "../",
    "a/",
    "/tmp/",
    "/tmp/x8Hd/1/",
    "/var/folders/zz/",
    "\\Temp\\",
    "src/a.rs:41:7: ",
    "https://a.example/b?c=d ",
    // Wide, combining and invisible characters
    "é",
    "東京",
    "。",
    "🦀",
    "👩‍👩‍👧",
    "e\u{301}",
    "\u{301}",
    "\u{fe0f}",
    "\u{200b}",
    "\u{202e}",
    "\u{e0041}",
    "\u{a0}",
    "\u{3000}",
    "\u{2028}",
    "\u{fffd}",
    // Words
    "a",
    "word ",
    "Word",
    "aB",
    "I will read the file. ",
    "error: no such file\n",
    "error ",
    "Traceback (\n ",
    "no ",
    "not ",
    "let me ",
    "running ",
];

/// Every text is tried at this size at least.
const LEAST: usize = 64 * 1024;
const MOST: usize = 1024 * 1024;
/// The size is multiplied by this from step to step.
const STEP: usize = 4;
/// A run that takes so long is long enough to be compared.
const MEASURABLE: Duration = Duration::from_micros(250);
/// A step of four costs four times as much when the cost is linear and sixteen times when it is quadratic.
const TOO_MUCH: f64 = 10.0;
/// Runs before a cost is called too much: caches that other work has emptied make single ones slow.
const RUNS: usize = 7;
/// A function this slow on the smallest text is tried on units only: the tests run without optimisation.
const SLOW: Duration = Duration::from_millis(8);
/// No other work makes every run take so long.
const BEYOND_DOUBT: Duration = Duration::from_millis(200);

/// Processor time of this thread: what else the machine does must not count.
#[cfg(unix)]
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("no thread began before it")
}

#[cfg(not(unix))]
fn now() -> Duration {
    static BEGUN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    BEGUN.elapsed()
}

/// A text of about `size` bytes.
struct Shape {
    name: String,
    of: Box<dyn Fn(usize) -> String>,
}

fn units() -> Vec<Shape> {
    let unit = |unit: &'static str| Shape { name: format!("{unit:?}"), of: Box::new(move |size| repeated(unit, size)) };
    UNITS.iter().copied().map(unit).collect()
}

/// Each unit beside or behind another one; which one is spread over the list.
fn mixtures() -> Vec<Shape> {
    let mixture = |(index, &unit): (usize, &&'static str)| {
        let other = UNITS[(index * 11 + 5) % UNITS.len()];
        if index % 2 == 0 {
            let pair = format!("{unit}{other}");
            Shape { name: format!("{pair:?}"), of: Box::new(move |size| repeated(&pair, size)) }
        } else {
            let halves = move |size| repeated(unit, size / 2) + &repeated(other, size / 2);
            Shape { name: format!("{unit:?} then {other:?}"), of: Box::new(halves) }
        }
    };
    UNITS.iter().enumerate().filter(|(index, _)| index % 5 < 2).map(mixture).collect()
}

fn repeated(unit: &str, size: usize) -> String {
    unit.repeat(size / unit.len())
}

/// Fails when the cost of `work` grows faster than the text that it is given.
pub fn is_linear(work: impl FnMut(&str)) {
    is_linear_within("", "", work);
}

/// The same with `before` and `after` around each text.
pub fn is_linear_within(before: &str, after: &str, mut work: impl FnMut(&str)) {
    // The first run fills caches and grows buffers.
    work(&repeated("word ", LEAST));
    let slow = time(&repeated("a.b 1 -c ", LEAST), |text| work(text)) > SLOW;
    let mixtures = if slow { Vec::new() } else { mixtures() };
    for Shape { name, of } in units().into_iter().chain(mixtures) {
        let text = |size: usize| format!("{before}{}{after}", of(size));
        grows(&name, text, |text| work(text));
    }
}

fn time<T>(input: &T, mut work: impl FnMut(&T)) -> Duration {
    let begun = now();
    work(black_box(input));
    now().saturating_sub(begun)
}

/// Fails when the cost of `work` on what `of` makes of a size grows faster than the size.
///
/// # Panics
///
/// When it does.
pub fn grows<T>(name: &str, of: impl Fn(usize) -> T, mut work: impl FnMut(&T)) {
    let (mut size, mut input) = (LEAST / STEP, of(LEAST / STEP));
    let mut cost = time(&input, &mut work);
    while size < MOST && (size < LEAST || cost < MEASURABLE) {
        let (larger, more) = (size * STEP, of(size * STEP));
        let mut dear = time(&more, &mut work);
        let too_much =
            |dear: Duration, cost: Duration| dear > MEASURABLE && dear.as_secs_f64() > TOO_MUCH * cost.as_secs_f64();
        for run in 1..RUNS {
            if !too_much(dear, cost) || run > 2 && dear > BEYOND_DOUBT {
                break;
            }
            // The least of several: noise only ever adds. The smaller one is given the benefit of the doubt.
            dear = dear.min(time(&more, &mut work));
            cost = cost.max(time(&input, &mut work));
        }
        assert!(
            !too_much(dear, cost),
            "{name}: {cost:?} for {size} bytes, {dear:?} for {larger}: the cost is not linear"
        );
        (size, input, cost) = (larger, more, dear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_units_are_many_and_different() {
        let mut units = UNITS.to_vec();
        units.sort_unstable();
        units.dedup();
        assert_eq!(units.len(), UNITS.len());
        assert!(units.len() > 100);
    }

    fn dashes(size: usize) -> String {
        repeated("-", size)
    }

    #[test]
    #[should_panic(expected = "not linear")]
    fn a_scan_to_the_left_from_every_place_is_found() {
        grows("dashes", dashes, |text| {
            let seen = (0..text.len()).step_by(64).map(|at| text[..at].trim_end_matches('-').len());
            assert!(seen.sum::<usize>() < usize::MAX);
        });
    }

    #[test]
    #[should_panic(expected = "not linear")]
    fn a_scan_to_the_right_from_every_place_is_found() {
        is_linear(|text| {
            let ends = text.match_indices("\u{1b}]").map(|(at, _)| text[at..].find('\u{7}').unwrap_or(text.len()));
            assert!(ends.sum::<usize>() < usize::MAX);
        });
    }

    #[test]
    fn a_single_pass_is_not() {
        grows("dashes", dashes, |text| assert!(text.bytes().map(u64::from).sum::<u64>() < u64::MAX));
    }
}
