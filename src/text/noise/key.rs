//! Values that are noise because of the word before them: `pid 4711`, `attempt 3/5`, `"duration_ms": 12`, `session s-4`.

use super::id::Run;
use super::scan::{Hit, Kind, Lower, View, is_token, is_word};

/// A keyed value of which `at` is the first digit.
pub fn find(view: &View, at: usize) -> Option<Hit> {
    let token = view.back_while(at, is_token);
    let token = view.skip_while(token, |byte| byte == b'-');
    if token < at {
        // Ids may begin with a letter.
        let key = Key::before(view, token)?;
        return identifier(view, &key, token, at);
    }
    execution(view, at)
        .or_else(|| Key::before(view, at).and_then(|key| value(view, &key, at)))
        .or_else(|| counter(view, at))
        .or_else(|| job(view, at))
}

/// The word before a value: `request_id` of `"request_id": "`.
struct Key<'a> {
    name: &'a [u8],
    /// The word before the name when only a blank separates them: `session` of `session id`.
    prior: &'a [u8],
    /// There was a `:` or `=`.
    separated: bool,
    /// There was a `#` or an opening bracket.
    marked: bool,
}

impl<'a> Key<'a> {
    fn before(view: &View<'a>, value: usize) -> Option<Self> {
        let blank = |byte| matches!(byte, b' ' | b'\t');
        let quote = |byte| matches!(byte, b'"' | b'\'' | b'`');
        let mut at = value;
        at -= usize::from(quote(view.before(at, 1)));
        let marked = matches!(view.before(at, 1), b'#' | b'(' | b'[');
        at -= usize::from(marked);
        at = view.back_while(at, blank);
        let separated = matches!(view.before(at, 1), b':' | b'=');
        if separated {
            at = view.back_while(at - 1, blank);
            at -= usize::from(quote(view.before(at, 1)));
        }
        // Keys end in a letter.
        if value - at > 8 || value == at || !may_end_word(view.before(at, 2), view.before(at, 1)) {
            return None;
        }
        let start = view.back_while(at, is_token);
        let name = view.slice(start, at);
        if name.is_empty() || name.len() > 40 {
            return None;
        }
        let mut prior: &[u8] = &[];
        if view.before(start, 1) == b' ' && name.len() <= 5 {
            let before = view.back_while(start - 1, is_token);
            prior = view.slice(before, start - 1);
        }
        Some(Self { name, prior, separated, marked })
    }

    fn last_two(&self) -> (Word, Word) {
        let mut words = self.words();
        let last = word(words.next().unwrap_or_default());
        // Only these look at the word before.
        let owned = matches!(last, Word::Id | Word::Count | Word::After);
        (last, if owned { word(words.next().unwrap_or_default()) } else { Word::Other })
    }

    /// The words of the name from the last one on: `request_id`, `request-id`, `requestId` and `requestID` are `id` and
    /// `request`; behind them the word before the name.
    fn words(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = self.name;
        let prior = self.prior;
        std::iter::from_fn(move || {
            while let Some((b'_' | b'-', head)) = rest.split_last().map(|(last, head)| (*last, head)) {
                rest = head;
            }
            let mut start = rest.len();
            while start > 0 && !matches!(rest[start - 1], b'_' | b'-') {
                start -= 1;
                let lower_before = start > 0 && rest[start - 1].is_ascii_lowercase();
                if rest[start].is_ascii_uppercase() && lower_before {
                    break;
                }
            }
            let word = &rest[start..];
            rest = &rest[..start];
            (!word.is_empty()).then_some(word)
        })
        .chain(std::iter::once(prior))
    }
}

/// What a word says about the value behind it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Pid,
    Process,
    Attempt,
    Try,
    Seed,
    Count,
    Execution,
    Took,
    Unit,
    After,
    Time,
    /// Of a moment, if the number is large enough.
    Moment,
    Id,
    Session,
    /// A thing whose ids are made anew for each run.
    Running,
    Thread,
    Other,
}

fn word(word: &[u8]) -> Word {
    match Lower::of(word).get() {
        b"pid" | b"pids" | b"ppid" | b"tid" | b"pgid" | b"goroutine" => Word::Pid,
        b"process" => Word::Process,
        b"thread" => Word::Thread,
        b"attempt" | b"attempts" | b"retry" | b"retries" | b"retrying" | b"tries" => Word::Attempt,
        b"try" => Word::Try,
        b"seed" => Word::Seed,
        b"count" => Word::Count,
        b"execution" => Word::Execution,
        b"duration" | b"elapsed" | b"took" | b"latency" | b"uptime" | b"runtime" => Word::Took,
        b"ms" | b"msec" | b"msecs" | b"millis" | b"milliseconds" | b"sec" | b"secs" | b"seconds" | b"us"
        | b"micros" | b"microseconds" | b"ns" | b"nanos" | b"nanoseconds" => Word::Unit,
        b"after" => Word::After,
        b"time" => Word::Time,
        b"timestamp" | b"ts" | b"date" | b"epoch" | b"mtime" | b"ctime" | b"atime" | b"at" | b"iat" | b"exp"
        | b"expires" | b"created" | b"updated" | b"modified" => Word::Moment,
        b"id" | b"ids" | b"uuid" | b"guid" => Word::Id,
        b"session" | b"sess" | b"nonce" => Word::Session,
        b"request" | b"req" | b"trace" | b"span" | b"correlation" | b"run" | b"job" | b"task" | b"conversation"
        | b"transaction" | b"connection" | b"container" | b"message" | b"event" | b"call" | b"invocation" => {
            Word::Running
        }
        _ => Word::Other,
    }
}

/// The last two letters of the words that say something of the value behind them; all others are told by them alone.
const ENDS: [[u8; 2]; 30] = [
    *b"ad", *b"at", *b"ce", *b"ch", *b"cs", *b"cy", *b"ds", *b"ec", *b"ed", *b"er", *b"es", *b"id", *b"is", *b"me",
    *b"mp", *b"ms", *b"ne", *b"ng", *b"ns", *b"nt", *b"ok", *b"on", *b"os", *b"pt", *b"ry", *b"ss", *b"te", *b"ts",
    *b"us", *b"xp",
];

/// Whether a word that ends in these two bytes may be one of them.
fn may_end_word(last_but_one: u8, last: u8) -> bool {
    /// By the last letter: the letters before it, as bits.
    const BEFORE: [u32; 32] = {
        let mut before = [0; 32];
        let mut index = 0;
        while index < ENDS.len() {
            before[(ENDS[index][1] & 31) as usize] |= 1 << (ENDS[index][0] & 31);
            index += 1;
        }
        before
    };
    last.is_ascii_alphabetic()
        && last_but_one.is_ascii_alphabetic()
        && BEFORE[usize::from(last & 31)] >> (last_but_one & 31) & 1 == 1
}

/// The end of a number with an optional fraction, if it stands alone.
fn amount(view: &View, at: usize) -> Option<(usize, bool)> {
    let mut end = view.digits(at);
    let fraction = view.at(end) == b'.' && view.at(end + 1).is_ascii_digit();
    if fraction {
        end = view.digits(end + 1);
    }
    let joined = view.joined(end, b".-:");
    (!is_word(view.at(end)) && !joined && view.at(end) != b'%').then_some((end, fraction))
}

fn value(view: &View, key: &Key, at: usize) -> Option<Hit> {
    let (last, owner) = key.last_two();
    if last == Word::Other {
        return None;
    }
    let number = amount(view, at).and_then(|(end, fraction)| {
        let digits = view.digits(at) - at;
        let whole = !fraction;
        let (end, kind) = match last {
            Word::Pid if whole => (end, Kind::Pid),
            Word::Process if whole && digits >= 3 => (end, Kind::Pid),
            Word::Id if whole && matches!(owner, Word::Process | Word::Thread) => (end, Kind::Pid),
            Word::Attempt if whole => (total(view, end), Kind::Counter),
            Word::Try if whole && (key.separated || key.marked || of(view, end)) => (total(view, end), Kind::Counter),
            Word::Seed if whole => (end, Kind::Id),
            Word::Count if whole && owner == Word::Execution => (end, Kind::Counter),
            Word::Took => (end, Kind::Duration),
            Word::Unit if key.separated => (end, Kind::Duration),
            Word::After if owner == Word::Attempt => (end, Kind::Duration),
            Word::Time if key.separated && fraction && digits < 10 => (end, Kind::Duration),
            Word::Time | Word::Moment if digits >= 10 => (end, Kind::Time),
            _ => return None,
        };
        Some(Hit { start: at, end, kind })
    });
    number.or_else(|| identifier(view, key, at, at))
}

/// `3/5`, `3 of 5`.
fn of(view: &View, end: usize) -> bool {
    total(view, end) > end
}

fn total(view: &View, end: usize) -> usize {
    [" of ", "/", " / "]
        .into_iter()
        .find_map(|joint| {
            let at = end + joint.len();
            let digits = view.digits(at);
            (view.starts_with(end, joint.as_bytes()) && digits > at && !is_word(view.at(digits))).then_some(digits)
        })
        .unwrap_or(end)
}

/// The id of something that runs; `token` is its first byte, `at` its first digit.
fn identifier(view: &View, key: &Key, token: usize, at: usize) -> Option<Hit> {
    let (last, owner) = key.last_two();
    if !matches!(last, Word::Id | Word::Session) {
        return None;
    }
    let end = view.skip_while(at, is_token);
    if view.joined(end, b".:/") || view.masked(end) {
        return None;
    }
    let named = last == Word::Id;
    let running = last == Word::Session
        || named && matches!(owner, Word::Running | Word::Session | Word::Process | Word::Thread | Word::Execution);
    let text = view.slice(token, end);
    let single = text.iter().all(u8::is_ascii_alphanumeric);
    let loose = named && key.separated && single && Run::of(text, token).is_short_id();
    (running || loose).then_some(Hit { start: token, end, kind: Kind::Id })
}

/// The counter of a notebook or REPL: `In [3]:`, `Out[3]`.
fn execution(view: &View, at: usize) -> Option<Hit> {
    let end = view.digits(at);
    if view.before(at, 1) != b'[' || view.at(end) != b']' {
        return None;
    }
    let name_end = view.back_while(at - 1, |byte| byte == b' ');
    let name = view.back_while(name_end, is_word);
    matches!(view.slice(name, name_end), b"In" | b"Out").then_some(Hit { start: at, end, kind: Kind::Counter })
}

/// Numbers whose word comes after them: `3rd attempt`, `2 retries`, `4x this session`.
fn counter(view: &View, at: usize) -> Option<Hit> {
    if is_word(view.before(at, 1)) || matches!(view.before(at, 1), b'.' | b'-' | b':' | b'/') {
        return None;
    }
    let digits = view.digits(at);
    let next = view.at(if view.at(digits) == b' ' { digits + 1 } else { digits });
    if !matches!(next | 0x20, b's' | b'n' | b'r' | b't' | b'a' | b'x') && next != 0xc3 {
        return None;
    }
    let hit = |end| Some(Hit { start: at, end, kind: Kind::Counter });
    let ordinal = view.word(digits, &["st", "nd", "rd", "th"]).map(|length| digits + length);
    if let Some(end) = ordinal
        && view.at(end) == b' '
        && view.word(end + 1, &["attempt", "retry", "try", "time"]).is_some_and(|length| {
            view.at(end + 1) != b't' || view.at(end + 2) != b'i' || session(view, end + 1 + length)
        })
    {
        return hit(end);
    }
    if view.at(digits) == b' ' && view.word(digits + 1, &["attempts", "attempt", "retries", "tries"]).is_some() {
        return hit(digits);
    }
    let times = if view.at(digits) == b' ' { digits + 1 } else { digits };
    let word = view
        .word(times, &["x", "times", "time"])
        .map(|length| times + length)
        .or_else(|| view.starts_with(times, "×".as_bytes()).then_some(times + "×".len()))?;
    session(view, word).then(|| hit(digits))?
}

/// ` this session` and the like: what comes before counts the agent's own calls, not what they found.
fn session(view: &View, at: usize) -> bool {
    let Some(after) = [" in this ", " this ", " per "]
        .into_iter()
        .find_map(|joint| view.starts_with(at, joint.as_bytes()).then_some(at + joint.len()))
    else {
        return false;
    };
    view.word(after, &["session", "run", "conversation", "turn"]).is_some()
}

/// A shell's job line (`[1] 48213`), a process name with its pid at the start of a line (`(node:48213)`), and a thread
/// that panicked (`thread 'main' (48213)`).
fn job(view: &View, at: usize) -> Option<Hit> {
    let end = view.digits(at);
    let hit = Hit { start: at, end, kind: Kind::Pid };
    if end - at < 3 {
        return None;
    }
    if view.at(end) == b'\n' && view.before(at, 1) == b' ' {
        let bracket = view.back_while(at, |byte| byte == b' ');
        let number = view.back_while(bracket.saturating_sub(1), |byte| byte.is_ascii_digit());
        let listed = view.before(bracket, 1) == b']' && number + 1 < bracket && view.before(number, 1) == b'[';
        return (listed && view.before(number, 2) == b'\n').then_some(hit);
    }
    if view.at(end) != b')' {
        return None;
    }
    if view.before(at, 1) == b':' {
        let name = view.back_while(at - 1, |byte| byte.is_ascii_alphabetic());
        let opened = name + 1 < at && view.before(name, 1) == b'(' && view.before(name, 2) == b'\n';
        return opened.then_some(hit);
    }
    let thread = view.before(at, 1) == b'(' && view.before(at, 2) == b' ' && view.before(at, 3) == b'\'';
    if !thread {
        return None;
    }
    let name = view.back_while(at - 3, |byte| is_token(byte) || byte == b':');
    (view.before(name, 1) == b'\'' && name >= view.floor + 8 && view.slice(name - 8, name - 1) == b"thread ")
        .then_some(hit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_that_says_something_has_a_known_end() {
        let alphabet = || (b'a'..=b'z').map(|letter| letter as char);
        let known: Vec<String> = alphabet().flat_map(|a| alphabet().map(move |b| format!("{a}{b}"))).collect();
        assert_eq!(known.iter().filter(|end| may_end_word(end.as_bytes()[0], end.as_bytes()[1])).count(), ENDS.len());
        for name in [
            "pid",
            "pids",
            "ppid",
            "tid",
            "pgid",
            "goroutine",
            "process",
            "thread",
            "attempt",
            "attempts",
            "retry",
            "retries",
            "retrying",
            "tries",
            "try",
            "seed",
            "count",
            "execution",
            "duration",
            "elapsed",
            "took",
            "latency",
            "uptime",
            "runtime",
            "ms",
            "msec",
            "msecs",
            "millis",
            "milliseconds",
            "sec",
            "secs",
            "seconds",
            "us",
            "micros",
            "microseconds",
            "ns",
            "nanos",
            "nanoseconds",
            "after",
            "time",
            "timestamp",
            "ts",
            "date",
            "epoch",
            "mtime",
            "ctime",
            "atime",
            "at",
            "iat",
            "exp",
            "expires",
            "created",
            "updated",
            "modified",
            "id",
            "ids",
            "uuid",
            "guid",
            "session",
            "sess",
            "nonce",
        ] {
            assert!(!matches!(word(name.as_bytes()), Word::Other | Word::Running), "{name}");
            let [.., a, b] = name.as_bytes() else { unreachable!() };
            assert!(may_end_word(*a, *b) && may_end_word(a.to_ascii_uppercase(), b.to_ascii_uppercase()), "{name}");
        }
    }
}
