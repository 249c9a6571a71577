//! Normal forms in which equal means "the same for a supervisor": commands, prose and outputs.
//!
//! What counts as noise and what as signal, with examples: `docs/noise.md`. The scanner is written by hand because it
//! runs on Pi's thread for every tool output: it jumps from digit to digit and looks at the few bytes around each.
//! In the tests, `twin` says the same with slow regular expressions and naive searches, and both are held equal.

mod duration;
mod id;
mod key;
mod mask;
mod message;
mod scan;
mod temp;
mod time;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod twin;

pub use mask::{mask, with_masked, with_masked_plain};
pub use message::{Prose, normalize_command, normalize_message};
pub use scan::next_digit;
