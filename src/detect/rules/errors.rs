//! `error_loop`, `unknown_tool` and `denied`: failing in the same way, whatever the arguments.
//!
//! An error class counts per subject (a program, or a tool); a success of the same subject, a change of the world and
//! a person start anew. The same class from several subjects is one cause and counts together, later. Calls of tools
//! that do not exist, and arguments that never validate, count across names and errors: another wrong name is no
//! progress. Refusals count per tool, also of reworded requests.

use super::streak::Streak;
use super::{Context, Found, Happening, Rule};
use crate::detect::action::Action;
use crate::detect::failure::Kind;
use crate::detect::memory::Memory;
use crate::detect::progress::pair;
use crate::detect::round::Step;
use crate::rule;
use crate::setting::{Scope, THRESHOLD};
use crate::text::fast;

rule! {
    /// One program or tool fails with the same error whatever the arguments, or several do with one cause (twice the
    /// threshold). The error is its first line with numbers masked; errno, HTTP status and exit code are kept. *Fires*:
    /// every fetch answers HTTP 403. *Silent*: different errors; the same error with a success in between; an exit code
    /// without a word.
    ///
    /// `unknown_tool`: calls of tools that do not exist or with arguments that do not validate, counted across names.
    ///
    /// `denied`: a tool is refused by a person, a permission or a policy and asked for again, in whatever words. Also
    /// reported as the intervention `denied`.
    evidence {
        ERROR_LOOP = "error_loop", rank 100;
        UNKNOWN_TOOL = "unknown_tool", rank 110;
        DENIED = "denied", rank 120;
    }
    settings {
        /// Failures of one program or tool with the same error, whatever the arguments.
        error_loop_threshold: u32 = 4, "errorLoopThreshold", THRESHOLD, Scope::VERDICT;
        /// Calls in a row of tools that do not exist or with arguments that do not validate.
        unknown_tool_threshold: u32 = 3, "unknownToolThreshold", THRESHOLD, Scope::VERDICT;
        /// Refusals of one tool by a person, a permission or a policy.
        denied_threshold: u32 = 3, "deniedThreshold", THRESHOLD, Scope::VERDICT;
    }
}

const REMEMBERED: usize = 256;

#[derive(Debug, Clone, Default)]
struct Counted {
    epoch: u64,
    streak: Streak,
    /// Who failed, and how often it had succeeded then.
    subjects: Vec<(u128, u64)>,
    /// Distinct arguments: one action that fails again and again is another rule's.
    actions: Vec<u128>,
}

/// Distinct actions that are told apart.
const MAX_ACTIONS: usize = 4;

#[derive(Debug, Clone)]
pub struct Errors {
    by_subject: Memory<Counted>,
    by_class: Memory<Counted>,
    /// Successes per subject: a class that was seen before the latest one starts anew.
    successes: Memory<u64>,
    unknown: Streak,
    denied: Memory<Counted>,
    person: u64,
}

impl Default for Errors {
    fn default() -> Self {
        Self {
            by_subject: Memory::new(REMEMBERED),
            by_class: Memory::new(REMEMBERED),
            successes: Memory::new(REMEMBERED),
            unknown: Streak::default(),
            denied: Memory::new(REMEMBERED),
            person: 0,
        }
    }
}

impl Rule for Errors {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found) {
        match what {
            Happening::User => {
                self.person += 1;
                self.unknown.clear();
                self.denied = Memory::new(REMEMBERED);
            }
            Happening::Step { step, fresh: true } if !step.outage => self.step(step, context, found),
            _ => {}
        }
    }
}

impl Errors {
    fn step(&mut self, step: &Step, context: &Context<'_>, found: &mut Found) {
        let action = &*step.action;
        if !step.is_error {
            *self.successes.entry(action.subject, || 0) += 1;
            let tool = fast(action.tool.as_bytes());
            if tool != action.subject {
                *self.successes.entry(tool, || 0) += 1;
            }
            self.unknown.clear();
            return;
        }
        let Some(failure) = step.error else { return };
        let settings = &context.settings.errors;
        match failure.kind {
            Kind::Unknown => {
                self.unknown.hit(step.at, context);
                let what = "calls of a tool that does not exist, or with arguments that do not validate,";
                let report = self.unknown.report(settings.unknown_tool_threshold, UNKNOWN_TOOL, 2, what, step.at);
                found.extend(report.map(|report| report.about(action)));
            }
            Kind::Denied | Kind::Forbidden => {
                let epoch = if failure.kind == Kind::Forbidden { context.epoch } else { 0 };
                for (who, threshold) in refused(action, failure.kind, settings.denied_threshold) {
                    let successes = self.successes.get(who).copied().unwrap_or(0);
                    let refusals = self.denied.entry(who, Counted::default);
                    let streak = &mut count(refusals, step, epoch + successes, context).streak;
                    let what = "refused and asked again";
                    let report = streak.report(threshold, DENIED, pair(who, 3), what, step.at);
                    found.extend(report.map(|report| report.about(action)));
                }
            }
            Kind::Other => {
                // A check that fails while its cause is worked on belongs to `persistent_failure`.
                let successes = self.successes.get(action.subject).copied().unwrap_or(0);
                let epoch = context.epoch + self.person + successes;
                let threshold = settings.error_loop_threshold;
                let key = pair(action.subject, failure.class);
                let what = "the same error, whatever the arguments,";
                let one = count(self.by_subject.entry(key, Counted::default), step, epoch, context);
                if one.actions.len() > 1 {
                    let report = one.streak.report(threshold, ERROR_LOOP, key, what, step.at);
                    found.extend(report.map(|report| report.about(action)));
                }
                let all = self.by_class.entry(failure.class, Counted::default);
                let healed =
                    |&(subject, before): &(u128, u64)| self.successes.get(subject).copied().unwrap_or(0) > before;
                if all.subjects.iter().any(healed) {
                    *all = Counted::default();
                }
                let all = count(all, step, context.epoch + self.person, context);
                if all.subjects.len() < MAX_ACTIONS && !all.subjects.iter().any(|&(known, _)| known == action.subject) {
                    all.subjects.push((action.subject, successes));
                }
                if all.subjects.len() > 1 && all.actions.len() > 2 {
                    let what = "the same error from several tools";
                    let report = all.streak.report(threshold * 2, ERROR_LOOP, failure.class, what, step.at);
                    found.extend(report.map(|report| report.about(action)));
                }
            }
        }
    }
}

/// What a refusal is counted for. The system refuses a program; a person or a policy may mean the program or the tool.
fn refused(action: &Action, kind: Kind, threshold: u32) -> impl Iterator<Item = (u128, u32)> {
    let tool = fast(action.tool.as_bytes());
    let by_tool = kind == Kind::Denied && tool != action.subject;
    [(action.subject, threshold)].into_iter().chain(by_tool.then_some((tool, threshold)))
}

fn count<'a>(counted: &'a mut Counted, step: &Step, epoch: u64, context: &Context<'_>) -> &'a mut Counted {
    if counted.epoch != epoch {
        *counted = Counted { epoch, ..Counted::default() };
    }
    counted.streak.hit(step.at, context);
    if counted.streak.count == 1 {
        counted.actions.clear();
        counted.subjects.clear();
    }
    if counted.actions.len() < MAX_ACTIONS && !counted.actions.contains(&step.action.hash) {
        counted.actions.push(step.action.hash);
    }
    counted
}

#[cfg(test)]
mod tests {
    use crate::detect::story::Story;
    use serde_json::json;

    #[test]
    fn the_same_error_with_other_arguments_is_told_at_the_fourth() {
        let mut story = Story::new();
        story.times(5, |story, n| {
            story.fails("web_fetch", json!({ "url": format!("https://x/{n}") }), "fetch failed: HTTP 403");
            story.call("web_search", json!({ "query": format!("words {n}") }), &format!("snippet {n}"));
        });
        assert_eq!(story.first("error_loop"), Some(7), "the fourth fetch");
    }

    #[test]
    fn different_errors_and_successes_in_between_are_work() {
        let mut story = Story::new();
        for (n, error) in ["ENOENT a", "EISDIR", "syntax error", "ENOENT b", "EACCES x", "timeout"].iter().enumerate() {
            story.bash_fails(&format!("node step{n}.js"), error);
        }
        story.times(6, |story, n| {
            story
                .bash_fails(&format!("node t{n}.js"), "TypeError: x is undefined")
                .bash(&format!("node u{n}.js"), &format!("ok {n}"));
        });
        story.is_silent();
    }

    #[test]
    fn tools_that_do_not_exist_count_across_names() {
        let mut story = Story::new();
        for name in ["read_doc", "open_doc", "fetch_doc"] {
            story.fails(name, json!({ "id": name }), &format!("Tool {name} not found"));
        }
        assert_eq!(story.first("unknown_tool"), Some(3));
    }

    #[test]
    fn a_refused_tool_that_is_asked_for_in_other_words_is_told() {
        let mut story = Story::new();
        for command in ["du -sh .", "df -h", "ls -lR"] {
            story.bash_fails(command, "Permission to use \"bash\" was declined.");
        }
        assert_eq!(story.first("denied"), Some(3));
        assert_eq!(story.first("intervention:denied"), Some(3));
    }

    #[test]
    fn an_error_that_heals_each_time_is_no_loop() {
        let mut story = Story::new();
        story.times(20, |story, n| {
            story
                .bash_fails(&format!("ssh edge-{n} uptime"), "ssh: connect to host edge port 22: Connection timed out");
            story.bash(&format!("ssh edge-{n} uptime"), &format!("up {n} days"));
        });
        story.is_silent();
    }

    #[test]
    fn what_the_system_refuses_and_another_way_allows_is_no_loop() {
        let mut story = Story::new();
        story.times(8, |story, n| {
            story.bash_fails(&format!("cp u{n} /etc/"), &format!("cp: cannot create '/etc/u{n}': Permission denied"));
            story.bash(&format!("sudo cp u{n} /etc/"), "(no output)");
        });
        story.is_silent();
    }

    #[test]
    fn refusals_between_allowed_calls_of_the_same_program_are_answers() {
        let mut story = Story::new();
        story.times(8, |story, n| {
            story.bash_fails(&format!("rm -rf old{n}"), "Permission to use \"bash\" was declined.");
            story.bash(&format!("rm -rf tmp{n}"), "(no output)");
        });
        story.is_silent();
    }

    #[test]
    fn asking_for_a_refused_program_again_is_told_whatever_else_is_allowed_in_between() {
        let mut story = Story::new();
        story.times(4, |story, n| {
            story.bash_fails(&format!("npm publish --tag t{n}"), "Rejected by the user: denied by policy");
            story.bash(&format!("ls d{n}"), &format!("a{n}"));
        });
        assert!(story.first("denied").is_some());
    }

    /// Each name is a tool and the number of its arguments; all fail in the same way.
    fn same_error(calls: &str) -> Story {
        let mut story = Story::new();
        for call in calls.split(' ') {
            let (tool, number) = call.split_at(1);
            story.fails(&format!("fetch_{tool}"), json!({ "id": number }), "fetch failed: HTTP 403");
        }
        story
    }

    #[test]
    fn the_same_error_from_several_tools_is_one_loop_at_the_eighth() {
        assert_eq!(same_error("a1 b1 c1 a1 b1 c1 a1").first("error_loop"), None, "seven");
        assert_eq!(same_error("a1 b1 c1 a1 b1 c1 a1 b1").first("error_loop"), Some(8), "three tools");
        assert_eq!(same_error("b1 a1 b1 a2 b1 a1 b1 b1").first("error_loop"), Some(8), "two tools, three calls");
    }

    #[test]
    fn one_tool_is_not_several() {
        let story = same_error("a1 a2 a3 a1 a2 a3 a1 a2 a3 a1");
        let analysis = story.engine.analysis();
        let reasons: Vec<&str> = analysis.reasons().collect();
        assert!(reasons.contains(&"the same error, whatever the arguments, 10 times"), "{reasons:?}");
        assert!(!reasons.iter().any(|reason| reason.contains("several tools")), "{reasons:?}");
    }

    #[test]
    fn two_calls_that_fail_in_turn_are_a_repetition_and_no_loop_of_errors() {
        let story = same_error("a1 b1 a1 b1 a1 b1 a1 b1 a1 b1");
        let analysis = story.engine.analysis();
        assert!(!analysis.reasons().any(|reason| reason.contains("same error")), "{:?}", analysis.evidence);
    }
}
