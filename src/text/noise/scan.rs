//! The scanner's view of a text and the byte classes that the rules share. Knows no rule.

/// A text of which everything before `floor` has been replaced: rules see a `>` there, the last byte of a placeholder,
/// so that masking a masked text sees the same neighbours and changes nothing.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub bytes: &'a [u8],
    pub floor: usize,
}

/// What a piece of noise becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Time,
    Duration,
    Rate,
    Pid,
    Temp,
    Id,
    Address,
    Counter,
}

impl Kind {
    /// Placeholders contain no digit, so they can never start a rule again.
    const ALL: [Self; 8] =
        [Self::Time, Self::Duration, Self::Rate, Self::Pid, Self::Temp, Self::Id, Self::Address, Self::Counter];

    pub const fn placeholder(self) -> &'static str {
        match self {
            Self::Time => "<time>",
            Self::Duration => "<dur>",
            Self::Rate => "<rate>",
            Self::Pid => "<pid>",
            Self::Temp => "<tmp>",
            Self::Id => "<id>",
            Self::Address => "<addr>",
            Self::Counter => "<n>",
        }
    }
}

/// Bytes `start..end` are noise. Both ends lie beside ASCII bytes, hence on character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    pub start: usize,
    pub end: usize,
    pub kind: Kind,
}

/// How far a rule looks around at most; keeps the whole scan linear.
pub const REACH: usize = 80;

impl<'a> View<'a> {
    /// The byte `back` places before `at` (1: the one directly before); a newline before the start of the text.
    pub fn before(&self, at: usize, back: usize) -> u8 {
        match at.checked_sub(back) {
            Some(index) if index >= self.floor => self.bytes[index],
            _ if self.floor > 0 => b'>',
            _ => b'\n',
        }
    }

    /// The byte at `at`; a newline behind the end of the text.
    pub fn at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(b'\n')
    }

    pub fn starts_with(&self, at: usize, prefix: &[u8]) -> bool {
        self.bytes.get(at..).is_some_and(|rest| rest.starts_with(prefix))
    }

    /// Whether the byte at `at` is one of `joints` and a word, or what was masked in place of one, follows it.
    pub fn joined(&self, at: usize, joints: &[u8]) -> bool {
        joints.contains(&self.at(at)) && (is_word(self.at(at + 1)) || self.masked(at + 1))
    }

    /// Whether a placeholder stands at `at`.
    pub fn masked(&self, at: usize) -> bool {
        self.at(at) == b'<' && Kind::ALL.iter().any(|kind| self.starts_with(at, kind.placeholder().as_bytes()))
    }

    /// Where the bytes before `at` that satisfy `class` begin, at most [`REACH`] back.
    pub fn back_while(&self, at: usize, class: impl Fn(u8) -> bool) -> usize {
        let lowest = self.floor.max(at.saturating_sub(REACH));
        let mut start = at;
        while start > lowest && class(self.bytes[start - 1]) {
            start -= 1;
        }
        start
    }

    /// Where the bytes from `at` on that satisfy `class` end. Only for what is passed as a whole then.
    pub fn skip_while(&self, at: usize, class: impl Fn(u8) -> bool) -> usize {
        let mut end = at;
        while self.bytes.get(end).is_some_and(|&byte| class(byte)) {
            end += 1;
        }
        end
    }

    /// The same, at most `most` bytes on: for rules that turn down what is longer. A text asks at every one of its places.
    pub fn skip_up_to(&self, at: usize, most: usize, class: impl Fn(u8) -> bool) -> usize {
        let limit = self.bytes.len().min(at + most);
        let mut end = at;
        while end < limit && class(self.bytes[end]) {
            end += 1;
        }
        end
    }

    /// The end of the digits from `at` on.
    pub fn digits(&self, at: usize) -> usize {
        // Without a branch for each: how many there are cannot be predicted.
        let eight = self.bytes.get(at..).and_then(|rest| rest.first_chunk::<8>());
        let others = eight.map_or(0, |eight| !digits_of(u64::from_le_bytes(*eight)) & HIGH);
        if others != 0 {
            return at + (others.trailing_zeros() / 8) as usize;
        }
        self.skip_while(at, |byte| byte.is_ascii_digit())
    }

    /// The value of the at most four digits `start..end`; none for others.
    pub fn value(&self, start: usize, end: usize) -> Option<u16> {
        let digits = self.bytes.get(start..end).filter(|digits| (1..=4).contains(&digits.len()))?;
        Some(digits.iter().fold(0, |value, digit| value * 10 + u16::from(digit - b'0')))
    }

    pub fn slice(&self, start: usize, end: usize) -> &'a [u8] {
        &self.bytes[start..end]
    }

    /// The letters from `at` on, in lower case, and their end; empty when they go over into a digit or `_`.
    pub fn lower(&self, at: usize) -> (Lower, usize) {
        // One more than fits, so that a longer word is not taken for its beginning.
        let limit = at + 17;
        let mut end = at;
        while end < limit && self.at(end).is_ascii_alphabetic() {
            end += 1;
        }
        let word: &[u8] = if end > at && !is_word(self.at(end)) { self.slice(at, end) } else { &[] };
        (Lower::of(word), end)
    }

    /// The length of the first of `words` (which begin with a letter) that stands at `at`, ignoring case, and ends there.
    pub fn word(&self, at: usize, words: &[&str]) -> Option<usize> {
        if !self.at(at).is_ascii_alphabetic() {
            return None;
        }
        words.iter().map(|word| word.len()).zip(words).find_map(|(length, word)| {
            let found = self.bytes.get(at..at + length)?;
            (found.eq_ignore_ascii_case(word.as_bytes()) && !is_word(self.at(at + length))).then_some(length)
        })
    }
}

/// A short ASCII word in lower case, to be matched against literals: rules compare it to many words at the cost of one.
#[derive(Clone, Copy)]
pub struct Lower {
    letters: [u8; 16],
    length: usize,
}

impl Lower {
    /// Empty for words that are longer than any that rules know.
    pub fn of(word: &[u8]) -> Self {
        let mut lower = Self { letters: [0; 16], length: 0 };
        if let Some(letters) = lower.letters.get_mut(..word.len()) {
            letters.copy_from_slice(word);
            letters.make_ascii_lowercase();
            lower.length = word.len();
        }
        lower
    }

    pub fn get(&self) -> &[u8] {
        &self.letters[..self.length]
    }
}

pub const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub const fn is_token(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = ONES * 0x80;

/// The high bits of those of eight bytes that are digits; other bits are clear.
const fn digits_of(eight: u64) -> u64 {
    // A digit XOR '0' is 0..=9: adding 0x76 to its low seven bits leaves the high bit clear, and no byte carries.
    let value = eight ^ (ONES * 0x30);
    !(((value & (ONES * 0x7f)) + ONES * 0x76) | value) & HIGH
}

/// The first digit from `from` on, eight bytes at a time, and whole blocks where digits are rare.
pub fn next_digit(bytes: &[u8], from: usize) -> Option<usize> {
    const BLOCK: usize = 64;
    const NEAR: usize = 32;
    let mut at = from;
    let mut near = from + NEAR;
    loop {
        while at >= near
            && let Some(block) = bytes.get(at..at + BLOCK)
        {
            // Branch-free over a block, so that the compiler can use vector compares.
            if block.iter().fold(false, |hit, &byte| hit | byte.is_ascii_digit()) {
                near = at + BLOCK;
                break;
            }
            at += BLOCK;
        }
        let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else { break };
        let hits = digits_of(u64::from_le_bytes(*chunk));
        if hits != 0 {
            return Some(at + (hits.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    bytes[at.min(bytes.len())..].iter().position(u8::is_ascii_digit).map(|offset| at + offset)
}
