//! Agents and processes that outlive whoever they worked for.

use crate::rule;

rule! {
    /// Agents and processes without an owner.
    interventions {
        /// a child goes on a second after the user stopped the agent that started it; an agent goes on after it said by a
        /// tool that it is done; a process outlives its owner (the last two propose `kill`)
        ORPHAN = "orphan", proposes Warn, audience MainAgent,
            state "left without an owner", brief "orphan", outlives true;
    }
}
