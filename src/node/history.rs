//! The history for the extension and for library callers: one writer a process; questions run on a worker thread and are
//! answered as JSON text.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Error, Result, Status, Task};
use napi_derive::napi;
use parking_lot::Mutex;

use super::replay::guarded;
use super::strings::{Text, owned};
use crate::history::{Host, Limits, Problem, State, Writer, orphans, read};
use crate::store::{Memory, Store};

static WRITER: Mutex<Option<Writer>> = Mutex::new(None);

/// Longer than a writer waits for another process.
const OPENING: Duration = Duration::from_secs(6);
/// A process that ends without a word to the history waits so long for it at most.
const ENDING: Duration = Duration::from_secs(2);
/// A question waits so long at most for what was told before it.
const ASKING: Duration = Duration::from_secs(1);

#[napi(object)]
pub struct HistoryState {
    pub state: String,
    pub path: String,
    pub warnings: Vec<String>,
    pub lost: f64,
}

fn current() -> Option<Writer> {
    WRITER.lock().clone()
}

fn state_of(writer: Option<&Writer>) -> HistoryState {
    let Some(writer) = writer else {
        let state = State::Closed.name().to_owned();
        return HistoryState { state, path: String::new(), warnings: Vec::new(), lost: 0.0 };
    };
    let status = writer.status();
    HistoryState {
        state: status.state.name().to_owned(),
        path: status.path.to_string_lossy().into_owned(),
        warnings: status.warnings,
        lost: status.lost as f64,
    }
}

/// Ends the writer, if it is still this one. What ends the process must not wait for ever.
fn close(writer: &Writer, most: Duration) -> bool {
    let mut current = WRITER.lock();
    if current.as_ref().is_some_and(|current| current.is(writer)) {
        *current = None;
        Store::with_global(|store| store.remember_in(None));
    }
    drop(current);
    writer.close(most)
}

pub struct OpenTask(Writer);

impl Task for OpenTask {
    type Output = ();
    type JsValue = HistoryState;

    fn compute(&mut self) -> Result<()> {
        self.0.flush(OPENING);
        Ok(())
    }

    fn resolve(&mut self, _: Env, (): ()) -> Result<HistoryState> {
        Ok(state_of(Some(&self.0)))
    }
}

#[napi(
    catch_unwind,
    ts_args_type = "path: string, maxDays: number, maxMb: number, hostName: string",
    ts_return_type = "Promise<HistoryState>"
)]
pub fn history_open(env: Env, path: Text, max_days: u32, max_mb: u32, host_name: Text) -> Result<AsyncTask<OpenTask>> {
    let path = PathBuf::from(owned(path)?);
    let host = Host::here(&owned(host_name)?);
    let before = current();
    if let Some(writer) = before.filter(|writer| writer.path() == path && writer.status().state != State::Closed) {
        return Ok(AsyncTask::new(OpenTask(writer)));
    }
    let writer = Writer::start(&path, Limits { max_days, max_mb }, host)
        .map_err(|error| Error::new(Status::GenericFailure, format!("the history's thread cannot start: {error}")))?;
    let replaced = WRITER.lock().replace(writer.clone());
    let memory: Arc<dyn Memory> = Arc::new(writer.clone());
    Store::with_global(|store| store.remember_in(Some(&memory)));
    if let Some(replaced) = replaced {
        replaced.close(Duration::ZERO);
    }
    // Node may unload this image after its environment; no thread may run in it then, and nothing be lost.
    env.add_env_cleanup_hook(writer.clone(), |writer| {
        if !writer.closing() {
            close(&writer, ENDING);
        }
    })?;
    Ok(AsyncTask::new(OpenTask(writer)))
}

#[napi(catch_unwind)]
pub fn history_state() -> HistoryState {
    state_of(current().as_ref())
}

#[napi(catch_unwind, ts_args_type = "rootId: string, at: number")]
pub fn history_close_tree(root_id: Text, at: f64) -> Result<()> {
    let root = owned(root_id)?;
    if let Some(writer) = current() {
        writer.close_tree(&root, at);
    }
    Ok(())
}

fn wait(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default().min(Duration::from_mins(1))
}

#[napi(catch_unwind)]
pub fn history_flush(timeout_ms: f64) -> bool {
    current().is_none_or(|writer| writer.flush(wait(timeout_ms)))
}

#[napi(catch_unwind)]
pub fn history_close(timeout_ms: f64) -> bool {
    current().is_none_or(|writer| close(&writer, wait(timeout_ms)))
}

enum Question {
    Read(read::Filter),
    Orphans { claim: bool },
    Close { only: Option<String> },
}

pub struct Ask {
    path: PathBuf,
    host: Host,
    question: Question,
}

impl Ask {
    fn answer(&self) -> std::result::Result<String, Problem> {
        let (path, host) = (self.path.as_path(), &self.host);
        // What happened a moment ago is part of the answer.
        if let Some(writer) = current().filter(|writer| writer.path() == path) {
            writer.flush(ASKING);
        }
        match &self.question {
            Question::Read(filter) => read::read(path, filter).map(|report| json(&report)),
            Question::Orphans { claim: true } => orphans::claim(path, host).map(|found| json(&found)),
            Question::Orphans { claim: false } => orphans::list(path, host).map(|found| json(&found)),
            Question::Close { only } => orphans::close(path, host, only.as_deref()).map(|closed| json(&closed)),
        }
    }
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

impl Task for Ask {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> Result<String> {
        guarded(std::panic::AssertUnwindSafe(|| {
            self.answer().map_err(|problem| Error::new(Status::GenericFailure, problem.asked()))
        }))
    }

    fn resolve(&mut self, _: Env, answer: String) -> Result<String> {
        Ok(answer)
    }
}

fn ask(path: Text, host_name: Text, question: Question) -> Result<AsyncTask<Ask>> {
    let path = Path::new(&owned(path)?).to_owned();
    Ok(AsyncTask::new(Ask { path, host: Host::here(&owned(host_name)?), question }))
}

#[napi(
    catch_unwind,
    ts_args_type = "path: string, filter: string, hostName: string",
    ts_return_type = "Promise<string>"
)]
pub fn history_read(path: Text, filter: Text, host_name: Text) -> Result<AsyncTask<Ask>> {
    let filter = serde_json::from_str(&owned(filter)?)
        .map_err(|error| Error::new(Status::InvalidArg, format!("the filter is not usable: {error}")))?;
    ask(path, host_name, Question::Read(filter))
}

#[napi(
    catch_unwind,
    ts_args_type = "path: string, claim: boolean, hostName: string",
    ts_return_type = "Promise<string>"
)]
pub fn history_orphans(path: Text, claim: bool, host_name: Text) -> Result<AsyncTask<Ask>> {
    ask(path, host_name, Question::Orphans { claim })
}

#[napi(
    catch_unwind,
    ts_args_type = "path: string, sessionId: string, hostName: string",
    ts_return_type = "Promise<string>"
)]
pub fn history_close_orphans(path: Text, session_id: Text, host_name: Text) -> Result<AsyncTask<Ask>> {
    let only = Some(owned(session_id)?).filter(|id| !id.is_empty());
    ask(path, host_name, Question::Close { only })
}
