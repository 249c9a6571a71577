//! What a key may be, in words, for the reference.

use crate::setting::{Key, Shape, whole};

/// The values of a key: their kind, unit and range; Markdown.
pub fn values(key: &Key) -> String {
    match &key.shape {
        Shape::Bool => "`true`, `false`".to_owned(),
        Shape::BoolOrNull => "`null`, `true`, `false`".to_owned(),
        Shape::Text(max) => format!("text, 1 to {max} characters"),
        Shape::OptionalText(max) => format!("empty, or text up to {max} characters"),
        Shape::Texts { max, .. } => format!("list of texts, 0 to {max}"),
        Shape::Integer { min, max } => format!("whole number, {min} to {max}"),
        Shape::Usd { max } => format!("US dollars, 0 to {}", whole(*max)),
        Shape::Seconds { min, max } => format!("seconds, {} to {}", whole(*min), whole(*max)),
        Shape::OneOf(names) => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}
