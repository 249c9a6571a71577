//! The intervention `provider_failure`: the provider, or a service that tools ask, is down.

use super::count::Count;
use super::{Context, Found, Happening, Rule};
use crate::rule;

rule! {
    interventions {
        /// three calls in a row met an outage, or the provider failed five requests in a row
        PROVIDER_FAILURE = "provider_failure", proposes Warn, audience People,
            state "failed by its provider", brief "provider";
    }
}

/// Calls that an outage answered, one after another.
const OUTAGES: u32 = 3;
/// Requests that the provider failed, one after another; Pi itself retries three times.
const RETRIES: u32 = 5;

#[derive(Debug, Clone, Default)]
pub struct Provider {
    outages: Count,
    retries: Count,
}

impl Rule for Provider {
    fn observe(&mut self, what: Happening<'_>, _: &Context<'_>, found: &mut Found) {
        match what {
            Happening::User => *self = Self::default(),
            // A message came through.
            Happening::Message { .. } | Happening::Call => self.retries = Count::default(),
            Happening::Retry => {
                let due = self.retries.hit(RETRIES);
                if due {
                    let reason = format!("the provider failed {} requests in a row", self.retries.value);
                    found.intervene(PROVIDER_FAILURE, reason);
                }
            }
            Happening::Step { step, .. } => {
                if !step.outage {
                    self.outages = Count::default();
                } else if self.outages.hit(OUTAGES) {
                    let reason = format!("{} calls in a row met an outage of a service", self.outages.value);
                    found.intervene(PROVIDER_FAILURE, reason);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::detect::story::Story;

    #[test]
    fn outages_are_reported_as_such_and_never_as_a_loop() {
        let mut story = Story::new();
        story.times(6, |story, _| {
            story.fails("web_fetch", json!({ "url": "https://x" }), "HTTP 503 Service Unavailable");
        });
        let rules: Vec<&str> = story.found.iter().map(|(_, rule, _)| *rule).collect();
        assert_eq!(rules, ["intervention:provider_failure"; 2], "at the third and at the sixth");
        let mut story = Story::new();
        story.times(5, |story, _| {
            story.lifecycle("auto_retry_start");
        });
        assert_eq!(story.first("intervention:provider_failure"), Some(0));
    }
}
