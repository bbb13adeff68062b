//! Header layouts of JSON messages (OPC 10000-14, 6.3.2.1.1).

use takt_ua::enumerations::JsonNetworkMessageContentMask as Mask;

/// Headers of a message: which ones are present, and whether it has one DataSetMessage or an array of them
/// (OPC 10000-14, 7.2.5.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonLayout {
    /// True if there is a NetworkMessage header.
    pub network_message_header: bool,
    /// True if each DataSetMessage has a header; otherwise it consists of its Payload.
    pub data_set_message_header: bool,
    /// True if there is one DataSetMessage, without an array around it.
    pub single_data_set_message: bool,
}

impl JsonLayout {
    /// Both headers, and an array: the layout `JSON-NetworkMessage` (OPC 10000-14, A.3.4).
    pub const NETWORK_MESSAGE: Self = Self {
        network_message_header: true,
        data_set_message_header: true,
        single_data_set_message: false,
    };
    /// One DataSetMessage with its header: the layout `JSON-DataSetMessage` (OPC 10000-14, A.3.3).
    pub const DATA_SET_MESSAGE: Self = Self {
        network_message_header: false,
        data_set_message_header: true,
        single_data_set_message: true,
    };
    /// The fields of one DataSet and nothing else: the layout `JSON-Minimal` (OPC 10000-14, A.3.2).
    pub const MINIMAL: Self = Self {
        network_message_header: false,
        data_set_message_header: false,
        single_data_set_message: true,
    };

    /// Returns the layout for a JsonNetworkMessageContentMask.
    pub fn from_mask(mask: u32) -> Self {
        let has = |bit: u32| mask & bit != 0;
        Self {
            network_message_header: has(Mask::NetworkMessageHeader),
            data_set_message_header: has(Mask::DataSetMessageHeader),
            single_data_set_message: has(Mask::SingleDataSetMessage),
        }
    }
}

impl Default for JsonLayout {
    fn default() -> Self {
        Self::NETWORK_MESSAGE
    }
}
