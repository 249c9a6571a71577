//! Strings in, strings and hashes out. Owns no state, knows no clock, no file and nothing of the floors above.
//!
//! What is taken for noise and what for signal: `docs/noise.md`.

pub mod ansi;
pub mod digest;
pub mod error_class;
pub mod noise;
pub mod preview;

pub use ansi::strip;
pub use digest::{HashedOutput, fast, hash_output, sha256_hex};
pub use error_class::error_class;
pub use noise::{mask, normalize_command, normalize_message};
pub use preview::{preview, quote};
