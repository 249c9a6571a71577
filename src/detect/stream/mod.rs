//! Owns: does one streamed message go round? Text in pieces comes in, at most one [`Repetition`] per message comes out.
//! It knows no events, no clock and no earlier message.
//!
//! ```text
//! pieces ─► white space collapsed ─┬─► exact lane (period up to 2048)      word, phrase, sentence, paragraph, block
//!                                  ├─► numbers masked (period up to 512)   a sentence with a counter
//!                                  └─► sentences (window of 24)            a shuffle of a few sentences
//! ```
//!
//! A lane says *that* something repeats, [`content`] says whether that is worth telling: rules, tables, code, lists and
//! status lines repeat by their form. Everything is O(1) amortised per character and about 16 KB per message at most.

mod content;
mod fence;
mod filter;
mod lane;
#[cfg(test)]
mod tests;
mod units;

use content::{Needed, content, ends_sentence, ends_wide_sentence};
use fence::Fence;
pub use filter::Filter;
use lane::Lane;
use units::Units;

/// Characters of a unit that are kept for people.
const UNIT_LENGTH: usize = 120;
/// The longest passage whose exact repetition is seen.
const LONGEST: usize = 2048;
/// The longest passage that may differ in a counter.
const LONGEST_COUNTED: usize = 512;
/// A repetition shorter than this is never looked at.
const FIRST_LOOK: u64 = 300;
/// And neither is one of fewer rounds.
const FEWEST_ROUNDS: u64 = 5;
/// What follows from both for the part after the first round: a check that costs next to nothing.
const SHORTEST_RUN: u64 = FIRST_LOOK - FIRST_LOOK / FEWEST_ROUNDS;

/// A message that has ended and is mostly one short chant needs less: nothing is cut, and nothing else will come.
const ENDED_CHARACTERS: u64 = 100;
const ENDED_REPEATS: u64 = 12;

/// What goes round in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repetition {
    /// The first 120 characters of what repeats, in one line.
    pub unit: String,
    /// Rounds so far; for a shuffle of sentences the number of sentences.
    pub count: u32,
    /// Characters that went round so far, white space counted once.
    pub characters: u64,
    /// Only numbers change from round to round.
    pub counter_only: bool,
}

/// The state for one message that is being streamed.
#[derive(Debug, Clone, Default)]
pub struct Stream {
    exact: Lane<LONGEST>,
    exact_look: Look,
    masked: Lane<LONGEST_COUNTED>,
    masked_look: Look,
    units: Units,
    fence: Fence,
    /// White space that came and is not in the lanes yet: it counts when something follows.
    gap: Gap,
    /// The last character, white space excluded.
    last: char,
    in_number: bool,
    /// Where in the exact lane the sentence began, and the hash of its words: case and punctuation make no other sentence.
    unit_start: u64,
    unit_hash: u64,
    unit_opens_line: bool,
    told: bool,
}

/// When to look at a repetition again.
#[derive(Debug, Clone, Copy, Default)]
struct Look {
    period: usize,
    span: u64,
    /// 0: not set.
    next: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Gap {
    space: bool,
    line: bool,
    /// Columns after the last line end.
    indent: u32,
}

/// Indented this far is code in Markdown.
const CODE_INDENT: u32 = 4;

impl Look {
    /// Whether the repetition reached what was asked for. Cheap, as it is asked after every character.
    #[inline]
    fn is_due(&mut self, period: usize, span: u64) -> bool {
        // The second half keeps the cost down: a look reads a whole round.
        if span < FIRST_LOOK || span < FEWEST_ROUNDS * period as u64 {
            return false;
        }
        if period != self.period || span < self.span || self.next == 0 {
            self.next = FIRST_LOOK;
        }
        self.period = period;
        self.span = span;
        span >= self.next
    }

    /// Notes what it takes; true when it is there.
    fn judge(&mut self, needed: Option<Needed>, least: Option<Needed>) -> bool {
        let Some(needed) = needed else {
            self.next = u64::MAX;
            return false;
        };
        let goal = |it: Needed| it.characters.max(it.repeats * self.period as u64);
        if self.span >= goal(needed) {
            return true;
        }
        self.next = least.map_or(goal(needed), |least| goal(least).min(goal(needed)).max(self.span + 1));
        false
    }
}

impl Stream {
    /// Takes the next piece of the message. Says once per message that it goes round, wherever the pieces are cut.
    pub fn feed(&mut self, text: &str) -> Option<Repetition> {
        if self.told {
            return None;
        }
        for c in text.chars() {
            let worth_a_look = if c.is_whitespace() { self.white(c) } else { self.ink(c) };
            if worth_a_look && let Some(found) = self.look(c) {
                self.told = true;
                return Some(found);
            }
        }
        None
    }

    /// The message has ended. Says whether what is there is a chant, by less than it takes to cut a stream.
    pub fn finish(&mut self) -> Option<Repetition> {
        if self.told {
            return None;
        }
        let found = self.end_unit().or_else(|| {
            let (period, span) = (self.exact.period(), self.exact.span());
            let mostly = span * 2 >= self.exact.length();
            if !mostly
                || span < ENDED_CHARACTERS
                || span / (period.max(1) as u64) < ENDED_REPEATS
                || self.fence.is_open()
            {
                return None;
            }
            let (start, opens_line) = self.unit_in(period);
            let round = content(rotated(&self.exact, period, start), opens_line);
            round.is_speech().then(|| self.repetition(period, start, span, false))
        });
        self.told |= found.is_some();
        found
    }

    /// Starts the next message.
    pub fn reset(&mut self) {
        self.exact.reset();
        self.masked.reset();
        *self = Self {
            exact: std::mem::take(&mut self.exact),
            masked: std::mem::take(&mut self.masked),
            ..Self::default()
        };
    }

    /// Takes white space; true when it ends a sentence or a line.
    #[inline]
    fn white(&mut self, c: char) -> bool {
        if c == '\n' {
            self.fence.line_end();
            self.gap = Gap { space: true, line: true, indent: 0 };
            return true;
        }
        let ends = !self.gap.space && ends_sentence(self.last);
        self.gap.space = true;
        self.gap.indent = self.gap.indent.saturating_add(if c == '\t' { CODE_INDENT } else { 1 });
        ends
    }

    /// Takes anything else; true when something may be repeating for long enough, or a sentence ends.
    #[inline]
    fn ink(&mut self, c: char) -> bool {
        if self.gap.space {
            self.close_gap();
        }
        self.fence.ink(c);
        self.symbol(c);
        self.exact.run() >= SHORTEST_RUN || self.masked.run() >= SHORTEST_RUN || (c > '\u{7f}' && ends_wide_sentence(c))
    }

    /// After a character that was worth it.
    #[inline(never)]
    fn look(&mut self, c: char) -> Option<Repetition> {
        if c.is_whitespace() {
            return self.end_unit();
        }
        let mut found = None;
        if self.exact_look.is_due(self.exact.period(), self.exact.span()) {
            found = self.look_exact();
        }
        if found.is_none() && self.masked_look.is_due(self.masked.period(), self.masked.span()) {
            found = self.look_masked();
        }
        if found.is_none() && ends_wide_sentence(c) {
            found = self.end_unit();
        }
        found
    }

    /// What follows white space: the lanes get one symbol for it.
    fn close_gap(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        if self.exact.length() > 0 {
            let mark = if gap.line { '\n' } else { ' ' };
            let was_start = self.unit_start == self.exact.length();
            self.push(mark);
            self.unit_start += u64::from(was_start);
            self.unit_opens_line |= was_start && gap.line;
            if !was_start {
                self.unit_hash = hashed(self.unit_hash, ' ');
            }
        } else {
            self.unit_opens_line = true;
        }
        if gap.line && gap.indent >= CODE_INDENT {
            self.push('\t');
        }
    }

    /// Both lanes; a run of digits is one symbol in the masked one.
    #[inline]
    fn symbol(&mut self, c: char) {
        self.exact.push(c);
        let digit = c.is_ascii_digit();
        if !digit {
            self.masked.push(c);
        } else if !self.in_number {
            self.masked.push('0');
        }
        self.in_number = digit;
        if c.is_ascii_alphanumeric() {
            self.unit_hash = hashed(self.unit_hash, c.to_ascii_lowercase());
        } else if !c.is_ascii() {
            self.unit_hash = hashed(self.unit_hash, c);
        }
        self.last = c;
    }

    fn push(&mut self, mark: char) {
        self.exact.push(mark);
        self.masked.push(mark);
        self.in_number = false;
    }

    #[cold]
    fn look_exact(&mut self) -> Option<Repetition> {
        let (period, span) = (self.exact.period(), self.exact.span());
        let (start, opens_line) = self.unit_in(period);
        let round = content(rotated(&self.exact, period, start), opens_line);
        let repeats = span / period.max(1) as u64;
        let needed = round.needed(self.fence.is_open(), repeats);
        // What it would take with more rounds of it, when that may be less.
        let least = round.needed(self.fence.is_open(), u64::MAX);
        self.exact_look.judge(needed, least).then(|| self.repetition(period, start, span, false))
    }

    #[cold]
    fn look_masked(&mut self) -> Option<Repetition> {
        let (period, span) = (self.masked.period(), self.masked.span());
        let (start, opens_line) = start_of_unit(&self.masked, period);
        let round = content(rotated(&self.masked, period, start), opens_line);
        if !self.masked_look.judge(round.needed_counting(self.fence.is_open()), None) {
            return None;
        }
        Some(Repetition {
            unit: shown(self.with_numbers(period, start)),
            count: saturated(span / period.max(1) as u64),
            characters: span,
            counter_only: true,
        })
    }

    /// A round of the masked lane, turned so that it starts at `start`, with its latest numbers.
    fn with_numbers(&self, period: usize, start: usize) -> impl Iterator<Item = char> + '_ {
        // What the last `masked` symbols of the masked lane were.
        let length = |masked: usize| {
            let mut symbols = 0;
            let mut in_number = false;
            let covers = |c: &char| {
                symbols += usize::from(!(in_number && c.is_ascii_digit()));
                in_number = c.is_ascii_digit();
                symbols <= masked
            };
            self.exact.newest_first().take_while(covers).count()
        };
        let (round, rest) = (length(period), length(period - start));
        self.exact.tail(rest).chain(self.exact.tail(round).take(round - rest))
    }

    /// A sentence or a line has ended.
    fn end_unit(&mut self) -> Option<Repetition> {
        let length = usize::try_from(self.exact.length() - self.unit_start).unwrap_or(usize::MAX);
        let opens_line = std::mem::take(&mut self.unit_opens_line);
        self.unit_start = self.exact.length();
        let hash = std::mem::take(&mut self.unit_hash);
        if length == 0 {
            return None;
        }
        if length > LONGEST || self.fence.is_open() {
            return self.units.push(None, 0).and(None);
        }
        // What is new needs no closer look.
        if !self.units.knows(hash) {
            return self.units.push(Some(hash), 0).and(None);
        }
        let of = content(self.exact.tail(length), opens_line);
        if of.letters + of.digits == 0 {
            return None;
        }
        let says = of.letters > 0 && of.words >= 2 && (of.words >= 4 || of.sentences > 0);
        let hash = (!of.is_form()).then_some(hash);
        let characters = if says { u32::try_from(length).unwrap_or(0) } else { 0 };
        let shuffle = self.units.push(hash, characters)?;
        // What goes round in order is the exact lane's to judge.
        let in_order = self.exact.span() * 2 >= shuffle.characters;
        (says && !in_order).then(|| Repetition {
            unit: shown(self.exact.tail(length)),
            count: shuffle.units,
            characters: shuffle.characters,
            counter_only: false,
        })
    }

    /// Where in the round before now a natural start is, and whether that is the start of a line.
    fn unit_in(&self, period: usize) -> (usize, bool) {
        start_of_unit(&self.exact, period)
    }

    fn repetition(&self, period: usize, start: usize, span: u64, counter_only: bool) -> Repetition {
        Repetition {
            unit: shown(rotated(&self.exact, period, start)),
            count: saturated(span / period.max(1) as u64),
            characters: span,
            counter_only,
        }
    }
}

/// A round, turned so that it starts at `start`.
fn rotated<const N: usize>(lane: &Lane<N>, period: usize, start: usize) -> impl Iterator<Item = char> + '_ {
    lane.tail(period).skip(start).chain(lane.tail(period).take(start))
}

/// The best place to start a round: after a line end, else after a sentence, else after a space. Of equal places the first
/// one from where the repetition began.
fn start_of_unit<const N: usize>(lane: &Lane<N>, period: usize) -> (usize, bool) {
    if period == 0 {
        return (0, false);
    }
    let into_round = usize::try_from(lane.span() % period as u64).unwrap_or(0);
    let began = (period - into_round) % period;
    let mut best = (0, began);
    let mut before = None;
    let mut previous = '\0';
    for (index, c) in rotated(lane, period, began).enumerate() {
        let rank = match c {
            '\n' => 3,
            ' ' if ends_sentence(previous) => 2,
            _ if ends_wide_sentence(c) => 2,
            ' ' => 1,
            _ => 0,
        };
        if index + 1 == period {
            before = Some(rank);
        } else if rank > best.0 {
            best = (rank, (began + index + 1) % period);
        }
        previous = c;
    }
    // What comes before the first place is the end of the round.
    match before {
        Some(rank) if rank > 0 && rank >= best.0 => (began, rank == 3),
        _ => (best.1, best.0 == 3),
    }
}

/// For people: one line, no control characters, not long.
fn shown(text: impl Iterator<Item = char>) -> String {
    let plain = text.map(|c| if c.is_control() { ' ' } else { c });
    // A unit may begin with more control characters than are shown of it.
    plain.skip_while(|c| c.is_whitespace()).take(UNIT_LENGTH).collect::<String>().trim_end().to_owned()
}

/// One step of an FNV-1a hash.
#[inline]
fn hashed(hash: u64, c: char) -> u64 {
    (hash ^ u64::from(c)).wrapping_mul(0x0100_0000_01B3)
}

fn saturated(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
