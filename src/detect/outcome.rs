//! What a result says, as hashes and marks. Needs no history, so that it can be computed on any thread.

use std::borrow::Cow;

use super::failure::{Failure, check_signature, is_empty_answer, is_unfinished};
use super::progress::pair;
use crate::text::{fast, mask, strip};

/// Bytes of an output that are compared.
const MAX_OUTPUT: usize = 64 * 1024;
/// Bytes of the end of a longer output that are compared as well: that is where results stand.
const MAX_TAIL: usize = 16 * 1024;

thread_local! {
    /// Outputs are masked into this buffer: one allocation per thread, not per event.
    static MASKED: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
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
        // Colour says nothing. A longer output is stripped in its parts, when they are masked.
        let stripped = if output.len() <= MAX_OUTPUT { strip(output) } else { Cow::Borrowed(output) };
        let output = &*stripped;
        let (outcome, shape, signature) = outcome(output, is_error);
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

/// Noise-masked hash of an output, the same with its numbers masked, and for failures what the check said.
fn outcome(output: &str, is_error: bool) -> (u128, u128, u128) {
    let (head, tail) = ends(output);
    MASKED.with_borrow_mut(|masked| {
        mask(head, masked);
        let shape = shape(masked);
        let signature = if is_error { check_signature(masked) } else { 0 };
        let mut outcome = pair(fast(masked.as_bytes()), u128::from(is_error));
        if !tail.is_empty() {
            mask(tail, masked);
            outcome = pair(outcome, fast(masked.as_bytes()));
        }
        (outcome, shape, signature)
    })
}

/// The hash of a text with every run of digits taken as one.
fn shape(text: &str) -> u128 {
    // Only counters in the first part of a text are progress displays.
    let head = &text.as_bytes()[..text.len().min(2048)];
    if !head.iter().any(u8::is_ascii_digit) {
        return fast(text.as_bytes());
    }
    let mut flat = Vec::with_capacity(head.len());
    for &byte in head {
        if !byte.is_ascii_digit() {
            flat.push(byte);
        } else if flat.last() != Some(&b'0') {
            flat.push(b'0');
        }
    }
    fast(&flat)
}

/// The parts of an output that are compared.
fn ends(output: &str) -> (&str, &str) {
    if output.len() <= MAX_OUTPUT {
        return (output, "");
    }
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
