//! What to say of text that is no JSON object.

use serde_json::{Map, Value};

/// The object, or why there is none: `not valid JSON (line 3, column 7: …)`.
pub fn parse(text: &str) -> Result<Map<String, Value>, String> {
    // Editors on Windows write a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(format!("must be a JSON object, not {}", kind(&other))),
        Err(error) => {
            let message = error.to_string();
            let reason = message.split(" at line ").next().unwrap_or_default();
            Err(format!("is not valid JSON (line {}, column {}: {reason})", error.line(), error.column()))
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
