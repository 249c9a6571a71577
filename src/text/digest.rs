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

/// Lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
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
    /// How many bytes were hashed.
    pub bytes: usize,
}

/// Bytes hashed at most unless the caller says otherwise.
pub const DEFAULT_MAX_BYTES: usize = 65_536;

/// Strips escape sequences, cuts to `max_bytes` at a character boundary, hashes; `preview_lines` 0: no preview.
/// Reads no further than it hashes, but for the rest of the last line.
pub fn hash_output(raw: &str, max_bytes: usize, preview_lines: usize) -> HashedOutput {
    let cut = ansi::strip_to(raw, max_bytes);
    HashedOutput { hash: sha256_hex(cut.as_bytes()), preview: preview::preview(&cut, preview_lines), bytes: cut.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standards() {
        assert_eq!(sha256_hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(fast(b""), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
        assert_ne!(fast(b"a"), fast(b"b"));
    }

    #[test]
    fn escape_sequences_do_not_change_the_hash_but_text_does() {
        let plain = hash_output("FAIL a.test\n1 failed", DEFAULT_MAX_BYTES, 20);
        assert_eq!(hash_output("\x1b[31mFAIL\x1b[0m a.test\r\n1 failed", DEFAULT_MAX_BYTES, 20), plain);
        assert_eq!(plain.hash, sha256_hex(b"FAIL a.test\n1 failed"));
        assert_ne!(hash_output("FAIL a.test\n2 failed", DEFAULT_MAX_BYTES, 20).hash, plain.hash);
    }

    #[test]
    fn only_the_first_bytes_are_hashed_cut_at_a_character() {
        assert_eq!(hash_output("aéz", 2, 1).hash, sha256_hex(b"a"));
        assert_eq!(hash_output("aéz", 3, 1).hash, sha256_hex("aé".as_bytes()));
        assert_eq!(hash_output("aéz", 0, 1).hash, sha256_hex(b""));
    }

    #[test]
    fn the_preview_is_the_first_lines_or_nothing() {
        assert_eq!(hash_output("a\nb\nc", DEFAULT_MAX_BYTES, 2).preview, "a\nb");
        assert_eq!(hash_output("a\nb\nc", DEFAULT_MAX_BYTES, 0).preview, "");
    }
}
