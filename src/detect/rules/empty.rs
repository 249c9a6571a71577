//! `empty_results`: varied questions, always the same nothing.
//!
//! Searches that all come back empty with nothing read in between, and questions to one program that only looks and
//! always gives the very same answer, about nothing else than before. Seven membership checks in a row are legitimate, the eighth is told. An answer with something in it, a
//! change of the world and a person start anew.

use super::streak::Streak;
use super::{Context, Found, Happening, Rule};
use crate::detect::progress::pair;
use crate::detect::round::Step;
use crate::rule;
use crate::setting::{Scope, THRESHOLD};

rule! {
    /// Varied searches that all find nothing, or varied questions to one program that only looks and always gives the
    /// very same answer. Seven membership checks in a row are work.
    evidence {
        EMPTY_RESULTS = "empty_results", rank 130;
    }
    settings {
        /// Varied questions in a row that all find nothing, or get the very same answer.
        empty_result_threshold: u32 = 8, "emptyResultThreshold", THRESHOLD, Scope::VERDICT;
    }
}

#[derive(Debug, Clone, Default)]
pub struct Empty {
    epoch: u64,
    searches: Streak,
    same: Streak,
    /// Subject and outcome of `same`.
    answer: u128,
    /// What it was asked of.
    targets: Vec<u128>,
}

/// Things asked about that are told apart.
const MAX_TARGETS: usize = 64;

impl Rule for Empty {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found) {
        match what {
            Happening::User => *self = Self::default(),
            Happening::Step { step, fresh: true } if !step.outage => self.step(step, context, found),
            _ => {}
        }
    }
}

impl Empty {
    fn step(&mut self, step: &Step, context: &Context<'_>, found: &mut Found) {
        let action = &*step.action;
        if self.epoch != context.epoch {
            *self = Self { epoch: context.epoch, ..Self::default() };
        }
        let threshold = context.settings.empty.empty_result_threshold;
        if action.search && !step.empty {
            self.searches.clear();
        } else if step.news && !step.empty && !step.is_error && (step.shown.is_some() || action.looks) {
            // New text was read: the searches are part of a wider look around.
            self.searches.clear();
        } else if action.search && step.news {
            self.searches.hit(step.at, context);
            let what = "searches that find nothing";
            let report = self.searches.report(threshold, EMPTY_RESULTS, 4, what, step.at);
            found.extend(report.map(|report| report.about(action)));
        }
        if !action.looks || step.polls {
            self.same.clear();
            return;
        }
        let answer = pair(action.subject, step.outcome);
        if answer != self.answer {
            self.answer = answer;
            self.same.clear();
            self.targets.clear();
        }
        // The same question about another thing: that they agree is news. That nothing is anywhere may be a loop.
        let another = action.target != 0 && !self.targets.contains(&action.target);
        if another && !step.empty && self.targets.len() < MAX_TARGETS {
            self.targets.push(action.target);
            return;
        }
        if !step.news {
            return;
        }
        self.same.hit(step.at, context);
        let what = "different questions, the very same answer";
        let report = self.same.report(threshold, EMPTY_RESULTS, answer, what, step.at);
        found.extend(report.map(|report| report.about(action)));
    }
}

#[cfg(test)]
mod tests {
    use crate::detect::story::Story;
    use serde_json::json;

    #[test]
    fn seven_searches_may_find_nothing_and_the_eighth_is_told() {
        let mut story = Story::new();
        story.times(8, |story, n| {
            story.call("web_search", json!({ "query": format!("words {n}") }), "[]");
        });
        assert_eq!(story.first("empty_results"), Some(8));
    }

    #[test]
    fn one_hit_starts_anew() {
        let mut story = Story::new();
        story.times(20, |story, n| {
            let output = if n % 6 == 5 { "src/a.rs:3: hit" } else { "No matches found" };
            story.call("grep", json!({ "pattern": format!("name{n}") }), output);
        });
        assert_eq!(story.first("empty_results"), None);
    }

    #[test]
    fn the_very_same_answer_to_different_questions_is_told() {
        let flags = ["", "-s", "--short", "-b", "--porcelain", "-v", "-uno", "--long"];
        let mut story = Story::new();
        for flag in flags {
            story.bash(&format!("git status {flag}"), "clean");
        }
        assert_eq!(story.first("empty_results"), Some(8));
    }

    #[test]
    fn commands_that_change_something_may_all_be_quiet() {
        let mut story = Story::new();
        story.times(20, |story, n| {
            story.bash(&format!("mkdir d{n}"), "(no output)");
        });
        story.is_silent();
    }

    #[test]
    fn searches_may_find_nothing_while_new_text_is_read_in_between() {
        let mut story = Story::new();
        story.times(20, |story, n| {
            story.reads(&format!("src/{n}.rs"), 1, 50);
            story.bash_fails(&format!("rg 'unsafe {n}' src"), "(no output)\n\nCommand exited with code 1");
        });
        assert_eq!(story.first("empty_results"), None);
    }

    #[test]
    fn one_answer_about_many_things_is_a_survey() {
        let mut story = Story::new();
        story.times(30, |story, n| {
            story.bash(&format!("stat -c %a conf.d/{n}.conf"), "644");
        });
        story.is_silent();
    }

    #[test]
    fn statements_that_write_return_no_rows() {
        let mut story = Story::new();
        story.times(20, |story, n| {
            story.call("query", json!({ "sql": format!("CREATE TABLE t{n} (id int)") }), "[]");
        });
        story.is_silent();
    }
}
