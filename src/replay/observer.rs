//! What a replay feeds: the detector, or a recorder in tests.

use crate::detect::{Detector, Finding};
use crate::trace::Event;

/// `Clone`, because the branches of a session start from the state that their common part left.
pub trait Observer: Clone {
    type Finding;
    /// Takes the next event and appends what it caused.
    fn observe(&mut self, event: &Event<'_>, found: &mut Vec<Self::Finding>);
    /// The history ends here; what could only be judged with the next event is judged now.
    fn finish(&mut self, _found: &mut Vec<Self::Finding>) {}
}

impl Observer for Detector {
    type Finding = Finding;
    fn observe(&mut self, event: &Event<'_>, found: &mut Vec<Finding>) {
        found.extend(Detector::observe(self, event));
    }
    fn finish(&mut self, found: &mut Vec<Finding>) {
        found.extend(Detector::finish(self));
    }
}
