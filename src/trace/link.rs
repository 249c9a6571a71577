//! Where an entry of a session file stands in the tree: its id and its parent's, without reading the rest.
//!
//! Finding the branches of a large file must cost next to nothing, so the key order that Pi writes is matched byte by
//! byte and only other orders (files migrated from version 1, written by other programs) are parsed.

use std::borrow::Cow;

use super::json::Text;

/// What a line says about the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link<'a> {
    /// An entry. `id` is empty where it has none (version 1).
    Entry { id: Cow<'a, str>, parent: Parent<'a> },
    /// The `session` line.
    Header,
    /// Empty, or not a JSON object with a `type`.
    Unusable,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parent<'a> {
    /// `null`: a root.
    Root,
    Of(Cow<'a, str>),
    /// The field is missing: the entry before.
    Previous,
}

pub fn link_of(line: &[u8]) -> Link<'_> {
    canonical(line).unwrap_or_else(|| parsed(line))
}

/// `{"type":"…","id":"…","parentId":"…"|null` at the start of the line. Works on lines that are cut off further back,
/// which keeps the tree whole around them.
fn canonical(line: &[u8]) -> Option<Link<'_>> {
    let (kind, rest) = string(line.strip_prefix(br#"{"type":"#)?)?;
    let (id, rest) = string(rest.strip_prefix(br#","id":"#)?)?;
    let rest = rest.strip_prefix(br#","parentId":"#)?;
    let parent = if rest.starts_with(b"null") { Parent::Root } else { Parent::Of(string(rest)?.0.into()) };
    (kind != "session").then(|| Link::Entry { id: id.into(), parent })
}

/// A string without escapes, and what comes after it.
fn string(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(b"\"")?;
    let end = memchr::memchr2(b'"', b'\\', rest)?;
    if rest[end] == b'\\' {
        return None;
    }
    Some((std::str::from_utf8(&rest[..end]).ok()?, &rest[end + 1..]))
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Links<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow, default)]
    id: Option<Text<'a>>,
    #[serde(borrow, default)]
    parent_id: ParentId<'a>,
}

/// Tells `null` (a root) from absent (version 1).
#[derive(Default)]
enum ParentId<'a> {
    #[default]
    Absent,
    Null,
    Id(Text<'a>),
}

impl<'de: 'a, 'a> serde::Deserialize<'de> for ParentId<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Id))
    }
}

fn parsed(line: &[u8]) -> Link<'_> {
    let Ok(links) = serde_json::from_slice::<Links<'_>>(line) else { return Link::Unusable };
    if &*links.kind == "session" {
        return Link::Header;
    }
    let parent = match links.parent_id {
        ParentId::Absent => Parent::Previous,
        ParentId::Null => Parent::Root,
        ParentId::Id(id) => Parent::Of(id.0),
    };
    Link::Entry { id: links.id.unwrap_or_default().0, parent }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry<'a>(id: &'a str, parent: Parent<'a>) -> Link<'a> {
        Link::Entry { id: id.into(), parent }
    }

    #[test]
    fn both_key_orders_say_the_same() {
        let of = |id: &'static str| Parent::Of(id.into());
        for (line, expected) in [
            (r#"{"type":"message","id":"b","parentId":"a","message":{}}"#, entry("b", of("a"))),
            (r#"{"type":"message","message":{"id":"x"},"id":"b","parentId":"a"}"#, entry("b", of("a"))),
            (r#"{"type":"message","id":"b","parentId":null}"#, entry("b", Parent::Root)),
            (r#"{ "type":"message", "id":"b", "parentId":null}"#, entry("b", Parent::Root)),
            (r#"{"type":"message","id":"b"}"#, entry("b", Parent::Previous)),
            (r#"{"type":"message","message":{}}"#, entry("", Parent::Previous)),
            (r#"{"type":"message","id":"\u0062","parentId":"a"}"#, entry("b", of("a"))),
            (r#"{"type":"session","id":"s","version":3}"#, Link::Header),
            (r#"{"id":"b","parentId":"a"}"#, Link::Unusable),
            ("", Link::Unusable),
            ("nonsense", Link::Unusable),
        ] {
            assert_eq!(link_of(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn a_cut_line_still_has_its_place() {
        let line = br#"{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:00.000Z","mess"#;
        assert_eq!(link_of(line), entry("b", Parent::Of("a".into())));
        assert_eq!(link_of(br#"{"type":"message","id":"b","pare"#), Link::Unusable);
    }
}
