//! Places in a message that the encoder tells of: what the fixed layout is made from.

/// What is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// SequenceNumber of the GroupHeader.
    SequenceNumber,
    /// Timestamp of the NetworkMessage.
    Timestamp,
    /// PicoSeconds of the NetworkMessage.
    PicoSeconds,
    /// SecurityTokenId.
    SecurityTokenId,
    /// MessageNonce, of so many bytes.
    MessageNonce(usize),
    /// Start of what is encrypted.
    Payload,
    /// SecurityFooter, of so many bytes.
    SecurityFooter(usize),
    /// Signature, of so many bytes.
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

/// Whoever is told of places: offsets in bytes from the start of the NetworkMessage.
pub(crate) type Marker<'m> = &'m mut dyn FnMut(Mark, usize);
