//! The native core of `pi-watchdog-supervisor`: watches what coding agents do and says when one is stuck.
//!
//! Floors, bottom up, nothing imports upward:
//!
//! - [`process`]: processes of this machine: start, owner, ancestors
//! - [`setting`], [`kinds`]: what a configuration key is, and the kinds of findings; types only
//! - [`text`]: strings in, strings and hashes out (ANSI, noise, digests, previews)
//! - [`shell`]: shell lines in commands, what programs are for, what git does to unsaved work
//! - [`trace`]: the event model, and Pi session files read into it
//! - [`detect`]: the incremental engine, its rules and incidents
//! - [`lifecycle`]: what concerns several agents, time and money: clocks, budgets, conflicts, waits
//! - [`catalog`]: all rules and kinds, by name
//! - [`policy`]: configuration, confidence, cooldown
//! - [`detector`]: the rules and the lifecycle of all agents of a trace
//! - [`store`]: targets and rings, one per process
//! - [`replay`]: recorded sessions and traces, run through the engine; opens files
//! - [`history`]: what outlives the process, in a database; has a thread and a clock
//! - `node`: the N-API binding, the only module that knows Node (feature `node`)
//!
//! Below [`replay`] the core has no clock, no file system and no Pi: time and what happened are arguments.

pub mod catalog;
pub mod detect;
pub mod detector;
pub mod history;
pub mod kinds;
pub mod lifecycle;
pub mod policy;
pub mod process;
pub mod replay;
pub mod setting;
pub mod shell;
pub mod store;
pub mod text;
pub mod trace;

#[cfg(feature = "node")]
mod node;
