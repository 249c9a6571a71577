//! What a result says, as hashes and marks. Needs no history, so that it can be computed on any thread.

use std::cell::RefCell;

use super::failure::{Failure, check_signature, is_empty_answer, is_unfinished};
use super::progress::pair;
use crate::text::{fast, next_digit, strip_in, with_masked_plain};

/// Buffers that grew beyond this are not kept.
const KEPT: usize = 4 << 20;
/// Bytes of an output in which counters are progress displays.
const DISPLAY: usize = 2048;

thread_local! {
    /// One allocation per thread, not per event.
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

#[derive(Default)]
struct Buffers {
    plain: String,
    masked: String,
    flat: Vec<u8>,
}

/// What a result says, before it is compared with what went before.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Said {
    /// Noise-masked result and error flag.
    pub outcome: u128,
    /// The outcome with its numbers masked too.
    pub shape: u128,
    /// See [`is_outage`].
    pub outage: bool,
    /// For failures that say what failed.
    pub failure: Option<Failure>,
    /// See [`is_empty_answer`].
    pub empty: bool,
    /// See [`is_unfinished`].
    pub unfinished: bool,
    /// For failures: see [`check_signature`].
    pub signature: u128,
    /// Lines of the output.
    pub lines: u64,
}

impl Said {
    pub fn of(output: &str, is_error: bool) -> Self {
        BUFFERS.with_borrow_mut(|Buffers { plain, masked, flat }| {
            // Colour says nothing. All of the rest counts, however long it is: outputs that differ only somewhere in the
            // middle are different outcomes.
            let output = strip_in(output, plain);
            let said = with_masked_plain(output, masked, |masked| outcome(masked, is_error, flat));
            let said = Self::with_outcome(said, output, is_error);
            if plain.capacity() + masked.capacity() > KEPT {
                (*plain, *masked) = (String::new(), String::new());
            }
            said
        })
    }

    fn with_outcome((outcome, shape, signature): (u128, u128, u128), output: &str, is_error: bool) -> Self {
        Self {
            outcome,
            shape,
            outage: is_outage(output, is_error),
            failure: if is_error { Failure::of(output) } else { None },
            empty: is_empty_answer(output),
            unfinished: !is_error && is_unfinished(output),
            signature,
            lines: memchr::memchr_iter(b'\n', output.as_bytes()).count() as u64 + 1,
        }
    }

    /// A result of which only a hash is known.
    pub fn hashed(outcome: u128) -> Self {
        Self { outcome, shape: outcome, ..Self::default() }
    }
}

/// Hash of a noise-masked output, the same with its numbers masked, and for failures what the check said.
fn outcome(masked: &str, is_error: bool, flat: &mut Vec<u8>) -> (u128, u128, u128) {
    let signature = if is_error { check_signature(masked) } else { 0 };
    (pair(fast(masked.as_bytes()), u128::from(is_error)), shape(masked, flat), signature)
}

/// The hash of a text with every run of digits in its first part taken as one; `flat` is a buffer.
fn shape(text: &str, flat: &mut Vec<u8>) -> u128 {
    // Only counters in the first part of a text are progress displays.
    let (mut rest, behind) = text.as_bytes().split_at(text.len().min(DISPLAY));
    if next_digit(rest, 0).is_none() {
        return fast(text.as_bytes());
    }
    flat.clear();
    while let Some(digit) = next_digit(rest, 0) {
        flat.extend_from_slice(&rest[..digit]);
        flat.push(b'0');
        rest = &rest[digit..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        rest = &rest[digits..];
    }
    flat.extend_from_slice(rest);
    if behind.is_empty() { fast(flat) } else { pair(fast(flat), fast(behind)) }
}

/// Longest text that is taken for the account of an outage although the call succeeded.
const BRIEF: usize = 300;

/// The provider or a service is overloaded or down: nothing that the agent repeats out of confusion. A tool may have
/// wrapped that into a success; then both the status and its name must stand in a brief answer.
fn is_outage(output: &str, is_error: bool) -> bool {
    const NAMES: [&str; 7] = [
        "too many requests",
        "rate limit",
        "service unavailable",
        "overloaded",
        "bad gateway",
        "gateway timeout",
        "internal server error",
    ];
    const CODES: [&str; 6] = ["429", "500", "502", "503", "504", "529"];
    if !is_error && output.len() > BRIEF {
        return false;
    }
    let head = output[..output.floor_char_boundary(400)].to_ascii_lowercase();
    let named = NAMES.iter().any(|name| head.contains(name));
    let coded = || head.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| CODES.contains(&word));
    named && (is_error || coded())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::growth;
    use proptest::prelude::*;

    #[test]
    fn a_result_costs_what_it_is_long() {
        growth::is_linear(|output| {
            std::hint::black_box((Said::of(output, true), Said::of(output, false)));
        });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Wherever they differ, and however long they are.
        #[test]
        fn outputs_that_differ_in_one_letter_are_different_outcomes(
            length in prop_oneof![1..4000_usize, 60_000..70_000_usize, 250_000..300_000_usize],
            place in any::<prop::sample::Index>(),
            is_error: bool,
        ) {
            let text: String = "Some line that says nothing new, 12 of them.\n".chars().cycle().take(length).collect();
            let at = place.index(length);
            let mut other = text.clone();
            other.replace_range(at..=at, if text.as_bytes()[at] == b'q' { "z" } else { "q" });
            let (one, two) = (Said::of(&text, is_error), Said::of(&other, is_error));
            prop_assert_ne!(one.outcome, two.outcome);
            prop_assert_ne!(one.shape, two.shape);
            prop_assert_eq!(one.signature == two.signature, !is_error);
            prop_assert_eq!(Said::of(&text, is_error), one);
        }
    }
}
