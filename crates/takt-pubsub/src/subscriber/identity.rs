//! Identities of DataSetWriters that are not configured.
//!
//! A discovered reader takes the messages of one DataSetWriter only. Its identity is what its messages say. If they do not say
//! everything, it is also the place that they come from: the topic of a broker, or the address of the sender.

use std::fmt;

use takt_wire::{NetworkMessageRef, PublisherId, PublisherIdRef};

use super::origin::{MessageSender, Origin};
use super::same_publisher::same_publisher;

/// Parts of a message that identify its DataSetWriter.
#[derive(Debug, Clone)]
pub(super) struct Said<'a> {
    pub(super) is_json: bool,
    pub(super) publisher_id: Option<PublisherIdRef<'a>>,
    pub(super) writer_group_id: Option<u16>,
    pub(super) writer_group_name: &'a str,
    /// NetworkMessageNumber of a message without DataSetWriterIds.
    pub(super) network_message_number: Option<u16>,
    pub(super) data_set_writer_id: Option<u16>,
    pub(super) data_set_writer_name: &'a str,
    /// Place of the message, if the other parts do not identify its DataSetWriter.
    pub(super) sender: MessageSender<'a>,
}

impl<'a> Said<'a> {
    /// Returns the parts in a UADP message, for one of its DataSetMessages.
    pub(super) fn of_uadp(
        message: &NetworkMessageRef<'a>,
        data_set_writer_id: Option<u16>,
        origin: &Origin<'a>,
    ) -> Self {
        let group = message.group_header.unwrap_or_default();
        let number = group.network_message_number;
        let said = Self {
            is_json: false,
            publisher_id: message.publisher_id.filter(is_named),
            writer_group_id: group.writer_group_id,
            writer_group_name: "",
            network_message_number: number.filter(|_| data_set_writer_id.is_none()),
            data_set_writer_id,
            data_set_writer_name: "",
            sender: MessageSender::Unknown,
        };
        said.from(origin)
    }

    /// Adds the origin, as far as it belongs to the identity. Addresses name Publishers; topics name DataSetWriters, too.
    pub(super) fn from(self, origin: &Origin<'a>) -> Self {
        let names_writer =
            self.data_set_writer_id.is_some() || !self.data_set_writer_name.is_empty();
        let is_topic = matches!(origin.sender, MessageSender::Topic(_));
        let sender = match self.publisher_id.is_some() && (names_writer || !is_topic) {
            true => MessageSender::Unknown,
            false => origin.sender.clone(),
        };
        Self { sender, ..self }
    }

    /// Returns true if the identity also depends on the place of the message.
    pub(super) fn needs_sender(&self) -> bool {
        self.sender != MessageSender::Unknown
    }
}

/// Writes `PublisherId/WriterGroup/DataSetWriter`, with the place if it belongs to the identity; `?` for missing parts.
impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.publisher_id {
            None => f.write_str("?")?,
            Some(id) => id.fmt(f)?,
        }
        match (self.writer_group_name, self.writer_group_id) {
            ("", None) => f.write_str("/?")?,
            ("", Some(id)) => write!(f, "/{id}")?,
            (name, _) => write!(f, "/{name}")?,
        }
        match (self.data_set_writer_name, self.data_set_writer_id) {
            ("", None) => f.write_str("/?")?,
            ("", Some(id)) => write!(f, "/{id}")?,
            (name, _) => write!(f, "/{name}")?,
        }
        if let Some(number) = self.network_message_number {
            write!(f, " message {number}")?;
        }
        match &self.sender {
            MessageSender::Unknown => Ok(()),
            sender => write!(f, " from {sender}"),
        }
    }
}

/// Returns true if a PublisherId is not an empty text.
fn is_named(id: &PublisherIdRef<'_>) -> bool {
    !matches!(id, PublisherIdRef::String(None | Some("")))
}

/// Identity of a discovered DataSetWriter.
#[derive(Debug)]
pub(super) struct Identity {
    is_json: bool,
    publisher_id: Option<PublisherId>,
    writer_group_id: Option<u16>,
    writer_group_name: String,
    network_message_number: Option<u16>,
    data_set_writer_id: Option<u16>,
    data_set_writer_name: String,
    sender: MessageSender<'static>,
}

impl Identity {
    pub(super) fn of(said: &Said<'_>) -> Self {
        Self {
            is_json: said.is_json,
            publisher_id: said.publisher_id.map(|id| id.to_owned()),
            writer_group_id: said.writer_group_id,
            writer_group_name: said.writer_group_name.to_owned(),
            network_message_number: said.network_message_number,
            data_set_writer_id: said.data_set_writer_id,
            data_set_writer_name: said.data_set_writer_name.to_owned(),
            sender: said.sender.clone().into_owned(),
        }
    }

    /// Returns true if a message is of this DataSetWriter.
    pub(super) fn is(&self, said: &Said<'_>) -> bool {
        self.is_json == said.is_json
            && self.data_set_writer_id == said.data_set_writer_id
            && self.writer_group_id == said.writer_group_id
            && self.network_message_number == said.network_message_number
            && self.has_publisher(said)
            && self.data_set_writer_name == said.data_set_writer_name
            && self.writer_group_name == said.writer_group_name
            && self.sender == said.sender
    }

    /// Returns true if a UADP NetworkMessage is of this Publisher and WriterGroup.
    pub(super) fn is_in(&self, message: &NetworkMessageRef<'_>, origin: &Origin<'_>) -> bool {
        let has_ids = message.data_set_writer_ids().next().is_some();
        has_ids == self.data_set_writer_id.is_some()
            && self.is(&Said::of_uadp(message, self.data_set_writer_id, origin))
    }

    /// Returns true if a DataSetMessage has the DataSetWriterId, or if both have none.
    pub(super) fn has_writer_id(&self, data_set_writer_id: Option<u16>) -> bool {
        self.data_set_writer_id == data_set_writer_id
    }

    /// Returns true if metadata is of this DataSetWriter. DataSetWriterIds are unique in a Publisher, so metadata need not say the
    /// WriterGroup.
    pub(super) fn is_described_by(&self, said: &Said<'_>) -> bool {
        let name = said.data_set_writer_name;
        let same_writer = match (self.data_set_writer_id, said.data_set_writer_id) {
            (Some(id), Some(found)) => id == found,
            _ => !name.is_empty() && self.data_set_writer_name == name,
        };
        let same = |mine: &str, found: &str| mine.is_empty() || found.is_empty() || mine == found;
        self.is_json == said.is_json
            && same_writer
            && self.has_publisher(said)
            && same(&self.writer_group_name, said.writer_group_name)
            && self.sender == said.sender
    }

    fn has_publisher(&self, said: &Said<'_>) -> bool {
        match (&self.publisher_id, said.publisher_id) {
            (Some(id), Some(found)) => same_publisher(id.as_ref(), found),
            (None, None) => true,
            _ => false,
        }
    }
}
