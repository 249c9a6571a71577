//! Fields of lifecycle events. They come from programs of all kinds: a field of another shape is an absent one.

use serde_json::Value;

pub struct Fields(Value);

impl Fields {
    pub fn parse(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or(Value::Null))
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64().filter(|number| number.is_finite())
    }

    pub fn whole(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    pub fn yes(&self, name: &str) -> Option<bool> {
        self.0.get(name)?.as_bool()
    }

    pub fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }
}
