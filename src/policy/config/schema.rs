//! The JSON schema of a configuration file, derived from the table of keys.

use serde_json::{Map, Value, json};

use super::keys::{KEYS, SCHEMA_KEY};
use crate::setting::{Key, Scope, Shape, whole};

/// JSON schema, draft 2020-12; also shipped as `watchdog-supervisor.schema.json`.
pub fn schema() -> Value {
    let mut properties = Map::new();
    properties.insert(SCHEMA_KEY.to_owned(), json!({ "type": "string" }));
    properties.extend(KEYS.iter().map(|key| (key.name.to_owned(), property(key))));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "pi-watchdog-supervisor configuration",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

fn property(key: &Key) -> Value {
    let mut property = match &key.shape {
        Shape::Bool => json!({ "type": "boolean" }),
        Shape::BoolOrNull => json!({ "type": ["boolean", "null"] }),
        Shape::Text(max) => json!({ "type": "string", "minLength": 1, "maxLength": max }),
        Shape::OptionalText(max) => json!({ "type": "string", "maxLength": max }),
        Shape::Texts { max, max_chars } => {
            json!({ "type": "array", "items": { "type": "string", "maxLength": max_chars }, "maxItems": max })
        }
        Shape::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Shape::Usd { max } => json!({ "type": "number", "minimum": 0, "maximum": whole(*max) }),
        Shape::Seconds { min, max } => json!({ "type": "number", "minimum": whole(*min), "maximum": whole(*max) }),
        Shape::OneOf(names) => json!({ "enum": names }),
    };
    property["default"] = key.default();
    property["description"] = json!(match key.scope {
        Scope::User | Scope::UserPower(_) | Scope::GlobalFile => {
            format!("{} Counts in the global file only.", key.description())
        }
        Scope::OffOnly => format!("{} A project file may only switch it off.", key.description()),
        _ => key.description().to_owned(),
    });
    property
}
