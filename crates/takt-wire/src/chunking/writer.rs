//! Division of a payload into chunks.

use takt_ua::binary::Encoder;

use crate::chunk::Chunk;
use crate::error::{WireEncodeError, count};
use crate::network_message::{NetworkMessage, Payload};
use crate::network_message_type::NetworkMessageType;

const CHUNKABLE: &str = "chunks of a payload other than one DataSetMessage or an announcement (OPC 10000-14, 7.2.4.4.4)";
const NO_SPACE: &str = "a MaxNetworkMessageSize without space for a chunk (OPC 10000-14, 6.2.5.5)";

/// Divides the payload of a message that is too long into chunks of the same size, except for the last one.
///
/// The iterator returns the chunks; each becomes the payload of a NetworkMessage with the headers of the long one.
/// The caller sets the fields that differ, such as the SequenceNumber of the GroupHeader and the MessageNonce.
///
/// ```
/// use takt_wire::{
///     ChunkWriter, DataSetContent, DataSetMessage, Fields, NetworkMessage, Payload, PublisherId,
/// };
///
/// let long = NetworkMessage::data(
///     Some(PublisherId::UInt16(1)),
///     vec![DataSetMessage {
///         data_set_writer_id: Some(7),
///         ..DataSetMessage::new(DataSetContent::KeyFrame(Fields::RawData(vec![0; 3000])))
///     }],
/// );
/// let mut lengths = Vec::new();
/// for chunk in ChunkWriter::new(&long, 1400, 0)? {
///     let message = NetworkMessage { payload: Payload::Chunk(chunk), ..long.clone() };
///     lengths.push(message.encode_to_vec()?.len());
/// }
/// assert_eq!(lengths, [1400, 1400, 264]);
/// # Ok::<(), takt_wire::WireEncodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ChunkWriter {
    payload: Vec<u8>,
    /// Template of the next chunk, without its data.
    next: Chunk,
    chunk_size: usize,
}

impl ChunkWriter {
    /// Encodes the payload of `message`: one DataSetMessage, or an announcement. No NetworkMessage of a chunk is
    /// longer than `max_network_message_size` bytes, signature included.
    ///
    /// `message_sequence_number` is used for a DataSetMessage without a SequenceNumber.
    pub fn new(
        message: &NetworkMessage,
        max_network_message_size: usize,
        message_sequence_number: u16,
    ) -> Result<Self, WireEncodeError> {
        let mut payload = Vec::new();
        let mut encoder = Encoder::growing(&mut payload, usize::MAX);
        let (data_set_writer_id, message_sequence_number) = match &message.payload {
            Payload::DataSetMessages(messages) => match messages.as_slice() {
                [only] => {
                    only.encode(&mut encoder, 0, &mut |_, _| {})?;
                    let number = only.sequence_number.unwrap_or(message_sequence_number);
                    (only.data_set_writer_id, number)
                }
                _ => return Err(WireEncodeError::Forbidden(CHUNKABLE)),
            },
            Payload::DiscoveryAnnouncement(announcement) => {
                announcement.encode(&mut encoder)?;
                (None, announcement.sequence_number)
            }
            _ => return Err(WireEncodeError::Forbidden(CHUNKABLE)),
        };
        let total_size = count("bytes of payload", payload.len(), u32::MAX as usize)?;
        let next = Chunk {
            network_message_type: message.network_message_type(),
            data_set_writer_id,
            message_sequence_number,
            chunk_offset: 0,
            total_size,
            // An empty chunk cannot be encoded; this byte is subtracted again from the overhead.
            chunk_data: vec![0],
        };
        let shortest = NetworkMessage {
            payload: Payload::Chunk(next.clone()),
            ..message.clone()
        };
        // The chunks have the headers of the long message, so all of them have the same overhead.
        let overhead = shortest.encode_to_vec()?.len() - next.chunk_data.len();
        match max_network_message_size.checked_sub(overhead) {
            None | Some(0) => Err(WireEncodeError::Forbidden(NO_SPACE)),
            Some(chunk_size) => Ok(Self {
                payload,
                next,
                chunk_size,
            }),
        }
    }

    /// Returns the type of the messages.
    pub fn network_message_type(&self) -> NetworkMessageType {
        self.next.network_message_type
    }
}

impl Iterator for ChunkWriter {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        let start = self.next.chunk_offset as usize;
        let rest = self.payload.get(start..).filter(|rest| !rest.is_empty())?;
        let length = rest.len().min(self.chunk_size);
        let chunk = Chunk {
            chunk_data: rest.get(..length)?.to_vec(),
            ..self.next
        };
        // This cannot wrap: the offset is at most the size of the payload, which fits.
        self.next.chunk_offset = self.next.chunk_offset.wrapping_add(length as u32);
        Some(chunk)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let rest = self.payload.len() - self.next.chunk_offset as usize;
        let chunks = rest.div_ceil(self.chunk_size);
        (chunks, Some(chunks))
    }
}

impl ExactSizeIterator for ChunkWriter {}
