//! Time that nobody saw pass: a suspended machine, a stopped process, a blocked event loop, a clock that was set. It is no
//! agent's silence, and no agent grows older by it. Whoever keeps the time says how much of it there was, and every
//! instant that the clocks measure from moves on by as much, so that what was measured before goes on where it was.

use super::Family;

/// Moves an instant over a gap of `ms` that ended at `now`. What came in after the gap stays where it is.
fn over(instant: &mut f64, ms: f64, now: f64) {
    if instant.is_finite() && *instant <= now {
        *instant = (*instant + ms).min(now);
    }
}

impl Family {
    /// The time keeper did not run for `ms` until `now`.
    pub fn suspended(&mut self, ms: f64, now: f64) {
        if !(ms.is_finite() && ms > 0.0) {
            return;
        }
        for member in &mut self.members {
            member.clock.suspended(ms, now);
            let instants = [
                &mut member.started_at,
                &mut member.idle_since,
                &mut member.asked_at,
                &mut member.changed_at,
                &mut member.clash_at,
            ];
            // 0 is "never".
            for instant in instants.into_iter().filter(|instant| **instant > 0.0) {
                over(instant, ms, now);
            }
            if let Some(stopped) = &mut member.stopped_at {
                over(stopped, ms, now);
            }
            for question in &mut member.questions {
                over(&mut question.since, ms, now);
            }
        }
    }
}

impl super::clock::Clock {
    fn suspended(&mut self, ms: f64, now: f64) {
        for instant in [&mut self.last_sign, &mut self.below].into_iter().filter(|instant| **instant > 0.0) {
            over(instant, ms, now);
        }
        self.shift_calls(|instant| over(instant, ms, now));
        // A provider's own clock went on; who was excused as the gap began has its full time again after it.
        if self.excused(now - ms) {
            self.excuse(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use crate::detect::{Finding, Severity};
    use crate::detector::Detector;
    use crate::policy::Config;
    use crate::trace::{Event, EventKind, LifecycleEvent, StopReason};

    const NAMES: [&str; 4] = ["main", "a", "b", "c"];

    #[derive(Debug, Clone)]
    enum Step {
        Spawn(usize, usize),
        Call(usize),
        Result(usize),
        Asks(usize),
        Answered(usize),
        Abort(usize),
        Says(usize),
        Wait(u8),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (1..4_usize, 0..4_usize).prop_map(|(agent, parent)| Step::Spawn(agent, parent)),
            (0..4_usize).prop_map(Step::Call),
            (0..4_usize).prop_map(Step::Result),
            (0..4_usize).prop_map(Step::Asks),
            (0..4_usize).prop_map(Step::Answered),
            (0..4_usize).prop_map(Step::Abort),
            (0..4_usize).prop_map(Step::Says),
            (1..90_u8).prop_map(Step::Wait),
        ]
    }

    fn config() -> Config {
        Config::of(
            json!({ "idleTimeoutSec": 60.0, "openToolTimeoutSec": 120.0, "staleAfterSec": 150.0, "autoKillAfterSec": 200.0, "autoKill": true, "idleNoProgressSec": 100.0 }),
        )
    }

    /// What is found, with the gap before step `at` (none: no gap): rule, agent, severity, and the step.
    fn play(steps: &[Step], gap: Option<(usize, f64)>) -> Vec<(usize, &'static str, Option<String>, Severity)> {
        let mut detector = Detector::new(&config());
        let (mut now, mut turn) = (1000.0, 0);
        let mut found = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            let mut findings: Vec<Finding> = Vec::new();
            if let Some((at, ms)) = gap
                && at == index
            {
                now += ms;
                let fields = json!({ "ms": ms }).to_string();
                let kind = EventKind::Lifecycle { event: LifecycleEvent::Suspended, fields: &fields };
                findings.extend(detector.observe(&Event { at: now, agent: None, kind }));
            }
            let mut see = |agent: usize, at: f64, kind: EventKind<'_>| {
                let agent = (agent > 0).then(|| NAMES[agent]);
                findings.extend(detector.observe(&Event { at, agent, kind }));
            };
            turn += 1;
            match *step {
                Step::Spawn(agent, parent) => {
                    let fields = json!({ "parent": NAMES[parent], "background": true }).to_string();
                    see(agent, now, EventKind::Lifecycle { event: LifecycleEvent::SubagentSpawn, fields: &fields });
                }
                Step::Call(agent) => {
                    let args = format!(r#"{{"command":"make {turn}"}}"#);
                    see(agent, now, EventKind::ToolCall { turn, call_id: "c", tool: "bash", args: &args });
                }
                Step::Result(agent) => {
                    let (output, files, blocked_by) = ("ok", &[][..], None);
                    let (call_id, tool, is_error) = ("c", "bash", false);
                    see(agent, now, EventKind::ToolResult { turn, call_id, tool, output, is_error, files, blocked_by });
                }
                Step::Asks(agent) => {
                    see(agent, now, EventKind::Lifecycle { event: LifecycleEvent::UiPromptStart, fields: "{}" });
                }
                Step::Answered(agent) => {
                    see(agent, now, EventKind::Lifecycle { event: LifecycleEvent::UiPromptEnd, fields: "{}" });
                }
                Step::Abort(agent) => {
                    see(agent, now, EventKind::Lifecycle { event: LifecycleEvent::UserAbort, fields: "{}" });
                }
                Step::Says(agent) => {
                    let text = format!("word {turn}");
                    let (thinking, stop_reason, usage) = ("", StopReason::ToolUse, None);
                    see(agent, now, EventKind::Assistant { turn, text: &text, thinking, stop_reason, usage });
                }
                Step::Wait(seconds) => {
                    let end = now + f64::from(seconds) * 1000.0;
                    while now < end {
                        now = (now + 5000.0).min(end);
                        findings.extend(detector.tick(now));
                    }
                }
            }
            found.extend(findings.into_iter().map(|finding| (index, finding.rule, finding.agent, finding.severity)));
        }
        found
    }

    proptest! {
        /// A machine that sleeps between any two steps, for however long, changes nothing of what is found.
        #[test]
        fn a_suspension_is_nobodys_silence(
            steps in proptest::collection::vec(step(), 1..40),
            at in any::<prop::sample::Index>(),
            seconds in 1..1_000_000_u32,
        ) {
            let at = at.index(steps.len());
            let with = play(&steps, Some((at, f64::from(seconds) * 1000.0)));
            prop_assert_eq!(with, play(&steps, None));
        }
    }

    #[test]
    fn what_is_silent_is_found_with_and_without_a_suspension() {
        let steps = [Step::Spawn(1, 0), Step::Says(1), Step::Wait(40), Step::Wait(40)];
        let silent = play(&steps, None);
        assert!(silent.iter().any(|(step, rule, ..)| *step == 3 && *rule == "intervention:timeout"), "{silent:?}");
        assert_eq!(play(&steps, Some((3, 3_600_000.0))), silent);
    }
}
