//! Continuation points of Browse (OPC 10000-4, 7.9): positions from which BrowseNext continues.

use takt_rt::memory_budget::Charge;
use takt_space::Target;
use takt_ua::NodeId;
use takt_ua::binary::Encode;
use takt_ua::enumerations::BrowseDirection;

/// The references and the fields of their descriptions that a client wants.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Selection {
    pub(crate) direction: BrowseDirection,
    /// ReferenceType of the wanted references; null: all.
    pub(crate) reference_type: NodeId,
    pub(crate) include_subtypes: bool,
    /// NodeClasses of the wanted targets; 0: all.
    pub(crate) node_classes: u32,
    pub(crate) result_mask: u32,
}

/// Progress of a Browse of one node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cursor {
    pub(crate) node_id: NodeId,
    pub(crate) selection: Selection,
    /// Maximum number of references in one result.
    pub(crate) max_references: usize,
    /// Number of the node's references that have been visited.
    pub(crate) position: usize,
    /// The last visited reference; it reveals that references before it were deleted.
    pub(crate) last: Option<LastSeen>,
}

impl Cursor {
    /// Returns the approximate memory of the cursor in bytes.
    fn memory(&self) -> usize {
        let last = self.last.iter();
        let ids = last.flat_map(|last| [&last.reference_type, last.target.node_id()]);
        let ids = ids.chain([&self.node_id]);
        size_of::<(u64, Self)>() + ids.map(|id| id.encode_to_vec().len()).sum::<usize>()
    }
}

/// The last reference before the position of a cursor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LastSeen {
    pub(crate) reference_type: NodeId,
    pub(crate) is_forward: bool,
    pub(crate) target: Target,
}

/// The continuation points of one Session.
#[derive(Debug)]
pub(crate) struct ContinuationPoints {
    points: Vec<(u64, Cursor)>,
    capacity: usize,
    last_id: u64,
    charge: Charge,
}

/// Bytes that must be available for another continuation point.
const ROOM: usize = 1024;

/// Bytes of an encoded continuation point, including its length field.
pub(crate) const ENCODED_SIZE: usize = 12;

impl ContinuationPoints {
    pub(crate) fn new(capacity: u16, charge: Charge) -> Self {
        Self {
            points: Vec::new(),
            capacity: usize::from(capacity),
            last_id: 0,
            charge,
        }
    }

    /// Returns true if another continuation point is within the limit and the memory budget.
    pub(crate) fn has_room(&mut self) -> bool {
        let bytes = self.charge.bytes();
        // Only tried: `insert` does not fail any more.
        let has_memory = self.charge.resize(bytes + ROOM).is_ok();
        self.charge.force(bytes);
        self.points.len() < self.capacity && has_memory
    }

    /// Keeps a cursor and returns the name by which the client refers to it.
    pub(crate) fn insert(&mut self, cursor: Cursor) -> [u8; 8] {
        self.last_id += 1;
        // A cursor that exists already is not refused any more.
        self.charge.force(self.charge.bytes() + cursor.memory());
        self.points.push((self.last_id, cursor));
        self.last_id.to_le_bytes()
    }

    /// Takes a cursor out. Each continuation point is used once.
    pub(crate) fn take(&mut self, name: &[u8]) -> Option<Cursor> {
        let id = u64::from_le_bytes(name.try_into().ok()?);
        let index = self.points.iter().position(|(known, _)| *known == id)?;
        let (_, cursor) = self.points.swap_remove(index);
        self.charge.force(self.charge.bytes() - cursor.memory());
        Some(cursor)
    }
}
