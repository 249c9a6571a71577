//! The N-API binding: the only module that knows Node. Thin: convert, call, return.
//!
//! What shapes it (measured, Node 24): a free function with numbers costs 0.1 µs, a method on a native class three
//! times as much, an object handed back 0.4 µs. So the event path is free functions that take a handle and give back
//! a number, one call an event; objects are handed over only when somebody asks.
//!
//! Every export catches panics (`catch_unwind`): one that got through would abort Pi. The panic is an exception in JS,
//! and the store's lock does not stay poisoned.

mod config;
mod convert;
mod detector;
mod events;
mod history;
mod process;
mod remote;
mod replay;
mod scan;
mod store;
mod strings;
mod text;

use napi_derive::{module_init, napi};

#[module_init]
fn init() {
    // Rust's own message would be written over the terminal UI; the exception carries it instead.
    std::panic::set_hook(Box::new(|_| {}));
}

/// Version of this image: after an update, `/reload` keeps the old one.
#[napi(catch_unwind)]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Panics, so that tests can show that a panic stays here. Does nothing unless `PI_WATCHDOG_TEST_PANIC=1`.
#[napi(js_name = "__panicForTests", catch_unwind)]
pub fn panic_for_tests() {
    assert!(std::env::var_os("PI_WATCHDOG_TEST_PANIC").is_none_or(|value| value != "1"), "panic asked for by a test");
}
