//! Watch over the lengths of messages: texts and arrays often keep theirs, and a fixed layout then saves most of the work.

/// Number of messages of equal length, one after the other, after which a fixed layout is looked for.
const ENOUGH: u8 = 3;

/// Length of the last message, and the number of messages that had it, one after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct EqualLengths {
    length: usize,
    count: u8,
}

impl EqualLengths {
    /// Notes a message of the general encoder or decoder; returns true if enough of them had this length.
    pub(crate) fn note(&mut self, length: usize) -> bool {
        self.count = match length == self.length {
            true => self.count.saturating_add(1),
            false => 1,
        };
        self.length = length;
        self.count >= ENOUGH
    }

    /// Begins to count anew.
    pub(crate) fn reset(&mut self) {
        self.count = 0;
    }
}
