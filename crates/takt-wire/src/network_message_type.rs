//! Types of NetworkMessages (OPC 10000-14, 7.2.4.4.2).

/// Mask of the type in ExtendedFlags2.
pub(crate) const MESSAGE_TYPE: u8 = 0x1C;

/// Type of a NetworkMessage: bits 2 to 4 of ExtendedFlags2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NetworkMessageType {
    /// Data, events, or Actions.
    DataSetMessage,
    /// Request of a Subscriber for information of Publishers.
    DiscoveryProbe,
    /// Information of a Publisher about itself.
    DiscoveryAnnouncement,
}

impl NetworkMessageType {
    pub(crate) fn bits(self) -> u8 {
        match self {
            Self::DataSetMessage => 0,
            Self::DiscoveryProbe => 1 << 2,
            Self::DiscoveryAnnouncement => 2 << 2,
        }
    }

    pub(crate) fn from_bits(flags2: u8) -> Option<Self> {
        Some(match flags2 & MESSAGE_TYPE {
            0 => Self::DataSetMessage,
            0x04 => Self::DiscoveryProbe,
            0x08 => Self::DiscoveryAnnouncement,
            _ => return None,
        })
    }
}
