//! What is done about a verdict: configuration, confidence, cooldown.

pub mod config;

pub use config::Config;
