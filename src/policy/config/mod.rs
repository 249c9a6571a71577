//! The effective configuration of a session. Keys, defaults and meaning: `docs/configuration.md`.
//!
//! `keys` is the one table of what exists, `resolve` lays layers over each other, `schema` and `reference` print the
//! table for editors and people. Nothing here reads a file: a layer is its text.

mod check;
mod json_error;
mod keys;
mod reference;
mod resolve;
mod schema;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::setting::{Scope, Shape, YEAR};
use crate::{detect, lifecycle, settings};

pub use keys::KEYS;
pub use reference::values;
pub use resolve::{Layer, Origin, Resolved, Source, Warning};
pub use schema::schema;

/// Effective values; every threshold of 0 disables its rule.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Config {
    #[serde(flatten)]
    pub general: General,
    /// Of the rules of one agent.
    #[serde(flatten)]
    pub rules: Arc<detect::Settings>,
    /// Of what concerns several agents, time and money.
    #[serde(flatten)]
    pub tree: Arc<lifecycle::Settings>,
}

settings! {
    /// What concerns no rule.
    pub struct General {
        /// Whether anything is watched at all.
        enabled: bool = true, "enabled", Shape::Bool, Scope::WATCHING;
        /// Sent to a stuck agent, in any language.
        rescue_message: String = DEFAULT_RESCUE_MESSAGE.to_owned(), "rescueMessage", Shape::Text(RESCUE_MESSAGE_MAX_CHARS), Scope::Project;
        /// `main_only`: a sub-agent's incident is shown in the main session, nothing is sent to the sub-agent.
        /// `direct_subagent`: the rescue message goes to the sub-agent. `both`: both.
        alert_mode: AlertMode = AlertMode::MainOnly, "alertMode", Shape::OneOf(ALERT_MODES), Scope::Power(|value| rank(value, BY_REACH));
        /// Whether a turn of an idle main agent is started for critical alerts of running children, once per incident.
        wake_on_critical: bool = true, "wakeOnCritical", Shape::Bool, Scope::OffOnly;
        /// Seconds before the same evidence is reported again. 0: at every check. Negative: never again. Other evidence is reported
        /// at once.
        cooldown_sec: f64 = 60.0, "cooldownSec", Shape::Seconds { min: -YEAR, max: YEAR }, Scope::COOLDOWN;
        /// `block`: the next identical call of a found loop is refused with a reason. `stop`: if it still goes on, the turn
        /// is ended. `off`: neither.
        circuit_breaker: CircuitBreaker = CircuitBreaker::Off, "circuitBreaker", Shape::OneOf(CIRCUIT_BREAKERS), Scope::Power(|value| rank(value, CIRCUIT_BREAKERS));
        /// What `watchdog_steer_subagent` does when the call leaves `dryRun` out. `null` and `true`: it says what it would
        /// send. `false`: it sends.
        steer_dry_run_default: Option<bool> = None, "steerDryRunDefault", Shape::BoolOrNull, Scope::Power(|value| u8::from(*value == Value::Bool(false)));
        /// Whether a project file may set `alertMode`, `steerDryRunDefault`, `circuitBreaker` and `autoKill` as freely as
        /// the global file. Counts in the global file only.
        allow_project_powers: bool = false, "allowProjectPowers", Shape::Bool, Scope::GlobalFile;
        /// A program and its arguments, run with each finding as JSON on its standard input, never through a shell. `[]`:
        /// off.
        notify_command: Vec<String> = vec![], "notifyCommand", Shape::Texts { max: NOTIFY_COMMAND_MAX_WORDS, max_chars: NOTIFY_WORD_MAX_CHARS }, Scope::UserPower(|value| u8::from(value.as_array().is_some_and(|words| !words.is_empty())));
        /// Path of a file to which each finding is appended as a line of JSON. Empty: off.
        findings_log: String = String::new(), "findingsLog", Shape::OptionalText(PATH_MAX_CHARS), Scope::User;
        /// Whether incidents, usage totals and left-over agents are kept in `state.db` in the agent directory.
        history: bool = true, "history", Shape::Bool, Scope::User;
        /// Whether the database keeps commands and one-line summaries beside the hashes.
        history_previews: bool = true, "historyPreviews", Shape::Bool, Scope::User;
        /// Days that the database keeps what has ended.
        history_max_days: u32 = 90, "historyMaxDays", Shape::Integer { min: 1, max: 3650 }, Scope::User;
        /// Size in MB beyond which the database drops its oldest sessions.
        history_max_mb: u32 = 64, "historyMaxMb", Shape::Integer { min: 1, max: 10_000 }, Scope::User;
        /// Lines of an output that are kept as its preview. 0: no previews at all.
        max_preview_lines: u32 = 20, "maxPreviewLines", Shape::Integer { min: 0, max: 200 }, Scope::User;
        /// Events that are kept for each agent; the oldest are dropped.
        max_events_per_agent: u32 = 200, "maxEventsPerAgent", Shape::Integer { min: 10, max: 100_000 }, Scope::User;
        /// Shows a console below the editor: what the provider was last sent (how many messages, and the last with its
        /// role) and what it answered, each with its time.
        debug: bool = false, "debug", Shape::Bool, Scope::Project;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum AlertMode {
    #[default]
    MainOnly,
    DirectSubagent,
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum CircuitBreaker {
    #[default]
    Off,
    Block,
    Stop,
}

fn rank(value: &Value, order: &[&str]) -> u8 {
    let position = value.as_str().and_then(|value| order.iter().position(|candidate| *candidate == value));
    position.and_then(|position| u8::try_from(position).ok()).unwrap_or(0)
}

pub const ALERT_MODES: &[&str] = &["main_only", "direct_subagent", "both"];
/// `direct_subagent` comes last because it also keeps the alert from the user.
const BY_REACH: &[&str] = &["main_only", "both", "direct_subagent"];
pub const CIRCUIT_BREAKERS: &[&str] = &["off", "block", "stop"];

/// Characters of `rescueMessage` that are kept: it is sent to a model, and a project file may set it.
pub const RESCUE_MESSAGE_MAX_CHARS: usize = 2000;
const NOTIFY_COMMAND_MAX_WORDS: usize = 100;
const NOTIFY_WORD_MAX_CHARS: usize = 4000;
const PATH_MAX_CHARS: usize = 4000;

/// Sent to a stuck agent unless the user wrote another one.
pub const DEFAULT_RESCUE_MESSAGE: &str = "The AI agent might be stuck. Stop repeating the current actions, summarise what you know, and plan the next step anew. Do not run the same command again unless the query or the path changed.";

impl Config {
    /// Lays `layers` over the defaults, later ones win. What is wrong is a warning, and the value below stands.
    pub fn resolve(layers: &[Layer]) -> Resolved {
        resolve::resolve(layers)
    }

    /// The defaults with some keys set, for tests.
    ///
    /// # Panics
    ///
    /// When there is no such key, or its value is of another type.
    #[cfg(test)]
    #[expect(clippy::needless_pass_by_value, reason = "it is called with a literal")]
    pub fn of(keys: Value) -> Self {
        let mut all = serde_json::to_value(Self::default()).unwrap_or_default();
        for (name, value) in keys.as_object().into_iter().flatten() {
            assert!(all.get(name).is_some(), "no key {name}");
            all[name] = value.clone();
        }
        serde_json::from_value(all).expect("values of the keys' types")
    }

    /// For library callers, who may set every power and give what they like: keys that are missing or wrong have
    /// their default. Text that is no JSON object gives the defaults.
    pub fn from_partial_json(text: &str) -> Self {
        let layer = Layer { source: Source::Command, name: String::new(), text: text.to_owned() };
        Self::resolve(&[layer]).config
    }
}
