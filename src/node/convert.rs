//! Boundary objects and their conversions. Shapes are published in `index.d.ts`.

use napi_derive::napi;

use crate::detect::intervention::Intervention;
use crate::detect::{self, LoopCost};
use crate::store::{Compact, Notice, Remote, Store, Target};
use crate::trace::Usage;

#[napi(object)]
pub struct JsEvidence {
    #[napi(js_name = "type")]
    pub kind: String,
    pub summary: String,
    pub count: u32,
    pub period: Option<u32>,
    pub command: Option<String>,
    pub first_at: f64,
    pub last_at: f64,
}

#[napi(object)]
pub struct JsAnalysis {
    pub likely_stuck: bool,
    pub confidence: String,
    pub reasons: Vec<String>,
    pub evidence: Vec<JsEvidence>,
    pub evidence_key: String,
}

impl From<detect::StuckAnalysis> for JsAnalysis {
    fn from(analysis: detect::StuckAnalysis) -> Self {
        Self {
            likely_stuck: analysis.likely_stuck,
            confidence: analysis.confidence.name().to_owned(),
            reasons: analysis.reasons().map(str::to_owned).collect(),
            evidence: analysis.evidence.into_iter().map(JsEvidence::from).collect(),
            evidence_key: analysis.evidence_key,
        }
    }
}

impl From<detect::Evidence> for JsEvidence {
    fn from(evidence: detect::Evidence) -> Self {
        Self {
            kind: evidence.kind.name().to_owned(),
            summary: evidence.summary,
            count: evidence.count,
            period: (evidence.period > 0).then_some(evidence.period),
            command: evidence.command.map(|command| command.to_string()),
            first_at: evidence.first_at,
            last_at: evidence.last_at,
        }
    }
}

#[napi(object)]
pub struct JsCost {
    pub rounds: u32,
    pub tokens: f64,
    pub usd: f64,
    pub wall_ms: f64,
}

impl From<LoopCost> for JsCost {
    fn from(cost: LoopCost) -> Self {
        Self { rounds: cost.rounds, tokens: cost.tokens, usd: cost.usd, wall_ms: cost.wall_ms }
    }
}

#[napi(object)]
pub struct JsIntervention {
    pub kind: String,
    pub reason: String,
    pub suggested_action: String,
    pub auto_execute: bool,
    pub parties: Option<Vec<String>>,
    pub texts: Option<Vec<JsAddressed>>,
}

#[napi(object)]
pub struct JsAddressed {
    pub target_id: String,
    pub text: String,
}

impl From<Intervention> for JsIntervention {
    fn from(intervention: Intervention) -> Self {
        Self {
            kind: intervention.kind.name().to_owned(),
            suggested_action: intervention.suggested.name().to_owned(),
            reason: intervention.reason,
            auto_execute: intervention.auto_execute,
            parties: (!intervention.parties.is_empty()).then_some(intervention.parties),
            texts: (!intervention.texts.is_empty()).then(|| {
                intervention.texts.into_iter().map(|(target_id, text)| JsAddressed { target_id, text }).collect()
            }),
        }
    }
}

#[napi(object)]
pub struct JsFinding {
    pub rule: String,
    pub severity: String,
    pub at: f64,
    pub agent: Option<String>,
    pub incident: String,
    pub analysis: JsAnalysis,
    pub cost: JsCost,
    pub intervention: Option<JsIntervention>,
}

impl From<detect::Finding> for JsFinding {
    fn from(finding: detect::Finding) -> Self {
        Self {
            rule: finding.rule.to_owned(),
            severity: finding.severity.name().to_owned(),
            at: finding.at,
            agent: finding.agent,
            incident: finding.incident,
            analysis: finding.analysis.into(),
            cost: finding.cost.into(),
            intervention: finding.intervention.map(JsIntervention::from),
        }
    }
}

#[napi(object)]
pub struct JsNotice {
    pub kind: String,
    pub target_id: String,
    pub target_name: String,
    pub severity: String,
    pub incident: String,
    pub analysis: JsAnalysis,
    pub last_command: Option<String>,
    pub cost: JsCost,
    pub ordinal: u32,
    pub intervention: Option<JsIntervention>,
}

impl JsNotice {
    pub fn new(notice: Notice, target: &Target) -> Self {
        Self {
            kind: match &notice.intervention {
                _ if notice.over => "over",
                Some(_) => "intervention",
                None => "stuck",
            }
            .to_owned(),
            target_id: target.id.clone(),
            target_name: name_of(target),
            severity: notice.severity.name().to_owned(),
            incident: notice.incident,
            analysis: notice.analysis.into(),
            last_command: target.last_command.as_deref().map(str::to_owned),
            cost: notice.cost.into(),
            ordinal: notice.ordinal,
            intervention: notice.intervention.map(JsIntervention::from),
        }
    }
}

#[napi(object)]
pub struct JsEvent {
    pub id: String,
    pub target_id: String,
    pub at: f64,
    #[napi(js_name = "type")]
    pub kind: String,
    pub summary: String,
    pub command_key: Option<String>,
    pub output_hash: Option<String>,
    pub output_preview: Option<String>,
    pub turn: Option<u32>,
    pub call_id: Option<String>,
    pub tool: Option<String>,
    pub is_error: Option<bool>,
    pub path: Option<String>,
    pub error_class: Option<String>,
    pub timeout_ms: Option<f64>,
}

impl JsEvent {
    pub fn new(event: &Compact, target: &Target) -> Self {
        let action = event.action.as_deref();
        Self {
            id: format!("{}-{}", target.id, event.seq),
            target_id: target.id.clone(),
            at: event.at,
            kind: event.kind.name().to_owned(),
            summary: event.summary(),
            command_key: action.map(|action| action.key.to_string()),
            output_hash: event.hash.map(|hash| crate::text::hex(&hash)),
            output_preview: event.preview.as_deref().map(str::to_owned),
            turn: event.turn,
            call_id: event.call_id.as_deref().map(str::to_owned),
            tool: action.map(|action| action.tool.to_string()),
            is_error: event.is_error.then_some(true),
            path: action.and_then(|action| action.path.as_deref()).map(str::to_owned),
            error_class: event.error_class.as_deref().map(str::to_owned),
            timeout_ms: action.and_then(|action| action.social.timeout_ms),
        }
    }
}

#[napi(object)]
pub struct JsUsage {
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
    pub usd: f64,
}

#[napi(object)]
pub struct JsRemote {
    pub run: String,
    pub connected: bool,
    pub contact_at: f64,
    pub lost: f64,
}

impl From<&Remote> for JsRemote {
    fn from(remote: &Remote) -> Self {
        Self {
            run: remote.run().to_owned(),
            connected: remote.connected(),
            contact_at: remote.contact_at(),
            lost: remote.lost() as f64,
        }
    }
}

#[napi(object)]
pub struct JsTarget {
    pub id: String,
    pub name: String,
    pub kind: String,
    pub status: String,
    pub aliases: Vec<String>,
    pub root_id: String,
    pub parent_id: Option<String>,
    pub agent_type: Option<String>,
    pub link: Option<String>,
    pub backend: Option<String>,
    pub visibility: Option<String>,
    pub started_at: f64,
    pub last_active_at: f64,
    pub ended_at: Option<f64>,
    pub event_count: u32,
    pub tool_call_count: f64,
    pub patch_count: f64,
    pub repeated_command_count: f64,
    pub repeated_message_count: f64,
    pub likely_stuck: bool,
    pub usage: JsUsage,
    pub remote: Option<JsRemote>,
}

impl From<Usage> for JsUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            usd: usage.cost_usd,
        }
    }
}

impl From<&Target> for JsTarget {
    #[allow(clippy::cast_possible_truncation)] // a ring is far smaller than 2^32
    fn from(target: &Target) -> Self {
        let (commands, messages) = target.repetitions();
        let usage = target.usage();
        let info = &target.info;
        Self {
            id: target.id.clone(),
            name: name_of(target),
            kind: info.kind.clone().unwrap_or_else(|| "unknown".to_owned()),
            status: info.status.clone().unwrap_or_else(|| "running".to_owned()),
            aliases: target.aliases.clone(),
            root_id: Store::root_of(target).to_owned(),
            parent_id: info.parent_id.clone(),
            agent_type: info.agent_type.clone(),
            link: info.link.map(|link| super::store::link_name(link).to_owned()),
            backend: info.backend.clone(),
            visibility: info.visibility.clone(),
            started_at: target.started_at,
            last_active_at: target.last_active_at,
            ended_at: target.ended_at,
            event_count: target.event_count() as u32,
            tool_call_count: target.tool_calls as f64,
            patch_count: target.patches as f64,
            repeated_command_count: commands as f64,
            repeated_message_count: messages as f64,
            likely_stuck: target.stuck(),
            remote: target.remote.as_deref().map(JsRemote::from),
            usage: usage.into(),
        }
    }
}

/// A target without a name is called by the beginning of its id.
fn name_of(target: &Target) -> String {
    match target.info.name.as_deref().map(str::trim) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => target.id.chars().take(8).collect(),
    }
}
