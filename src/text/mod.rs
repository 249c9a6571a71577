//! Strings in, strings and hashes out. Owns no state, knows no clock, no file and nothing of the floors above.
//!
//! What is taken for noise and what for signal: `docs/noise.md`.

pub mod ansi;
pub mod digest;
pub mod error_class;
#[cfg(test)]
pub mod growth;
pub mod noise;
pub mod path;
pub mod preview;

pub use ansi::{strip, strip_in};
pub use digest::{HashedOutput, fast, hash_output, hex, sha256_hex};
pub use error_class::error_class;
pub use noise::{Prose, mask, next_digit, normalize_command, normalize_message, with_masked, with_masked_plain};
pub use preview::{bare, preview, quote, quoted};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::growth::is_linear;

    #[test]
    fn masking_costs_what_the_text_is_long() {
        let mut out = String::new();
        is_linear(|text| super::mask(text, &mut out));
    }

    #[test]
    fn normal_forms_cost_what_the_text_is_long() {
        is_linear(|text| drop(super::normalize_message(text)));
        is_linear(|text| drop(super::normalize_command(text)));
    }

    #[test]
    fn stripping_costs_what_the_text_is_long() {
        is_linear(|text| drop(super::strip(text)));
        is_linear(|text| drop(super::ansi::strip_to(text, text.len() / 2)));
    }

    #[test]
    fn what_is_shown_costs_what_the_text_is_long() {
        is_linear(|text| drop(super::hash_output(text, usize::MAX, usize::MAX)));
        is_linear(|text| drop(super::quote(text, text.len(), text.len())));
        is_linear(|text| drop((super::quote(text, 200, 10), super::error_class(text))));
    }

    proptest! {
        /// Outputs of binaries come as bytes that are no UTF-8.
        #[test]
        fn any_bytes_survive_every_function(
            bytes in prop::collection::vec(
                prop_oneof![any::<u8>(), prop::sample::select(b"\x1b[]\r\n0123:./-<tmpP_\\".to_vec())],
                0..300,
            ),
            limit in 0..200_usize,
        ) {
            let text = String::from_utf8_lossy(&bytes);
            let mut masked = String::new();
            super::mask(&text, &mut masked);
            let mut again = String::new();
            super::mask(&masked, &mut again);
            prop_assert_eq!(&again, &masked);
            super::normalize_message(&text);
            super::error_class(&text);
            super::preview(&text, 3);
            super::quote(&text, limit, 4);
            let hashed = super::hash_output(&text, limit, 2);
            prop_assert_eq!(hashed.hash.len(), 64);
            let command = super::normalize_command(&text);
            prop_assert_eq!(super::normalize_command(&command), command);
        }
    }
}
