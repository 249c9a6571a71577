//! The store for the extension: opening, naming and ending targets, and what is pulled when a signal says so.

use std::sync::Arc;

use napi::bindgen_prelude::Either;
use napi::{Error, Result, Status};
use napi_derive::napi;

use super::convert::{JsAnalysis, JsEvent, JsNotice, JsTarget, JsUsage};
use super::strings::{Text, owned, with_texts};
use crate::detect::{Action, ToolClass};
use crate::policy::Config;
use crate::policy::config::CircuitBreaker;
use crate::process::Process;
use crate::store::{Info, Kind, Link, Store, Unresolved};

/// Events handed out at most in one call.
const MOST_EVENTS: u32 = 20_000;

#[napi(object)]
#[derive(Default)]
pub struct TargetInfo {
    pub name: Option<String>,
    pub kind: Option<String>,
    pub status: Option<String>,
    pub root_id: Option<String>,
    pub parent_id: Option<String>,
    pub agent_type: Option<String>,
    pub link: Option<String>,
    pub backend: Option<String>,
    pub visibility: Option<String>,
    pub project: Option<String>,
    pub pid: Option<u32>,
    pub pid_start: Option<String>,
    pub background: Option<bool>,
}

pub(super) fn link_name(link: Link) -> &'static str {
    match link {
        Link::Exact => "exact",
        Link::Inferred => "inferred",
        Link::None => "none",
    }
}

impl From<TargetInfo> for Info {
    fn from(info: TargetInfo) -> Self {
        let link = info.link.map(|link| match link.as_str() {
            "exact" => Link::Exact,
            "inferred" => Link::Inferred,
            _ => Link::None,
        });
        Self {
            name: info.name,
            kind: info.kind,
            status: info.status,
            root_id: info.root_id,
            parent_id: info.parent_id,
            agent_type: info.agent_type,
            link,
            backend: info.backend,
            visibility: info.visibility,
            project: info.project,
            // A process that cannot be proven is none: it would be ended as a child that was left behind.
            process: info.pid.and_then(|pid| match info.pid_start.as_deref() {
                Some(start) => Process::verified(pid, start),
                None => Process::below_this(pid),
            }),
            background: info.background,
        }
    }
}

#[napi(catch_unwind, ts_args_type = "sessionId: string, at: number, info: TargetInfo, config: string")]
pub fn open_target(session_id: Text, at: f64, info: TargetInfo, config: Text) -> Result<u32> {
    let config = Arc::new(Config::from_partial_json(&owned(config)?));
    let id = owned(session_id)?;
    if id.is_empty() {
        return Err(Error::new(Status::InvalidArg, "a target needs a session id"));
    }
    let info = info.into();
    Ok(Store::with_global(|store| store.open(&id, at, info, config)))
}

#[napi(catch_unwind)]
pub fn update_target(handle: u32, info: TargetInfo) {
    let info = info.into();
    Store::with_global(|store| store.update(handle, info));
}

#[napi(catch_unwind, ts_args_type = "handle: number, name: string")]
pub fn alias_target(handle: u32, name: Text) -> Result<()> {
    let name = owned(name)?;
    if !name.is_empty() {
        Store::with_global(|store| store.alias(handle, &name));
    }
    Ok(())
}

#[napi(catch_unwind, ts_args_type = "handle: number, config: string")]
pub fn configure_target(handle: u32, config: Text) -> Result<()> {
    let config = Arc::new(Config::from_partial_json(&owned(config)?));
    Store::with_global(|store| store.configure(handle, &config));
    Ok(())
}

#[napi(catch_unwind, ts_args_type = "handle: number, at: number, status: string")]
pub fn end_target(handle: u32, at: f64, status: Text) -> Result<()> {
    let status = owned(status)?;
    Store::with_global(|store| store.end(handle, at, &status));
    Ok(())
}

#[napi(catch_unwind)]
pub fn discard_target(handle: u32) {
    Store::with_global(|store| store.discard(handle));
}

#[napi(catch_unwind, ts_args_type = "handle: number, at: number, type: string, summary: string")]
pub fn note_event(handle: u32, at: f64, kind: Text, summary: Text) -> Result<()> {
    with_texts([kind, summary], |[kind, summary]| {
        let kind = Kind::parse(kind).ok_or_else(|| {
            Error::new(
                Status::InvalidArg,
                format!("unknown event type {kind:?}; the types are in index.d.ts, WatchdogEventType"),
            )
        })?;
        Store::with_global(|store| {
            if let Some(target) = store.get_mut(handle) {
                target.note(at, kind, summary);
            }
        });
        Ok(())
    })?
}

#[napi(catch_unwind)]
pub fn take_notice(handle: u32, now: f64) -> Option<JsNotice> {
    Store::with_global(|store| {
        let notice = store.take_notice(handle, now)?;
        Some(JsNotice::new(notice, store.get(handle)?))
    })
}

#[napi(catch_unwind, ts_args_type = "rootId: string, now: number")]
pub fn take_tree_notice(root_id: Text, now: f64) -> Result<Option<JsNotice>> {
    with_texts([root_id], |[root]| {
        Store::with_global(|store| {
            let (handle, notice) = store.take_tree_notice(root, now)?;
            Some(JsNotice::new(notice, store.get(handle)?))
        })
    })
}

#[napi(object)]
pub struct Refusal {
    pub reason: String,
    pub terminate: bool,
}

#[napi(catch_unwind, ts_args_type = "handle: number, tool: string, args: string")]
pub fn refusal(handle: u32, tool: Text, args: Text) -> Result<Option<Refusal>> {
    with_texts([tool, args], |[tool, args]| {
        Store::with_global(|store| {
            let target = store.get(handle)?;
            let breaker = target.config.general.circuit_breaker;
            // Who pauses the watchdog mostly knows that it is wrong.
            if breaker == CircuitBreaker::Off || store.paused(Store::root_of(target)) {
                return None;
            }
            let action = Action::new(tool, args);
            if action.class == ToolClass::Shell
                && let Some(why) = store.destroys(handle, action.line())
            {
                return Some(Refusal {
                    reason: format!(
                        "Refused by the watchdog: {why}. Name the files that are yours, or let the others commit first."
                    ),
                    terminate: false,
                });
            }
            let target = store.get(handle).filter(|target| target.stuck())?;
            let (notices, summary) = target.would_repeat(&action)?;
            Some(Refusal {
                reason: format!(
                    "Refused by the watchdog: this call would repeat a loop that was found ({summary}). \
                     It will give the same result. Say what you know so far, then take a different step: \
                     change the query or the path, read the error, or ask the user."
                ),
                terminate: breaker == CircuitBreaker::Stop && notices > 1,
            })
        })
    })
}

#[napi(catch_unwind)]
pub fn analysis(handle: u32) -> JsAnalysis {
    Store::with_global(|store| store.get(handle).map(crate::store::Target::analysis).unwrap_or_default().into())
}

#[napi(object)]
pub struct AlertRequest {
    pub send: bool,
    pub reason: String,
    pub recorded: bool,
}

#[napi(catch_unwind)]
pub fn request_alert(handle: u32, now: f64) -> AlertRequest {
    let answer = |send, reason: &str, recorded| AlertRequest { send, reason: reason.to_owned(), recorded };
    Store::with_global(|store| {
        let Some(root) = store.get(handle).map(|target| Store::root_of(target).to_owned()) else {
            return answer(true, "", false);
        };
        if store.paused(&root) {
            return answer(false, "paused", false);
        }
        match store.get_mut(handle).map(|target| target.request_alert(now)) {
            Some((true, recorded)) => answer(true, "", recorded),
            Some((false, _)) => answer(false, "cooldown", false),
            None => answer(true, "", false),
        }
    })
}

#[napi(catch_unwind, ts_args_type = "handle: number, limit: number, sinceEventId: string")]
pub fn target_events(handle: u32, limit: u32, since_event_id: Text) -> Result<Vec<JsEvent>> {
    with_texts([since_event_id], |[since]| {
        Store::with_global(|store| {
            let Some(target) = store.get(handle) else { return Ok(Vec::new()) };
            let since = match since {
                "" => None,
                id => Some(sequence_of(id, &target.id).ok_or_else(|| {
                    Error::new(
                        Status::InvalidArg,
                        format!(
                            "{id:?} is no event of this target; its ids are {}-1, {}-2 and so on",
                            target.id, target.id
                        ),
                    )
                })?),
            };
            let limit = limit.min(MOST_EVENTS) as usize;
            Ok(target.events(limit, since).map(|event| JsEvent::new(event, target)).collect())
        })
    })?
}

fn sequence_of(event_id: &str, target_id: &str) -> Option<u64> {
    event_id.strip_prefix(target_id)?.strip_prefix('-')?.parse().ok()
}

#[napi(catch_unwind)]
pub fn target(handle: u32) -> Option<JsTarget> {
    Store::with_global(|store| store.get(handle).map(JsTarget::from))
}

#[napi(catch_unwind, ts_args_type = "rootId: string, includeCompleted: boolean")]
pub fn targets(root_id: Text, include_completed: bool) -> Result<Vec<JsTarget>> {
    with_texts([root_id], |[root]| {
        let root = (!root.is_empty()).then_some(root);
        Store::with_global(|store| store.targets(root, include_completed).into_iter().map(JsTarget::from).collect())
    })
}

#[napi(catch_unwind)]
pub fn last_command(handle: u32) -> String {
    Store::with_global(|store| {
        store.get(handle).and_then(|target| target.last_command.as_deref()).unwrap_or_default().to_owned()
    })
}

#[napi(object)]
pub struct Resolved {
    pub ok: bool,
    pub handle: u32,
    pub id: String,
}

#[napi(object)]
pub struct NotResolved {
    pub ok: bool,
    pub reason: String,
    pub candidates: Vec<String>,
}

#[napi(catch_unwind, ts_args_type = "query: string, rootId: string")]
pub fn resolve_target(query: Text, root_id: Text) -> Result<Either<Resolved, NotResolved>> {
    with_texts([query, root_id], |[query, root]| {
        let root = (!root.is_empty()).then_some(root);
        let failed =
            |reason: &str, candidates| Either::B(NotResolved { ok: false, reason: reason.to_owned(), candidates });
        Store::with_global(|store| match store.resolve(query, root) {
            Ok(handle) => {
                let id = store.get(handle).map(|target| target.id.clone()).unwrap_or_default();
                Either::A(Resolved { ok: true, handle, id })
            }
            Err(Unresolved::Unknown) => failed("unknown", Vec::new()),
            Err(Unresolved::Ambiguous(candidates)) => failed("ambiguous", candidates),
        })
    })
}

#[napi(catch_unwind, ts_args_type = "rootId: string")]
pub fn tree_usage(root_id: Text) -> Result<JsUsage> {
    with_texts([root_id], |[root]| Store::with_global(|store| store.tree_usage(root).into()))
}

#[napi(catch_unwind, ts_args_type = "rootId: string, paused: boolean")]
pub fn pause(root_id: Text, paused: bool) -> Result<()> {
    with_texts([root_id], |[root]| Store::with_global(|store| store.pause(root, paused)))
}

#[napi(catch_unwind, ts_args_type = "rootId: string")]
pub fn paused(root_id: Text) -> Result<bool> {
    with_texts([root_id], |[root]| Store::with_global(|store| store.paused(root)))
}

#[napi(object)]
pub struct Stats {
    pub targets: u32,
    pub events: f64,
    pub evicted: f64,
}

#[napi(catch_unwind)]
#[allow(clippy::cast_possible_truncation)] // slots have 20 bits
pub fn stats() -> Stats {
    let (targets, events, evicted) = Store::with_global(|store| store.stats());
    Stats { targets: targets as u32, events: events as f64, evicted: evicted as f64 }
}
