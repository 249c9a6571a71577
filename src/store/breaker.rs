//! Whether a call may be refused as a repetition: only while nothing that may have changed its answer came after it
//! last ran. Knows no loop; which calls belong to one is the engine's to say.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::detect::{Action, ToolClass};

/// Steps looked back on; a call that ran before them is not refused.
const KEPT: usize = 64;
/// Open calls that are remembered.
const OPEN: usize = 64;

/// What ran, newest last.
#[derive(Debug, Default)]
pub struct Breaker {
    ran: VecDeque<Ran>,
    /// Calls that were asked for and have no result yet.
    open: VecDeque<(Box<str>, Arc<Action>)>,
}

#[derive(Debug)]
enum Ran {
    Step {
        action: Arc<Action>,
        /// It did something, or may have.
        acted: bool,
        /// Something that ran before it helped: it got an answer that it never had.
        helped: bool,
    },
    /// Something else changed a file.
    Outside,
}

impl Breaker {
    pub fn called(&mut self, call_id: &str, action: &Arc<Action>) {
        if self.open.len() >= OPEN {
            self.open.pop_front();
        }
        self.open.push_back((call_id.into(), Arc::clone(action)));
    }

    /// A refused call did nothing. `news`: the call never had this answer.
    pub fn answered(&mut self, call_id: &str, action: &Arc<Action>, is_error: bool, blocked: bool, news: bool) {
        self.open.retain(|(open, _)| **open != *call_id);
        if blocked {
            return;
        }
        // An edit that fails has changed nothing; of a command that fails that is not known.
        let acted = may_act(action) && !(is_error && action.class == ToolClass::Edit);
        let helped = news && !self.same_again(action, |other| other.hash == action.hash);
        self.push(Ran::Step { action: Arc::clone(action), acted, helped });
    }

    pub fn changed_outside(&mut self) {
        self.push(Ran::Outside);
    }

    /// The run is over, or a person spoke: open calls will never end.
    pub fn settle(&mut self) {
        self.open.clear();
    }

    /// Whether `action` would get the answer that it got last, as far as that can be told. `looping`: whether an action
    /// is part of the loop; what a loop does itself has not helped so far.
    pub fn same_again(&self, action: &Action, looping: impl Fn(&Action) -> bool) -> bool {
        // What is asked for in one message is looked at before any of it runs: an edit and the test of it.
        if self.open.iter().any(|(_, open)| may_act(open) && !looping(open)) {
            return false;
        }
        for ran in self.ran.iter().rev() {
            match ran {
                Ran::Step { action: ran, helped, .. } if ran.hash == action.hash => return !helped,
                Ran::Step { action: other, acted: true, .. } if !looping(other) => return false,
                Ran::Outside => return false,
                Ran::Step { .. } => {}
            }
        }
        false
    }

    fn push(&mut self, ran: Ran) {
        if self.ran.len() >= KEPT {
            self.ran.pop_front();
        }
        self.ran.push_back(ran);
    }
}

/// Changes something, may do so, or lets time pass in which something else does.
fn may_act(action: &Action) -> bool {
    action.class == ToolClass::Edit || action.mutates || action.acts || action.pauses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Arc<Action> {
        Arc::new(Action::new("bash", &serde_json::json!({ "command": line }).to_string()))
    }

    fn run(breaker: &mut Breaker, line: &str) {
        breaker.answered("c", &shell(line), false, false, false);
    }

    fn refuses(breaker: &Breaker, line: &str, looping: &[&str]) -> bool {
        let looping: Vec<u128> = looping.iter().map(|line| shell(line).hash).collect();
        breaker.same_again(&shell(line), |action| looping.contains(&action.hash))
    }

    #[test]
    fn looking_at_other_things_does_not_change_an_answer() {
        let mut breaker = Breaker::default();
        run(&mut breaker, "cat a");
        run(&mut breaker, "ls");
        assert!(refuses(&breaker, "cat a", &["cat a"]));
    }

    #[test]
    fn a_script_an_edit_a_wait_and_a_change_from_outside_may_change_it() {
        for line in ["sh ./make.sh", "npm install", "sleep 5"] {
            let mut breaker = Breaker::default();
            run(&mut breaker, "cat a");
            run(&mut breaker, line);
            assert!(!refuses(&breaker, "cat a", &["cat a"]), "{line}");
            run(&mut breaker, "cat a");
            assert!(refuses(&breaker, "cat a", &["cat a"]), "and it ran since");
        }
        let mut breaker = Breaker::default();
        run(&mut breaker, "cat a");
        breaker.changed_outside();
        assert!(!refuses(&breaker, "cat a", &["cat a"]));
    }

    #[test]
    fn an_edit_that_failed_and_a_call_that_was_refused_change_nothing() {
        let mut breaker = Breaker::default();
        let edit = Arc::new(Action::new("edit", r#"{"path":"a","oldText":"x","newText":"y"}"#));
        run(&mut breaker, "cat a");
        breaker.answered("c", &edit, true, false, true);
        breaker.answered("c", &shell("sh ./make.sh"), true, true, true);
        assert!(refuses(&breaker, "cat a", &["cat a"]));
        breaker.answered("c", &edit, false, false, true);
        assert!(!refuses(&breaker, "cat a", &["cat a"]));
    }

    #[test]
    fn a_call_that_was_helped_may_be_made_again_and_one_that_only_changes_may_not() {
        let mut breaker = Breaker::default();
        run(&mut breaker, "cat a");
        breaker.answered("c", &shell("cat a"), false, false, true);
        assert!(refuses(&breaker, "cat a", &["cat a"]), "nothing was done for it");
        run(&mut breaker, "sh ./make.sh");
        breaker.answered("c", &shell("cat a"), false, false, true);
        assert!(!refuses(&breaker, "cat a", &["cat a"]));
        run(&mut breaker, "cat a");
        assert!(refuses(&breaker, "cat a", &["cat a"]));
    }

    #[test]
    fn what_the_loop_does_itself_does_not_answer_it() {
        let mut breaker = Breaker::default();
        let lap = ["sh ./a.sh", "sh ./b.sh"];
        for line in [lap[0], lap[1], lap[0], lap[1]] {
            run(&mut breaker, line);
        }
        assert!(refuses(&breaker, lap[0], &lap));
        assert!(refuses(&breaker, lap[1], &lap));
    }

    #[test]
    fn a_call_beside_an_edit_in_one_message_is_not_refused() {
        let mut breaker = Breaker::default();
        run(&mut breaker, "cat a");
        breaker.called("1", &Arc::new(Action::new("write", r#"{"path":"a","content":"x"}"#)));
        breaker.called("2", &shell("cat a"));
        assert!(!refuses(&breaker, "cat a", &["cat a"]));
        breaker.settle();
        assert!(refuses(&breaker, "cat a", &["cat a"]));
    }
}
