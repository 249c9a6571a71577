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

use serde::{Deserialize, Serialize};

pub use keys::RESCUE_MESSAGE_MAX_CHARS;
pub use reference::table;
pub use resolve::{Layer, Origin, Resolved, Source, Warning};
pub use schema::schema;

/// Effective values; every threshold of 0 disables its rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a user's file, not states")]
pub struct Config {
    pub enabled: bool,
    pub rescue_message: String,
    /// Same action, same outcome (rounds).
    pub repeat_threshold: u32,
    /// Same action, materially different outcomes (rounds).
    pub changing_output_threshold: u32,
    pub typecheck_repeat_threshold: u32,
    pub llm_repeat_threshold: u32,
    /// Laps of a cycle.
    pub cycle_threshold: u32,
    /// Rounds in a row with nothing new.
    pub stale_revisits_threshold: u32,
    /// Same error, other arguments.
    pub error_loop_threshold: u32,
    pub unknown_tool_threshold: u32,
    pub denied_threshold: u32,
    pub empty_result_threshold: u32,
    pub failing_edit_threshold: u32,
    pub edit_revert_threshold: u32,
    pub persistent_failure_threshold: u32,
    pub reread_threshold: u32,
    pub narration_threshold: u32,
    /// Whether messages that go round are told.
    pub stream_repetition: bool,
    /// Equal answers of a poll that does not wait.
    pub polling_threshold: u32,
    pub compaction_loop_threshold: u32,
    /// Seconds; 0: off.
    pub idle_no_progress_sec: f64,
    /// Seconds without any sign of an agent that has nothing open; 0: off. Scaled by its thinking level.
    pub idle_timeout_sec: f64,
    /// Seconds that one tool call may be open, unless it declared a longer time itself; 0: off.
    pub open_tool_timeout_sec: f64,
    /// Seconds after which a running sub-agent is told to be old; 0: off.
    pub stale_after_sec: f64,
    /// Seconds after which a running sub-agent is past its limit; 0: off.
    pub auto_kill_after_sec: f64,
    /// Whether a sub-agent past its limit that is also silent or looping is stopped.
    pub auto_kill: bool,
    /// US dollars, for each agent and for the whole tree; 0: off.
    pub cost_limit_usd: f64,
    pub file_conflicts: bool,
    /// Agents that wait while none can go on.
    pub deadlock_threshold: u32,
    pub max_spawn_depth: u32,
    /// Turns of work without an update of the plan.
    pub plan_lag_turns: u32,
    /// Whether incidents, usage and orphans are remembered in a database.
    pub history: bool,
    pub history_previews: bool,
    pub history_max_days: u32,
    pub history_max_mb: u32,
    /// Seconds; 0: alert at every check, negative: never the same evidence again.
    pub cooldown_sec: f64,
    /// Whether an idle main agent is woken for critical alerts of its running children.
    pub wake_on_critical: bool,
    pub max_preview_lines: u32,
    pub max_events_per_agent: u32,
    pub alert_mode: AlertMode,
    pub steer_dry_run_default: Option<bool>,
    pub circuit_breaker: CircuitBreaker,
    /// Program and arguments; empty: off.
    pub notify_command: Vec<String>,
    /// Path; empty: off.
    pub findings_log: String,
    pub debug: bool,
    pub allow_project_powers: bool,
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

/// Sent to a stuck agent unless the user wrote another one.
pub const DEFAULT_RESCUE_MESSAGE: &str = "The AI agent might be stuck. Stop repeating the current actions, summarise what you know, and plan the next step anew. Do not run the same command again unless the query or the path changed.";

impl Default for Config {
    fn default() -> Self {
        Self {
            enabled: true,
            rescue_message: DEFAULT_RESCUE_MESSAGE.to_owned(),
            repeat_threshold: 3,
            changing_output_threshold: 10,
            typecheck_repeat_threshold: 2,
            llm_repeat_threshold: 3,
            cycle_threshold: 3,
            stale_revisits_threshold: 30,
            error_loop_threshold: 4,
            unknown_tool_threshold: 3,
            denied_threshold: 3,
            empty_result_threshold: 8,
            failing_edit_threshold: 3,
            edit_revert_threshold: 3,
            persistent_failure_threshold: 5,
            reread_threshold: 5,
            narration_threshold: 3,
            stream_repetition: true,
            polling_threshold: 20,
            compaction_loop_threshold: 2,
            idle_no_progress_sec: 0.0,
            idle_timeout_sec: 180.0,
            open_tool_timeout_sec: 600.0,
            stale_after_sec: 300.0,
            auto_kill_after_sec: 600.0,
            auto_kill: false,
            cost_limit_usd: 1.0,
            file_conflicts: true,
            deadlock_threshold: 3,
            max_spawn_depth: 5,
            plan_lag_turns: 10,
            history: true,
            history_previews: true,
            history_max_days: 90,
            history_max_mb: 64,
            cooldown_sec: 60.0,
            wake_on_critical: true,
            max_preview_lines: 20,
            max_events_per_agent: 200,
            alert_mode: AlertMode::MainOnly,
            steer_dry_run_default: None,
            circuit_breaker: CircuitBreaker::Off,
            notify_command: vec![],
            findings_log: String::new(),
            debug: false,
            allow_project_powers: false,
        }
    }
}

impl Config {
    /// Lays `layers` over the defaults, later ones win. What is wrong is a warning, and the value below stands.
    pub fn resolve(layers: &[Layer]) -> Resolved {
        resolve::resolve(layers)
    }

    /// For library callers, who may set every power and give what they like: keys that are missing or wrong have
    /// their default. Text that is no JSON object gives the defaults.
    pub fn from_partial_json(text: &str) -> Self {
        let layer = Layer { source: Source::Command, name: String::new(), text: text.to_owned() };
        Self::resolve(&[layer]).config
    }
}
