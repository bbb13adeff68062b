//! Locations of cells, which processes exchange.

use crate::Shape;

/// Version of the layout of the cells that [`CellLocation`] describes; the only supported one.
const VERSION: u16 = 2;

/// Bit 0 of the flags: see [`CellLocation::is_cached`].
const CACHED: u16 = 1;

/// Location of a cell of another process, and the values that it accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellLocation {
    /// Index of the segment in its process, from 0.
    pub segment: u32,
    /// Offset of the cell in the segment, in bytes.
    pub(crate) offset: u32,
    pub(crate) slot_words: u32,
    pub(crate) capacity: u32,
    pub(crate) shape: Shape,
    pub(crate) cached: bool,
    pub(crate) identity: u64,
}

impl CellLocation {
    /// Length of the encoding in bytes.
    pub const LENGTH: usize = 30;

    /// Encodes the location: the version of the layout u16, flags u16, then the numbers in the order of the fields,
    /// little-endian, the shape in two bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LENGTH] {
        let flags = if self.cached { CACHED } else { 0 };
        let mut bytes = [0; Self::LENGTH];
        let fields = VERSION
            .to_le_bytes()
            .into_iter()
            .chain(flags.to_le_bytes())
            .chain(self.segment.to_le_bytes())
            .chain(self.offset.to_le_bytes())
            .chain(self.slot_words.to_le_bytes())
            .chain(self.capacity.to_le_bytes())
            .chain(self.shape.to_bytes())
            .chain(self.identity.to_le_bytes());
        for (target, byte) in bytes.iter_mut().zip(fields) {
            *target = byte;
        }
        bytes
    }

    /// Decodes a location; `None` if there are too few bytes, or the layout is not supported.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first_chunk()?;
        let (flags, rest) = rest.split_first_chunk()?;
        let (segment, rest) = rest.split_first_chunk()?;
        let (offset, rest) = rest.split_first_chunk()?;
        let (slot_words, rest) = rest.split_first_chunk()?;
        let (capacity, rest) = rest.split_first_chunk()?;
        let (shape, rest) = rest.split_first_chunk()?;
        let (identity, _) = rest.split_first_chunk()?;
        let flags = u16::from_le_bytes(*flags);
        // An unknown flag may decide whether the value is usable.
        if u16::from_le_bytes(*version) != VERSION || flags & !CACHED != 0 {
            return None;
        }
        Some(Self {
            segment: u32::from_le_bytes(*segment),
            offset: u32::from_le_bytes(*offset),
            slot_words: u32::from_le_bytes(*slot_words),
            capacity: u32::from_le_bytes(*capacity),
            shape: Shape::from_bytes(*shape),
            cached: flags & CACHED != 0,
            identity: u64::from_le_bytes(*identity),
        })
    }

    /// Returns whether its values come from a cache, and have a server timestamp from which their age follows.
    #[must_use]
    pub fn is_cached(&self) -> bool {
        self.cached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCATION: CellLocation = CellLocation {
        segment: 1,
        offset: 64,
        slot_words: 8,
        capacity: 9,
        shape: Shape::ANY,
        cached: true,
        identity: 7,
    };

    #[test]
    fn a_location_survives_encoding() {
        for cached in [false, true] {
            let location = CellLocation { cached, ..LOCATION };
            let mut bytes = location.to_bytes().to_vec();
            assert_eq!(CellLocation::parse(&bytes), Some(location));
            bytes.push(0);
            assert_eq!(
                CellLocation::parse(&bytes),
                Some(location),
                "later ones may be longer"
            );
        }
    }

    #[test]
    fn unknown_layouts_are_refused() {
        let bytes = LOCATION.to_bytes();
        assert_eq!(
            CellLocation::parse(&bytes[..CellLocation::LENGTH - 1]),
            None
        );
        for byte in 0..4 {
            let mut other = bytes;
            other[byte] ^= 0x80;
            assert_eq!(CellLocation::parse(&other), None, "byte {byte}");
        }
    }
}
