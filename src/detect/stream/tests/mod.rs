//! What goes round and what does not: the labelled cases, tables of our own, and properties.

#![allow(clippy::format_collect, clippy::too_many_lines)] // tables of texts

mod cases;
mod chants;
mod innocents;
mod properties;

use super::{Filter, Repetition, Stream};

/// Fed in one piece, and ended.
fn whole(text: &str) -> Option<Repetition> {
    let mut stream = Stream::default();
    stream.feed(text).or_else(|| stream.finish())
}

/// Fed character by character, and not ended.
fn streamed(text: &str) -> Option<Repetition> {
    let mut stream = Stream::default();
    let mut buffer = [0; 4];
    text.chars().find_map(|c| stream.feed(c.encode_utf8(&mut buffer)))
}
