//! Shell lines, taken apart as a shell does it, and what their programs do.
//!
//! - `lex`: a line in simple commands · [`programs`]: what a command is for · [`git`]: what git does to unsaved work

pub mod git;
mod lex;
pub mod programs;
#[cfg(test)]
mod tests;

pub use lex::{Command, commands};
