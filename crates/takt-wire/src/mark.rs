//! Positions in a message that the encoder reports; the fixed layout is built from them.

/// Kind of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// NetworkMessageNumber of the GroupHeader.
    NetworkMessageNumber,
    /// SequenceNumber of the GroupHeader.
    SequenceNumber,
    /// Timestamp of the NetworkMessage.
    Timestamp,
    /// PicoSeconds of the NetworkMessage.
    PicoSeconds,
    /// SecurityTokenId.
    SecurityTokenId,
    /// MessageNonce, with its length in bytes.
    MessageNonce(usize),
    /// Start of the encrypted part.
    Payload,
    /// SecurityFooter, with its length in bytes.
    SecurityFooter(usize),
    /// Signature, with its length in bytes.
    Signature(usize),
    /// Start of a DataSetMessage: its DataSetFlags1.
    DataSetMessage,
    /// DataSetMessageSequenceNumber.
    DataSetSequenceNumber,
    /// Timestamp of a DataSetMessage.
    DataSetTimestamp,
    /// PicoSeconds of a DataSetMessage.
    DataSetPicoSeconds,
    /// Status of a DataSetMessage.
    DataSetStatus,
    /// A field of a DataSetMessage; for RawData the start of all of them.
    Field,
}

/// Receiver of positions: offsets in bytes from the start of the NetworkMessage.
pub(crate) type Marker<'m> = &'m mut dyn FnMut(Mark, usize);
