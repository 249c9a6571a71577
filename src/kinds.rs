//! What can be found, by kind: the evidence of a loop ([`EvidenceType`]) and what calls for a hand ([`InterventionKind`]).
//! Types only; each kind is declared in the file of the rule that finds it.

use std::fmt;

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Severity {
    /// A remark, no verdict.
    Info,
    Warning,
    /// A warning was ignored.
    Critical,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// A kind of evidence, declared by [`rule!`](crate::rule).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EvidenceType(pub &'static EvidenceInfo);

/// What is said of a kind of evidence once and for all. Kinds are ordered by `rank`: an incident is named by its lowest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct EvidenceInfo {
    pub rank: u8,
    /// As published.
    pub name: &'static str,
    /// What a person says does not answer it.
    pub outlives_person: bool,
    /// The agent ends its run with it, so that it holds until the agent does something.
    pub at_the_end: bool,
}

impl EvidenceType {
    pub fn name(self) -> &'static str {
        self.0.name
    }

    pub fn info(self) -> &'static EvidenceInfo {
        self.0
    }
}

impl fmt::Debug for EvidenceType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// A kind of intervention, declared by [`rule!`](crate::rule).
#[derive(Clone, Copy)]
pub struct InterventionKind(pub &'static InterventionInfo);

/// What is said of a kind of intervention once and for all.
pub struct InterventionInfo {
    /// `intervention:` and the name as published.
    pub rule: &'static str,
    /// Of the first report; some are graver where they are found.
    pub severity: Severity,
    pub proposes: Action,
    pub audience: Audience,
    /// The state of the agent in words; reads after "is".
    pub state: &'static str,
    /// The same in a word or two, for columns.
    pub brief: &'static str,
    /// The state in the footer, which counts agents in it; empty: not shown there.
    pub footer: &'static str,
    /// What the agent itself is advised, and what its main agent is; empty where the proposed action says it all.
    pub advice: Advice,
    /// The agent's next activity shows that it is over.
    pub until_active: bool,
    /// Holds when the agent has ended.
    pub outlives: bool,
    /// It comes with a limit: a remark on the way there does not say that it was reached.
    pub limit: bool,
    /// When it is reported, for the reference; Markdown.
    pub when: &'static str,
}

/// Lines of advice. `{steer}`: a call that steers the agent; `{stop}`: the command that ends it.
pub struct Advice {
    pub itself: &'static [&'static str],
    pub others: &'static [&'static str],
}

impl Advice {
    pub const NONE: Self = Self { itself: &[], others: &[] };
}

/// What somebody might do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Warn,
    Steer,
    Restart,
    Kill,
    Skip,
}

/// Who hears of an intervention besides the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Nobody: it is for people.
    People,
    /// The main agent's model, because it has to act, or to ask.
    MainAgent,
    /// The main agent's model, and the agents that it concerns, where the user lets them be written to.
    Parties,
}

impl InterventionKind {
    pub fn name(self) -> &'static str {
        &self.rule()["intervention:".len()..]
    }

    /// As in findings.
    pub fn rule(self) -> &'static str {
        self.0.rule
    }

    pub fn info(self) -> &'static InterventionInfo {
        self.0
    }
}

impl PartialEq for InterventionKind {
    fn eq(&self, other: &Self) -> bool {
        self.rule() == other.rule()
    }
}

impl Eq for InterventionKind {}

impl fmt::Debug for InterventionKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl Action {
    pub fn name(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Steer => "steer",
            Self::Restart => "restart",
            Self::Kill => "kill",
            Self::Skip => "skip",
        }
    }
}

impl Audience {
    pub fn name(self) -> &'static str {
        match self {
            Self::People => "people",
            Self::MainAgent => "main_agent",
            Self::Parties => "parties",
        }
    }
}

/// A rule as the reference shows it.
pub struct RuleInfo {
    pub evidence: &'static [EvidenceType],
    pub interventions: &'static [InterventionKind],
    pub keys: &'static [crate::setting::Key],
    /// Markdown.
    pub docs: &'static str,
}

/// Declares what the rule of a file finds, and its settings; each part may be left out. The doc comment is the rule's text in
/// the reference, where the names and the keys with their defaults are put before it.
///
/// ```ignore
/// rule! {
///     /// The same type check fails with the same output and nothing was changed in between.
///     evidence {
///         TYPECHECK_LOOP = "typecheck_loop", rank 50;
///     }
///     interventions {
///         /// So many turns of work and the open plan was not updated.
///         PLAN_LAG = "plan_lag", severity Info, proposes Warn, audience MainAgent,
///             state "working past its plan", brief "past plan";
///     }
///     settings {
///         /// Runs of the same failing type check with nothing changed in between.
///         typecheck_repeat_threshold: u32 = 2, "typecheckRepeatThreshold", THRESHOLD, Scope::VERDICT;
///     }
/// }
/// ```
#[macro_export]
macro_rules! rule {
    (
        $(#[doc = $doc:literal])*
        $(evidence { $(
            $kind:ident = $name:literal, rank $rank:literal $(, at_the_end $end:literal)? $(, outlives_person $person:literal)?;
        )+ })?
        $(interventions { $(
            $(#[doc = $when:literal])+
            $calls:ident = $called:literal $(, severity $severity:ident)?, proposes $action:ident, audience $audience:ident,
            state $state:literal, brief $brief:literal $(, footer $footer:literal)?
            $(, until_active $active:literal)? $(, outlives $outlives:literal)? $(, limit $limit:literal)?
            $(, itself [$($itself:literal),* $(,)?], others [$($others:literal),* $(,)?])?;
        )+ })?
        $(settings { $($settings:tt)* })?
    ) => {
        $($(pub const $kind: $crate::kinds::EvidenceType = $crate::kinds::EvidenceType(&$crate::kinds::EvidenceInfo {
            rank: $rank,
            name: $name,
            outlives_person: false $(|| $person)?,
            at_the_end: false $(|| $end)?,
        });)+)?
        $($(pub const $calls: $crate::kinds::InterventionKind =
            $crate::kinds::InterventionKind(&$crate::kinds::InterventionInfo {
                rule: concat!("intervention:", $called),
                severity: $crate::or!($($crate::kinds::Severity::$severity)?, $crate::kinds::Severity::Warning),
                proposes: $crate::kinds::Action::$action,
                audience: $crate::kinds::Audience::$audience,
                state: $state,
                brief: $brief,
                footer: $crate::or!($($footer)?, ""),
                advice: $crate::or!(
                    $($crate::kinds::Advice { itself: &[$($itself),*], others: &[$($others),*] })?,
                    $crate::kinds::Advice::NONE
                ),
                until_active: false $(|| $active)?,
                outlives: false $(|| $outlives)?,
                limit: false $(|| $limit)?,
                when: concat!($($when),+),
            });)+)?
        pub const ABOUT: $crate::kinds::RuleInfo = $crate::kinds::RuleInfo {
            evidence: &[$($($kind),+)?],
            interventions: &[$($($calls),+)?],
            keys: Settings::KEYS,
            docs: concat!($($doc, "\n"),*),
        };
        $crate::settings! {
            /// Keys of this rule.
            pub struct Settings { $($($settings)*)? }
        }
    };
}

/// The first, or where there is none the second.
#[macro_export]
macro_rules! or {
    ($some:expr, $otherwise:expr) => {
        $some
    };
    (, $otherwise:expr) => {
        $otherwise
    };
}
