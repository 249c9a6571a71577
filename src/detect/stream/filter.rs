//! Owns: can this whole text go round at all? A yes is a guess, a no is certain: [`Stream`](super::Stream) says no as
//! well, at many times the cost. Knows words and sentences by hashes.
//!
//! Why a no is certain. What the lanes tell spans at least 100 symbols and five rounds. Then either no white space is in
//! it, and it lies within one long word; or each round has `k ≥ 1` words, at least `5k - 1` words stand in it whole, and
//! each is equal to the one `k` before it but for digits. For `k = 1` those are three equal words in a row, for more there
//! are six words twice. A shuffle has 24 sentences in its window of which at most eight differ, so 16 were said before.

use super::content::{ends_sentence, ends_wide_sentence};
use super::{ENDED_REPEATS, FIRST_LOOK};

/// Bytes of a word that may hold a repetition.
const LONG_WORD: usize = 100;
/// Words in a row that, when they come twice, may be rounds.
const WORDS: usize = 6;
/// Sentences said before that make a shuffle possible.
const SAID_BEFORE: u32 = 16;

/// More words and sentences than that are not remembered: the text may go round.
const MOST: usize = SLOTS / 2;
const SLOTS: usize = 4096;
/// Low bits of a slot: the text that it was written for.
const AGE: u64 = 0xffff;

/// Reused from text to text.
#[derive(Debug)]
pub struct Filter {
    /// Hashes that were seen, by open addressing.
    slots: Vec<u64>,
    age: u64,
    seen: usize,
}

impl Default for Filter {
    fn default() -> Self {
        Self { slots: vec![0; SLOTS], age: 0, seen: 0 }
    }
}

/// What a byte is to the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// Part of the hash of its word: letters (in lower case) and the bytes of other characters.
    Counts,
    /// ASCII that makes no other word.
    Ignored,
    /// Ends a sentence when white space follows.
    Mark,
    /// May begin a character that is white space or ends a sentence.
    Wide,
    White,
    Line,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Ignored; 256];
    let mut byte = 0_u8;
    loop {
        classes[byte as usize] = match byte {
            b'\n' => Class::Line,
            b' ' | b'\t'..=b'\r' => Class::White,
            b'.' | b'!' | b'?' => Class::Mark,
            0xc2 | 0xd8 | 0xdb | 0xe0..=0xe3 | 0xef => Class::Wide,
            b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => Class::Counts,
            _ => Class::Ignored,
        };
        if byte == u8::MAX {
            break classes;
        }
        byte += 1;
    }
};

impl Filter {
    /// Whether `text` may go round.
    pub fn passes(&mut self, text: &str) -> bool {
        if (text.len() as u64) < FIRST_LOOK {
            return may_end_in_a_chant(text);
        }
        self.renew();
        let bytes = text.as_bytes();
        let mut words = Words::default();
        let mut sentence = None;
        let mut said_before = 0;
        let (mut word, mut began, mut at) = (0, 0, 0);
        // The last character ends a sentence when white space follows.
        let mut ends = false;
        while at <= bytes.len() {
            // The end is a line end.
            let byte = bytes.get(at).copied().unwrap_or(b'\n');
            let mut length = 1;
            let mut class = CLASSES[usize::from(byte)];
            if class == Class::Wide {
                let c = text[at..].chars().next().unwrap_or_default();
                length = c.len_utf8();
                if ends_wide_sentence(c) {
                    // Where no white space stands between sentences, nothing is known of them.
                    return true;
                }
                if c.is_whitespace() {
                    class = Class::White;
                } else {
                    word = hashed(word, u64::from(c));
                    ends = ends_sentence(c);
                }
            }
            if class <= Class::Mark {
                if class == Class::Counts {
                    word = hashed(word, u64::from(byte | 0x20));
                }
                ends = class == Class::Mark;
            } else if class >= Class::White {
                if at > began {
                    let again = words.push(word).is_some_and(|gram| self.knows(gram));
                    if again || words.stammer() || at - began >= LONG_WORD {
                        return true;
                    }
                    sentence = Some(hashed(sentence.unwrap_or(1), word));
                }
                if ends || class == Class::Line {
                    said_before += u32::from(sentence.take().is_some_and(|sentence| self.knows(sentence)));
                    if said_before >= SAID_BEFORE {
                        return true;
                    }
                }
                (word, began, ends) = (0, at + length, false);
            }
            at += length;
        }
        false
    }

    /// Whether the hash was seen; it is now. True when no more can be remembered.
    fn knows(&mut self, hash: u64) -> bool {
        self.seen += 1;
        if self.seen > MOST {
            return true;
        }
        let entry = hash & !AGE | self.age;
        #[allow(clippy::cast_possible_truncation, reason = "twelve bits")]
        let mut slot = (hash >> (u64::BITS - SLOTS.trailing_zeros())) as usize;
        while self.slots[slot] & AGE == self.age {
            if self.slots[slot] == entry {
                return true;
            }
            slot = (slot + 1) % SLOTS;
        }
        self.slots[slot] = entry;
        false
    }

    /// Forgets what was seen.
    fn renew(&mut self) {
        self.seen = 0;
        self.age += 1;
        if self.age > AGE {
            self.slots.fill(0);
            self.age = 1;
        }
    }
}

/// A text that is too short for all but a chant at its end says its last character in every round of that.
fn may_end_in_a_chant(text: &str) -> bool {
    let bytes = text.trim_end().as_bytes();
    let rounds = bytes.last().map_or(0, |&last| memchr::memchr_iter(last, bytes).count());
    rounds as u64 >= ENDED_REPEATS
}

/// The last words.
#[derive(Debug, Default)]
struct Words {
    /// The oldest first.
    last: [u64; WORDS],
    count: usize,
    gram: u64,
}

impl Words {
    /// The hash of the last six words, once there are so many.
    fn push(&mut self, word: u64) -> Option<u64> {
        const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
        // It was multiplied at every word since, and at its own.
        const OLDEST: u64 = {
            let mut power = FACTOR;
            let mut times = 0;
            while times < WORDS {
                power = power.wrapping_mul(FACTOR);
                times += 1;
            }
            power
        };
        // A polynomial in the factor: what leaves is taken out again.
        self.gram = self.gram.wrapping_add(word).wrapping_mul(FACTOR).wrapping_sub(self.last[0].wrapping_mul(OLDEST));
        self.last.rotate_left(1);
        self.last[WORDS - 1] = word;
        self.count += 1;
        (self.count >= WORDS).then_some(self.gram ^ self.gram >> 32)
    }

    /// The same word three times.
    fn stammer(&self) -> bool {
        let [.., a, b, c] = self.last;
        self.count >= 3 && a == b && b == c
    }
}

#[inline]
fn hashed(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
