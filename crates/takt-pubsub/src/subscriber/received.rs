//! Messages received by readers.

use takt_ua::enumerations::PubSubState;
use takt_ua::{DataValue, DateTime, StatusCode};
use takt_wire::{DiscoveryAnnouncement, FixedMessageRef, FixedValue, PublisherIdRef, Slot};

use super::data_set_reader::DataSetReader;
use crate::error::ReceiveError;

/// Kinds of DataSetMessages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DataSetKind {
    /// All fields.
    KeyFrame,
    /// The fields that changed.
    DeltaFrame,
    /// The fields of an event.
    Event,
    /// The Publisher is there, and has nothing to say.
    KeepAlive,
}

/// A DataSetMessage that a reader has accepted.
#[derive(Debug)]
pub struct ReceivedDataSet<'a> {
    /// The reader.
    pub reader: &'a DataSetReader,
    /// Kind of the message.
    pub kind: DataSetKind,
    /// SequenceNumber of the DataSetMessage, else that of the NetworkMessage.
    pub sequence_number: Option<u16>,
    /// Number of messages missing before this one, according to its sequence number.
    pub missing: u16,
    /// Timestamp of the DataSetMessage, else that of the NetworkMessage.
    pub timestamp: Option<DateTime>,
    /// Status of the DataSetMessage.
    pub status: StatusCode,
    pub(super) fields: ReceivedFields<'a>,
}

#[derive(Debug)]
pub(super) enum ReceivedFields<'a> {
    Decoded(&'a [(usize, DataValue)]),
    Fixed {
        message: FixedMessageRef<'a>,
        data_set_message: usize,
        count: usize,
    },
}

impl ReceivedDataSet<'_> {
    /// Number of fields in the message.
    pub fn len(&self) -> usize {
        match &self.fields {
            ReceivedFields::Decoded(fields) => fields.len(),
            ReceivedFields::Fixed { count, .. } => *count,
        }
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The fields with their indexes in the metadata. Of a message on the fast path each is decoded when it is asked for.
    pub fn fields(&self) -> impl Iterator<Item = (usize, DataValue)> + '_ {
        (0..self.len()).filter_map(|position| match &self.fields {
            ReceivedFields::Decoded(fields) => fields.get(position).cloned(),
            ReceivedFields::Fixed {
                message,
                data_set_message,
                ..
            } => Some((position, fixed_value(message, *data_set_message, position)?)),
        })
    }

    /// A value where it stands in the message, without decoding or allocation; `None` if the message did not take the fast path.
    pub fn scalar<T: FixedValue + Default>(&self, slot: Slot<T>) -> Option<T> {
        match &self.fields {
            ReceivedFields::Fixed { message, .. } => Some(message.get(slot)),
            ReceivedFields::Decoded(_) => None,
        }
    }
}

pub(super) fn fixed_value(
    message: &FixedMessageRef<'_>,
    data_set_message: usize,
    field: usize,
) -> Option<DataValue> {
    Some(DataValue {
        value: Some(message.variant(data_set_message, field)?),
        status: message.field_status(data_set_message, field),
        source_timestamp: message.field_source_timestamp(data_set_message, field),
        server_timestamp: message.field_server_timestamp(data_set_message, field),
        ..DataValue::default()
    })
}

/// Is told what happens at a subscriber; each method does nothing unless it is written.
pub trait Observer {
    /// A reader has accepted a DataSetMessage; its values have been written to their targets.
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        let _ = received;
    }

    /// A reader has another state than before.
    fn state_changed(&mut self, reader: &str, state: PubSubState) {
        let _ = (reader, state);
    }

    /// A message, or a part of it, was not accepted.
    fn refused(&mut self, error: &ReceiveError) {
        let _ = error;
    }

    /// A Publisher has told of itself.
    fn announced(
        &mut self,
        publisher_id: PublisherIdRef<'_>,
        announcement: &DiscoveryAnnouncement,
    ) {
        let _ = (publisher_id, announcement);
    }
}

/// Wants to know nothing.
impl Observer for () {}
