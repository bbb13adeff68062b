//! GroupHeader (OPC 10000-14, 7.2.4.4.2).

use takt_ua::binary::{Decoder, Encoder};

use crate::error::{WireEncodeError, WireError, WireErrorKind};
use crate::mark::{Mark, Marker};

const WRITER_GROUP_ID: u8 = 0x01;
const GROUP_VERSION: u8 = 0x02;
const NETWORK_MESSAGE_NUMBER: u8 = 0x04;
const SEQUENCE_NUMBER: u8 = 0x08;

/// Fields of a NetworkMessage that concern its WriterGroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupHeader {
    /// Id of the WriterGroup within the Publisher.
    pub writer_group_id: Option<u16>,
    /// Version of the header and payload layout: a VersionTime, seconds since 2000-01-01.
    pub group_version: Option<u32>,
    /// Number of this NetworkMessage within the publishing interval, from 1.
    pub network_message_number: Option<u16>,
    /// Sequence number of the NetworkMessage, increased by 1 for each message of the WriterGroup.
    pub sequence_number: Option<u16>,
}

impl GroupHeader {
    pub(crate) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, WireError> {
        let offset = decoder.position();
        let flags = decoder.u8()?;
        if flags & 0xF0 != 0 {
            return Err(WireError::new(
                offset,
                WireErrorKind::Reserved {
                    field: "GroupFlags",
                    value: flags.into(),
                },
            ));
        }
        let set = |bit: u8| flags & bit != 0;
        Ok(Self {
            writer_group_id: set(WRITER_GROUP_ID).then(|| decoder.u16()).transpose()?,
            group_version: set(GROUP_VERSION).then(|| decoder.u32()).transpose()?,
            network_message_number: set(NETWORK_MESSAGE_NUMBER)
                .then(|| decoder.u16())
                .transpose()?,
            sequence_number: set(SEQUENCE_NUMBER).then(|| decoder.u16()).transpose()?,
        })
    }

    pub(crate) fn encode(
        &self,
        encoder: &mut Encoder<'_>,
        base: usize,
        marker: Marker<'_>,
    ) -> Result<(), WireEncodeError> {
        let bit = |present: bool, bit: u8| if present { bit } else { 0 };
        encoder.u8(bit(self.writer_group_id.is_some(), WRITER_GROUP_ID)
            | bit(self.group_version.is_some(), GROUP_VERSION)
            | bit(
                self.network_message_number.is_some(),
                NETWORK_MESSAGE_NUMBER,
            )
            | bit(self.sequence_number.is_some(), SEQUENCE_NUMBER))?;
        if let Some(id) = self.writer_group_id {
            encoder.u16(id)?;
        }
        if let Some(version) = self.group_version {
            encoder.u32(version)?;
        }
        if let Some(number) = self.network_message_number {
            marker(Mark::NetworkMessageNumber, encoder.position() - base);
            encoder.u16(number)?;
        }
        if let Some(number) = self.sequence_number {
            marker(Mark::SequenceNumber, encoder.position() - base);
            encoder.u16(number)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_as_the_flags_say() {
        let header = GroupHeader {
            writer_group_id: Some(0x0102),
            group_version: None,
            network_message_number: Some(1),
            sequence_number: Some(0x0304),
        };
        let mut bytes = Vec::new();
        let mut found = Vec::new();
        header
            .encode(
                &mut Encoder::growing(&mut bytes, 100),
                0,
                &mut |mark, offset| found.push((mark, offset)),
            )
            .unwrap();
        assert_eq!(bytes, [0x0D, 2, 1, 1, 0, 4, 3]);
        let expected = [(Mark::NetworkMessageNumber, 3), (Mark::SequenceNumber, 5)];
        assert_eq!(found, expected);
        assert_eq!(GroupHeader::decode(&mut Decoder::new(&bytes)), Ok(header));
    }

    #[test]
    fn reserved_flags_are_refused() {
        let error = GroupHeader::decode(&mut Decoder::new(&[0x11])).unwrap_err();
        assert_eq!(error.offset, 0);
        assert!(matches!(
            error.kind,
            WireErrorKind::Reserved { value: 0x11, .. }
        ));
    }
}
