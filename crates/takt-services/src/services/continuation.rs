//! Continuation points of Browse (OPC 10000-4, 7.9): where to go on.

use takt_ua::NodeId;

use super::browse::Selection;

/// A Browse that has come this far.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cursor {
    pub(crate) node_id: NodeId,
    pub(crate) selection: Selection,
    /// Most references in one result.
    pub(crate) max_references: usize,
    /// How many of the node's references have been looked at.
    pub(crate) position: usize,
    /// The last one of them, to notice that others before it were deleted.
    pub(crate) last: Option<LastSeen>,
}

/// The reference before a cursor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LastSeen {
    pub(crate) reference_type: NodeId,
    pub(crate) is_forward: bool,
    pub(crate) target: NodeId,
}

/// The continuation points of one Session.
#[derive(Debug)]
pub(crate) struct ContinuationPoints {
    points: Vec<(u64, Cursor)>,
    capacity: usize,
    last_id: u64,
}

/// Bytes of an encoded continuation point, with its length.
pub(crate) const ENCODED_SIZE: usize = 12;

impl ContinuationPoints {
    pub(crate) fn new(capacity: u16) -> Self {
        Self {
            points: Vec::new(),
            capacity: usize::from(capacity),
            last_id: 0,
        }
    }

    /// Whether there is room for another one.
    pub(crate) fn has_room(&self) -> bool {
        self.points.len() < self.capacity
    }

    /// Keeps a cursor; the result names it to the client.
    pub(crate) fn insert(&mut self, cursor: Cursor) -> [u8; 8] {
        self.last_id += 1;
        self.points.push((self.last_id, cursor));
        self.last_id.to_le_bytes()
    }

    /// Takes a cursor out. Each continuation point serves once.
    pub(crate) fn take(&mut self, name: &[u8]) -> Option<Cursor> {
        let id = u64::from_le_bytes(name.try_into().ok()?);
        let index = self.points.iter().position(|(known, _)| *known == id)?;
        Some(self.points.swap_remove(index).1)
    }
}
