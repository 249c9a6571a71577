//! A streamed message in pieces. Where the pieces are cut must not matter.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pi_watchdog_supervisor::detect::{Repetition, Stream};

/// A message is told once: while it comes, or at its end.
fn told<'a>(pieces: impl Iterator<Item = &'a str>) -> (Vec<Repetition>, Option<Repetition>) {
    let mut stream = Stream::default();
    let found = pieces.filter_map(|piece| stream.feed(piece)).collect();
    (found, stream.finish())
}

fuzz_target!(|input: (u8, u8, u16, &[u8])| {
    let (step, repeats, rest, bytes) = input;
    let piece = &*String::from_utf8_lossy(bytes);
    // Chants are long; a fuzzer finds the words of one, not its length.
    let mut text = piece.repeat(1 + usize::from(repeats) % 64);
    text.push_str(&piece[..piece.floor_char_boundary(usize::from(rest))]);
    text.truncate(text.floor_char_boundary(16 * 1024));

    let whole = told(std::iter::once(&*text));
    assert!(whole.0.len() + usize::from(whole.1.is_some()) <= 1, "a message is told once");
    for found in whole.0.iter().chain(&whole.1) {
        assert!(!found.unit.is_empty() && found.unit.chars().count() <= 121 && !found.unit.contains('\n'));
        assert!(found.count >= 2);
        assert!(found.characters <= text.chars().count() as u64);
    }

    let step = 1 + usize::from(step);
    let mut left = &*text;
    let pieces = std::iter::from_fn(|| {
        let cut = left.ceil_char_boundary(step.min(left.len()));
        let (piece, more) = left.split_at(cut);
        left = more;
        (!piece.is_empty()).then_some(piece)
    });
    assert_eq!(told(pieces), whole, "cuts do not matter");
});
