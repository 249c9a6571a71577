//! `stream_repetition` and the intervention `stream_loop`: within one message the text goes round. What goes round is found
//! by [`Stream`](crate::detect::stream::Stream), piece by piece.

use super::{Context, Found, Happening, Rule};
use crate::detect::evidence::{Evidence, LoopCost, Report};
use crate::detect::stream::{Repetition, Stream};
use crate::rule;
use crate::setting::{Scope, Shape};
use crate::text::{fast, quoted};

rule! {
    /// Within one streamed message the text goes round, exactly or differing in a counter. Code, tables, lists, JSON, test
    /// names and dotted progress are no chanting.
    evidence {
        STREAM_REPETITION = "stream_repetition", rank 200;
    }
    interventions {
        /// a message goes round while it is written
        STREAM_LOOP = "stream_loop", proposes Steer, audience People,
            state "going round in one message", brief "going round";
    }
    settings {
        /// Whether a message whose text goes round is reported, while it is written.
        stream_repetition: bool = true, "streamRepetition", Shape::Bool, Scope::VERDICT_SWITCH;
    }
}

/// The message that is being written.
#[derive(Debug, Clone, Default)]
pub struct Streamed {
    /// Made when the first piece of a stream comes; it is large, and most agents of a replay have none.
    text: Option<Box<Stream>>,
    reported: bool,
}

impl Rule for Streamed {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found) {
        match what {
            Happening::Chunk { text } if context.settings.stream.stream_repetition => {
                if let Some(chant) = self.text.get_or_insert_with(Box::default).feed(text) {
                    self.reported = true;
                    report(&chant, context.now, found);
                }
            }
            Happening::Chant { chant } => {
                let reported = self.end();
                if !reported && context.settings.stream.stream_repetition {
                    report(chant, context.now, found);
                }
            }
            Happening::User | Happening::Input { .. } | Happening::Notice | Happening::Call => _ = self.end(),
            _ => {}
        }
    }
}

impl Streamed {
    /// The message is over; true when it was reported.
    fn end(&mut self) -> bool {
        if let Some(text) = &mut self.text {
            text.reset();
        }
        std::mem::take(&mut self.reported)
    }
}

fn report(chant: &Repetition, at: f64, found: &mut Found) {
    let Repetition { unit, count, .. } = chant;
    found.intervene(STREAM_LOOP, format!("the message goes round: {} came {count} times", quoted(unit)));
    found.push(Report {
        evidence: Evidence {
            kind: STREAM_REPETITION,
            summary: format!("one message says the same {count} times"),
            count: *count,
            period: 1,
            command: None,
            first_at: at,
            last_at: at,
            trigger: fast(unit.as_bytes()),
        },
        members: Vec::new(),
        distance: 1,
        early: false,
        mild: false,
        cost: LoopCost::default(),
    });
}
