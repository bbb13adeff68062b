//! Parts and links that a configured reader expects of its messages.

use takt_ua::enumerations::{
    JsonDataSetMessageContentMask, JsonNetworkMessageContentMask, UadpNetworkMessageContentMask,
};
use takt_ua::structures::{JsonDataSetReaderMessageDataType, UadpDataSetReaderMessageDataType};

/// Parts that messages for a configured reader have, according to its masks: without them, messages are for others.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NeededParts {
    pub(super) publisher_id: bool,
    pub(super) data_set_writer_id: bool,
}

impl NeededParts {
    /// Returns the parts of the masks for UADP.
    pub(super) fn of_uadp(settings: &UadpDataSetReaderMessageDataType) -> Self {
        let has = |bit: u32| settings.network_message_content_mask & bit != 0;
        Self {
            publisher_id: has(UadpNetworkMessageContentMask::PublisherId),
            data_set_writer_id: has(UadpNetworkMessageContentMask::PayloadHeader),
        }
    }

    /// Returns the parts of the masks for JSON.
    pub(super) fn of_json(settings: &JsonDataSetReaderMessageDataType) -> Self {
        use JsonDataSetMessageContentMask as DataSetMask;
        use JsonNetworkMessageContentMask as Mask;
        let has = |bit: u32| settings.network_message_content_mask & bit != 0;
        let has_header = has(Mask::DataSetMessageHeader);
        let in_header = |bit: u32| has_header && settings.data_set_message_content_mask & bit != 0;
        let with_publisher = has(Mask::NetworkMessageHeader) && has(Mask::PublisherId);
        Self {
            publisher_id: with_publisher || in_header(DataSetMask::PublisherId),
            data_set_writer_id: in_header(DataSetMask::DataSetWriterId),
        }
    }
}

/// Links of a configured reader, by their indexes in the connection.
#[derive(Debug, Clone, Default)]
pub(super) struct ReaderLinks {
    /// Link of its messages; `None`: they may come through any.
    data: Option<usize>,
    /// Further links of metadata.
    meta_data: Vec<usize>,
}

impl ReaderLinks {
    pub(super) fn new(data: usize, meta_data: Vec<usize>) -> Self {
        Self {
            data: Some(data),
            meta_data,
        }
    }

    #[inline]
    pub(super) fn have_data(&self, link: usize) -> bool {
        self.data.is_none_or(|data| data == link)
    }

    pub(super) fn have_meta_data(&self, link: usize) -> bool {
        self.have_data(link) || self.meta_data.contains(&link)
    }
}
