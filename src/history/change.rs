//! What the writer is told of a target, with what it owns: made on the telling thread, so only when something rare
//! happens. Here is also decided what of a target's texts may be kept.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::detect::{LoopCost, Severity};
use crate::process::Process;
use crate::store::{Notice, Store, Target, Totals, Used};
use crate::text;

/// Characters of a text that are kept.
const PREVIEW: usize = 200;
/// Characters of a name.
const NAME: usize = 80;

#[derive(Debug)]
pub enum Change {
    Opened {
        known: Box<Known>,
        totals: Arc<Totals>,
        again: bool,
    },
    Changed(Box<Known>),
    Ended {
        known: Box<Known>,
        at: f64,
    },
    Told(Box<Told>),
    Answered {
        session: Box<str>,
        at: f64,
    },
    /// The main session ended: what still runs of its tree in this process ends with it.
    TreeClosed {
        root: Box<str>,
        at: f64,
    },
    /// Some totals changed.
    Used,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Known {
    pub id: String,
    pub root: String,
    pub parent: Option<String>,
    pub name: Option<String>,
    pub kind: Option<String>,
    pub agent_type: Option<String>,
    pub backend: Option<String>,
    pub project: Option<String>,
    /// Process that runs it, where that is another one.
    pub process: Option<Process>,
    pub status: String,
    pub started_at: f64,
    pub last_active_at: f64,
    pub ended: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Told {
    pub session: String,
    pub incident: String,
    pub over: bool,
    pub rule: Cow<'static, str>,
    pub severity: Severity,
    pub at: f64,
    pub cost: LoopCost,
    pub evidence_key: String,
    pub summary: Option<String>,
    pub last_command: Option<String>,
}

impl Known {
    pub fn new(target: &Target) -> Self {
        let info = &target.info;
        let name = |text: &Option<String>| text.as_deref().map(|text| text::quote(text, NAME, 1));
        Self {
            id: target.id.clone(),
            root: Store::root_of(target).to_owned(),
            parent: info.parent_id.clone(),
            // A name is often the beginning of a task.
            name: name(&info.name).filter(|_| target.config.general.history_previews),
            kind: info.kind.clone(),
            agent_type: name(&info.agent_type),
            backend: name(&info.backend),
            project: info.project.clone(),
            process: info.process.clone(),
            status: info.status.clone().unwrap_or_else(|| "running".to_owned()),
            started_at: target.started_at,
            last_active_at: target.last_active_at,
            ended: target.ended_at.is_some(),
        }
    }
}

impl Told {
    pub fn new(target: &Target, notice: &Notice, at: f64) -> Self {
        let previews = target.config.general.history_previews;
        let summary = || match &notice.intervention {
            Some(intervention) => intervention.reason.clone(),
            None => notice.analysis.reasons().collect::<Vec<_>>().join("; "),
        };
        Self {
            session: target.id.clone(),
            incident: notice.incident.clone(),
            over: notice.over,
            rule: Cow::Borrowed(notice.rule),
            severity: notice.severity,
            at,
            cost: notice.cost,
            evidence_key: notice.analysis.evidence_key.clone(),
            summary: previews.then(|| text::quote(&summary(), PREVIEW, 1)),
            last_command: target.last_command.as_deref().filter(|_| previews).map(|text| text::quote(text, PREVIEW, 1)),
        }
    }
}

/// What a run used before the target that counts now was opened: a target that was evicted comes back at zero.
pub fn sum(before: &Used, now: &Used) -> Used {
    let mut usage = before.usage;
    usage += now.usage;
    Used {
        usage,
        tool_calls: before.tool_calls + now.tool_calls,
        patches: before.patches + now.patches,
        last_active_at: before.last_active_at.max(now.last_active_at),
    }
}
