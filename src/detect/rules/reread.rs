//! `reread` and `stale_revisits`: looking at what was seen already.
//!
//! Reread: reads of one file that show no line that was not shown before; paging forward always shows new lines, a
//! second sweep none. An edit of the world, a compaction (the model has forgotten) and a person start anew. Stale:
//! for a long row of rounds nothing new was asked or answered, in whatever order.

use super::streak::Streak;
use super::{Context, Found, Happening, Rule};
use crate::detect::lines::Coverage;
use crate::detect::memory::Memory;
use crate::detect::progress::pair;
use crate::detect::round::Step;
use crate::rule;
use crate::setting::{Scope, THRESHOLD};
use crate::text::fast;

rule! {
    /// Reads of one file that show no line that was not shown before (`reread`). *Silent*: paging; reading again after
    /// an edit, a compaction or a person's message. *Limits*: only tools that name a file and a range; `sed -n` and
    /// `cat` are plain commands here.
    ///
    /// So many rounds in a row with no news and no change of the world, in whatever order (`stale_revisits`). *Silent*:
    /// polls.
    evidence {
        REREAD = "reread", rank 170;
        STALE_REVISITS = "stale_revisits", rank 90;
    }
    settings {
        /// Rounds in a row in which nothing new was asked or answered, in whatever order.
        stale_revisits_threshold: u32 = 30, "staleRevisitsThreshold", THRESHOLD, Scope::VERDICT;
        /// Reads of a file that show no line that was not shown before.
        reread_threshold: u32 = 5, "rereadThreshold", THRESHOLD, Scope::VERDICT;
    }
}

/// Files whose coverage is remembered per agent.
const REMEMBERED: usize = 256;

#[derive(Debug, Clone, Default)]
struct File {
    epoch: u64,
    seen: Coverage,
    streak: Streak,
}

#[derive(Debug, Clone)]
pub struct Reread {
    files: Memory<File>,
    /// Added to the epoch: what was shown before counts as unseen.
    forgotten: u64,
    stale: Streak,
}

impl Default for Reread {
    fn default() -> Self {
        Self { files: Memory::new(REMEMBERED), forgotten: 0, stale: Streak::default() }
    }
}

impl Rule for Reread {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found) {
        match what {
            Happening::User | Happening::Compacted { .. } => {
                self.forgotten += 1;
                self.stale.clear();
            }
            Happening::Step { step, fresh: true } if !step.is_error => self.read(step, context, found),
            Happening::Round { .. } => {
                let round = context.round;
                if round.news || round.world {
                    self.stale.clear();
                } else if !round.polls && !round.outage {
                    self.stale.hit(context.now, context);
                    let what = "rounds in a row that bring nothing new,";
                    let threshold = context.settings.reread.stale_revisits_threshold;
                    let report = self.stale.report(threshold, STALE_REVISITS, 8, what, context.now);
                    found.extend(report.map(|mut report| {
                        report.members.extend(&round.actions);
                        report
                    }));
                }
            }
            _ => {}
        }
    }
}

impl Reread {
    fn read(&mut self, step: &Step, context: &Context<'_>, found: &mut Found) {
        let (Some(span), Some(path)) = (step.shown, step.action.path.as_deref()) else { return };
        let path = fast(path.as_bytes());
        let epoch = context.epoch + self.forgotten;
        let file = self.files.entry(path, File::default);
        if file.epoch != epoch {
            *file = File { epoch, ..File::default() };
        }
        if file.seen.add(span) > 0 {
            file.streak.clear();
            return;
        }
        file.streak.hit(step.at, context);
        let what = "one file read without seeing a new line,";
        let report = file.streak.report(context.settings.reread.reread_threshold, REREAD, pair(path, 9), what, step.at);
        found.extend(report.map(|report| report.about(&step.action)));
    }
}

#[cfg(test)]
mod tests {
    use crate::detect::story::Story;

    #[test]
    fn paging_forward_is_reading_and_a_second_sweep_is_told() {
        let mut story = Story::new();
        story.times(20, |story, n| {
            story.reads("big.rs", u64::from(n) * 40 + 1, 40);
        });
        story.is_silent();
        // Other bounds, the same lines.
        story.times(8, |story, n| {
            story.reads("big.rs", u64::from(n) * 60 + 3, 57);
        });
        assert_eq!(story.first("reread"), Some(25), "the fifth read without a new line");
    }

    #[test]
    fn an_edit_or_a_compaction_makes_it_worth_reading_again() {
        let mut story = Story::new();
        story.times(12, |story, n| {
            story.reads("a", u64::from(n) % 3 * 10 + 1, 20);
            if n % 4 == 3 {
                story.edits("b", &n.to_string());
            }
        });
        story.lifecycle("compaction_end").reads("a", 1, 40).reads("a", 5, 20);
        story.is_silent();
    }

    #[test]
    fn thirty_rounds_with_nothing_new_in_any_order_are_stale() {
        // A walk with no period, over commands whose answers are known: nothing else may call it a loop first.
        let config = crate::policy::Config::of(serde_json::json!({
            "repeatThreshold": 0, "cycleThreshold": 0, "llmRepeatThreshold": 0, "emptyResultThreshold": 0,
        }));
        let mut story = Story::with(config);
        let mut seed = 7_u32;
        story.times(60, |story, n| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let which = if n < 10 { n } else { (seed >> 24) % 10 };
            story.bash(&format!("echo {which}"), &which.to_string());
        });
        assert_eq!(story.first("stale_revisits"), Some(40));
    }
}
