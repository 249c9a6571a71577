//! What rules of interventions count with.

/// A count that is due at a threshold and at every doubling.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count {
    pub value: u32,
    reported: u32,
}

impl Count {
    /// Counts one more; whether it is due.
    pub fn hit(&mut self, threshold: u32) -> bool {
        self.value += 1;
        let due = threshold > 0 && self.value >= threshold.max(self.reported * 2);
        if due {
            self.reported = self.value;
        }
        due
    }
}
