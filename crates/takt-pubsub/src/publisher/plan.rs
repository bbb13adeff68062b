//! DataSetMessages that share a NetworkMessage.

use super::uadp::FixedNetworkMessage;

/// NetworkMessage of a publishing interval.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) network_message_number: u16,
    /// Indexes of the writers that share it.
    pub(super) writers: Vec<usize>,
    /// The message, if it always has the same layout.
    pub(super) fixed: Option<FixedNetworkMessage>,
}
