//! The one table of keys: what each may be, and who may set it. Checking, the JSON schema and the reference table are
//! derived from it.

use serde_json::{Value, json};

use super::Config;

/// Characters of `rescueMessage` that are kept: it is sent to a model, and a project file may set it.
pub const RESCUE_MESSAGE_MAX_CHARS: usize = 2000;
const NOTIFY_COMMAND_MAX_WORDS: usize = 100;
const NOTIFY_WORD_MAX_CHARS: usize = 4000;
const PATH_MAX_CHARS: usize = 4000;

/// A key of the configuration.
pub struct Key {
    pub name: &'static str,
    pub shape: Shape,
    pub scope: Scope,
    pub description: &'static str,
}

/// What a value may be.
pub enum Shape {
    Bool,
    BoolOrNull,
    /// Cut to so many characters, never empty.
    Text(usize),
    /// Empty, or a text of at most so many characters. A longer one is refused: half a path is another path.
    OptionalText(usize),
    /// A list of texts. A longer list, or one with a longer text, is refused.
    Texts {
        max: usize,
        max_chars: usize,
    },
    /// Clamped to the range.
    Integer {
        min: u32,
        max: u32,
    },
    /// US dollars, clamped to the range.
    Usd {
        max: f64,
    },
    /// Seconds, clamped to the range.
    Seconds {
        min: f64,
        max: f64,
    },
    OneOf(&'static [&'static str]),
}

/// Who may set a key to what. The user's own file and commands may set everything, except `GlobalFile`.
pub enum Scope {
    /// Anybody: the value can do no harm beyond the project and its agents.
    Project,
    /// A project file and a model may switch it off, never on.
    OffOnly,
    /// Lets the watchdog act. The function says how much a value allows, 0 being nothing. A project file and a model may
    /// lower it; a project file may raise it where the global file has `allowProjectPowers`.
    Power(fn(&Value) -> u8),
    /// A power of the user alone, because it reaches beyond the project.
    UserPower(fn(&Value) -> u8),
    /// The user's own file and commands: it decides about data or memory of all projects.
    User,
    /// The global file only, not even a command.
    GlobalFile,
    /// Decides when a power acts. While one of `powers` is on, a project file and a model may only make it laxer than
    /// the user's own value, and a sub-agent's model may not set it at all. Without such a power a sub-agent's model may
    /// set it for its own session if `own`. `laxness` grows as values get laxer.
    Limit { own: bool, powers: &'static [&'static str], laxness: fn(&Value) -> f64 },
}

/// Powers that act on the verdict of a rule.
const BY_VERDICT: &[&str] = &["alertMode", "steerDryRunDefault", "circuitBreaker", "autoKill", "notifyCommand"];
/// Powers that act on silence and age. `autoKill` needs both an age and either silence or a verdict.
const BY_CLOCK: &[&str] = &["steerDryRunDefault", "autoKill", "notifyCommand"];
/// Powers that act on conflicts: the circuit breaker refuses git commands that would undo another agent's work.
const BY_CONFLICT: &[&str] = &["alertMode", "steerDryRunDefault", "circuitBreaker", "notifyCommand"];
/// Powers that act on alerts.
const BY_ALERT: &[&str] = &["alertMode", "steerDryRunDefault", "notifyCommand"];
/// Powers that act on any report: a watchdog agent that reads it may steer, a command is run with it.
const BY_REPORT: &[&str] = &["steerDryRunDefault", "notifyCommand"];

fn zero_is_off(value: &Value) -> f64 {
    value.as_f64().filter(|limit| *limit > 0.0).unwrap_or(f64::INFINITY)
}

fn negative_is_never(value: &Value) -> f64 {
    value.as_f64().filter(|limit| *limit >= 0.0).unwrap_or(f64::INFINITY)
}

fn off_is_lax(value: &Value) -> f64 {
    if *value == Value::Bool(true) { 0.0 } else { 1.0 }
}

fn rank(value: &Value, order: &[&str]) -> u8 {
    let position = value.as_str().and_then(|value| order.iter().position(|candidate| *candidate == value));
    position.and_then(|position| u8::try_from(position).ok()).unwrap_or(0)
}

pub const ALERT_MODES: &[&str] = &["main_only", "direct_subagent", "both"];
/// `direct_subagent` comes last because it also keeps the alert from the user.
const BY_REACH: &[&str] = &["main_only", "both", "direct_subagent"];
pub const CIRCUIT_BREAKERS: &[&str] = &["off", "block", "stop"];

const THRESHOLD: Shape = Shape::Integer { min: 0, max: 1000 };
/// A year: longer than any session, and far from the limits of the arithmetic in ms.
const YEAR: f64 = 31_536_000.0;

pub const KEYS: &[Key] = &[
    Key {
        name: "enabled",
        shape: Shape::Bool,
        scope: Scope::Limit { own: false, powers: BY_VERDICT, laxness: off_is_lax },
        description: "Whether anything is watched at all.",
    },
    Key {
        name: "rescueMessage",
        shape: Shape::Text(RESCUE_MESSAGE_MAX_CHARS),
        scope: Scope::Project,
        description: "Sent to a stuck agent, in any language.",
    },
    Key {
        name: "repeatThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Rounds with the same action and the same result that make an agent stuck. 0 disables the rule, as for every threshold.",
    },
    Key {
        name: "changingOutputThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Rounds with the same action and materially different results. 3 makes the rule literal: any command run three times.",
    },
    Key {
        name: "typecheckRepeatThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Runs of the same failing type check with nothing changed in between.",
    },
    Key {
        name: "llmRepeatThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Messages in a row with the same body, to or from the model.",
    },
    Key {
        name: "cycleThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Laps of a cycle of two to eight rounds with the same results.",
    },
    Key {
        name: "staleRevisitsThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Rounds in a row in which nothing new was asked or answered, in whatever order.",
    },
    Key {
        name: "errorLoopThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Failures of one program or tool with the same error, whatever the arguments.",
    },
    Key {
        name: "unknownToolThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Calls in a row of tools that do not exist or with arguments that do not validate.",
    },
    Key {
        name: "deniedThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Refusals of one tool by a person, a permission or a policy.",
    },
    Key {
        name: "emptyResultThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Varied questions in a row that all find nothing, or get the very same answer.",
    },
    Key {
        name: "failingEditThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Edits of one file that fail or change nothing.",
    },
    Key {
        name: "editRevertThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Returns of a file to an old state with no new state in between.",
    },
    Key {
        name: "persistentFailureThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Runs of a check that fails in the same way although something was changed before each.",
    },
    Key {
        name: "rereadThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Reads of a file that show no line that was not shown before.",
    },
    Key {
        name: "narrationThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Messages in a row that announce work, ask the same question or are empty, without a tool call.",
    },
    Key {
        name: "streamRepetition",
        shape: Shape::Bool,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: off_is_lax },
        description: "Whether a message whose text goes round is told, while it is written.",
    },
    Key {
        name: "pollingThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Equal answers to polls that follow each other without a pause.",
    },
    Key {
        name: "compactionLoopThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Compactions of the context with nothing new between them.",
    },
    Key {
        name: "idleNoProgressSec",
        shape: Shape::Seconds { min: 0.0, max: YEAR },
        scope: Scope::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off },
        description: "Seconds in which tools run and nothing is edited. 0: off.",
    },
    Key {
        name: "idleTimeoutSec",
        shape: Shape::Seconds { min: 0.0, max: YEAR },
        scope: Scope::Limit { own: false, powers: BY_CLOCK, laxness: zero_is_off },
        description: "Seconds without any sign of an agent that has nothing open (no tool, stream, dialog, compaction or retry, no question to an agent that can answer it, and no working sub-agent). Twice as long at thinking level medium, five times at high, ten times at xhigh. 0: off.",
    },
    Key {
        name: "openToolTimeoutSec",
        shape: Shape::Seconds { min: 0.0, max: YEAR },
        scope: Scope::Limit { own: false, powers: BY_CLOCK, laxness: zero_is_off },
        description: "Seconds that one tool call may run; a call that declares a longer time itself may run that long and a little more. 0: off.",
    },
    Key {
        name: "staleAfterSec",
        shape: Shape::Seconds { min: 0.0, max: YEAR },
        scope: Scope::Limit { own: false, powers: BY_REPORT, laxness: zero_is_off },
        description: "Age in seconds at which a running sub-agent is told of. 0: off.",
    },
    Key {
        name: "autoKillAfterSec",
        shape: Shape::Seconds { min: 0.0, max: YEAR },
        scope: Scope::Limit { own: false, powers: BY_CLOCK, laxness: zero_is_off },
        description: "Age in seconds at which a running sub-agent is past its limit. 0: off.",
    },
    Key {
        name: "autoKill",
        shape: Shape::Bool,
        scope: Scope::Power(|value| u8::from(*value == Value::Bool(true))),
        description: "Whether a sub-agent past `autoKillAfterSec` is stopped without asking, if it is also silent or looping. A busy one never is.",
    },
    Key {
        name: "costLimitUsd",
        shape: Shape::Usd { max: 1_000_000.0 },
        scope: Scope::Limit { own: false, powers: BY_REPORT, laxness: zero_is_off },
        description: "US dollars that one agent, or a main session with all its sub-agents, may use before it is told; remarks at 50 and 80 %. Nothing is stopped. 0: off.",
    },
    Key {
        name: "fileConflicts",
        shape: Shape::Bool,
        scope: Scope::Limit { own: false, powers: BY_CONFLICT, laxness: off_is_lax },
        description: "Whether two running agents that change the same file are told of, and git commands that would undo another agent's unsaved work in the tree, folders or files that they concern.",
    },
    Key {
        name: "deadlockThreshold",
        shape: THRESHOLD,
        scope: Scope::Limit { own: false, powers: BY_ALERT, laxness: zero_is_off },
        description: "Agents that wait while none can go on. Circles, and waits for agents that have ended, are told at any number.",
    },
    Key {
        name: "maxSpawnDepth",
        shape: Shape::Integer { min: 0, max: 100 },
        scope: Scope::Limit { own: false, powers: BY_REPORT, laxness: zero_is_off },
        description: "Levels of sub-agents below a main session. 0: off.",
    },
    Key {
        name: "planLagTurns",
        shape: THRESHOLD,
        scope: Scope::Limit { own: false, powers: BY_REPORT, laxness: zero_is_off },
        description: "Turns of work after which a plan (todo list) that was not updated is remarked on, once for each message of the user.",
    },
    Key {
        name: "history",
        shape: Shape::Bool,
        scope: Scope::User,
        description: "Whether incidents, usage totals and left-over agents are kept in `state.db` in the agent directory.",
    },
    Key {
        name: "historyPreviews",
        shape: Shape::Bool,
        scope: Scope::User,
        description: "Whether the database keeps commands and one-line summaries beside the hashes.",
    },
    Key {
        name: "historyMaxDays",
        shape: Shape::Integer { min: 1, max: 3650 },
        scope: Scope::User,
        description: "Days that the database keeps what has ended.",
    },
    Key {
        name: "historyMaxMb",
        shape: Shape::Integer { min: 1, max: 10_000 },
        scope: Scope::User,
        description: "Size in MB beyond which the database drops its oldest sessions.",
    },
    Key {
        name: "cooldownSec",
        shape: Shape::Seconds { min: -YEAR, max: YEAR },
        scope: Scope::Limit { own: false, powers: BY_ALERT, laxness: negative_is_never },
        description: "Seconds before the same evidence is told again. 0: at every check. Negative: never again. Other evidence is told at once.",
    },
    Key {
        name: "wakeOnCritical",
        shape: Shape::Bool,
        scope: Scope::OffOnly,
        description: "Whether a turn of an idle main agent is started for critical alerts of running children, once per incident.",
    },
    Key {
        name: "maxPreviewLines",
        shape: Shape::Integer { min: 0, max: 200 },
        scope: Scope::User,
        description: "Lines of an output that are kept as its preview. 0: no previews at all.",
    },
    Key {
        name: "maxEventsPerAgent",
        shape: Shape::Integer { min: 10, max: 100_000 },
        scope: Scope::User,
        description: "Events that are kept for each agent; the oldest are dropped.",
    },
    Key {
        name: "alertMode",
        shape: Shape::OneOf(ALERT_MODES),
        scope: Scope::Power(|value| rank(value, BY_REACH)),
        description: "`main_only`: a sub-agent's incident is shown in the main session, nothing is sent to the sub-agent. `direct_subagent`: the rescue message goes to the sub-agent. `both`: both.",
    },
    Key {
        name: "steerDryRunDefault",
        shape: Shape::BoolOrNull,
        scope: Scope::Power(|value| u8::from(*value == Value::Bool(false))),
        description: "What `watchdog_steer_subagent` does when the call leaves `dryRun` out. `null` and `true`: it says what it would send. `false`: it sends.",
    },
    Key {
        name: "circuitBreaker",
        shape: Shape::OneOf(CIRCUIT_BREAKERS),
        scope: Scope::Power(|value| rank(value, CIRCUIT_BREAKERS)),
        description: "`block`: the next identical call of a found loop is refused with a reason. `stop`: if it still goes on, the turn is ended. `off`: neither.",
    },
    Key {
        name: "notifyCommand",
        shape: Shape::Texts { max: NOTIFY_COMMAND_MAX_WORDS, max_chars: NOTIFY_WORD_MAX_CHARS },
        scope: Scope::UserPower(|value| u8::from(value.as_array().is_some_and(|words| !words.is_empty()))),
        description: "A program and its arguments, run with each finding as JSON on its standard input, never through a shell. `[]`: off.",
    },
    Key {
        name: "findingsLog",
        shape: Shape::OptionalText(PATH_MAX_CHARS),
        scope: Scope::User,
        description: "Path of a file to which each finding is appended as a line of JSON. Empty: off.",
    },
    Key {
        name: "debug",
        shape: Shape::Bool,
        scope: Scope::Project,
        description: "Shows a console below the editor: what the provider was last sent (how many messages, and the last with its role) and what it answered, each with its time.",
    },
    Key {
        name: "allowProjectPowers",
        shape: Shape::Bool,
        scope: Scope::GlobalFile,
        description: "Whether a project file may set `alertMode`, `steerDryRunDefault`, `circuitBreaker` and `autoKill` as freely as the global file. Counts in the global file only.",
    },
];

/// Names that a file may contain besides the keys.
pub const SCHEMA_KEY: &str = "$schema";

pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

impl Key {
    /// The default, as JSON.
    pub fn default(&self) -> Value {
        let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
        let value = defaults.get(self.name).cloned().unwrap_or_default();
        // `60`, not `60.0`, in everything that people read.
        match (&self.shape, value.as_f64()) {
            (Shape::Seconds { .. } | Shape::Usd { .. }, Some(seconds)) => whole(seconds),
            _ => value,
        }
    }

    /// How much a value lets the watchdog do, 0 being nothing; 0 for every value of a key that is no power.
    pub fn power(&self, value: &Value) -> u8 {
        match self.scope {
            Scope::Power(power) | Scope::UserPower(power) => power(value),
            _ => 0,
        }
    }

    pub fn is_power(&self) -> bool {
        matches!(self.scope, Scope::Power(_) | Scope::UserPower(_) | Scope::GlobalFile)
    }

    /// What a project file may do with the key, for the reference table.
    pub fn project(&self) -> &'static str {
        match self.scope {
            Scope::Project => "yes",
            Scope::OffOnly => "only off",
            Scope::Power(_) => "only lower",
            Scope::UserPower(_) | Scope::User | Scope::GlobalFile => "no",
            Scope::Limit { .. } => "laxer only, while a power is on",
        }
    }
}

/// A number as JSON, without a fraction where it has none.
pub fn whole(number: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "checked against the range in which f64 is exact")]
    if number.fract() == 0.0 && number.abs() < 1e15 { json!(number as i64) } else { json!(number) }
}
