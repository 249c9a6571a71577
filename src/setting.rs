//! What a configuration key is: its name, what it may be, its default, who may set it, and its meaning. Types only; the
//! keys themselves stand with the code that reads them, declared by [`settings!`](crate::settings).

use serde_json::{Value, json};

/// A key of the configuration.
pub struct Key {
    pub name: &'static str,
    pub shape: Shape,
    pub scope: Scope,
    /// The lines of its doc comment.
    pub docs: &'static str,
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

/// A number of repetitions; 0 disables the rule.
pub const THRESHOLD: Shape = Shape::Integer { min: 0, max: 1000 };
/// A year: longer than any session, and far from the limits of the arithmetic in ms.
pub const YEAR: f64 = 31_536_000.0;
/// A span; 0 disables the rule.
pub const SECONDS: Shape = Shape::Seconds { min: 0.0, max: YEAR };

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

impl Scope {
    /// The threshold of a rule that says that an agent is stuck; a sub-agent may tune its own.
    pub const VERDICT: Self = Self::Limit { own: true, powers: BY_VERDICT, laxness: zero_is_off };
    /// A span after which an agent counts as silent or old.
    pub const CLOCK: Self = Self::Limit { own: false, powers: BY_CLOCK, laxness: zero_is_off };
    /// A limit beyond which agents are reported, and more may come of it.
    pub const ALERT: Self = Self::Limit { own: false, powers: BY_ALERT, laxness: zero_is_off };
    /// A limit beyond which agents are reported.
    pub const REPORT: Self = Self::Limit { own: false, powers: BY_REPORT, laxness: zero_is_off };

    /// A switch instead of a threshold: off is laxer.
    pub const VERDICT_SWITCH: Self = Self::Limit { own: true, powers: BY_VERDICT, laxness: off_is_lax };
    pub const CONFLICT_SWITCH: Self = Self::Limit { own: false, powers: BY_CONFLICT, laxness: off_is_lax };
    /// Whether anything is watched; not for a sub-agent to say.
    pub const WATCHING: Self = Self::Limit { own: false, powers: BY_VERDICT, laxness: off_is_lax };
    /// How soon an alert is repeated: a negative value means never.
    pub const COOLDOWN: Self = Self::Limit { own: false, powers: BY_ALERT, laxness: negative_is_never };
    /// A switch that lets the watchdog act.
    pub const POWER_SWITCH: Self = Self::Power(|value| u8::from(*value == Value::Bool(true)));
}

fn zero_is_off(value: &Value) -> f64 {
    value.as_f64().filter(|limit| *limit > 0.0).unwrap_or(f64::INFINITY)
}

fn negative_is_never(value: &Value) -> f64 {
    value.as_f64().filter(|limit| *limit >= 0.0).unwrap_or(f64::INFINITY)
}

fn off_is_lax(value: &Value) -> f64 {
    if *value == Value::Bool(true) { 0.0 } else { 1.0 }
}

impl Key {
    /// One sentence, or a few, in Markdown.
    pub fn description(&self) -> &'static str {
        self.docs.trim()
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

/// Declares a struct of settings with its keys. Each field is a line: its meaning as a doc comment, then the field with its
/// type and default, the key's name, its [`Shape`] and its [`Scope`]:
///
/// ```ignore
/// settings! {
///     pub struct Settings {
///         /// Runs of the same failing type check with nothing changed in between.
///         typecheck_repeat_threshold: u32 = 2, "typecheckRepeatThreshold", THRESHOLD, Scope::VERDICT;
///     }
/// }
/// ```
///
/// The struct gets these defaults, is read from and written as JSON by the keys' names, and has `KEYS`.
#[macro_export]
macro_rules! settings {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
        $vis struct $name {}

        impl $name {
            pub const KEYS: &'static [$crate::setting::Key] = &[];
        }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $(
        $(#[doc = $doc:literal])+
        $field:ident: $type:ty = $default:expr, $key:literal, $shape:expr, $scope:expr;
    )* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        $vis struct $name { $(
            $(#[doc = $doc])+
            #[serde(rename = $key)]
            pub $field: $type,
        )* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default),* }
            }
        }

        impl $name {
            pub const KEYS: &'static [$crate::setting::Key] = &[$(
                $crate::setting::Key {
                    name: $key,
                    shape: $shape,
                    scope: $scope,
                    docs: concat!($($doc),+),
                },
            )*];
        }
    };
}
