//! JSON values as files in the wild hold them: borrowed where possible, forgiving where a reader can go on.
//! Knows JSON only; what a field means is the readers' business.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::Usage;

/// Why a line could not be used; one sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineError(pub String);

impl LineError {
    pub(super) fn new(error: &serde_json::Error) -> Self {
        if error.is_eof() {
            return Self("not complete: the line ends in the middle of its JSON".to_owned());
        }
        // serde_json appends "at line 1 column n"; the line is known and is never 1 of the file.
        let text = error.to_string();
        let cause = text.rsplit_once(" at line ").map_or(text.as_str(), |(cause, _)| cause);
        Self(format!("not usable: {cause} (column {})", error.column()))
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Parses a line as `T` and hands it on. Invalid UTF-8 is replaced only when it is in the way, so that sound lines
/// are never copied.
pub(super) fn with_parsed<'a, T, R>(
    line: &'a [u8],
    spare: &'a mut String,
    then: impl FnOnce(T) -> R,
) -> Result<R, LineError>
where
    T: Deserialize<'a>,
{
    // What is known to be sound text need not be checked again key by key.
    let read = simdutf8::basic::from_utf8(line).map_or_else(|_| serde_json::from_slice(line), serde_json::from_str);
    match read {
        Ok(value) => Ok(then(value)),
        Err(error) => {
            let Cow::Owned(lossy) = String::from_utf8_lossy(line) else { return Err(LineError::new(&error)) };
            *spare = lossy;
            serde_json::from_str::<T>(spare).map(then).map_err(|error| LineError::new(&error))
        }
    }
}

/// As `String::from_utf8_lossy`, which reads sound text far slower than a plain check does.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    simdutf8::basic::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// A string. Read as bytes, because JavaScript writes halves of surrogate pairs (a cut emoji) as `\ud83d`, which no
/// Rust string can hold; they become replacement characters instead of costing the line.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Text<'a>(pub Cow<'a, str>);

impl std::ops::Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Text(lossy(bytes)))
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(lossy(bytes).into_owned())))
            }
        }
        deserializer.deserialize_bytes(TextVisitor)
    }
}

/// The content of a message: a string, or blocks.
#[derive(Debug, Clone, Default)]
pub(super) struct Content<'a>(pub Vec<Block<'a>>);

/// One content block, any type: fields that its type does not have stay empty.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Option<Text<'a>>,
    #[serde(borrow)]
    pub text: Option<Text<'a>>,
    #[serde(borrow)]
    pub thinking: Option<Text<'a>>,
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub data: Option<Text<'a>>,
    #[serde(rename = "mimeType", borrow)]
    pub mime_type: Option<Text<'a>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;
        impl<'de> Visitor<'de> for ContentVisitor {
            type Value = Content<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of content blocks")
            }
            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(plain(lossy(bytes)))
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(plain(Cow::Owned(lossy(bytes).into_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok(Content(blocks))
            }
        }
        // The bytes entry point takes strings and arrays alike.
        deserializer.deserialize_bytes(ContentVisitor)
    }
}

fn plain(text: Cow<'_, str>) -> Content<'_> {
    Content(vec![Block { kind: Some(Text(Cow::Borrowed("text"))), text: Some(Text(text)), ..Block::default() }])
}

/// A number; anything else is absent. A cost is either the number or an object with `total`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Number(pub Option<f64>);

impl Number {
    #[allow(clippy::cast_possible_truncation, reason = "saturates: what is out of range was no count")]
    pub fn whole(self) -> Option<i64> {
        self.0.map(|n| n as i64)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;
        impl<'de> Visitor<'de> for NumberVisitor {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            fn visit_f64<E>(self, n: f64) -> Result<Number, E> {
                Ok(Number(Some(n)))
            }
            fn visit_u64<E>(self, n: u64) -> Result<Number, E> {
                Ok(Number(Some(n as f64)))
            }
            fn visit_i64<E>(self, n: i64) -> Result<Number, E> {
                Ok(Number(Some(n as f64)))
            }
            fn visit_bool<E>(self, _: bool) -> Result<Number, E> {
                Ok(Number(None))
            }
            fn visit_unit<E>(self) -> Result<Number, E> {
                Ok(Number(None))
            }
            fn visit_str<E>(self, _: &str) -> Result<Number, E> {
                Ok(Number(None))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Number, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Number(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Number, A::Error> {
                let mut total = Number(None);
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    if &*key == "total" {
                        total = map.next_value()?;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(total)
            }
        }
        deserializer.deserialize_any(NumberVisitor)
    }
}

/// Usage as Pi writes it.
#[derive(Debug, Clone, Copy, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct RawUsage {
    input: Number,
    output: Number,
    cache_read: Number,
    cache_write: Number,
    cost: Number,
}

impl From<RawUsage> for Usage {
    fn from(raw: RawUsage) -> Self {
        // A negative or infinite figure is a provider's mistake and must not eat into the sums.
        let sound = |n: Number| n.0.filter(|n| n.is_finite() && *n > 0.0).unwrap_or(0.0);
        Self {
            input: sound(raw.input),
            output: sound(raw.output),
            cache_read: sound(raw.cache_read),
            cache_write: sound(raw.cache_write),
            cost_usd: sound(raw.cost),
        }
    }
}
