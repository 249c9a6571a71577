//! `idle_no_progress` (off by default): tools run, and nothing is edited for `idleNoProgressSec`.
//!
//! Holds when the latest tool event is less than a minute old, at least five tool events came in that time, and no
//! edit succeeded in it (with no edit at all: since the first event).

use super::{Context, Found, Happening, Rule};
use crate::detect::action::ToolClass;
use crate::detect::evidence::{Evidence, LoopCost, Report};
use crate::rule;
use crate::setting::{SECONDS, Scope};
use crate::trace::Usage;

rule! {
    /// Tools run and no edit succeeded for so many seconds: the latest tool event is less than a minute old and there
    /// were at least five of them.
    evidence {
        IDLE_NO_PROGRESS = "idle_no_progress", rank 80;
    }
    settings {
        /// Seconds in which tools run and nothing is edited. 0: off.
        idle_no_progress_sec: f64 = 0.0, "idleNoProgressSec", SECONDS, Scope::VERDICT;
    }
}

const RECENT_MS: f64 = 60_000.0;
const MIN_TOOL_EVENTS: u32 = 5;

#[derive(Debug, Clone, Default)]
pub struct Idle {
    /// Start of the time without an edit.
    since: Option<f64>,
    tool_events: u32,
    last_tool_at: f64,
    spent: Usage,
    rounds: u32,
    last_round: u64,
}

impl Rule for Idle {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found) {
        match what {
            Happening::User => *self = Self { since: Some(context.now), ..Self::default() },
            Happening::Step { step, .. } => {
                self.since.get_or_insert(step.called_at);
                if step.action.class == ToolClass::Edit && !step.is_error {
                    *self = Self { since: Some(step.at), ..Self::default() };
                    return;
                }
                // The call and its result.
                self.tool_events += 2;
                self.last_tool_at = step.at;
                if self.last_round != context.round.number {
                    self.last_round = context.round.number;
                    self.rounds += 1;
                    self.spent += context.round.usage;
                }
            }
            Happening::Suspended { ms } => {
                let over = |instant: f64| if instant > 0.0 { (instant + ms).min(context.now) } else { instant };
                self.since = self.since.map(over);
                self.last_tool_at = over(self.last_tool_at);
                return;
            }
            Happening::Tick => {}
            _ => return,
        }
        let limit = context.settings.idle.idle_no_progress_sec * 1000.0;
        let Some(since) = self.since else { return };
        let idle = context.now - since;
        if limit > 0.0
            && idle >= limit
            && self.tool_events >= MIN_TOOL_EVENTS
            && context.now - self.last_tool_at < RECENT_MS
        {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive seconds; saturates
            let seconds = (idle / 1000.0) as u32;
            found.push(Report {
                evidence: Evidence {
                    kind: IDLE_NO_PROGRESS,
                    summary: format!("tools run and nothing was edited for {seconds} s"),
                    count: seconds,
                    period: 0,
                    command: context.round.command.clone(),
                    first_at: since,
                    last_at: context.now,
                    trigger: 1,
                },
                members: Vec::new(),
                distance: MIN_TOOL_EVENTS,
                early: false,
                mild: false,
                cost: LoopCost {
                    rounds: self.rounds,
                    tokens: self.spent.total_tokens(),
                    usd: self.spent.cost_usd,
                    wall_ms: idle,
                },
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::detect::story::Story;
    use crate::policy::Config;

    #[test]
    fn tools_that_run_without_an_edit_for_so_long_are_told_when_asked_for() {
        let config = Config::of(serde_json::json!({ "idleNoProgressSec": 60.0 }));
        let mut story = Story::with(config.clone());
        story.times(25, |story, n| {
            story.reads(&format!("f{n}"), 1, 10);
        });
        assert_eq!(story.first("idle_no_progress"), Some(20), "a minute at three seconds a call");
        let mut story = Story::with(config);
        story.times(25, |story, n| {
            story.reads(&format!("f{n}"), 1, 10).edits("a", &n.to_string());
        });
        story.is_silent();
    }
}
