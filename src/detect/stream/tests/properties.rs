//! What holds for every text.

use proptest::prelude::*;

use super::super::{LONGEST, LONGEST_COUNTED};
use super::chants::CHANTS;
use super::innocents::{TEXTS, long};
use super::{Filter, Repetition, Stream};

/// Text that repeats in all kinds of ways, and text that does not.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-z]{1,6} ",
        "[a-zA-Z0-9.!?,;(){}`~|#>*_-]{1,4}",
        "[ \n\t\r]{1,5}",
        "\\PC{1,3}",
        "[0-9]{1,3}",
        "[。我们不的]{1,3}"
    ];
    let unit = prop::collection::vec(word, 1..12).prop_map(|words| words.concat());
    let piece = prop_oneof![
        3 => (unit, 1_usize..60).prop_map(|(unit, times)| unit.repeat(times)),
        1 => prop::sample::select(CHANTS).prop_map(|chant| chant.0.repeat(12)),
        1 => (1_usize..40).prop_map(|n| (0..n).map(|n| format!("Attempt {n}: I will try the same thing once more now. ")).collect()),
        1 => prop::sample::select(TEXTS).prop_map(|text| text.1.to_owned()),
    ];
    prop::collection::vec(piece, 1..5).prop_map(|pieces| pieces.concat())
}

/// The findings with the byte at which a character-wise reader gets them.
fn by_character(text: &str) -> (Option<(usize, Repetition)>, Option<Repetition>) {
    let mut stream = Stream::default();
    let mut first = None;
    for (index, c) in text.char_indices() {
        let end = index + c.len_utf8();
        if let Some(found) = stream.feed(&text[index..end]) {
            assert!(first.is_none(), "told twice");
            first = Some((end, found));
        }
    }
    (first, stream.finish())
}

/// All that a stream owns: the lanes are fixed arrays, and nothing else is on the heap.
const MOST: usize = size_of::<Stream>() + (LONGEST + LONGEST_COUNTED) * (size_of::<char>() + size_of::<u16>());

/// A chant without white space is one word.
#[test]
fn the_filter_lets_endless_words_through() {
    for text in ["hohoha".repeat(200), format!("Well: {}", "la".repeat(400))] {
        assert!(super::whole(&text).is_some(), "{text:?}");
        assert!(Filter::default().passes(&text), "{text:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn the_cuts_do_not_matter(text in text(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let (first, last) = by_character(&text);
        let mut stream = Stream::default();
        let mut found = None;
        for pair in cuts.windows(2) {
            if let Some(repetition) = stream.feed(&text[pair[0]..pair[1]]) {
                prop_assert!(found.is_none(), "told twice");
                found = Some((pair[0]..pair[1] + 1, repetition));
            }
        }
        prop_assert_eq!(found.as_ref().map(|it| &it.1), first.as_ref().map(|it| &it.1));
        if let (Some((piece, _)), Some((end, _))) = (&found, &first) {
            prop_assert!(piece.contains(end), "in the piece that completes it");
        }
        prop_assert_eq!(stream.finish(), last);
    }

    #[test]
    fn a_used_stream_is_as_good_as_new(before in text(), text in text()) {
        let mut stream = Stream::default();
        stream.feed(&before);
        stream.reset();
        let mut new = Stream::default();
        prop_assert_eq!(stream.feed(&text), new.feed(&text));
        prop_assert_eq!(stream.finish(), new.finish());
    }

    #[test]
    fn any_bytes_are_survived_in_bounded_memory(bytes in prop::collection::vec(any::<u8>(), 0..6_000), times in 1_usize..4) {
        let mut stream = Stream::default();
        for _ in 0..times {
            if let Some(found) = stream.feed(&String::from_utf8_lossy(&bytes)) {
                prop_assert!(found.unit.chars().count() <= 120 && !found.unit.chars().any(char::is_control));
            }
        }
        stream.finish();
        const { assert!(MOST < 17 * 1024) };
    }

    #[test]
    fn what_the_filter_holds_back_does_not_go_round(texts in prop::collection::vec(text(), 1..4)) {
        let mut filter = Filter::default();
        for text in &texts {
            prop_assert!(filter.passes(text) || super::whole(text).is_none(), "{:?}", text);
        }
    }

    /// Short sentences of which no six words come twice: only the sentences themselves tell.
    #[test]
    fn the_filter_lets_every_shuffle_through(
        sentences in prop::collection::vec("[a-z]{3,8} [a-z]{4,9}[.!?]", 5..10),
        order in prop::collection::vec(any::<prop::sample::Index>(), 20..90),
        end in prop::sample::select(vec![" ", "\n", "\u{2003}", "\n\n"]),
    ) {
        let text: String = order.iter().map(|index| format!("{}{end}", index.get(&sentences))).collect();
        prop_assert!(Filter::default().passes(&text) || super::whole(&text).is_none(), "{:?}", text);
    }

    #[test]
    fn a_chant_after_an_innocent_text_is_found(innocent in 0_usize..100, chant in prop::sample::select(CHANTS)) {
        let texts = long();
        let innocent = match TEXTS.get(innocent) {
            Some(text) => text.1,
            None => &texts[(innocent - TEXTS.len()) % texts.len()].1,
        };
        let mut stream = Stream::default();
        prop_assert_eq!(stream.feed(innocent), None);
        prop_assert_eq!(stream.feed("\n\n"), None);
        // One round more than alone: the innocent text may end in the middle of one.
        let found = stream.feed(&chant.0.repeat(chant.1 + 1));
        prop_assert!(found.is_some_and(|it| !it.counter_only), "{:?} after {:?}", chant.0, innocent);
    }

    /// Whatever sentence it is, said often enough it is a chant, and said three times it is not.
    #[test]
    fn any_sentence_is_a_chant_when_it_goes_on(
        words in prop::collection::vec("[a-z]{2,9}", 4..30),
        end in prop::sample::select(vec![". ", "! ", "? ", ".\n", "... ", ".\n\n"]),
    ) {
        let sentence = words.join(" ") + end;
        // Two rounds more than it takes: words that are alike can hide the first ones.
        let rounds = 8.max(500 / sentence.len() + 4);
        prop_assert!(super::streamed(&sentence.repeat(rounds)).is_some());
        prop_assert_eq!(super::streamed(&sentence.repeat(3)), None);
    }

    /// A list whose items differ in words is a list, however much they share.
    #[test]
    fn distinct_sentences_are_no_chant(
        words in prop::collection::hash_set("[a-z]{3,9}", 12..40),
        frame in prop::sample::select(vec![
            ("The module ", " was checked and has no further problem. "),
            ("Next I will look at ", " and see what it does.\n"),
            ("- the long and common start of the entry for ", "\n"),
            ("", " is a word. "),
        ]),
    ) {
        let text: String = words.iter().map(|word| format!("{}{word}{}", frame.0, frame.1)).collect();
        prop_assert_eq!(super::whole(&text), None);
    }
}
