//! Owns: what a piece of text is made of, and how much repetition of such a piece is too much.
//!
//! Code, tables and lists repeat because that is their form, prose does not. So the form decides what it takes, and what
//! is no speech at all (rules, padding, zero-filled arrays) never counts.

/// Characters of plain speech that go round before a stream is worth cutting: about ten ordinary sentences, or a
/// hundred short words, more than any refrain or emphasis has.
const SPEECH: u64 = 500;
/// Short sentences may go round in less text, when they do so very often.
const SHORT_SPEECH: u64 = 300;
const SHORT_REPEATS: u64 = 24;
/// Lines of one or two bare words are what test runners and logs print; lists may repeat an item.
const LINES: u64 = 2_000;
/// In code and tables even long exact repetition has a purpose. A model that lost its way writes until its limit, about
/// 100 000 characters, so waiting this long still saves most of it.
const FORM: u64 = 8_000;
/// A refrain comes four times; six rounds are no refrain.
const REPEATS: u64 = 6;
/// Of a long passage five rounds are enough: nobody writes 200 characters five times over.
const LONG_REPEATS: u64 = 5;
const LONG: usize = 200;

/// Counters: numbered sentences can be a legitimate list, so they need more rounds and more text.
const COUNTER_SPEECH: u64 = 800;
const COUNTER_REPEATS: u64 = 10;
/// Words that make a numbered line speech. Below it is a label or a status ("Test case 7 passed").
const COUNTER_WORDS: usize = 8;
/// The same for a sentence after a sentence: statuses come in lines.
const COUNTER_WORDS_INLINE: usize = 4;
/// More numbers than this per round is a row of data.
const COUNTERS: usize = 2;

/// One in this many characters being a code mark makes a text code; prose has one in a hundred.
const CODE_MARK_SHARE: usize = 20;

/// How much of a repetition it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Needed {
    pub characters: u64,
    pub repeats: u64,
}

/// What a piece of text is made of. The text has its white space collapsed: `' '` within a line, `'\n'` between lines,
/// `'\t'` after it where the line is indented like code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Content {
    pub characters: usize,
    pub letters: usize,
    pub digits: usize,
    /// Runs of digits.
    pub numbers: usize,
    pub words: usize,
    /// Letters and digits that differ (up to 64).
    distinct: u64,
    code_marks: usize,
    /// Symbols such as emoji or `!` that are neither letters nor part of a drawn line.
    signs: usize,
    /// Line ends.
    pub lines: usize,
    /// Lines that open like a list item, a table row, a quote, a heading, or code.
    formed: usize,
    /// Those of them that are no list item.
    rows: usize,
    /// Ends of sentences.
    pub sentences: usize,
    commas: usize,
    percents: usize,
}

/// `text` starts at the start of a line when `line_start` says so.
pub(super) fn content(text: impl Iterator<Item = char>, line_start: bool) -> Content {
    let mut it = Content::default();
    let mut previous = if line_start { '\n' } else { ' ' };
    let mut opening = if line_start { Opening::Start } else { Opening::Over };
    let mut wide = 0;
    for c in text {
        it.characters += 1;
        let (new_opening, formed) = opening.next(c);
        opening = new_opening;
        it.formed += usize::from(formed);
        it.rows += usize::from(formed && c != ' ');
        if c.is_ascii_digit() {
            it.digits += 1;
            it.numbers += usize::from(!previous.is_ascii_digit());
            it.words += usize::from(!previous.is_alphanumeric());
            it.distinct |= bit(c);
        } else if c.is_alphabetic() {
            it.letters += 1;
            it.words += usize::from(!previous.is_alphanumeric() && !is_unspaced(c));
            wide += usize::from(is_unspaced(c));
            it.distinct |= bit(c);
        } else if c == '\n' {
            it.lines += 1;
            opening = Opening::Start;
        } else if is_code_mark(c) {
            it.code_marks += 1;
        } else if matches!(c, '!' | '?') || !(c.is_ascii() || is_drawing(c) || c.is_whitespace()) {
            it.signs += 1;
        }
        it.commas += usize::from(c == ',');
        it.percents += usize::from(c == '%' && previous.is_ascii_digit());
        it.code_marks += usize::from(is_code_pair(previous, c));
        if ends_sentence(c) && !ends_sentence(previous) {
            it.sentences += 1;
        }
        previous = c;
    }
    // Scripts without spaces have about two characters a word.
    it.words += wide / 2;
    it
}

impl Content {
    fn distinct(&self) -> u32 {
        self.distinct.count_ones()
    }

    /// Code, a table, a list, a quote: text with a form that repeats by itself.
    pub fn is_form(&self) -> bool {
        self.is_code() || self.is_listed()
    }

    pub fn is_code(&self) -> bool {
        self.code_marks * CODE_MARK_SHARE > self.characters
    }

    fn is_listed(&self) -> bool {
        self.formed * 2 > self.lines.max(1)
    }

    /// One letter over and over: base64 of zeros far more often than speech.
    fn is_padding(&self) -> bool {
        self.distinct() == 1 && self.words <= 1
    }

    /// One word between commas: a row of values.
    fn is_values(&self) -> bool {
        self.commas > 0 && self.words <= self.commas && self.sentences == 0
    }

    /// One or two words a line and no sentence.
    fn is_terse(&self) -> bool {
        self.lines > 0 && self.words <= 2 * self.lines && self.sentences * 2 < self.lines
    }

    /// What it takes when this goes round without any change; `None`: it may go round for ever.
    pub fn needed(&self, fenced: bool, repeats: u64) -> Option<Needed> {
        let rounds = if self.characters >= LONG { LONG_REPEATS } else { REPEATS };
        let needed = |characters| Some(Needed { characters, repeats: rounds });
        if self.letters == 0 {
            let bare_number = self.digits > 0 && self.digits == self.characters && self.distinct() >= 3;
            return match (self.digits, self.signs) {
                _ if bare_number && !fenced => needed(SPEECH),
                (0, signs) if signs > 0 => needed(FORM),
                _ => None,
            };
        }
        if self.is_padding() || fenced || self.is_code() || self.rows * 2 > self.lines.max(1) {
            return needed(FORM);
        }
        if self.is_listed() || self.is_terse() || self.is_values() {
            return needed(LINES);
        }
        if self.sentences > 0 && repeats >= SHORT_REPEATS {
            return Some(Needed { characters: SHORT_SPEECH, repeats: SHORT_REPEATS });
        }
        needed(SPEECH)
    }

    /// What it takes when only the numbers change from round to round.
    pub fn needed_counting(&self, fenced: bool) -> Option<Needed> {
        let counts = self.numbers > 0 && self.numbers <= COUNTERS;
        // A percentage that changes is progress, by its own words.
        if !counts || self.percents > 0 || fenced || self.is_form() || self.is_terse() {
            return None;
        }
        let speech = if self.lines == 0 && self.sentences > 0 { COUNTER_WORDS_INLINE } else { COUNTER_WORDS };
        match self.words.saturating_sub(self.numbers) {
            words if words >= speech => Some(Needed { characters: COUNTER_SPEECH, repeats: COUNTER_REPEATS }),
            COUNTER_WORDS_INLINE.. => Some(Needed { characters: FORM, repeats: COUNTER_REPEATS }),
            _ => None,
        }
    }

    /// Speech: letters, words, and no form.
    pub fn is_speech(&self) -> bool {
        self.letters > 0 && !self.is_padding() && !self.is_form() && !self.is_terse() && !self.is_values()
    }
}

/// Where in the opening of a line the scan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    Start,
    /// After a character that opens a list item when a space follows.
    Bullet,
    Number,
    Over,
}

impl Opening {
    /// The state after `c`, and whether it is known now that the line has a form.
    fn next(self, c: char) -> (Self, bool) {
        match (self, c) {
            (Self::Start, ' ' | '\n') => (Self::Start, false),
            (Self::Start, '\t' | '|' | '>' | '#' | '•' | '│' | '┃' | '✓' | '✔' | '✗' | '✘') => {
                (Self::Over, true)
            }
            (Self::Start, '-' | '*' | '+' | '–' | '·') | (Self::Number, '.' | ')') => (Self::Bullet, false),
            (Self::Start | Self::Number, '0'..='9') => (Self::Number, false),
            (Self::Bullet, ' ') => (Self::Over, true),
            _ => (Self::Over, false),
        }
    }
}

/// `.` and its likes in other scripts.
#[inline]
pub(super) fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…') || (c > '\u{7f}' && ends_wide_sentence(c) || matches!(c, '؟' | '۔' | '।'))
}

/// Those after which no space is needed.
#[inline]
pub(super) fn ends_wide_sentence(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '｡')
}

fn is_code_mark(c: char) -> bool {
    matches!(
        c,
        '{' | '}'
            | '['
            | ']'
            | '('
            | ')'
            | '<'
            | '>'
            | '='
            | ';'
            | '|'
            | '&'
            | '$'
            | '#'
            | '\\'
            | '/'
            | '^'
            | '~'
            | '+'
            | '%'
            | '@'
    )
}

/// Neighbours that prose does not have: punctuation glued to what follows (a path, a method, a row of values), a quoted
/// key or element, letters and digits in one word.
fn is_code_pair(a: char, b: char) -> bool {
    match a {
        ',' | ':' | '.' => b.is_alphanumeric(),
        '"' | '\'' => matches!(b, ',' | ':'),
        '0'..='9' => b.is_ascii_alphabetic(),
        _ => b.is_ascii_digit() && a.is_ascii_alphabetic(),
    }
}

/// Dashes, arrows, boxes, blocks, dots of Braille: what lines, bars and frames are drawn with.
fn is_drawing(c: char) -> bool {
    matches!(c, '\u{a0}'..='\u{bf}' | '\u{2000}'..='\u{206f}' | '\u{2190}'..='\u{25ff}' | '\u{2800}'..='\u{28ff}' | '\u{2b00}'..='\u{2bff}' | '\u{3000}'..='\u{3004}')
}

/// Scripts that put no space between words: kana, Han, Thai, Lao, Khmer, Burmese.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn bit(c: char) -> u64 {
    1 << (u32::from(c) % 64)
}
