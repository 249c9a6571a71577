//! What a result says, as hashes and marks. Needs no history, so that it can be computed on any thread.

use std::cell::RefCell;

use super::failure::{Failure, check_signature, is_empty_answer, is_unfinished};
use super::progress::pair;
use crate::text::{fast, next_digit, strip_in, with_masked, with_masked_plain};

/// Bytes of an output that are compared.
const MAX_OUTPUT: usize = 64 * 1024;
/// Bytes of the end of a longer output that are compared as well: that is where results stand.
const MAX_TAIL: usize = 16 * 1024;

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
            // Colour says nothing. A longer output is stripped in its parts, when they are masked.
            if output.len() > MAX_OUTPUT {
                let said = outcome_of_ends(output, is_error, masked, flat);
                return Self::with_outcome(said, output, is_error);
            }
            let output = strip_in(output, plain);
            let said = with_masked_plain(output, masked, |masked| outcome(masked, is_error, flat));
            Self::with_outcome(said, output, is_error)
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

/// The same of an output that is too long to be compared as a whole.
fn outcome_of_ends(output: &str, is_error: bool, buffer: &mut String, flat: &mut Vec<u8>) -> (u128, u128, u128) {
    let (head, tail) = ends(output);
    let (head, shape, signature) = with_masked(head, buffer, |masked| outcome(masked, is_error, flat));
    (pair(head, with_masked(tail, buffer, |masked| fast(masked.as_bytes()))), shape, signature)
}

/// The hash of a text with every run of digits taken as one; `flat` is a buffer.
fn shape(text: &str, flat: &mut Vec<u8>) -> u128 {
    // Only counters in the first part of a text are progress displays.
    let mut rest = &text.as_bytes()[..text.len().min(2048)];
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
    fast(flat)
}

/// The parts of a long output that are compared.
fn ends(output: &str) -> (&str, &str) {
    let head = output.floor_char_boundary(MAX_OUTPUT);
    let tail = output.floor_char_boundary((output.len() - MAX_TAIL).max(head));
    (&output[..head], &output[tail..])
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
