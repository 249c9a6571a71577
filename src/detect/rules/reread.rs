//! `reread` and `stale_revisits`: looking at what was seen already.
//!
//! Reread: reads of one file that show no line that was not shown before; paging forward always shows new lines, a
//! second sweep none. An edit of the world, a compaction (the model has forgotten) and a person start anew. Stale:
//! for a long row of rounds nothing new was asked or answered, in whatever order.

use super::streak::Streak;
use super::{Context, Happening, Rule};
use crate::detect::evidence::{EvidenceType, Report};
use crate::detect::lines::Coverage;
use crate::detect::memory::Memory;
use crate::detect::progress::pair;
use crate::detect::round::Step;
use crate::text::fast;

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
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, reports: &mut Vec<Report>) {
        match what {
            Happening::User | Happening::Compacted => {
                self.forgotten += 1;
                self.stale.clear();
            }
            Happening::Step { step, fresh: true } if !step.is_error => self.read(step, context, reports),
            Happening::Round { .. } => {
                let round = context.round;
                if round.news || round.world {
                    self.stale.clear();
                } else if !round.polls && !round.outage {
                    self.stale.hit(context.now, context);
                    let what = "rounds in a row that bring nothing new,";
                    let threshold = context.config.stale_revisits_threshold;
                    let report = self.stale.report(threshold, EvidenceType::StaleRevisits, 8, what, context.now);
                    reports.extend(report.map(|mut report| {
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
    fn read(&mut self, step: &Step, context: &Context<'_>, reports: &mut Vec<Report>) {
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
        let report =
            file.streak.report(context.config.reread_threshold, EvidenceType::Reread, pair(path, 9), what, step.at);
        reports.extend(report.map(|report| report.about(&step.action)));
    }
}
