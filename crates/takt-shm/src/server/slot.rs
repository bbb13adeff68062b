//! Places for connections.

/// Place for a connection. Its number is used again, its generation is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) index: u16,
    pub(super) generation: u32,
}

impl Slot {
    /// Returns the place in the map of attention.
    pub(super) fn number(self) -> u32 {
        self.index.into()
    }
}
