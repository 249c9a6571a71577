//! Hashes. Equality inside the engine is [`fast`]; what the outside sees is SHA-256.

use sha2::{Digest, Sha256};

use super::{ansi, preview};

/// 128 bits for equality within one process; not stable across versions and no protection against a forger.
pub fn fast(bytes: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(bytes)
}

/// SHA-256 as 64 lower-case hex digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(bytes.len() * 2);
    for &byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    out
}

/// What the store keeps of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashedOutput {
    /// SHA-256, hex, of the first `max_bytes` of the stripped output.
    pub hash: String,
    /// Its first lines.
    pub preview: String,
}

/// Bytes hashed at most unless the caller says otherwise.
pub const DEFAULT_MAX_BYTES: usize = 65_536;

/// Strips escape sequences, cuts to `max_bytes` at a character boundary, hashes; `preview_lines` 0: no preview.
pub fn hash_output(raw: &str, max_bytes: usize, preview_lines: usize) -> HashedOutput {
    let stripped = ansi::strip(raw);
    let cut = &stripped[..stripped.floor_char_boundary(max_bytes)];
    HashedOutput { hash: sha256_hex(cut.as_bytes()), preview: preview::preview(cut, preview_lines) }
}
