//! Agents that start agents: how deep, and for what.

use crate::rule;
use crate::setting::{Scope, Shape};

rule! {
    /// Nesting.
    interventions {
        /// nesting deeper than the limit; the very task of an agent above; the same task given a third time after it had
        /// been done
        SPAWN_DEPTH = "spawn_depth", proposes Skip, audience MainAgent,
            state "nested too deep", brief "too deep",
            itself ["Do the work where it is instead of starting another agent for it."],
            others ["Do the work where it is instead of starting another agent for it."];
    }
    settings {
        /// Levels of sub-agents below a main session. 0: off.
        max_spawn_depth: u32 = 5, "maxSpawnDepth", Shape::Integer { min: 0, max: 100 }, Scope::REPORT;
    }
}
