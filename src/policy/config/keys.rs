//! The one table of keys. Checking, the JSON schema and the reference table are derived from it.

use serde_json::{Value, json};

use super::Config;

/// Characters of `rescueMessage` that are kept: it is sent to a model, and a project file may set it.
pub const RESCUE_MESSAGE_MAX_CHARS: usize = 2000;

/// A key of the configuration.
pub struct Key {
    pub name: &'static str,
    pub shape: Shape,
    pub description: &'static str,
    /// How much a value lets the watchdog do to an agent, 0 being nothing; for keys that raise no power always 0.
    pub power: fn(&Value) -> u8,
}

/// What a value may be.
pub enum Shape {
    Bool,
    BoolOrNull,
    /// Cut to so many characters, never empty.
    Text(usize),
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

fn none(_: &Value) -> u8 {
    0
}

fn rank(value: &Value, order: &[&str]) -> u8 {
    let position = value.as_str().and_then(|value| order.iter().position(|candidate| *candidate == value));
    position.and_then(|position| u8::try_from(position).ok()).unwrap_or(0)
}

pub const ALERT_MODES: &[&str] = &["main_only", "direct_subagent", "both"];
pub const CIRCUIT_BREAKERS: &[&str] = &["off", "block", "stop"];

const THRESHOLD: Shape = Shape::Integer { min: 0, max: 1000 };
/// A year: longer than any session, and far from the limits of the arithmetic in ms.
const YEAR: f64 = 31_536_000.0;

pub const KEYS: &[Key] = &[
    Key { name: "enabled", shape: Shape::Bool, description: "Whether anything is watched at all.", power: none },
    Key {
        name: "rescueMessage",
        shape: Shape::Text(RESCUE_MESSAGE_MAX_CHARS),
        description: "Sent to a stuck agent, in any language.",
        power: none,
    },
    Key {
        name: "repeatThreshold",
        shape: THRESHOLD,
        description: "Rounds with the same action and the same result that make an agent stuck. 0 disables the rule, as for every threshold.",
        power: none,
    },
    Key {
        name: "changingOutputThreshold",
        shape: THRESHOLD,
        description: "Rounds with the same action and materially different results. 3 makes the rule literal: any command run three times.",
        power: none,
    },
    Key {
        name: "typecheckRepeatThreshold",
        shape: THRESHOLD,
        description: "Runs of the same failing type check with nothing changed in between.",
        power: none,
    },
    Key {
        name: "llmRepeatThreshold",
        shape: THRESHOLD,
        description: "Messages in a row with the same body, to or from the model.",
        power: none,
    },
    Key {
        name: "cycleThreshold",
        shape: THRESHOLD,
        description: "Laps of a cycle of two to eight rounds with the same results.",
        power: none,
    },
    Key {
        name: "staleRevisitsThreshold",
        shape: THRESHOLD,
        description: "Rounds in a row in which nothing new was asked or answered, in whatever order.",
        power: none,
    },
    Key {
        name: "errorLoopThreshold",
        shape: THRESHOLD,
        description: "Failures of one program or tool with the same error, whatever the arguments.",
        power: none,
    },
    Key {
        name: "unknownToolThreshold",
        shape: THRESHOLD,
        description: "Calls in a row of tools that do not exist or with arguments that do not validate.",
        power: none,
    },
    Key {
        name: "deniedThreshold",
        shape: THRESHOLD,
        description: "Refusals of one tool by a person, a permission or a policy.",
        power: none,
    },
    Key {
        name: "emptyResultThreshold",
        shape: THRESHOLD,
        description: "Varied questions in a row that all find nothing, or get the very same answer.",
        power: none,
    },
    Key {
        name: "failingEditThreshold",
        shape: THRESHOLD,
        description: "Edits of one file that fail or change nothing.",
        power: none,
    },
    Key {
        name: "editRevertThreshold",
        shape: THRESHOLD,
        description: "Returns of a file to an old state with no new state in between.",
        power: none,
    },
    Key {
        name: "persistentFailureThreshold",
        shape: THRESHOLD,
        description: "Runs of a check that fails in the same way although something was changed before each.",
        power: none,
    },
    Key {
        name: "rereadThreshold",
        shape: THRESHOLD,
        description: "Reads of a file that show no line that was not shown before.",
        power: none,
    },
    Key {
        name: "narrationThreshold",
        shape: THRESHOLD,
        description: "Messages in a row that announce work, ask the same question or are empty, without a tool call.",
        power: none,
    },
    Key {
        name: "streamRepetition",
        shape: Shape::Bool,
        description: "Whether a message whose text goes round is told, while it is written.",
        power: none,
    },
    Key {
        name: "pollingThreshold",
        shape: THRESHOLD,
        description: "Equal answers to polls that follow each other without a pause.",
        power: none,
    },
    Key {
        name: "compactionLoopThreshold",
        shape: THRESHOLD,
        description: "Compactions of the context with nothing new between them.",
        power: none,
    },
    Key {
        name: "idleNoProgressSec",
        shape: Shape::Seconds { min: 0.0, max: YEAR },
        description: "Seconds in which tools run and nothing is edited. 0: off.",
        power: none,
    },
    Key {
        name: "idleTimeoutSec",
        shape: Shape::Seconds { min: 0.0, max: YEAR },
        description: "Seconds without any sign of an agent that has nothing open (no tool, stream, dialog, compaction or retry, no question to an agent that can answer it, and no working sub-agent). Twice as long at thinking level medium, five times at high, ten times at xhigh. 0: off.",
        power: none,
    },
    Key {
        name: "openToolTimeoutSec",
        shape: Shape::Seconds { min: 0.0, max: YEAR },
        description: "Seconds that one tool call may run; a call that declares a longer time itself may run that long and a little more. 0: off.",
        power: none,
    },
    Key {
        name: "staleAfterSec",
        shape: Shape::Seconds { min: 0.0, max: YEAR },
        description: "Age in seconds at which a running sub-agent is told of. 0: off.",
        power: none,
    },
    Key {
        name: "autoKillAfterSec",
        shape: Shape::Seconds { min: 0.0, max: YEAR },
        description: "Age in seconds at which a running sub-agent is past its limit. 0: off.",
        power: none,
    },
    Key {
        name: "autoKill",
        shape: Shape::Bool,
        description: "Whether a sub-agent past `autoKillAfterSec` is stopped without asking, if it is also silent or looping. A busy one never is.",
        power: |value| u8::from(*value == Value::Bool(true)),
    },
    Key {
        name: "costLimitUsd",
        shape: Shape::Usd { max: 1_000_000.0 },
        description: "US dollars that one agent, or a main session with all its sub-agents, may use before it is told; remarks at 50 and 80 %. Nothing is stopped. 0: off.",
        power: none,
    },
    Key {
        name: "fileConflicts",
        shape: Shape::Bool,
        description: "Whether two running agents that change the same file are told of, and git commands that would undo another agent's unsaved work in the tree, folders or files that they concern.",
        power: none,
    },
    Key {
        name: "deadlockThreshold",
        shape: THRESHOLD,
        description: "Agents that wait while none can go on. Circles, and waits for agents that have ended, are told at any number.",
        power: none,
    },
    Key {
        name: "maxSpawnDepth",
        shape: Shape::Integer { min: 0, max: 100 },
        description: "Levels of sub-agents below a main session. 0: off.",
        power: none,
    },
    Key {
        name: "planLagTurns",
        shape: THRESHOLD,
        description: "Turns of work after which a plan (todo list) that was not updated is remarked on, once for each message of the user.",
        power: none,
    },
    Key {
        name: "history",
        shape: Shape::Bool,
        description: "Whether incidents, usage totals and left-over agents are kept in `state.db` in the agent directory.",
        power: none,
    },
    Key {
        name: "historyPreviews",
        shape: Shape::Bool,
        description: "Whether the database keeps commands and one-line summaries beside the hashes.",
        power: none,
    },
    Key {
        name: "historyMaxDays",
        shape: Shape::Integer { min: 1, max: 3650 },
        description: "Days that the database keeps what has ended.",
        power: none,
    },
    Key {
        name: "historyMaxMb",
        shape: Shape::Integer { min: 1, max: 10_000 },
        description: "Size in MB beyond which the database drops its oldest sessions.",
        power: none,
    },
    Key {
        name: "cooldownSec",
        shape: Shape::Seconds { min: -YEAR, max: YEAR },
        description: "Seconds before the same evidence is told again. 0: at every check. Negative: never again. Other evidence is told at once.",
        power: none,
    },
    Key {
        name: "maxPreviewLines",
        shape: Shape::Integer { min: 0, max: 200 },
        description: "Lines of an output that are kept as its preview. 0: no previews at all.",
        power: none,
    },
    Key {
        name: "maxEventsPerAgent",
        shape: Shape::Integer { min: 10, max: 100_000 },
        description: "Events that are kept for each agent; the oldest are dropped.",
        power: none,
    },
    Key {
        name: "alertMode",
        shape: Shape::OneOf(ALERT_MODES),
        description: "`main_only`: a sub-agent's incident is shown in the main session, nothing is sent to the sub-agent. `direct_subagent`: the rescue message goes to the sub-agent. `both`: both.",
        power: |value| rank(value, ALERT_MODES).min(1),
    },
    Key {
        name: "steerDryRunDefault",
        shape: Shape::BoolOrNull,
        description: "What `watchdog_steer_subagent` does when the call leaves `dryRun` out. `null` and `true`: it says what it would send. `false`: it sends.",
        power: |value| u8::from(*value == Value::Bool(false)),
    },
    Key {
        name: "circuitBreaker",
        shape: Shape::OneOf(CIRCUIT_BREAKERS),
        description: "`block`: the next identical call of a found loop is refused with a reason. `stop`: if it still goes on, the turn is ended. `off`: neither.",
        power: |value| rank(value, CIRCUIT_BREAKERS),
    },
    Key {
        name: "debug",
        shape: Shape::Bool,
        description: "Shows a console below the editor with the latest message sent and received, in full.",
        power: none,
    },
    Key {
        name: "allowProjectPowers",
        shape: Shape::Bool,
        description: "Whether a project file may set `alertMode`, `steerDryRunDefault`, `circuitBreaker` and `autoKill` as freely as the global file. Counts in the global file only.",
        power: |value| u8::from(*value == Value::Bool(true)),
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

    pub fn raises_power(&self) -> bool {
        matches!(self.name, "alertMode" | "steerDryRunDefault" | "circuitBreaker" | "autoKill" | "allowProjectPowers")
    }
}

/// A number as JSON, without a fraction where it has none.
pub fn whole(number: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "checked against the range in which f64 is exact")]
    if number.fract() == 0.0 && number.abs() < 1e15 { json!(number as i64) } else { json!(number) }
}
