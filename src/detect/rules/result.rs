//! The intervention `empty_result`, of an agent's own run: it ends with nothing, or claims work that no tool did. That a
//! child that failed is called completed is found in [`crate::lifecycle`].

use super::{Context, Found, Happening, Rule};
use crate::detect::speech::Speech;
use crate::rule;

rule! {
    interventions {
        /// a run ends with an empty answer, or with the claim of work for which no tool was called
        EMPTY_RESULT = "empty_result", proposes Steer, audience People,
            state "without a result", brief "no result", outlives true;
    }
}

#[derive(Debug, Clone, Default)]
pub struct RunResult {
    /// Tool calls of the whole run.
    calls: u32,
    /// The latest finished message: whether it was empty, and what it said.
    last: Option<(bool, Speech)>,
}

impl Rule for RunResult {
    fn observe(&mut self, what: Happening<'_>, _: &Context<'_>, found: &mut Found) {
        match what {
            Happening::User => self.last = None,
            Happening::Message { empty, speech, .. } => self.last = Some((empty, speech)),
            Happening::Call => *self = Self { calls: self.calls.saturating_add(1), last: None },
            Happening::RunEnded => match self.last.take() {
                Some((true, _)) => found.intervene(EMPTY_RESULT, "the run ended with an empty answer".to_owned()),
                Some((_, Speech { claims: true, .. })) if self.calls == 0 => {
                    let reason = "the answer says that work was done, and no tool was called";
                    found.intervene(EMPTY_RESULT, reason.to_owned());
                }
                _ => {}
            },
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::detect::story::Story;

    #[test]
    fn a_run_that_ends_with_nothing_is_reported() {
        let mut story = Story::new();
        story.bash("make", "ok").says("").lifecycle("agent_end");
        assert_eq!(story.first("intervention:empty_result"), Some(2));
        let mut story = Story::new();
        story.says("I have created both agents and verified them.").lifecycle("agent_end");
        assert_eq!(story.first("intervention:empty_result"), Some(1));
        let mut story = Story::new();
        story.bash("make", "ok").says("I have built it.").lifecycle("agent_end");
        story.is_silent();
    }
}
