//! JSON messages (OPC 10000-14, 7.2.5): fields are found by their names.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use takt_ua::enumerations::PubSubState;
use takt_ua::json_encoding::DEFAULT_MAX_LENGTH;
use takt_ua::structures::FieldMetaData;
use takt_ua::{DataValue, StatusCode, UaString};
use takt_wire::json::{
    JsonDataSetMessage, JsonDataSetMessageType, JsonLayout, JsonMessage, JsonMessageError,
    JsonNetworkMessage, JsonPayload,
};
use takt_wire::{DamagedField, PublisherIdRef};

use super::connection::{Reception, Subscriber};
use super::data_set_kind::DataSetKind;
use super::data_set_reader::DataSetReader;
use super::identity::Said;
use super::incoming::{Decoded, Incoming};
use super::memory::meta_data_size;
use super::origin::{MessageSender, Origin};
use super::received::SubscriberObserver;
use crate::error::ReceiveError;
use crate::sequence::SequenceNumber;
use crate::time::Now;

/// Sender of a DataSetMessage or of metadata; missing parts are empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct JsonSource<'a> {
    pub(super) publisher_id: &'a str,
    pub(super) writer_group_name: &'a str,
    pub(super) data_set_writer_id: Option<u16>,
    pub(super) data_set_writer_name: &'a str,
    pub(super) origin: &'a Origin<'a>,
}

impl<'a> JsonSource<'a> {
    fn of(
        network_message: &'a JsonNetworkMessage,
        message: &'a JsonDataSetMessage,
        origin: &'a Origin<'a>,
    ) -> Self {
        let first = |one: &'a UaString, other: &'a UaString| match one.is_null() {
            true => other.as_str(),
            false => one.as_str(),
        };
        let group = &network_message.writer_group_name;
        Self {
            publisher_id: first(&message.publisher_id, &network_message.publisher_id),
            writer_group_name: first(&message.writer_group_name, group),
            data_set_writer_id: message.data_set_writer_id,
            data_set_writer_name: message.data_set_writer_name.as_str(),
            origin,
        }
    }

    /// Returns the identity of the DataSetWriter, as far as it is said.
    pub(super) fn said(&self) -> Said<'a> {
        let publisher_id = Some(self.publisher_id).filter(|id| !id.is_empty());
        let said = Said {
            is_json: true,
            publisher_id: publisher_id.map(|id| PublisherIdRef::String(Some(id))),
            writer_group_id: None,
            writer_group_name: self.writer_group_name,
            network_message_number: None,
            data_set_writer_id: self.data_set_writer_id,
            data_set_writer_name: self.data_set_writer_name,
            sender: MessageSender::Unknown,
        };
        said.from(self.origin)
    }

    pub(super) fn says_writer(&self) -> bool {
        self.data_set_writer_id.is_some() || !self.data_set_writer_name.is_empty()
    }
}

impl Subscriber {
    pub(super) fn receive_json(
        &mut self,
        origin: &Origin<'_>,
        now: Now,
        connection: PubSubState,
        text: &[u8],
        observer: &mut dyn SubscriberObserver,
    ) -> Result<Reception, ReceiveError> {
        let mut accepted = 0;
        let mut errors = Vec::new();
        match self.decode_json(text, origin.link)? {
            JsonMessage::Data(network_message) => {
                let mut claimed = network_message.messages.is_empty();
                self.made_for_message = 0;
                for message in &network_message.messages {
                    let source = JsonSource::of(&network_message, message, origin);
                    if self.max_discovered > 0 {
                        match self.discover_writer(&source.said(), now, observer) {
                            Ok(true) => {}
                            Ok(false) => {
                                self.note_unclaimed(origin.link, &source.said(), observer);
                                continue;
                            }
                            Err(error) => {
                                errors.push(error);
                                continue;
                            }
                        }
                        if let Err(error) = self.learn_names(source, message, observer) {
                            errors.push(error);
                            continue;
                        }
                    }
                    match self.pass_on_json(source, message, now, connection, observer) {
                        Ok(Some(count)) => {
                            claimed = true;
                            accepted += count;
                        }
                        Ok(None) => {}
                        Err(error) => errors.push(error),
                    }
                }
                let first = network_message.messages.first();
                if let Some(first) = first.filter(|_| !claimed && errors.is_empty()) {
                    let source = JsonSource::of(&network_message, first, origin);
                    self.note_unclaimed(origin.link, &source.said(), observer);
                }
                self.undecodable += network_message.refused.len() as u64;
                errors.extend(network_message.refused.into_iter().map(ReceiveError::from));
            }
            JsonMessage::Discovery(message) => {
                self.take_json_discovery(*message, origin, now, observer)?;
            }
            // Requestors and Responders receive these through links of their own.
            JsonMessage::Action(_) => {}
        }
        Reception::of(accepted, errors, observer)
    }

    /// Decodes a message by its form, unless the readers are configured with fewer headers: fields may have the names of headers.
    fn decode_json(&self, text: &[u8], link: usize) -> Result<JsonMessage, JsonMessageError> {
        let message = JsonMessage::decode(text);
        let is_here = |reader: &&DataSetReader| reader.takes_json && reader.links.have_data(link);
        let mut layouts = self.readers.iter().filter(is_here);
        let known = layouts.next().and_then(|reader| reader.json_layout);
        // A layout is certain only if all readers here expect it.
        let known = known.filter(|known| layouts.all(|it| it.json_layout == Some(*known)));
        match (&message, known) {
            (Ok(JsonMessage::Data(data)), Some(known))
                if !has_fewer_headers(known, data.layout) =>
            {
                message
            }
            // Fields may have the names of headers: where fewer headers are expected, these are fields.
            (Ok(JsonMessage::Data(_)) | Err(_), Some(known)) => {
                JsonMessage::decode_with(text, Some(known), DEFAULT_MAX_LENGTH)
            }
            _ => message,
        }
    }

    /// Passes a message on to readers; returns the number of readers that have accepted it, `None` if it is for none.
    fn pass_on_json(
        &mut self,
        source: JsonSource<'_>,
        message: &JsonDataSetMessage,
        now: Now,
        connection: PubSubState,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<Option<usize>, ReceiveError> {
        let mut accepted = None;
        let mut outcome = Ok(());
        for (index, reader) in self.readers.iter_mut().enumerate() {
            let group = self.group_of.get(index);
            let group = group.and_then(|group| self.groups.get(*group));
            let listens = group.is_some_and(|group| reader.listens(group.state(connection)));
            // JSON messages are not protected, so readers of protected messages do not accept them.
            let unprotected = self.protection_of.get(index) == Some(&None);
            if !listens || !unprotected || !reader.wants_json(source) {
                continue;
            }
            match reader.receive_json(source, message, now, observer) {
                Ok(Some(is_accepted)) => *accepted.get_or_insert(0) += usize::from(is_accepted),
                Ok(None) => {}
                Err(error) => outcome = Err(error),
            }
        }
        outcome.map(|()| accepted)
    }

    /// Learns the names of the fields of a message, for readers without metadata.
    ///
    /// # Errors
    /// There is no room for the names.
    fn learn_names(
        &mut self,
        source: JsonSource<'_>,
        message: &JsonDataSetMessage,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<(), ReceiveError> {
        let Some(payload) = &message.payload else {
            return Ok(());
        };
        let stays = |reader: &DataSetReader| reader.wants_json(source);
        self.with_room(0, &stays, observer, |subscriber| {
            let readers = subscriber.readers.iter_mut();
            readers
                .filter(|reader| reader.has_learned() && reader.wants_json(source))
                .try_for_each(|reader| reader.learn_names(payload))
        })
    }
}

impl DataSetReader {
    /// Returns true if a DataSetMessage is from the configured Publisher and DataSetWriter, and came through the reader's link.
    /// PublisherIds are texts here.
    fn wants_json(&self, source: JsonSource<'_>) -> bool {
        match &self.identity {
            Some(identity) => identity.is(&source.said()),
            None => {
                self.takes_json
                    && self.links.have_data(source.origin.link)
                    && self.is_published_by(source.publisher_id)
                    && self.wants_writer(source.data_set_writer_id)
            }
        }
    }

    /// Returns true if metadata is of the DataSetWriter that it reads.
    pub(super) fn is_of(&self, source: JsonSource<'_>) -> bool {
        match &self.identity {
            Some(identity) => identity.is_described_by(&source.said()),
            None => {
                let wanted = self.publisher_id.as_ref();
                self.takes_json
                    && self.links.have_meta_data(source.origin.link)
                    && wanted.is_none_or(|wanted| wanted.to_string() == source.publisher_id)
                    && source.data_set_writer_id == Some(self.data_set_writer_id)
            }
        }
    }

    fn is_published_by(&self, publisher_id: &str) -> bool {
        match (&self.publisher_id, publisher_id) {
            (Some(_), "") => !self.needs.publisher_id,
            (Some(wanted), found) => wanted.to_string() == found,
            (None, _) => true,
        }
    }

    /// Receives a JSON DataSetMessage; returns `false` if it is discarded, `None` if it is for another reader.
    fn receive_json(
        &mut self,
        source: JsonSource<'_>,
        message: &JsonDataSetMessage,
        now: Now,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<Option<bool>, ReceiveError> {
        let kind = match message.message_type() {
            JsonDataSetMessageType::KeyFrame => DataSetKind::KeyFrame,
            JsonDataSetMessageType::DeltaFrame => DataSetKind::DeltaFrame,
            JsonDataSetMessageType::Event => DataSetKind::Event,
            JsonDataSetMessageType::KeepAlive => DataSetKind::KeepAlive,
            JsonDataSetMessageType::Other(_) => {
                self.note_unknown_kind();
                return Ok(Some(false));
            }
        };
        let payload = match &message.payload {
            Some(payload) if kind != DataSetKind::KeepAlive => Cow::Borrowed(payload),
            _ => Cow::Owned(JsonPayload::default()),
        };
        let foreign = payload.as_object().keys().next();
        if let Some(name) = foreign.filter(|_| !self.knows_any(&payload)) {
            // Without headers, only the names of fields identify the writer.
            return match source.says_writer() {
                false => Ok(None),
                true => Err(ReceiveError::FieldName {
                    reader: self.name.clone(),
                    name: name.clone(),
                }),
            };
        }
        let version = message.meta_data_version.as_ref();
        let incoming = Incoming {
            kind,
            is_complete: message.message_type == Some(JsonDataSetMessageType::KeyFrame),
            sequence_number: message.sequence_number.map(SequenceNumber::UInt32),
            major_version: version.map(|version| version.major_version),
            // JSON messages have none.
            group_version: None,
            timestamp: message.timestamp,
            status: message.status.unwrap_or(StatusCode::Good),
        };
        let decode = |reader: &mut Self| reader.decode_json(&payload, message);
        self.take(&incoming, decode, now, observer).map(Some)
    }

    fn knows_any(&self, payload: &JsonPayload) -> bool {
        let mut fields = self.meta_data.fields.iter();
        self.has_learned()
            || fields.any(|field| payload.as_object().contains_key(field.name.as_str()))
    }

    /// Returns true if no metadata was announced, so that names are taken from messages.
    fn has_learned(&self) -> bool {
        self.is_learned || self.meta_data.fields.is_empty()
    }

    /// Decodes the fields, with their indexes in the metadata. Others are ignored; a reader without metadata notes their names.
    fn decode_json(
        &mut self,
        payload: &JsonPayload,
        message: &JsonDataSetMessage,
    ) -> Result<Decoded, ReceiveError> {
        if self.has_learned() {
            self.learn_names(payload)?;
        }
        // Learned metadata has names, but no types.
        let meta_data = Some(&self.meta_data).filter(|_| !self.is_learned);
        let status = message.status.filter(|status| !status.is_good());
        let fields = self.meta_data.fields.iter().enumerate();
        // Of two fields with one name, the first one counts.
        let indexes: HashMap<&str, usize> = fields
            .rev()
            .map(|(index, field)| (field.name.as_str(), index))
            .collect();
        let mut decoded = Decoded::default();
        for (name, read) in payload.read(meta_data) {
            let Some(index) = indexes.get(name).copied() else {
                continue;
            };
            let value = read.unwrap_or_else(|error| {
                let error = error.status_code();
                decoded.damaged.push(DamagedField {
                    index,
                    error: Some(error),
                });
                DataValue::status(error)
            });
            let value = DataValue {
                source_timestamp: value.source_timestamp.or(message.timestamp),
                status: value.status.or(status),
                ..value
            };
            decoded.fields.push((index, value));
        }
        Ok(decoded)
    }

    fn learn_names(&mut self, payload: &JsonPayload) -> Result<(), ReceiveError> {
        self.is_learned = true;
        let fields = &self.meta_data.fields;
        let known: HashSet<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let names = payload.as_object().keys().map(String::as_str);
        let new = names.filter(|name| !known.contains(name));
        let new = new.take(MAX_LEARNED.saturating_sub(fields.len()));
        let new: Vec<FieldMetaData> = new
            .map(|name| FieldMetaData {
                name: name.into(),
                value_rank: ANY_RANK,
                ..FieldMetaData::default()
            })
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        let mut meta_data = self.meta_data.clone();
        meta_data.fields.extend(new);
        // Charged first: without room, the names stay as they were.
        self.keep(meta_data_size(&meta_data), "the field names")?;
        self.meta_data = meta_data;
        Ok(())
    }
}

/// Maximum number of names that a reader without metadata keeps; messages may have others each time.
const MAX_LEARNED: usize = 1000;

/// ValueRank of a scalar or an array (OPC 10000-3, 5.6.2).
const ANY_RANK: i32 = -2;

fn has_fewer_headers(one: JsonLayout, other: JsonLayout) -> bool {
    let headers = |it: JsonLayout| (it.network_message_header, it.data_set_message_header);
    let ((network, data_set), (more_network, more_data_set)) = (headers(one), headers(other));
    headers(one) != headers(other) && network <= more_network && data_set <= more_data_set
}
