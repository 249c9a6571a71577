//! Targets that another process watches: what comes in from it. Texts are JSON, read and bounded by the store.

use napi::Result;
use napi_derive::napi;

use super::strings::{Text, with_texts};
use crate::store::Store;

#[napi(catch_unwind, ts_args_type = "handle: number, run: string, now: number")]
pub fn attach_remote(handle: u32, run: Text, now: f64) -> Result<f64> {
    with_texts([run], |[run]| {
        Store::with_global(|store| {
            store.get_mut(handle).map_or(0.0, |target| {
                target.attach(run, now);
                target.remote.as_ref().map_or(0.0, |remote| remote.taken() as f64)
            })
        })
    })
}

#[napi(catch_unwind)]
pub fn detach_remote(handle: u32) {
    Store::with_global(|store| {
        if let Some(target) = store.get_mut(handle) {
            target.detach();
        }
    });
}

#[napi(catch_unwind)]
pub fn remote_contact(handle: u32, now: f64, connected: bool) -> u32 {
    Store::with_global(|store| store.contact(handle, now, connected))
}

#[napi(catch_unwind, ts_args_type = "handle: number, now: number, events: string")]
pub fn import_events(handle: u32, now: f64, events: Text) -> Result<f64> {
    with_texts([events], |[events]| {
        Store::with_global(|store| store.import(handle, now, events).map_or(0.0, |taken| taken as f64))
    })
}

#[napi(catch_unwind, ts_args_type = "handle: number, now: number, state: string")]
pub fn import_state(handle: u32, now: f64, state: Text) -> Result<u32> {
    with_texts([state], |[state]| Store::with_global(|store| store.import_state(handle, now, state)))
}
