//! Header layouts by name (OPC 10000-14, Annex A.2).

use takt_ua::enumerations::{
    DataSetFieldContentMask, UadpDataSetMessageContentMask, UadpNetworkMessageContentMask,
};

use crate::data_set_message::{DataSetContentRef, DataSetMessageRef, FieldsRef};
use crate::network_message::NetworkMessageRef;
use crate::network_message_type::NetworkMessageType;
use crate::publisher_id::PublisherIdRef;

/// A named set of header fields: the HeaderLayoutUri of WriterGroups and DataSetReaders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeaderLayout {
    /// Layout for periodic data with a fixed layout: RawData key frames without a PayloadHeader (OPC 10000-14,
    /// A.2.1).
    UadpPeriodicFixed,
    /// Layout for data of any kind: with DataSetWriterIds, timestamps and versions (OPC 10000-14, A.2.2).
    UadpDynamic,
}

/// Error of a message that does not have the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the layout {layout:?}: {what}")]
pub struct HeaderLayoutViolation {
    /// Expected layout.
    pub layout: HeaderLayout,
    /// Difference of the message.
    pub what: &'static str,
}

impl HeaderLayout {
    /// Returns the HeaderLayoutUri.
    pub const fn uri(self) -> &'static str {
        match self {
            Self::UadpPeriodicFixed => {
                "http://opcfoundation.org/UA/PubSub-Layouts/UADP-Periodic-Fixed"
            }
            Self::UadpDynamic => "http://opcfoundation.org/UA/PubSub-Layouts/UADP-Dynamic",
        }
    }

    /// Returns the layout with this URI.
    pub fn from_uri(uri: &str) -> Option<Self> {
        [Self::UadpPeriodicFixed, Self::UadpDynamic]
            .into_iter()
            .find(|layout| layout.uri() == uri)
    }

    /// Returns the UadpNetworkMessageContentMask of the WriterGroup (Tables A.2 and A.8).
    pub const fn network_message_content_mask(self) -> u32 {
        use UadpNetworkMessageContentMask as Mask;
        match self {
            Self::UadpPeriodicFixed => {
                Mask::PublisherId
                    | Mask::GroupHeader
                    | Mask::WriterGroupId
                    | Mask::GroupVersion
                    | Mask::NetworkMessageNumber
                    | Mask::SequenceNumber
            }
            Self::UadpDynamic => Mask::PublisherId | Mask::PayloadHeader,
        }
    }

    /// Returns the UadpDataSetMessageContentMask of the DataSetWriters (Tables A.6 and A.12).
    pub const fn data_set_message_content_mask(self) -> u32 {
        use UadpDataSetMessageContentMask as Mask;
        match self {
            Self::UadpPeriodicFixed => Mask::Status | Mask::SequenceNumber,
            Self::UadpDynamic => {
                Mask::Timestamp | Mask::Status | Mask::MinorVersion | Mask::SequenceNumber
            }
        }
    }

    /// Returns the DataSetFieldContentMask of the DataSetWriters, if the layout requires one.
    pub const fn data_set_field_content_mask(self) -> Option<u32> {
        match self {
            Self::UadpPeriodicFixed => Some(DataSetFieldContentMask::RawData),
            Self::UadpDynamic => None,
        }
    }

    /// Checks that the headers of a message are those of the layout, with or without security.
    pub fn check(self, message: &NetworkMessageRef<'_>) -> Result<(), HeaderLayoutViolation> {
        // A missing PublisherId is reported with the other fields.
        let typed = match (self, message.publisher_id) {
            (Self::UadpPeriodicFixed, id) => {
                matches!(
                    id,
                    None | Some(PublisherIdRef::UInt16(_) | PublisherIdRef::UInt64(_))
                )
            }
            (Self::UadpDynamic, id) => matches!(id, None | Some(PublisherIdRef::UInt64(_))),
        };
        let what = if message.network_message_type != NetworkMessageType::DataSetMessage {
            "a discovery message"
        } else if message.action_header.is_some() {
            "Actions"
        } else if message.content_mask() != self.network_message_content_mask() {
            "other fields in the NetworkMessage header"
        } else if !typed {
            "another type of PublisherId"
        } else {
            return Ok(());
        };
        Err(HeaderLayoutViolation { layout: self, what })
    }

    /// Checks that the header of a DataSetMessage is that of the layout. An invalid DataSetMessage fits every layout.
    pub fn check_data_set_message(
        self,
        message: &DataSetMessageRef<'_>,
    ) -> Result<(), HeaderLayoutViolation> {
        let raw_key_frame = matches!(
            message.content,
            DataSetContentRef::KeyFrame(FieldsRef::RawData(_))
        );
        let what = if message.content == DataSetContentRef::Invalid {
            return Ok(());
        } else if message.content_mask() != self.data_set_message_content_mask() {
            "other fields in the DataSetMessage header"
        } else if self == Self::UadpPeriodicFixed && !raw_key_frame {
            "not a key frame with RawData"
        } else {
            return Ok(());
        };
        Err(HeaderLayoutViolation { layout: self, what })
    }
}

fn mask(bits: &[(bool, u32)]) -> u32 {
    bits.iter()
        .filter(|(present, _)| *present)
        .fold(0, |mask, (_, bit)| mask | bit)
}

impl NetworkMessageRef<'_> {
    /// Returns the header fields of the message as a UadpNetworkMessageContentMask (OPC 10000-14, 6.3.1.1.4).
    pub fn content_mask(&self) -> u32 {
        use UadpNetworkMessageContentMask as Mask;
        let group = self.group_header.unwrap_or_default();
        mask(&[
            (self.publisher_id.is_some(), Mask::PublisherId),
            (self.group_header.is_some(), Mask::GroupHeader),
            (group.writer_group_id.is_some(), Mask::WriterGroupId),
            (group.group_version.is_some(), Mask::GroupVersion),
            (
                group.network_message_number.is_some(),
                Mask::NetworkMessageNumber,
            ),
            (group.sequence_number.is_some(), Mask::SequenceNumber),
            (
                self.data_set_writer_ids().next().is_some(),
                Mask::PayloadHeader,
            ),
            (self.timestamp.is_some(), Mask::Timestamp),
            (self.pico_seconds.is_some(), Mask::PicoSeconds),
            (self.data_set_class_id.is_some(), Mask::DataSetClassId),
            (self.promoted_fields.is_some(), Mask::PromotedFields),
        ])
    }
}

impl DataSetMessageRef<'_> {
    /// Returns the header fields of the message as a UadpDataSetMessageContentMask (OPC 10000-14, 6.3.1.3.2).
    pub fn content_mask(&self) -> u32 {
        use UadpDataSetMessageContentMask as Mask;
        mask(&[
            (self.timestamp.is_some(), Mask::Timestamp),
            (self.pico_seconds.is_some(), Mask::PicoSeconds),
            (self.status.is_some(), Mask::Status),
            (self.major_version.is_some(), Mask::MajorVersion),
            (self.minor_version.is_some(), Mask::MinorVersion),
            (self.sequence_number.is_some(), Mask::SequenceNumber),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network_message::{PayloadParameters, PayloadRef};

    #[test]
    fn masks_are_those_of_annex_a() {
        let fixed = HeaderLayout::UadpPeriodicFixed;
        assert_eq!(fixed.network_message_content_mask(), 0x3F);
        assert_eq!(fixed.data_set_message_content_mask(), 0x24);
        assert_eq!(fixed.data_set_field_content_mask(), Some(0x20));
        let dynamic = HeaderLayout::UadpDynamic;
        assert_eq!(dynamic.network_message_content_mask(), 0x41);
        assert_eq!(dynamic.data_set_message_content_mask(), 0x35);
        assert_eq!(HeaderLayout::from_uri(dynamic.uri()), Some(dynamic));
        assert_eq!(HeaderLayout::from_uri("x"), None);
    }

    #[test]
    fn a_message_of_table_a_1_is_known() {
        // UInt16 PublisherId 5, WriterGroupId 1, GroupVersion 2, NetworkMessageNumber 1, SequenceNumber 9; then
        // RawData, DataSetMessageSequenceNumber 9, Status Good, and a Byte.
        let bytes = [
            0xB1, 0x01, 5, 0, 0x0F, 1, 0, 2, 0, 0, 0, 1, 0, 9, 0, 0x1B, 9, 0, 0, 0, 7,
        ];
        let message = NetworkMessageRef::new_checked(&bytes).unwrap();
        let layout = HeaderLayout::UadpPeriodicFixed;
        assert_eq!(layout.check(&message), Ok(()));
        assert!(HeaderLayout::UadpDynamic.check(&message).is_err());
        let payload = message.payload(&PayloadParameters::default()).unwrap();
        let PayloadRef::DataSetMessages(messages) = payload else {
            panic!("{payload:?}")
        };
        let first = messages.get(0).unwrap().unwrap();
        assert_eq!(layout.check_data_set_message(&first), Ok(()));
        assert!(
            HeaderLayout::UadpDynamic
                .check_data_set_message(&first)
                .is_err()
        );
    }
}
