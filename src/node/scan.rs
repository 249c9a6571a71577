//! The scan of a folder for JS callers: on a worker thread, answered as a promise, with progress on the way.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use napi::bindgen_prelude::{AsyncTask, Function};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Error, Result, Status, Task};
use napi_derive::napi;

use super::convert::JsCost;
use super::replay::{Canceller, guarded};
use super::strings::{Text, owned};
use crate::detector::Detector;
use crate::policy::Config;
use crate::replay::Cancel;
use crate::replay::scan::{Options, Progress, Row, Session, Summary, Total, scan};

#[napi(object)]
pub struct JsScanRow {
    pub rule: String,
    pub count: f64,
    pub sessions: f64,
    pub cost: JsCost,
}

#[napi(object)]
pub struct JsScanSession {
    pub file: String,
    pub session_id: Option<String>,
    pub incidents: f64,
    pub rules: Vec<String>,
    pub cost: JsCost,
    pub tokens: f64,
    pub usd: f64,
}

#[napi(object)]
pub struct JsScanWarning {
    pub file: String,
    pub message: String,
}

#[napi(object)]
pub struct JsScanReport {
    pub files: f64,
    pub bytes: f64,
    pub sessions: f64,
    pub older: f64,
    pub unreadable: f64,
    pub stuck_sessions: f64,
    pub events: f64,
    pub tokens: f64,
    pub usd: f64,
    pub incidents: Vec<JsScanRow>,
    pub interventions: Vec<JsScanRow>,
    pub remarks: f64,
    pub costliest: Vec<JsScanSession>,
    pub warnings: Vec<JsScanWarning>,
    pub warning_count: f64,
}

impl From<Total> for JsCost {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates; 2^32 rounds are years
    fn from(total: Total) -> Self {
        Self { rounds: total.rounds() as u32, tokens: total.tokens(), usd: total.usd(), wall_ms: total.wall_ms() }
    }
}

impl From<&Row> for JsScanRow {
    fn from(row: &Row) -> Self {
        let (count, sessions) = (row.count as f64, row.sessions as f64);
        Self { rule: row.rule.to_owned(), count, sessions, cost: row.cost.into() }
    }
}

impl From<&Session> for JsScanSession {
    fn from(session: &Session) -> Self {
        Self {
            file: session.path.to_string_lossy().into_owned(),
            session_id: session.id.clone(),
            incidents: session.incidents as f64,
            rules: session.rules.iter().map(|rule| (*rule).to_owned()).collect(),
            cost: session.cost.into(),
            tokens: session.usage.tokens(),
            usd: session.usage.usd(),
        }
    }
}

impl From<Summary> for JsScanReport {
    fn from(summary: Summary) -> Self {
        let rows = |rows: Vec<&Row>| rows.into_iter().map(JsScanRow::from).collect();
        let warning = |(path, message): (&std::path::Path, &str)| JsScanWarning {
            file: path.to_string_lossy().into_owned(),
            message: message.to_owned(),
        };
        Self {
            files: summary.files as f64,
            bytes: summary.bytes as f64,
            sessions: summary.sessions as f64,
            older: summary.older as f64,
            unreadable: summary.lost as f64,
            stuck_sessions: summary.stuck_sessions as f64,
            events: summary.events as f64,
            tokens: summary.usage.tokens(),
            usd: summary.usage.usd(),
            incidents: rows(summary.incidents()),
            interventions: rows(summary.interventions()),
            remarks: summary.remarks as f64,
            costliest: summary.costliest().iter().map(JsScanSession::from).collect(),
            warnings: summary.warnings().map(warning).collect(),
            warning_count: summary.warning_count as f64,
        }
    }
}

/// Files, bytes and all bytes. One call waits at most: a slow listener loses some, and slows nothing down.
type Listener = ThreadsafeFunction<Vec<f64>, (), Vec<f64>, Status, false, true, 1>;

pub struct ScanTask {
    folder: PathBuf,
    detector: Detector,
    options: Options,
    listener: Option<Arc<Listener>>,
    cancel: Arc<Cancel>,
}

impl Task for ScanTask {
    type Output = Summary;
    type JsValue = JsScanReport;

    fn compute(&mut self) -> Result<Summary> {
        let progress = Progress::default();
        let tell = || {
            if let Some(listener) = &self.listener {
                let counted = [&progress.files, &progress.bytes, &progress.total_bytes];
                let numbers = counted.map(|number| number.load(Ordering::Relaxed) as f64).to_vec();
                listener.call(numbers, ThreadsafeFunctionCallMode::NonBlocking);
            }
        };
        let run = || scan(&self.folder, &self.detector, self.options, &progress, &self.cancel, &tell);
        guarded(std::panic::AssertUnwindSafe(|| {
            run().map_err(|error| Error::new(Status::GenericFailure, error.to_string()))
        }))
    }

    fn resolve(&mut self, _: Env, summary: Summary) -> Result<JsScanReport> {
        Ok(summary.into())
    }
}

#[napi(
    catch_unwind,
    ts_args_type = "path: string, config: string, from: number, costliest: number, canceller: object, onProgress?: (counts: number[]) => void",
    ts_return_type = "Promise<JsScanReport>"
)]
pub fn scan_folder(
    path: Text,
    config: Text,
    from: f64,
    costliest: u32,
    canceller: &Canceller,
    on_progress: Option<Function<Vec<f64>, ()>>,
) -> Result<AsyncTask<ScanTask>> {
    let detector = Detector::new(&Config::from_partial_json(&owned(config)?));
    let listener = match on_progress {
        None => None,
        Some(function) => Some(Arc::new(
            function
                .build_threadsafe_function()
                .weak::<true>()
                .max_queue_size::<1>()
                .callee_handled::<false>()
                .build_callback(|context| Ok(context.value))?,
        )),
    };
    let options = Options { from, costliest: costliest as usize };
    Ok(AsyncTask::new(ScanTask {
        folder: owned(path)?.into(),
        detector,
        options,
        listener,
        cancel: Arc::clone(canceller),
    }))
}
