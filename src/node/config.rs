//! Configuration for JS callers. All checking is the core's.

use napi::{Error, Result, Status};
use napi_derive::napi;

use super::strings::{Text, owned};
use crate::policy::Config;
use crate::policy::config::{Layer, schema};

#[napi(catch_unwind, ts_args_type = "layers: string")]
pub fn resolve_config(layers: Text) -> Result<String> {
    let layers: Vec<Layer> = serde_json::from_str(&owned(layers)?)
        .map_err(|error| Error::new(Status::InvalidArg, format!("these are no configuration layers: {error}")))?;
    let resolved = serde_json::to_string(&Config::resolve(&layers));
    resolved.map_err(|error| Error::new(Status::GenericFailure, error.to_string()))
}

#[napi(catch_unwind)]
pub fn default_config() -> String {
    serde_json::to_string(&Config::default()).unwrap_or_default()
}

#[napi(catch_unwind)]
pub fn config_schema() -> String {
    schema().to_string()
}
