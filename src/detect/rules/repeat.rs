//! `repeated_command` and `repeated_output`: the same action again and again.
//!
//! Same outcome: told from `repeatThreshold` on when the calls follow each other, one later when other calls lie
//! between (a cycle of these calls is then found first), and at twice the threshold when those other calls brought
//! news. Changing outcome: a remark of its own from `changingOutputThreshold` on, only when nothing else is asked in
//! between, and never for a poll or a counter that moves. A change of the world starts every streak anew.

use std::sync::Arc;

use super::streak::LONG_AGO;
use super::{Context, Found, Happening, Rule, times};
use crate::detect::evidence::{Evidence, LoopCost, Report};
use crate::detect::memory::Memory;
use crate::detect::round::{PATIENCE_MS, Step};
use crate::rule;
use crate::setting::{Scope, THRESHOLD};

rule! {
    /// The same action with the same outcome. Calls that follow each other are reported at the threshold, with other
    /// calls in between one later, and at twice the threshold when those brought news. *Fires*: `rg TOKEN src` three
    /// times with no match. *Silent*: `git status` between commits; `41 failed`, then `2 failed`; a file read with a
    /// rising `offset`. *Limits*: a command with an effect that neither its text nor its output shows looks like a
    /// repetition.
    ///
    /// With a materially different outcome each time, and nothing else in between, `repeated_command` alone is
    /// reported, from `changingOutputThreshold` on. *Silent*: polls, and outcomes that differ only in their numbers (a
    /// counter that moves).
    evidence {
        REPEATED_COMMAND = "repeated_command", rank 10;
        REPEATED_OUTPUT = "repeated_output", rank 20;
    }
    settings {
        /// Rounds with the same action and the same result that make an agent stuck. 0 disables the rule, as for every
        /// threshold.
        repeat_threshold: u32 = 3, "repeatThreshold", THRESHOLD, Scope::VERDICT;
        /// Rounds with the same action and materially different results. 3 makes the rule literal: any command run three
        /// times.
        changing_output_threshold: u32 = 10, "changingOutputThreshold", THRESHOLD, Scope::VERDICT;
    }
}

/// Actions remembered per agent, at least.
const REMEMBERED: usize = 1024;

#[derive(Debug, Clone, Default)]
struct Streak {
    epoch: u64,
    outcome: u128,
    shape: u128,
    count: u32,
    first_at: f64,
    last_at: f64,
    last_round: u64,
    /// Rounds of news seen when the latest repetition came, and when the streak began.
    news_before: u64,
    news_at_start: u64,
    /// [`Repeat::done`] and [`Repeat::moved`] when the latest repetition came.
    done_before: u64,
    moved_before: u64,
    /// Calls of other actions lay between.
    interleaved: bool,
    /// Consecutive calls with materially different outcomes.
    changes: u32,
    changes_first_at: f64,
    cost: LoopCost,
    changes_cost: LoopCost,
}

/// A count of rounds in which something happened.
#[derive(Debug, Clone, Copy, Default)]
struct Rounds {
    count: u64,
    latest: u64,
}

impl Rounds {
    fn hit(&mut self, round: u64) {
        if self.latest != round {
            *self = Self { count: self.count + 1, latest: round };
        }
    }

    /// How many there were before `round`.
    fn before(self, round: u64) -> u64 {
        self.count - u64::from(self.count > 0 && self.latest == round)
    }
}

#[derive(Debug, Clone)]
pub struct Repeat {
    streaks: Memory<Streak>,
    /// Rounds that brought news.
    news: Rounds,
    /// Rounds in which something was done that was never done before: the next look may see another world. A round
    /// counts once, and not for itself.
    done: Rounds,
    /// Rounds in which a known question got an answer that it never had.
    moved: Rounds,
    /// Waiting is over for streaks before this user message.
    person: u64,
}

impl Default for Repeat {
    fn default() -> Self {
        Self {
            streaks: Memory::new(REMEMBERED),
            news: Rounds::default(),
            done: Rounds::default(),
            moved: Rounds::default(),
            person: 0,
        }
    }
}

impl Rule for Repeat {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found) {
        match what {
            Happening::User => self.person += 1,
            Happening::Step { step, fresh: true } if !step.outage => self.step(step, context, found),
            _ => {}
        }
    }
}

impl Repeat {
    fn step(&mut self, step: &Step, context: &Context<'_>, found: &mut Found) {
        let round = context.round.number;
        let epoch = context.epoch + self.person;
        // News of this very round lies not "between" two looks.
        let news = self.news.before(round);
        let streak = self.streaks.entry(step.action.hash, Streak::default);

        let (done, moved) = (self.done.before(round), self.moved.before(round));
        let first = streak.count == 0;
        // A check after something was done, or a key press that the screen answered, is no repetition.
        let answered = done > streak.done_before || step.action.acts && !step.is_error && moved > streak.moved_before;
        let restarted = first || answered || streak.epoch != epoch || news - streak.news_before.min(news) > LONG_AGO;
        if restarted || streak.outcome != step.outcome {
            let moved = !restarted && streak.outcome != step.outcome;
            let material = moved && streak.shape != step.shape && round - streak.last_round <= 1;
            let (changes, since, cost) = if material && round != streak.last_round {
                let mut cost = streak.changes_cost;
                cost.add(&context.round.usage, streak.changes_first_at, step.at);
                (streak.changes + 1, streak.changes_first_at, cost)
            } else {
                (1, step.at, LoopCost::default())
            };
            *streak = Streak {
                epoch,
                outcome: step.outcome,
                shape: step.shape,
                count: 1,
                first_at: step.at,
                changes,
                changes_first_at: since,
                changes_cost: cost,
                ..Streak::default()
            };
        } else if round != streak.last_round {
            let waits = step.polls && (step.waited || step.called_at - streak.last_at >= PATIENCE_MS);
            if !waits {
                streak.count += 1;
            }
            streak.interleaved |= round - streak.last_round > 1;
            streak.changes = 1;
            streak.cost.add(&context.round.usage, streak.first_at, step.at);
        }
        streak.last_at = step.at;
        streak.last_round = round;
        if step.news {
            self.news.hit(round);
            if !first {
                self.moved.hit(round);
            }
        }
        if first && step.action.acts && !step.is_error {
            self.done.hit(round);
        }
        // What it does or says itself is no answer to its own repetition, nor what the batch has brought so far.
        streak.done_before = self.done.count;
        streak.moved_before = self.moved.count;
        streak.news_before = self.news.count;
        if streak.count == 1 {
            streak.news_at_start = streak.news_before;
        }

        let base = context.settings.repeat.repeat_threshold;
        let threshold = if step.polls {
            base.max(context.settings.polling.polling_threshold)
        } else if news > streak.news_at_start && streak.interleaved {
            base * 2
        } else {
            base + u32::from(streak.interleaved)
        };
        let changing = context.settings.repeat.changing_output_threshold;
        if base > 0 && streak.count >= threshold.max(2) {
            report_same(step, streak, threshold, found);
        } else if changing > 0 && streak.changes >= changing.max(2) && !step.polls {
            found.push(Report {
                evidence: Evidence {
                    kind: REPEATED_COMMAND,
                    summary: format!("same command repeated {} with changing results", times(streak.changes)),
                    count: streak.changes,
                    period: 1,
                    command: Some(Arc::clone(&step.action.key)),
                    first_at: streak.changes_first_at,
                    last_at: step.at,
                    trigger: step.action.hash,
                },
                members: vec![step.action.hash],
                distance: changing,
                early: false,
                mild: false,
                cost: streak.changes_cost,
            });
        }
    }
}

fn report_same(step: &Step, streak: &Streak, threshold: u32, found: &mut Found) {
    let what = if step.is_error { "same failing command" } else { "same command" };
    let evidence = |kind, summary, trigger| Evidence {
        kind,
        summary,
        count: streak.count,
        period: 1,
        command: Some(Arc::clone(&step.action.key)),
        first_at: streak.first_at,
        last_at: step.at,
        trigger,
    };
    let report = |evidence| Report {
        evidence,
        members: vec![step.action.hash],
        distance: threshold,
        early: false,
        mild: false,
        cost: streak.cost,
    };
    let count = times(streak.count);
    found.push(report(evidence(REPEATED_COMMAND, format!("{what} repeated {count}"), step.action.hash)));
    found.push(report(evidence(REPEATED_OUTPUT, format!("same output repeated {count}"), step.hash())));
}

#[cfg(test)]
mod tests {
    use crate::detect::story::Story;
    use crate::policy::Config;
    use serde_json::json;

    #[test]
    fn a_loop_costs_its_repetitions_and_makes_the_agent_stuck() {
        let mut story = Story::new();
        story.times(4, |story, _| {
            story.bash("ls", "a");
        });
        let analysis = story.engine.analysis();
        assert!(analysis.likely_stuck && story.engine.stuck());
        assert_eq!(story.engine.cost().rounds, 3, "the first one was work");
        assert!(!crate::detect::StuckAnalysis::from_evidence(vec![]).likely_stuck);
    }

    #[test]
    fn what_the_provider_rolled_back_and_sends_again_is_no_repetition() {
        let mut story = Story::new();
        story.bash("ls", "a").bash("ls", "a").lifecycle("provider_retry").bash("ls", "a");
        assert_eq!(story.first("repeated_command"), None);
        story.bash("ls", "a");
        assert_eq!(story.first("repeated_command"), Some(4));
    }

    #[test]
    fn a_search_for_words_that_are_programs_is_a_repetition_like_any_other() {
        for command in ["rg \"retry|watch\" src", "grep -rn 'sleep; wait' .", "rg \"gh run view\" docs"] {
            let mut story = Story::new();
            story.times(220, |story, _| {
                story.bash(command, "");
            });
            assert_eq!(story.first("repeated_command"), Some(3), "{command}");
        }
    }

    #[test]
    fn a_loop_that_asks_and_sleeps_may_be_run_again_and_again() {
        for command in [
            "until curl -fsS localhost:80; do sleep 2; done",
            "for i in 1 2 3; do curl -fsS localhost:80 && break; sleep 1; done",
            "bash -euo pipefail -c 'while [[ $(docker ps | wc -l) -lt 2 ]]; do sleep 1; done'",
            "time -p timeout 60 bash -c 'until nc -z db 5432; do sleep 1; done'",
        ] {
            let mut story = Story::new();
            story.times(40, |story, _| {
                story.bash(command, "connection refused");
            });
            story.is_silent();
        }
    }

    #[test]
    fn the_third_equal_call_with_an_equal_result_is_told() {
        let mut story = Story::new();
        story.times(3, |story, n| {
            story.bash("rg TOKEN src", &format!("no match (took 0.{n}1s)"));
        });
        assert_eq!(story.first("repeated_command"), Some(3));
    }

    #[test]
    fn a_loop_that_goes_on_is_told_at_doubling_distance_and_is_critical_then() {
        let mut story = Story::new();
        story.times(30, |story, _| {
            story.bash("ls", "a");
        });
        let calls: Vec<u32> = story.found.iter().map(|(call, _, _)| *call).collect();
        assert_eq!(calls, [3, 6, 12, 24]);
        assert_eq!(story.found[0].2, crate::detect::Severity::Warning);
        assert_eq!(story.found[1].2, crate::detect::Severity::Critical);
    }

    #[test]
    fn a_real_edit_in_between_starts_anew() {
        let mut story = Story::new();
        story.times(8, |story, n| {
            story.bash("cargo fmt", "").edits("a.rs", &format!("v{n}")).bash("git status", "M a.rs");
        });
        story.is_silent();
    }

    #[test]
    fn with_other_calls_in_between_it_takes_one_more_and_with_news_twice_as_many() {
        let mut story = Story::new();
        story.times(6, |story, n| {
            story.bash("git status", "clean").bash(&format!("cat f{n}"), &format!("text {n}"));
        });
        assert_eq!(story.first("repeated_command"), Some(11), "the sixth of them");
    }

    #[test]
    fn numbers_that_fall_are_progress_and_a_counter_that_moves_is_no_loop() {
        let mut story = Story::new();
        for failed in [41, 12, 5, 2] {
            story.bash_fails("pytest", &format!("{failed} failed in 3.2s"));
        }
        story.times(25, |story, n| {
            story.call("board", json!({}), &format!("done {n}/25"));
        });
        story.is_silent();
    }

    #[test]
    fn answers_that_differ_each_time_are_told_at_the_tenth() {
        let words = ["ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "yew"];
        let mut story = Story::new();
        for word in words {
            story.bash("fortune", word);
        }
        assert_eq!(story.first("repeated_command"), Some(10));
    }

    #[test]
    fn a_poll_may_wait() {
        let mut story = Story::new();
        story.times(19, |story, _| {
            story.bash("gh run view 5", "in progress");
        });
        assert_eq!(story.first("repeated_command"), None);
        story.bash("gh run view 5", "in progress");
        assert_eq!(story.first("repeated_command"), Some(20), "twenty without a pause");
        let mut patient = Story::new();
        patient.times(40, |story, _| {
            story.at += 20_000.0;
            story.bash("gh run view 5", "in progress");
        });
        assert_eq!(patient.first("repeated_command"), None);
    }

    #[test]
    fn zero_disables_the_rule() {
        let mut story = Story::with(Config::of(json!({ "repeatThreshold": 0, "llmRepeatThreshold": 0 })));
        story.times(20, |story, _| {
            story.bash("ls", "a");
        });
        assert_eq!(story.first("repeated_command"), None);
    }

    #[test]
    fn looks_after_a_pause_are_waiting_whatever_they_look_with() {
        let mut story = Story::new();
        story.times(40, |story, _| {
            story.bash("sleep 60", "(no output)");
            story.at += 60_000.0;
            story.bash("cat out/status", "importing");
        });
        story.is_silent();
    }

    #[test]
    fn a_question_that_is_answered_with_not_yet_is_a_poll() {
        let mut story = Story::new();
        story.times(30, |story, _| {
            story.call("job_info", json!({ "id": 4 }), "status: running");
        });
        assert_eq!(story.first("repeated_command"), Some(20));
    }

    #[test]
    fn a_shortened_check_is_no_poll() {
        let mut story = Story::new();
        story.times(4, |story, _| {
            story.bash_fails("npm test 2>&1 | tail -5", "1 failed");
        });
        assert_eq!(story.first("repeated_command"), Some(3));
    }

    #[test]
    fn a_check_after_something_new_was_done_is_no_repetition() {
        let mut story = Story::new();
        story.times(20, |story, n| {
            story.bash(&format!("python load.py --offset {n}"), "loaded 500 rows");
            story.bash("python verify.py", "ok");
        });
        story.is_silent();
    }

    #[test]
    fn a_key_press_is_answered_by_the_screen() {
        let mut story = Story::new();
        story.times(20, |story, n| {
            story.call("browser_click", json!({ "selector": "#next" }), "Clicked");
            story.call("browser_snapshot", json!({}), &format!("page {n}"));
        });
        story.is_silent();
    }

    #[test]
    fn a_key_press_that_changes_nothing_is_a_loop() {
        let mut story = Story::new();
        story.times(6, |story, _| {
            story.call("browser_click", json!({ "selector": "#next" }), "Clicked");
            story.call("browser_snapshot", json!({}), "page 1");
        });
        assert!(story.first("alternating").or(story.first("repeated_command")).is_some_and(|call| call <= 8));
    }

    #[test]
    fn what_an_action_does_itself_is_no_answer_to_its_repetition() {
        let mut story = Story::new();
        story.times(3, |story, _| {
            story.bash("./deploy.sh", "nothing to do");
        });
        assert_eq!(story.first("repeated_command"), Some(3));
    }

    #[test]
    fn a_look_that_comes_back_after_many_other_things_is_a_new_look() {
        let mut story = Story::new();
        story.times(80, |story, n| {
            story.reads(&format!("src/{n}.rs"), 1, 100);
            if n % 7 == 0 {
                story.bash("pwd", "/repo");
            }
        });
        story.is_silent();
    }
}
