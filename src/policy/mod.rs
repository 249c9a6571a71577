//! What is done about a verdict: configuration, confidence, cooldown.

pub mod config;
pub mod cooldown;

pub use config::Config;
pub use cooldown::should_alert;
