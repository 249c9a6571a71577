//! Work that goes on while the plan stands still: a remark at most, once for each message of the user.

use crate::detect::{Action, Role};
use crate::rule;
use crate::setting::{Scope, THRESHOLD};

rule! {
    /// Plans that stand still.
    interventions {
        /// so many turns of work and the open plan was not updated; once for each message of a person
        PLAN_LAG = "plan_lag", severity Info, proposes Warn, audience MainAgent,
            state "working past its plan", brief "past plan";
    }
    settings {
        /// Turns of work after which a plan (todo list) that was not updated is remarked on, once for each message of the
        /// user.
        plan_lag_turns: u32 = 10, "planLagTurns", THRESHOLD, Scope::REPORT;
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Plan {
    /// There is a plan with something left to do.
    open: bool,
    /// Turns of work since it was written, and the latest of them.
    turns: u32,
    turn: u32,
    /// Remarked on since the user last spoke.
    remarked: bool,
}

impl Plan {
    pub fn person(&mut self) {
        self.remarked = false;
        self.turns = 0;
    }

    /// A call has come back. Gives the turns since the plan was written, when they are worth a remark.
    pub fn done(&mut self, turn: u32, action: &Action, is_error: bool, threshold: u32) -> Option<u32> {
        if let Role::Plans { open } = action.social.role {
            if !is_error {
                self.open = open;
                self.turns = 0;
                self.turn = turn;
            }
            return None;
        }
        if self.turn != turn {
            self.turn = turn;
            self.turns += 1;
        }
        let lags = self.open && threshold > 0 && self.turns >= threshold && !self.remarked;
        self.remarked |= lags;
        lags.then_some(self.turns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [u32; 0] = [];

    fn todo(status: &str) -> Action {
        Action::new("todo_write", &format!(r#"{{"todos":[{{"content":"x","status":"{status}"}}]}}"#))
    }

    fn work(plan: &mut Plan, turns: std::ops::Range<u32>) -> Vec<u32> {
        let edit = Action::new("edit", r#"{"path":"a"}"#);
        turns.filter(|turn| plan.done(*turn, &edit, false, 10).is_some()).collect()
    }

    #[test]
    fn a_plan_that_stands_still_for_ten_turns_is_remarked_on_once_a_user_turn() {
        let mut plan = Plan::default();
        plan.done(1, &todo("in_progress"), false, 10);
        assert_eq!(work(&mut plan, 2..40), [11]);
        plan.person();
        assert_eq!(work(&mut plan, 40..60), [49]);
    }

    #[test]
    fn a_plan_that_moves_or_is_done_is_not() {
        let mut plan = Plan::default();
        for turn in 0..40 {
            plan.done(10 * turn, &todo("pending"), false, 10);
            assert_eq!(work(&mut plan, 10 * turn + 1..10 * turn + 10), NONE);
        }
        plan.done(500, &todo("completed"), false, 10);
        assert_eq!(work(&mut plan, 501..600), NONE);
        assert_eq!(work(&mut Plan::default(), 0..100), NONE, "no plan, no lag");
    }

    #[test]
    fn calls_of_one_turn_count_once() {
        let mut plan = Plan::default();
        plan.done(1, &todo("pending"), false, 10);
        let edit = Action::new("edit", r#"{"path":"a"}"#);
        assert!((0..100).all(|_| plan.done(2, &edit, false, 10).is_none()));
    }
}
