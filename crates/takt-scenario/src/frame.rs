//! Sizes of Ethernet frames: the only definition of payload, L2 frame and size on the wire.

/// Bytes that the kernel counts besides the payload: addresses, EtherType and VLAN tag.
const HEADERS: u32 = 14 + 4;
/// Further bytes of a frame on the wire: frame check sequence, preamble with start delimiter, interframe gap.
const WIRE: u32 = 4 + 8 + 12;
/// Least payload in bytes; shorter payloads are padded. A frame that keeps its VLAN tag may be padded as if it had none (IEEE
/// 802.1Q, G.2.1).
const LEAST_PAYLOAD: u32 = 46;
const GREATEST_PAYLOAD: u32 = 1500;

/// The repeated node counts of the paper's Table II.
pub const REPEATED_NODE_COUNTS: [u32; 8] = [2, 4, 8, 16, 32, 64, 128, 160];

/// Error for a payload that does not fit in a frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a payload of {payload} B does not fit in an Ethernet frame, which holds {GREATEST_PAYLOAD} B"
)]
pub struct FrameTooLong {
    /// Length of the payload, in bytes.
    pub payload: u64,
}

/// An Ethernet frame with a VLAN tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    payload: u32,
}

impl Frame {
    /// Bytes of a frame on the wire besides its payload.
    pub(crate) const OVERHEAD: u32 = HEADERS + WIRE;

    /// The longest frame: 1542 B on the wire.
    pub const LONGEST: Self = Self {
        payload: GREATEST_PAYLOAD,
    };

    /// The shortest frame, whose payload is padding: 88 B on the wire.
    pub const SHORTEST: Self = Self { payload: 0 };

    /// Makes the frame of a payload in bytes.
    ///
    /// # Errors
    /// A payload of more than 1500 B.
    pub fn new(payload: u32) -> Result<Self, FrameTooLong> {
        if payload > GREATEST_PAYLOAD {
            return Err(FrameTooLong {
                payload: payload.into(),
            });
        }
        Ok(Self { payload })
    }

    /// Makes the frame of a UADP NetworkMessage of open62541's example publisher with this value of `REPEATED_NODECOUNTS`:
    /// headers of 32 B, and 9 B (a Variant of eight bytes) for each of 1 + count fields.
    ///
    /// # Errors
    /// A message longer than 1500 B.
    pub fn of_repeated_node_count(count: u32) -> Result<Self, FrameTooLong> {
        let payload = 32 + 9 * (1 + u64::from(count));
        Self::new(u32::try_from(payload).unwrap_or(u32::MAX)).map_err(|_| FrameTooLong { payload })
    }

    /// Makes the frame of the same message with a DataSetMessage of each of several DataSetWriters, with so many fields each. A
    /// message of several has their sizes (2 B each) in its PayloadHeader (OPC 10000-14, 7.2.4.5.3); that of one has none.
    ///
    /// # Errors
    /// A message longer than 1500 B.
    pub fn of_writers(fields: &[u32]) -> Result<Self, FrameTooLong> {
        let writers = fields.len() as u64;
        let sizes = if writers > 1 { 2 * writers } else { 0 };
        let values = fields.iter().map(|fields| 9 * u64::from(*fields));
        // Headers and number of DataSetMessages, DataSetWriterIds, sizes; header and number of fields of each DataSetMessage.
        let payload = 16 + 2 * writers + sizes + 14 * writers + values.sum::<u64>();
        Self::new(u32::try_from(payload).unwrap_or(u32::MAX)).map_err(|_| FrameTooLong { payload })
    }

    /// Makes the frame of the same message with so many more bytes.
    ///
    /// # Errors
    /// A message longer than 1500 B.
    pub fn longer(self, bytes: u32) -> Result<Self, FrameTooLong> {
        Self::new(self.payload.saturating_add(bytes))
    }

    /// Returns the bytes of payload, without padding.
    pub fn payload(self) -> u32 {
        self.payload
    }

    /// Returns the bytes of the L2 frame without frame check sequence, which is the kernel's length of the frame.
    pub fn l2(self) -> u32 {
        self.payload + HEADERS
    }

    /// Returns the bytes of the frame on the wire, including padding, frame check sequence, preamble and interframe gap.
    pub fn physical(self) -> u32 {
        self.payload.max(LEAST_PAYLOAD) + HEADERS + WIRE
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn table_ii() {
        let frames =
            REPEATED_NODE_COUNTS.map(|count| Frame::of_repeated_node_count(count).unwrap());
        assert_eq!(
            frames.map(Frame::payload),
            [59, 77, 113, 185, 329, 617, 1193, 1481]
        );
        assert_eq!(
            frames.map(Frame::l2),
            [77, 95, 131, 203, 347, 635, 1211, 1499]
        );
        assert_eq!(
            frames.map(Frame::physical),
            [101, 119, 155, 227, 371, 659, 1235, 1523]
        );
    }

    #[test]
    fn several_writers_have_sizes() {
        let payload = |fields: &[u32]| Frame::of_writers(fields).unwrap().payload();
        for fields in [1, 3, 162] {
            let of_one = Frame::of_repeated_node_count(fields - 1).unwrap();
            assert_eq!(payload(&[fields]), of_one.payload());
        }
        assert_eq!(payload(&[8, 3]), 16 + 2 * 18 + 9 * 11);
        assert!(Frame::of_writers(&[u32::MAX; 9]).is_err());
        let longest = Frame::LONGEST;
        assert_eq!(longest.longer(1), Err(FrameTooLong { payload: 1501 }));
        assert_eq!(Frame::new(100).unwrap().longer(46).unwrap().payload(), 146);
    }

    #[test]
    fn shortest_and_longest() {
        assert_eq!(Frame::new(1).unwrap().physical(), 88);
        assert_eq!(Frame::LONGEST.physical(), 1542);
        assert_eq!(Frame::of_repeated_node_count(162).unwrap().payload(), 1499);
        assert_eq!(
            Frame::of_repeated_node_count(163),
            Err(FrameTooLong { payload: 1508 })
        );
        assert_eq!(
            Frame::of_repeated_node_count(u32::MAX),
            Err(FrameTooLong {
                payload: 32 + 9 * (1 << 32)
            })
        );
    }
}
