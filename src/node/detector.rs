//! Detectors of library callers, by handle. They share the engine and the trace reader with everything else.

use std::collections::HashMap;
use std::sync::LazyLock;

use napi::{Error, Result, Status};
use napi_derive::napi;
use parking_lot::Mutex;

use super::convert::{JsAnalysis, JsFinding};
use super::strings::{Text, owned, with_texts};
use crate::detect::compact::{CompactEvent, detect_stuck as detect_compact};
use crate::detector::Detector;
use crate::policy::{self, Config};
use crate::trace::TraceReader;

struct Owned {
    detector: Detector,
    reader: TraceReader,
}

#[derive(Default)]
struct Table {
    next: u32,
    detectors: HashMap<u32, Owned>,
}

static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

fn with<T>(handle: u32, work: impl FnOnce(&mut Owned) -> T) -> Result<T> {
    let mut table = TABLE.lock();
    let owned = table.detectors.get_mut(&handle);
    owned.map(work).ok_or_else(|| Error::new(Status::InvalidArg, "this detector does not exist any more"))
}

#[napi(catch_unwind, ts_args_type = "config: string")]
pub fn detector_create(config: Text) -> Result<u32> {
    let config = Config::from_partial_json(&owned(config)?);
    let mut table = TABLE.lock();
    table.next = table.next.wrapping_add(1);
    let handle = table.next;
    table.detectors.insert(handle, Owned { detector: Detector::new(&config), reader: TraceReader::default() });
    Ok(handle)
}

#[napi(catch_unwind)]
pub fn detector_free(handle: u32) {
    TABLE.lock().detectors.remove(&handle);
}

#[napi(catch_unwind)]
pub fn detector_reset(handle: u32) -> Result<()> {
    with(handle, |owned| {
        owned.detector.reset();
        owned.reader = TraceReader::default();
    })
}

/// `event`: JSON text of one trace event.
#[napi(catch_unwind, ts_args_type = "handle: number, event: string")]
pub fn detector_observe(handle: u32, event: Text) -> Result<Vec<JsFinding>> {
    let text = owned(event)?;
    with(handle, |owned| {
        let mut findings = Vec::new();
        let Owned { detector, reader } = owned;
        let read = reader.read(text.as_bytes(), |event| findings.extend(detector.observe(event)));
        read.map_err(|error| Error::new(Status::InvalidArg, format!("this is no trace event: {}", error.0)))?;
        Ok(findings.into_iter().map(JsFinding::from).collect())
    })?
}

/// `at`: seconds, as in the trace.
#[napi(catch_unwind)]
pub fn detector_tick(handle: u32, at: f64) -> Result<Vec<JsFinding>> {
    with(handle, |owned| owned.detector.tick(at * 1000.0).into_iter().map(JsFinding::from).collect())
}

#[napi(catch_unwind, ts_args_type = "handle: number, agent: string")]
pub fn detector_analysis(handle: u32, agent: Text) -> Result<JsAnalysis> {
    with_texts([agent], |[agent]| {
        let agent = (!agent.is_empty()).then_some(agent);
        with(handle, |owned| owned.detector.analysis(agent).into())
    })?
}

#[napi(object)]
pub struct JsCompactEvent {
    pub at: f64,
    #[napi(js_name = "type")]
    pub kind: String,
    pub summary: Option<String>,
    pub command_key: Option<String>,
    pub output_hash: Option<String>,
    pub turn: Option<u32>,
    pub call_id: Option<String>,
    pub tool: Option<String>,
    pub is_error: Option<bool>,
}

#[napi(catch_unwind, ts_args_type = "events: Array<JsCompactEvent>, config: string, now?: number, sinceAt?: number")]
#[allow(clippy::needless_pass_by_value)] // N-API hands over what it made
pub fn detect_stuck(
    events: Vec<JsCompactEvent>,
    config: Text,
    now: Option<f64>,
    since_at: Option<f64>,
) -> Result<JsAnalysis> {
    let config = Config::from_partial_json(&owned(config)?);
    let events: Vec<CompactEvent<'_>> = events
        .iter()
        .map(|event| CompactEvent {
            at: event.at,
            kind: &event.kind,
            summary: event.summary.as_deref().unwrap_or_default(),
            command_key: event.command_key.as_deref(),
            output_hash: event.output_hash.as_deref(),
            turn: event.turn,
            call_id: event.call_id.as_deref(),
            tool: event.tool.as_deref(),
            is_error: event.is_error.unwrap_or_default(),
        })
        .collect();
    Ok(detect_compact(&events, &config.rules, now, since_at).into())
}

#[napi(
    catch_unwind,
    ts_args_type = "lastKey: string, lastAt: number, stuck: boolean, key: string, now: number, cooldownSec: number"
)]
pub fn should_alert(last_key: Text, last_at: f64, stuck: bool, key: Text, now: f64, cooldown_sec: f64) -> Result<bool> {
    with_texts([last_key, key], |[last_key, key]| {
        // No last alert is told by a time that is no number.
        let last = (!last_at.is_nan()).then_some((last_key, last_at));
        policy::should_alert(last, stuck, key, now, cooldown_sec)
    })
}
