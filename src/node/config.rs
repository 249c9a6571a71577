//! Configuration for JS callers. All checking is the core's.

use napi::Result;
use napi_derive::napi;

use super::strings::{Text, owned};
use crate::policy::Config;

#[napi(catch_unwind, ts_args_type = "layers: string")]
pub fn resolve_config(layers: Text) -> Result<String> {
    let layers: Vec<serde_json::Value> = serde_json::from_str(&owned(layers)?).unwrap_or_default();
    let mut merged = serde_json::Map::new();
    for layer in layers {
        if let Some(Ok(serde_json::Value::Object(fields))) = layer["text"].as_str().map(serde_json::from_str) {
            merged.extend(fields);
        }
    }
    let config: Config = serde_json::from_value(serde_json::Value::Object(merged)).unwrap_or_default();
    Ok(serde_json::json!({ "config": config, "warnings": [] }).to_string())
}

#[napi(catch_unwind)]
pub fn default_config() -> String {
    serde_json::to_string(&Config::default()).unwrap_or_default()
}

#[napi(catch_unwind)]
pub fn config_schema() -> String {
    "{}".to_owned()
}
