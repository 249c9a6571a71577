//! What the store tells of targets to whoever remembers them beyond the process. Only the interface: the store knows no
//! database. Told is what is rare (opened, changed, ended, a notice); what was used is left in atomics, for the taker to
//! look at when it likes, so that no event waits, and none allocates.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::target::{Notice, Target};
use crate::trace::Usage;

/// Takes what is told; must not block and must not call the store.
pub trait Memory: Debug + Send + Sync {
    fn opened(&self, target: &Target, totals: &Arc<Totals>, again: bool);
    fn changed(&self, target: &Target);
    fn ended(&self, target: &Target);
    fn told(&self, target: &Target, notice: &Notice, at: f64);
    /// A person spoke: that answers what was told.
    fn answered(&self, target: &Target, at: f64);
    /// Some totals are not what they were.
    fn used(&self);
}

/// What a target used in this process. A reader may meet the numbers of two moments; the next look sets that right.
#[derive(Debug, Default)]
pub struct Totals {
    cells: [AtomicU64; 8],
}

#[derive(Debug, Default, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Used {
    pub usage: Usage,
    pub tool_calls: f64,
    pub patches: f64,
    /// Milliseconds; the latest sign of the target.
    pub last_active_at: f64,
}

impl Totals {
    pub fn set(&self, used: &Used) {
        let Used { usage, tool_calls, patches, last_active_at } = used;
        let values = [
            usage.input,
            usage.output,
            usage.cache_read,
            usage.cache_write,
            usage.cost_usd,
            *tool_calls,
            *patches,
            *last_active_at,
        ];
        for (cell, value) in self.cells.iter().zip(values) {
            cell.store(value.to_bits(), Ordering::Relaxed);
        }
    }

    pub fn get(&self) -> Used {
        let [input, output, cache_read, cache_write, cost_usd, tool_calls, patches, last_active_at] =
            std::array::from_fn(|index| f64::from_bits(self.cells[index].load(Ordering::Relaxed)));
        let usage = Usage { input, output, cache_read, cache_write, cost_usd };
        Used { usage, tool_calls, patches, last_active_at }
    }
}

/// A target's way to the memory.
#[derive(Debug)]
pub struct Link {
    pub memory: Arc<dyn Memory>,
    pub totals: Arc<Totals>,
}
