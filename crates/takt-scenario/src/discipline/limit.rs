//! Capacity of a queue.

use crate::document::Table;
use crate::quantity::Size;

/// Capacity of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// Number of frames.
    Frames(u64),
    /// Number of bytes of L2 frames, by the kernel's length.
    Bytes(Size),
}

impl Default for Limit {
    /// Returns Linux's `txqueuelen`.
    fn default() -> Self {
        Self::Frames(1000)
    }
}

impl Limit {
    /// Reads the field `limit` of a class.
    pub(super) fn read(table: &Table) -> Self {
        let size = || table.quantity::<Size>("limit").map(Self::Bytes);
        let frames = table.integer("limit").map(Self::Frames);
        frames.or_else(size).unwrap_or_default()
    }
}
