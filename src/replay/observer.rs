//! What a replay feeds: the detector, or a recorder in tests.

use crate::detect::{Finding, Gist};
use crate::detector::Detector;
use crate::trace::Event;

/// `Clone`, because the branches of a session start from the state that their common part left.
pub trait Observer: Clone {
    type Finding;
    /// What is kept of an event's texts.
    type Gist: Send;

    /// Reads the texts of an event. Needs no history, so that many events can be read at once.
    fn gist(event: &Event<'_>) -> Self::Gist;

    /// Takes the next event, whose texts may be gone, and appends what it caused.
    fn observe(&mut self, event: &Event<'_>, gist: Self::Gist, found: &mut Vec<Self::Finding>);
    /// The history ends here; what could only be judged with the next event is judged now.
    fn finish(&mut self, _found: &mut Vec<Self::Finding>) {}
}

impl Observer for Detector {
    type Finding = Finding;
    type Gist = Gist;

    fn gist(event: &Event<'_>) -> Gist {
        Gist::of(&event.kind)
    }

    fn observe(&mut self, event: &Event<'_>, gist: Gist, found: &mut Vec<Finding>) {
        found.extend(self.observe_gist(event, gist));
    }
    fn finish(&mut self, found: &mut Vec<Finding>) {
        found.extend(Detector::finish(self));
    }
}
