//! The intervention `denied`: a tool or a program is refused and asked for again. As evidence of a loop it is `errors.rs`.

use super::count::Count;
use super::{Context, Found, Happening, Rule};
use crate::detect::failure::Kind;
use crate::detect::round::Step;
use crate::rule;
use crate::text::{bare, fast};

rule! {
    interventions {
        /// as the rule `denied`
        DENIED = "denied", proposes Warn, audience People,
            state "refused again and again", brief "refused";
    }
}

/// Refusals of one tool or program, with no success of it in between.
#[derive(Debug, Clone, Copy, Default)]
struct Refused {
    who: u128,
    count: Count,
}

impl Refused {
    fn hit(&mut self, who: u128, threshold: u32) -> bool {
        if self.who != who {
            *self = Self { who, count: Count::default() };
        }
        self.count.hit(threshold)
    }

    fn healed(&mut self, who: u128) {
        if self.who == who {
            self.count = Count::default();
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Refusals {
    tool: Refused,
    subject: Refused,
}

impl Rule for Refusals {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found) {
        match what {
            Happening::User => *self = Self::default(),
            Happening::Step { step, .. } if !step.outage => self.step(step, context, found),
            _ => {}
        }
    }
}

impl Refusals {
    fn step(&mut self, step: &Step, context: &Context<'_>, found: &mut Found) {
        let threshold = context.settings.errors.denied_threshold;
        let (tool, subject) = (fast(step.action.tool.as_bytes()), step.action.subject);
        if !step.is_error {
            self.tool.healed(tool);
            self.subject.healed(subject);
        }
        let due = match step.error.map(|failure| failure.kind) {
            Some(Kind::Denied) => {
                let due = self.subject.hit(subject, threshold);
                self.tool.hit(tool, threshold) || due
            }
            // The world of before: what the system refused then may be allowed now.
            Some(Kind::Forbidden) => self.subject.hit(subject, threshold),
            _ => {
                if step.world {
                    self.subject = Refused::default();
                }
                false
            }
        };
        if due {
            let times = self.tool.count.value.max(self.subject.count.value);
            let tool = bare(&step.action.tool);
            found.intervene(DENIED, format!("{tool} was refused {times} times and asked for again"));
        }
    }
}
