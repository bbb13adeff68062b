//! Ethernet II frames with an 802.1Q tag (OPC 10000-14, 7.3.3; IEEE 802.1Q). All numbers are big-endian.
//!
//! ```text
//! | destination 6 | source 6 | [ 0x8100, tag 2 ] | EtherType 2 | NetworkMessage, up to 1500 | [ padding ] |
//! tag: PCP 3 bits, DEI 1 bit, VID 12 bits
//! ```

use crate::address::{MacAddress, VlanTag};

/// EtherType of UADP NetworkMessages (OPC 10000-14, 7.3.3).
pub const ETHERTYPE: u16 = 0xB62C;
/// EtherType of an 802.1Q tag.
pub(crate) const TAG_PROTOCOL: u16 = 0x8100;
/// Length of the longest NetworkMessage, in bytes: a frame is at most 1522 bytes long, with tag and check sequence (OPC 10000-14,
/// 7.3.3).
pub(crate) const MAX_PAYLOAD: usize = 1500;
/// Length of a header with a tag, in bytes.
pub(crate) const MAX_HEADER: usize = 18;

/// Header of sent frames, with or without a tag.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    bytes: [u8; MAX_HEADER],
    length: usize,
}

impl Header {
    pub(crate) fn new(destination: MacAddress, source: MacAddress, vlan: Option<VlanTag>) -> Self {
        let mut bytes = [0; MAX_HEADER];
        let mut length = 0;
        let mut put = |part: &[u8]| {
            bytes[length..length + part.len()].copy_from_slice(part);
            length += part.len();
        };
        put(&destination.0);
        put(&source.0);
        if let Some(vlan) = vlan {
            put(&TAG_PROTOCOL.to_be_bytes());
            put(&vlan.control_information().to_be_bytes());
        }
        put(&ETHERTYPE.to_be_bytes());
        Self { bytes, length }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl VlanTag {
    /// Returns the second half of the tag: PCP and VID; DEI is 0.
    fn control_information(self) -> u16 {
        (u16::from(self.priority & 7) << 13) | (self.id & 0xFFF)
    }

    pub(crate) fn from_control_information(number: u16) -> Self {
        Self {
            id: number & 0xFFF,
            priority: (number >> 13) as u8,
        }
    }
}

/// Received frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) destination: MacAddress,
    pub(crate) source: MacAddress,
    pub(crate) vlan: Option<VlanTag>,
    pub(crate) payload: &'a mut [u8],
}

impl<'a> Frame<'a> {
    /// Reads a frame; `None` if it is too short or has another EtherType. `vlan` is the tag that the kernel has taken out of it.
    pub(crate) fn parse(bytes: &'a mut [u8], mut vlan: Option<VlanTag>) -> Option<Self> {
        let (&mut destination, rest) = bytes.split_first_chunk_mut::<6>()?;
        let (&mut source, rest) = rest.split_first_chunk_mut::<6>()?;
        let (&mut kind, mut rest) = rest.split_first_chunk_mut::<2>()?;
        let mut kind = u16::from_be_bytes(kind);
        // A second tag, behind the one that the kernel took out, makes this a frame of another kind.
        if kind == TAG_PROTOCOL && vlan.is_none() {
            let (&mut tag, after) = rest.split_first_chunk_mut::<2>()?;
            vlan = Some(VlanTag::from_control_information(u16::from_be_bytes(tag)));
            let (&mut inner, after) = after.split_first_chunk_mut::<2>()?;
            kind = u16::from_be_bytes(inner);
            rest = after;
        }
        (kind == ETHERTYPE).then_some(Self {
            destination: MacAddress(destination),
            source: MacAddress(source),
            vlan,
            payload: rest,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const TO: MacAddress = MacAddress([1, 0, 0x5E, 0, 0, 1]);
    const FROM: MacAddress = MacAddress([2, 0, 0, 0, 0, 7]);
    const TAG: VlanTag = VlanTag { id: 5, priority: 6 };

    #[test]
    fn a_header_without_a_tag() {
        let header = Header::new(TO, FROM, None);
        let expected = [1, 0, 0x5E, 0, 0, 1, 2, 0, 0, 0, 0, 7, 0xB6, 0x2C];
        assert_eq!(header.as_bytes(), expected);
    }

    #[test]
    fn a_header_with_a_tag() {
        let header = Header::new(TO, FROM, Some(TAG));
        assert_eq!(header.as_bytes()[12..], [0x81, 0, 0xC0, 5, 0xB6, 0x2C]);
    }

    #[test]
    fn a_written_header_is_read_back() {
        for vlan in [
            None,
            Some(TAG),
            Some(VlanTag {
                id: 4094,
                priority: 7,
            }),
        ] {
            let mut bytes = Header::new(TO, FROM, vlan).as_bytes().to_vec();
            bytes.extend([7, 8, 9]);
            let frame = Frame::parse(&mut bytes, None).unwrap();
            assert_eq!(
                (frame.destination, frame.source, frame.vlan),
                (TO, FROM, vlan)
            );
            assert_eq!(frame.payload, [7, 8, 9]);
        }
    }

    #[test]
    fn a_tag_that_the_kernel_took_out() {
        let mut bytes = Header::new(TO, FROM, None).as_bytes().to_vec();
        assert_eq!(Frame::parse(&mut bytes, Some(TAG)).unwrap().vlan, Some(TAG));
    }

    #[test]
    fn other_and_short_frames_are_none() {
        let whole = Header::new(TO, FROM, Some(TAG)).as_bytes().to_vec();
        for length in 0..whole.len() {
            assert_eq!(Frame::parse(&mut whole[..length].to_vec(), None), None);
        }
        let mut other = whole;
        other[17] = 0;
        assert_eq!(Frame::parse(&mut other, None), None);
    }
}
