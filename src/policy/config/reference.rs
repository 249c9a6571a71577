//! The table of keys in `docs/configuration.md`.

use std::fmt::Write;

use super::keys::{KEYS, Key, Shape, whole};

/// A Markdown table, one key a row.
pub fn table() -> String {
    let mut out = String::from("| key | default | values | project file | meaning |\n|---|---|---|---|---|\n");
    for key in KEYS {
        let default = match key.default().as_str() {
            Some(text) if matches!(key.shape, Shape::Text(_) | Shape::OptionalText(_)) => format!("\"{text}\""),
            _ => format!("`{}`", key.default()).replace('"', ""),
        };
        let power = if key.is_power() { " ⚡" } else { "" };
        let _ = writeln!(
            out,
            "| `{}`{power} | {default} | {} | {} | {} |",
            key.name,
            values(key),
            key.project(),
            key.description
        );
    }
    out
}

fn values(key: &Key) -> String {
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
