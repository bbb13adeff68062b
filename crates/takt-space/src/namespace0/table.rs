//! Decoding of the table's bytes. No bytes can cause a panic: parts that are out of bounds are absent.

/// Maximum number of supertypes above a type; the standard has fewer than ten. It ends the walk if a damaged table has a cycle.
const MAX_SUPERTYPES: usize = 64;

const MAGIC: &[u8] = b"TKN0";
const VERSION: u32 = 1;
const NODE_SIZE: usize = 36;
const NONE: u32 = u32::MAX;

/// The sections of a table.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    nodes: &'a [u8],
    index: &'a [u8],
    references: &'a [u8],
    reference_types: &'a [u8],
    strings: &'a [u8],
    blobs: &'a [u8],
}

/// A reference: ReferenceType, direction, and position of the other node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) reference_type: u32,
    pub(super) is_forward: bool,
    pub(super) other: u16,
}

impl<'a> Table<'a> {
    /// Finds the sections. Returns `None` if the bytes are not a table of the known layout, or a section is out of bounds.
    pub(super) const fn new(bytes: &'a [u8]) -> Option<Self> {
        let Some((magic, _)) = bytes.split_at_checked(MAGIC.len()) else {
            return None;
        };
        // A constant function cannot compare slices, but it can compare numbers.
        if u32_at(magic, 0) != u32_at(MAGIC, 0)
            || u32_at(bytes, 4) != VERSION
            || u32_at(bytes, 56) as usize != bytes.len()
        {
            return None;
        }
        let (
            Some(nodes),
            Some(index),
            Some(references),
            Some(reference_types),
            Some(strings),
            Some(blobs),
        ) = (
            section(bytes, 8, NODE_SIZE),
            section(bytes, 16, 2),
            section(bytes, 24, 4),
            section(bytes, 32, 4),
            section(bytes, 40, 1),
            section(bytes, 48, 1),
        )
        else {
            return None;
        };
        Some(Self {
            nodes,
            index,
            references,
            reference_types,
            strings,
            blobs,
        })
    }

    /// Returns the number of nodes.
    pub(super) fn len(&self) -> u16 {
        u16::try_from(self.nodes.len() / NODE_SIZE).unwrap_or(u16::MAX)
    }

    /// Returns the position of the node with this identifier.
    #[inline]
    pub(super) fn find(&self, id: u32) -> Option<u16> {
        let entry = usize::try_from(id).ok()?.checked_mul(2)?;
        let position = u16::from_le_bytes(*self.index.get(entry..)?.first_chunk()?);
        // The comparison excludes positions of a damaged table and `u16::MAX`, which stands for no node.
        (position < self.len()).then_some(position)
    }

    #[inline]
    fn node(&self, position: u16) -> &'a [u8] {
        let start = usize::from(position) * NODE_SIZE;
        self.nodes.get(start..start + NODE_SIZE).unwrap_or_default()
    }

    /// Returns a `u32` of a node record; 0 if there is no such node.
    #[inline]
    pub(super) fn u32(&self, position: u16, field: usize) -> u32 {
        u32_at(self.node(position), field)
    }

    /// Returns a `u16` of a node record; 0 if there is no such node.
    #[inline]
    pub(super) fn u16(&self, position: u16, field: usize) -> u16 {
        let bytes = self
            .node(position)
            .get(field..)
            .and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u16::from_le_bytes(*bytes))
    }

    /// Returns a byte of a node record; 0 if there is no such node.
    #[inline]
    pub(super) fn u8(&self, position: u16, field: usize) -> u8 {
        self.node(position).get(field).copied().unwrap_or(0)
    }

    /// Returns the string whose offset is in this field of the node record.
    #[inline]
    pub(super) fn string(&self, position: u16, field: usize) -> Option<&'a str> {
        let start = offset(self.u32(position, field))?;
        let (length, rest) = self.strings.get(start..)?.split_first_chunk()?;
        let bytes = rest.get(..usize::from(u16::from_le_bytes(*length)))?;
        std::str::from_utf8(bytes).ok()
    }

    /// Returns the blob whose offset is in this field of the node record.
    #[inline]
    pub(super) fn blob(&self, position: u16, field: usize) -> Option<&'a [u8]> {
        let start = offset(self.u32(position, field))?;
        let (length, rest) = self.blobs.get(start..)?.split_first_chunk()?;
        rest.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)
    }

    /// Returns the references of a node.
    #[inline]
    pub(super) fn references(self, position: u16) -> impl ExactSizeIterator<Item = Entry> + 'a {
        self.entries(position)
            .map(move |entry| self.entry(u32_at(entry, 0)))
    }

    /// Returns one of the references, by its position.
    pub(super) fn reference(self, position: u16, index: usize) -> Option<Entry> {
        let entry = self.entries(position).nth(index)?;
        Some(self.entry(u32_at(entry, 0)))
    }

    /// Returns the references away from a node: few, while a type has thousands of references from its instances.
    pub(super) fn forward_references(self, position: u16) -> impl Iterator<Item = Entry> + 'a {
        self.entries(position)
            .map(|entry| u32_at(entry, 0))
            .filter(|entry| entry >> 31 == 1)
            .map(move |entry| self.entry(entry))
    }

    fn entries(self, position: u16) -> std::slice::ChunksExact<'a, u8> {
        // Saturating, because the numbers of a damaged table may be of any size: then the node has no references.
        let first = usize::try_from(self.u32(position, 12))
            .unwrap_or(usize::MAX)
            .saturating_mul(4);
        let bytes = usize::from(self.u16(position, 16)) * 4;
        let end = first.saturating_add(bytes);
        self.references
            .get(first..end)
            .unwrap_or_default()
            .chunks_exact(4)
    }

    #[inline]
    fn entry(self, entry: u32) -> Entry {
        Entry {
            reference_type: u32_at(self.reference_types, ((entry >> 16 & 0x7FFF) * 4) as usize),
            is_forward: entry >> 31 == 1,
            other: (entry & 0xFFFF) as u16,
        }
    }

    /// Returns the position of the supertype.
    #[inline]
    pub(super) fn supertype(&self, position: u16) -> Option<u16> {
        let supertype = self.u16(position, 34);
        (supertype < self.len()).then_some(supertype)
    }

    /// Returns true if the type at one position is derived from that at another.
    pub(super) fn is_subtype_of(&self, subtype: u16, supertype: u16) -> bool {
        let ancestors = std::iter::successors(self.supertype(subtype), |position| {
            self.supertype(*position)
        });
        ancestors
            .take(MAX_SUPERTYPES)
            .any(|ancestor| ancestor == supertype)
    }
}

#[inline]
fn offset(value: u32) -> Option<usize> {
    if value == NONE {
        None
    } else {
        usize::try_from(value).ok()
    }
}

/// Returns a little-endian `u32`; 0 if it is out of bounds.
#[inline]
const fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let Some((_, rest)) = bytes.split_at_checked(at) else {
        return 0;
    };
    match rest.first_chunk() {
        Some(value) => u32::from_le_bytes(*value),
        None => 0,
    }
}

/// Returns the section whose count and offset are at this position of the header.
const fn section(bytes: &[u8], field: usize, size: usize) -> Option<&[u8]> {
    let Some(length) = (u32_at(bytes, field) as usize).checked_mul(size) else {
        return None;
    };
    let Some((_, rest)) = bytes.split_at_checked(u32_at(bytes, field + 4) as usize) else {
        return None;
    };
    match rest.split_at_checked(length) {
        Some((section, _)) => Some(section),
        None => None,
    }
}
