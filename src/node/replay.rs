//! Recorded sessions for JS callers: read on a worker thread, answered as a promise.

use std::path::PathBuf;
use std::sync::Arc;

use napi::bindgen_prelude::{AsyncTask, External};
use napi::{Env, Error, Result, Status, Task};
use napi_derive::napi;

use super::convert::JsFinding;
use super::strings::{Text, owned};
use crate::detect::Finding;
use crate::detector::Detector;
use crate::policy::Config;
use crate::replay::{self, Cancel, Warnings};

/// Ends the replays and scans that it was given to, before or while they run.
pub type Canceller = External<Arc<Cancel>>;

#[napi(catch_unwind, ts_return_type = "object")]
pub fn create_canceller() -> Canceller {
    External::new(Arc::default())
}

#[napi(catch_unwind, ts_args_type = "canceller: object")]
pub fn cancel(canceller: &Canceller) {
    canceller.cancel();
}

#[napi(object)]
pub struct JsWarning {
    pub line: f64,
    pub message: String,
}

fn warnings(warnings: Warnings) -> Vec<JsWarning> {
    warnings.listed.into_iter().map(|w| JsWarning { line: w.line as f64, message: w.message }).collect()
}

#[napi(object)]
pub struct JsLocated {
    pub finding: JsFinding,
    pub event_index: f64,
    pub line: f64,
    pub entry_id: Option<String>,
    pub branch: Option<String>,
}

#[napi(object)]
pub struct JsReport {
    pub kind: String,
    pub session_id: Option<String>,
    pub lines: f64,
    pub events: f64,
    pub branches: u32,
    pub findings: Vec<JsLocated>,
    pub warnings: Vec<JsWarning>,
    pub warning_count: f64,
    pub tokens: f64,
    pub usd: f64,
}

pub struct ReplayTask {
    path: PathBuf,
    detector: Detector,
    cancel: Arc<Cancel>,
}

/// A panic on a worker thread would end the process: it becomes the promise's rejection.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T> + std::panic::UnwindSafe) -> Result<T> {
    std::panic::catch_unwind(work)
        .unwrap_or_else(|_| Err(Error::new(Status::GenericFailure, "the replay failed inside; please report the file")))
}

impl Task for ReplayTask {
    type Output = replay::Report<Finding>;
    type JsValue = JsReport;

    fn compute(&mut self) -> Result<Self::Output> {
        let (path, detector) = (&self.path, std::panic::AssertUnwindSafe(&self.detector));
        let cancel = &self.cancel;
        guarded(move || {
            replay::replay_file(path, *detector, cancel)
                .map_err(|error| Error::new(Status::GenericFailure, error.to_string()))
        })
    }

    fn resolve(&mut self, _: Env, report: Self::Output) -> Result<JsReport> {
        Ok(JsReport {
            kind: report.kind.to_owned(),
            session_id: report.session_id,
            lines: report.lines as f64,
            events: report.events as f64,
            branches: report.branches,
            findings: report
                .findings
                .into_iter()
                .map(|located| JsLocated {
                    finding: located.finding.into(),
                    event_index: located.event_index as f64,
                    line: located.line as f64,
                    entry_id: located.entry_id,
                    branch: located.branch,
                })
                .collect(),
            warning_count: report.warnings.count as f64,
            warnings: warnings(report.warnings),
            tokens: report.usage.total_tokens(),
            usd: report.usage.cost_usd,
        })
    }
}

#[napi(
    catch_unwind,
    ts_args_type = "path: string, config: string, canceller: object",
    ts_return_type = "Promise<JsReport>"
)]
pub fn replay_file(path: Text, config: Text, canceller: &Canceller) -> Result<AsyncTask<ReplayTask>> {
    let detector = Detector::new(&Config::from_partial_json(&owned(config)?));
    Ok(AsyncTask::new(ReplayTask { path: owned(path)?.into(), detector, cancel: Arc::clone(canceller) }))
}

#[napi(object)]
pub struct JsDetection {
    pub event_index: f64,
    pub rule: String,
    pub severity: String,
    pub evidence_key: String,
}

#[napi(object)]
pub struct JsCase {
    pub id: String,
    pub detections: Vec<JsDetection>,
}

#[napi(object)]
pub struct JsCases {
    pub results: Vec<JsCase>,
    pub warnings: Vec<JsWarning>,
}

pub struct CasesTask {
    path: PathBuf,
    detector: Detector,
    cancel: Arc<Cancel>,
}

impl Task for CasesTask {
    type Output = replay::Cases<Finding>;
    type JsValue = JsCases;

    fn compute(&mut self) -> Result<Self::Output> {
        let (path, detector) = (&self.path, std::panic::AssertUnwindSafe(&self.detector));
        let cancel = &self.cancel;
        guarded(move || {
            replay::replay_cases(path, *detector, cancel)
                .map_err(|error| Error::new(Status::GenericFailure, error.to_string()))
        })
    }

    fn resolve(&mut self, _: Env, cases: Self::Output) -> Result<JsCases> {
        let detection = |(event_index, finding): (usize, Finding)| JsDetection {
            event_index: event_index as f64,
            rule: finding.rule.to_owned(),
            severity: finding.severity.name().to_owned(),
            evidence_key: finding.analysis.evidence_key,
        };
        let results = cases.results.into_iter();
        Ok(JsCases {
            results: results
                .map(|case| JsCase { id: case.id, detections: case.findings.into_iter().map(detection).collect() })
                .collect(),
            warnings: warnings(cases.warnings),
        })
    }
}

#[napi(
    catch_unwind,
    ts_args_type = "path: string, config: string, canceller: object",
    ts_return_type = "Promise<JsCases>"
)]
pub fn replay_cases(path: Text, config: Text, canceller: &Canceller) -> Result<AsyncTask<CasesTask>> {
    let detector = Detector::new(&Config::from_partial_json(&owned(config)?));
    Ok(AsyncTask::new(CasesTask { path: owned(path)?.into(), detector, cancel: Arc::clone(canceller) }))
}
