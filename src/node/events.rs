//! The event path: one call an event, a number back. What a handle does not name is ignored.

use std::collections::BTreeMap;

use napi::Result;
use napi_derive::napi;

use super::strings::{Text, with_texts};
use crate::store::Store;
use crate::trace::{EventKind, FileState, LifecycleEvent, StopReason, Usage};

fn observe(handle: u32, at: f64, kind: &EventKind<'_>) -> u32 {
    Store::with_global(|store| store.observe(handle, at, kind))
}

fn some(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

#[napi(catch_unwind, ts_args_type = "handle: number, at: number, text: string, synthetic: boolean")]
pub fn observe_user(handle: u32, at: f64, text: Text, synthetic: bool) -> Result<u32> {
    with_texts([text], |[text]| observe(handle, at, &EventKind::User { text, synthetic }))
}

#[napi(
    catch_unwind,
    ts_args_type = "handle: number, at: number, turn: number, text: string, thinking: string, stopReason: string"
)]
pub fn observe_assistant(
    handle: u32,
    at: f64,
    turn: u32,
    text: Text,
    thinking: Text,
    stop_reason: Text,
) -> Result<u32> {
    with_texts([text, thinking, stop_reason], |[text, thinking, stop]| {
        let stop_reason = StopReason::parse(stop);
        observe(handle, at, &EventKind::Assistant { turn, text, thinking, stop_reason, usage: None })
    })
}

#[napi(catch_unwind, ts_args_type = "handle: number, at: number, turn: number, text: string")]
pub fn observe_chunk(handle: u32, at: f64, turn: u32, text: Text) -> Result<u32> {
    with_texts([text], |[text]| observe(handle, at, &EventKind::AssistantChunk { turn, text }))
}

#[napi(
    catch_unwind,
    ts_args_type = "handle: number, at: number, input: number, output: number, cacheRead: number, cacheWrite: number, usd: number"
)]
pub fn observe_usage(
    handle: u32,
    at: f64,
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
    usd: f64,
) -> u32 {
    // A broken number from a provider must not spoil the sums.
    let clean = |value: f64| if value.is_finite() && value > 0.0 { value } else { 0.0 };
    let usage = Usage {
        input: clean(input),
        output: clean(output),
        cache_read: clean(cache_read),
        cache_write: clean(cache_write),
        cost_usd: clean(usd),
    };
    Store::with_global(|store| store.spend(handle, at, usage))
}

#[napi(
    catch_unwind,
    ts_args_type = "handle: number, at: number, turn: number, callId: string, tool: string, args: string"
)]
pub fn observe_tool_call(handle: u32, at: f64, turn: u32, call_id: Text, tool: Text, args: Text) -> Result<u32> {
    with_texts([call_id, tool, args], |[call_id, tool, args]| {
        observe(handle, at, &EventKind::ToolCall { turn, call_id, tool, args })
    })
}

#[napi(
    catch_unwind,
    ts_args_type = "handle: number, at: number, turn: number, callId: string, tool: string, output: string, isError: boolean, files: string, blockedBy: string"
)]
#[allow(clippy::too_many_arguments)] // the fields of one event
pub fn observe_tool_result(
    handle: u32,
    at: f64,
    turn: u32,
    call_id: Text,
    tool: Text,
    output: Text,
    is_error: bool,
    files: Text,
    blocked_by: Text,
) -> Result<u32> {
    with_texts([call_id, tool, output, files, blocked_by], |[call_id, tool, output, files, blocked_by]| {
        let states: BTreeMap<String, String> =
            if files.is_empty() { BTreeMap::new() } else { serde_json::from_str(files).unwrap_or_default() };
        let files: Vec<FileState<'_>> = states.iter().map(|(path, hash)| FileState { path, hash }).collect();
        let blocked_by = some(blocked_by);
        observe(handle, at, &EventKind::ToolResult { turn, call_id, tool, output, is_error, files: &files, blocked_by })
    })
}

#[napi(catch_unwind, ts_args_type = "handle: number, at: number, path: string, hashBefore: string, hashAfter: string")]
pub fn observe_file_change(handle: u32, at: f64, path: Text, hash_before: Text, hash_after: Text) -> Result<u32> {
    with_texts([path, hash_before, hash_after], |[path, before, after]| {
        observe(handle, at, &EventKind::FileChange { path, hash_before: some(before), hash_after: some(after) })
    })
}

#[napi(catch_unwind, ts_args_type = "handle: number, at: number, event: string, fields: string")]
pub fn observe_lifecycle(handle: u32, at: f64, event: Text, fields: Text) -> Result<u32> {
    with_texts([event, fields], |[event, fields]| {
        observe(handle, at, &EventKind::Lifecycle { event: LifecycleEvent::parse(event), fields })
    })
}

#[napi(catch_unwind, ts_args_type = "rootId: string, at: number")]
pub fn tick_tree(root_id: Text, at: f64) -> Result<u32> {
    with_texts([root_id], |[root]| Store::with_global(|store| store.tick_tree(root, at)))
}

#[napi(catch_unwind, ts_args_type = "rootId: string, ms: number, at: number")]
pub fn suspended(root_id: Text, ms: f64, at: f64) -> Result<()> {
    with_texts([root_id], |[root]| Store::with_global(|store| store.suspended(root, ms, at)))
}

#[napi(catch_unwind)]
pub fn tick(handle: u32, at: f64) -> u32 {
    Store::with_global(|store| store.get_mut(handle).map_or(0, |target| target.tick(at)))
}
