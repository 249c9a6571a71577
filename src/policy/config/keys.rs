//! The table of keys. Each key is declared with the code that reads it; checking, the JSON schema and the reference table
//! are derived from what is here.

use std::sync::LazyLock;

use serde_json::Value;

use super::{Config, General};
use crate::setting::{Key, Shape, whole};
use crate::{detect, lifecycle};

/// All keys: the general ones, then those of the rules, then those of the tree.
pub static KEYS: LazyLock<Vec<&'static Key>> = LazyLock::new(|| {
    let rules = detect::rules::ABOUT.iter().flat_map(|(_, rule)| rule.keys);
    let tree = lifecycle::ABOUT.iter().flat_map(|matter| matter.keys);
    General::KEYS.iter().chain(rules).chain(tree).collect()
});

/// Names that a file may contain besides the keys.
pub const SCHEMA_KEY: &str = "$schema";

pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().copied().find(|key| key.name == name)
}

impl Key {
    /// The default, as JSON.
    pub fn default(&self) -> Value {
        static DEFAULTS: LazyLock<Value> =
            LazyLock::new(|| serde_json::to_value(Config::default()).unwrap_or_default());
        let value = DEFAULTS.get(self.name).cloned().unwrap_or_default();
        // `60`, not `60.0`, in everything that people read.
        match (&self.shape, value.as_f64()) {
            (Shape::Seconds { .. } | Shape::Usd { .. }, Some(seconds)) => whole(seconds),
            _ => value,
        }
    }
}
