//! The intervention `compaction_loop`: the context is compacted again and again, and nothing new comes of it.

use super::count::Count;
use super::{Context, Found, Happening, Rule};
use crate::rule;
use crate::setting::{Scope, THRESHOLD};

rule! {
    interventions {
        /// so many compactions (`compactionLoopThreshold`) with nothing new between them
        COMPACTION_LOOP = "compaction_loop", proposes Restart, audience People,
            state "compacting again and again", brief "compacting";
    }
    settings {
        /// Compactions of the context with nothing new between them.
        compaction_loop_threshold: u32 = 2, "compactionLoopThreshold", THRESHOLD, Scope::VERDICT;
    }
}

#[derive(Debug, Clone, Default)]
pub struct Compactions {
    count: Count,
}

impl Rule for Compactions {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found) {
        match what {
            Happening::User => self.count = Count::default(),
            Happening::Step { step, .. } if !step.outage && (step.news || step.world) => self.count = Count::default(),
            // A person who compacts knows why.
            Happening::Compacted { by_person: false } => {
                let due = self.count.hit(context.settings.compaction.compaction_loop_threshold);
                if due {
                    let reason = format!("{} compactions with nothing new between them", self.count.value);
                    found.intervene(COMPACTION_LOOP, reason);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::detect::story::Story;

    #[test]
    fn compactions_with_nothing_new_between_are_reported_and_a_person_may_compact_as_they_like() {
        let mut story = Story::new();
        story.bash("cat a", "text").lifecycle("compaction_end").bash("cat a", "text").lifecycle("compaction_end");
        assert_eq!(story.first("intervention:compaction_loop"), Some(2));
        let mut story = Story::new();
        story.times(5, |story, n| {
            story.lifecycle("compaction_end").bash(&format!("cat f{n}"), &format!("text {n}"));
        });
        story.is_silent();
        let mut story = Story::new();
        story.times(5, |story, _| {
            story.lifecycle_with("compaction_end", r#"{"reason":"manual"}"#);
        });
        story.is_silent();
    }
}
