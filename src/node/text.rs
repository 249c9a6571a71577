//! Normalisation and hashes for library callers.

use napi::Result;
use napi_derive::napi;

use super::strings::{Text, with_texts};
use crate::text;

#[napi(catch_unwind, ts_args_type = "raw: string")]
pub fn normalize_command(raw: Text) -> Result<String> {
    with_texts([raw], |[raw]| text::normalize_command(raw))
}

#[napi(catch_unwind, ts_args_type = "raw: string")]
pub fn normalize_message(raw: Text) -> Result<String> {
    with_texts([raw], |[raw]| text::normalize_message(raw))
}

#[napi(object)]
pub struct HashedOutput {
    pub hash: String,
    pub preview: String,
    /// How many bytes were hashed.
    pub bytes: u32,
}

#[napi(catch_unwind, ts_args_type = "raw: string, maxBytes: number, previewLines: number")]
pub fn hash_output(raw: Text, max_bytes: u32, preview_lines: u32) -> Result<HashedOutput> {
    with_texts([raw], |[raw]| {
        let hashed = text::hash_output(raw, max_bytes as usize, preview_lines as usize);
        let bytes = u32::try_from(hashed.bytes).unwrap_or(u32::MAX);
        HashedOutput { hash: hashed.hash, preview: hashed.preview, bytes }
    })
}

/// A fast content hash for equality within this process, as 32 hex digits.
#[napi(catch_unwind, ts_args_type = "content: string")]
pub fn content_hash(content: Text) -> Result<String> {
    with_texts([content], |[content]| format!("{:032x}", text::fast(content.as_bytes())))
}
