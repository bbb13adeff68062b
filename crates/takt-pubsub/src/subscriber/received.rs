//! Messages received by readers.

use std::collections::BTreeMap;

use takt_ua::enumerations::PubSubState;
use takt_ua::{DataValue, DateTime, StatusCode};
use takt_wire::{DiscoveryAnnouncement, FixedMessageRef, FixedValue, PublisherIdRef, Slot};

use super::data_set_kind::DataSetKind;
use super::data_set_reader::DataSetReader;
use crate::error::ReceiveError;

/// DataSetMessage that a reader has accepted.
#[derive(Debug)]
pub struct ReceivedDataSet<'a> {
    /// Reader of the message.
    pub reader: &'a DataSetReader,
    /// Kind of the message.
    pub kind: DataSetKind,
    /// SequenceNumber of the DataSetMessage, else that of the NetworkMessage.
    pub sequence_number: Option<u32>,
    /// Number of messages missing before this one, according to its sequence number.
    pub missing: u32,
    /// GroupVersion of the NetworkMessage (OPC 10000-14, 7.2.4.4.2): seconds since 2000-01-01.
    pub group_version: Option<u32>,
    /// Timestamp of the DataSetMessage, else that of the NetworkMessage.
    pub timestamp: Option<DateTime>,
    /// Status of the DataSetMessage.
    pub status: StatusCode,
    pub(super) fields: ReceivedFields<'a>,
    /// Fields that the message does not have, with the new StatusCodes of their last values.
    pub(super) absent: &'a BTreeMap<usize, StatusCode>,
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
    /// Returns the number of fields in the message.
    pub fn len(&self) -> usize {
        match &self.fields {
            ReceivedFields::Decoded(fields) => fields.len(),
            ReceivedFields::Fixed { count, .. } => *count,
        }
    }

    /// Returns true if there are no fields.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the fields with their indexes in the metadata. Fields of a message on the fast path are decoded when they are
    /// read.
    pub fn fields(&self) -> impl Iterator<Item = (usize, DataValue)> + '_ {
        (0..self.len()).filter_map(|position| match &self.fields {
            ReceivedFields::Decoded(fields) => fields.get(position).cloned(),
            ReceivedFields::Fixed {
                message,
                data_set_message,
                ..
            } => {
                let value = fixed_value(message, *data_set_message, position, self.timestamp)?;
                Some((position, value))
            }
        })
    }

    /// Returns the fields that the message does not have and whose last values are not current any more, with their indexes in the
    /// metadata: BadConfigurationError if the message should have them, UncertainLastUsableValue if a lost message may have had
    /// them.
    pub fn absent(&self) -> impl Iterator<Item = (usize, StatusCode)> + '_ {
        self.absent.iter().map(|(index, status)| (*index, *status))
    }

    /// Returns a value from its place in the message, without decoding or allocation; `None` if the message did not take the fast
    /// path.
    pub fn scalar<T: FixedValue + Default>(&self, slot: Slot<T>) -> Option<T> {
        match &self.fields {
            ReceivedFields::Fixed { message, .. } => Some(message.get(slot)),
            ReceivedFields::Decoded(_) => None,
        }
    }
}

/// Returns a field of a message on the fast path. A field without a SourceTimestamp has the `timestamp` of the message, as it has
/// after the general decoder.
pub(super) fn fixed_value(
    message: &FixedMessageRef<'_>,
    data_set_message: usize,
    field: usize,
    timestamp: Option<DateTime>,
) -> Option<DataValue> {
    let own = message.field_source_timestamp(data_set_message, field);
    let bad = message.bad_status(data_set_message, field);
    Some(DataValue {
        value: match bad {
            Some(_) => None,
            None => Some(message.variant(data_set_message, field)?),
        },
        status: bad.or(message.field_status(data_set_message, field)),
        source_timestamp: own.or(timestamp),
        server_timestamp: message.field_server_timestamp(data_set_message, field),
        ..DataValue::default()
    })
}

/// Observer of a subscriber. The default implementation of each method does nothing.
pub trait SubscriberObserver {
    /// Reports a DataSetMessage that a reader has accepted; its values have been written to their targets.
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        let _ = received;
    }

    /// Reports the time at which the kernel or the network card received the message whose DataSetMessages are reported next;
    /// `None` if it has none: without the property `ReceiveTimes` of the connection, or because its link did not measure it.
    #[cfg(feature = "runtime")]
    fn link_time(&mut self, time: Option<takt_link::ReceiveTime>) {
        let _ = time;
    }

    /// Reports a new state of a reader.
    fn state_changed(&mut self, reader: &str, state: PubSubState) {
        let _ = (reader, state);
    }

    /// Reports that a message, or a part of it, was not accepted.
    fn refused(&mut self, error: &ReceiveError) {
        let _ = error;
    }

    /// Reports a message that no reader takes: its PublisherId, WriterGroup and DataSetWriter, `?` for parts that it does not have.
    /// Only the first one of each link is reported; all of them are counted ([`Subscriber::losses`](super::Subscriber::losses)).
    fn unclaimed(&mut self, message: &dyn std::fmt::Display) {
        let _ = message;
    }

    /// Reports that a discovered reader is removed, because its room is needed for another one.
    fn forgotten(&mut self, reader: &str) {
        let _ = reader;
    }

    /// Reports an announcement of a Publisher.
    fn announced(
        &mut self,
        publisher_id: PublisherIdRef<'_>,
        announcement: &DiscoveryAnnouncement,
    ) {
        let _ = (publisher_id, announcement);
    }
}

/// Observer that ignores everything.
impl SubscriberObserver for () {}
