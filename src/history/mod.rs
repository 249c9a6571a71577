//! What outlives the process: a database (`SQLite`) of sessions, their runs and their incidents.
//!
//! [`Writer`] takes what the store tells ([`crate::store::Memory`]) through a bounded channel and writes it in batches on
//! a thread of its own; [`read`] and [`orphans`] answer questions about what is written. Several processes write one
//! database: every row belongs to one session, and usage to one process of it, so that writers never merge.
//!
//! Times are milliseconds since the epoch. A problem of the database is data ([`Problem`]), said once, and costs the
//! history only.

mod apply;
mod change;
mod database;
pub mod orphans;
mod owner;
mod problem;
pub mod read;
mod retention;
mod schema;
mod spool;
#[cfg(test)]
mod tests;
mod writer;

pub use owner::Host;
pub use problem::Problem;
pub use retention::Limits;
pub use writer::{State, Status, Writer};
