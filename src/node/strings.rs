//! JS strings, read at the lowest price.
//!
//! A JS string is one-byte or two-byte inside, and N-API does not say which. Reading a two-byte one as UTF-8 costs
//! 20 times what reading it as UTF-16 does (measured: 70–115 µs against 3.4 µs at 64 KB), and reading as UTF-16
//! costs a one-byte string little. So short strings are read as UTF-8 in one call, longer ones as UTF-16 and
//! converted with SIMD. All strings of one call share one buffer that stays allocated.

use std::cell::RefCell;
use std::ops::Range;

use napi::bindgen_prelude::{FromNapiValue, TypeName, ValidateNapiValue};
use napi::{Error, Result, Status, ValueType, sys};

/// A string argument, not read yet.
#[derive(Clone, Copy)]
pub struct Text {
    env: sys::napi_env,
    value: sys::napi_value,
}

impl TypeName for Text {
    fn type_name() -> &'static str {
        "string"
    }
    fn value_type() -> ValueType {
        ValueType::String
    }
}

impl ValidateNapiValue for Text {}

impl FromNapiValue for Text {
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> Result<Self> {
        Ok(Self { env, value })
    }
}

/// Strings up to about this many bytes are read as UTF-8 in a single call.
const SHORT: usize = 512;
/// A UTF-8 read that stops this close to the end of its buffer may have been cut.
const SLACK: usize = 4;
/// UTF-16 units of the longest string that is taken; this only bounds memory. A longer one is an error and not cut: cut
/// texts would be equal to others. Callers put digests in place of long texts before (`shared/whole.js`).
const LONGEST: usize = 1 << 26;
/// A buffer that grew beyond this is not kept.
const KEPT: usize = 4 << 20;

/// The texts of one call, one behind the other. The buffers stay as long as they grew: filling them with zeros for each
/// call would cost as much as reading.
#[derive(Default)]
struct Arena {
    utf8: Vec<u8>,
    /// Bytes of `utf8` that hold texts.
    used: usize,
    utf16: Vec<u16>,
}

thread_local! {
    static ARENA: RefCell<Arena> = RefCell::default();
}

/// Reads `texts` and runs `work` on them. `work` must not read texts itself.
pub fn with_texts<const N: usize, T>(texts: [Text; N], work: impl FnOnce([&str; N]) -> T) -> Result<T> {
    ARENA.with_borrow_mut(|arena| {
        arena.used = 0;
        let mut ranges: [Range<usize>; N] = std::array::from_fn(|_| 0..0);
        for (range, text) in ranges.iter_mut().zip(texts) {
            let start = arena.used;
            arena.read(text)?;
            *range = start..arena.used;
        }
        let strings = std::array::from_fn(|index| as_str(&arena.utf8[ranges[index].clone()]));
        let result = work(strings);
        if arena.utf8.capacity() > KEPT {
            *arena = Arena::default();
        }
        Ok(result)
    })
}

/// One text as an owned string, for calls that are not on the event path.
pub fn owned(text: Text) -> Result<String> {
    with_texts([text], |[text]| text.to_owned())
}

/// N-API and `encoding_rs` write valid UTF-8 (lone surrogates become U+FFFD); checked all the same, as nothing here
/// may be undefined behaviour.
fn as_str(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

impl Arena {
    fn read(&mut self, text: Text) -> Result<()> {
        let start = self.used;
        self.make_room(SHORT);
        let mut written = 0;
        // SAFETY: the buffer holds SHORT bytes from `start`; N-API writes at most that many, the final NUL included.
        let status = unsafe {
            sys::napi_get_value_string_utf8(
                text.env,
                text.value,
                self.utf8[start..].as_mut_ptr().cast(),
                SHORT,
                &raw mut written,
            )
        };
        check(status)?;
        if written < SHORT - SLACK {
            self.used = start + written;
            return Ok(());
        }
        self.read_long(text)
    }

    fn read_long(&mut self, text: Text) -> Result<()> {
        let mut length = 0;
        // SAFETY: with no buffer N-API only reports the length.
        check(unsafe {
            sys::napi_get_value_string_utf16(text.env, text.value, std::ptr::null_mut(), 0, &raw mut length)
        })?;
        if length > LONGEST {
            let message = format!("a string has {length} characters; at most {LONGEST} are taken");
            return Err(Error::new(Status::InvalidArg, message));
        }
        if self.utf16.len() <= length {
            self.utf16.resize(length + 1, 0);
        }
        let mut written = 0;
        // SAFETY: the buffer holds at least `length + 1` units, the final NUL included.
        check(unsafe {
            sys::napi_get_value_string_utf16(
                text.env,
                text.value,
                self.utf16.as_mut_ptr(),
                length + 1,
                &raw mut written,
            )
        })?;
        self.make_room(written * 3);
        self.used += encoding_rs::mem::convert_utf16_to_utf8(&self.utf16[..written], &mut self.utf8[self.used..]);
        Ok(())
    }

    fn make_room(&mut self, bytes: usize) {
        let needed = self.used + bytes;
        if self.utf8.len() < needed {
            self.utf8.resize(needed, 0);
        }
    }
}

fn check(status: sys::napi_status) -> Result<()> {
    match status {
        sys::Status::napi_ok => Ok(()),
        sys::Status::napi_string_expected => Err(Error::new(Status::StringExpected, "expected a string")),
        other => Err(Error::new(Status::from(other), "a string argument could not be read")),
    }
}
