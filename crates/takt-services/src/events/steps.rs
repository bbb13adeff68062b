//! Bound on the effort of one evaluation of a filter.

/// Steps that an evaluation may still take: characters compared by Like, parts of converted texts.
#[derive(Debug)]
pub(crate) struct Steps {
    left: u32,
    limit: u32,
}

impl Steps {
    pub(crate) fn new(limit: u32) -> Self {
        Self { left: limit, limit }
    }

    /// Takes steps. Returns false if there are not enough; then none are left.
    pub(super) fn take(&mut self, steps: usize) -> bool {
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                true
            }
            None => {
                self.left = 0;
                false
            }
        }
    }

    /// Takes the steps for the work on a text of `length` bytes.
    pub(super) fn take_text(&mut self, length: usize) -> bool {
        self.take(1 + length / 16)
    }

    /// Returns the number of taken steps.
    pub(crate) fn taken(&self) -> u32 {
        self.limit - self.left
    }
}
