//! Publishers that tell of themselves.

use std::time::{Duration, Instant};

use takt_ua::structures::{
    DatagramConnectionTransport2DataType, PubSubConfiguration2DataType, PubSubConnectionDataType,
};
use takt_wire::{
    AnnouncementContent, ChunkWriter, DiscoveryAnnouncement, DiscoveryProbe, NetworkMessage,
    NetworkMessageRef, NetworkMessageType, Payload, PayloadParameters, PayloadRef, PublisherId,
    WireEncodeError,
};

use super::knowledge::{Application, Knowledge, Topic, group_of};
use super::schedule::Schedule;
use crate::error::{ConfigurationError, ConfigurationProblem, ReceiveError};
use crate::subscriber::same_publisher;

/// DiscoveryMaxMessageSize of `opc.udp`, if none is configured (7.3.2.1).
const DEFAULT_MAX_MESSAGE_SIZE: usize = 4096;

/// Tells of one connection, and answers probes.
///
/// It has no clock and no socket: [`receive`](Self::receive) takes probes, [`next_timeout`](Self::next_timeout) says when
/// [`handle_timeout`](Self::handle_timeout) has something to send. Answers wait 100 ms to 500 ms, so that one will do for all who ask
/// at the same time, and nothing is announced twice within 500 ms (7.2.4.6.12.2).
///
/// Messages are not protected. Of DataSetWriters whose messages are, metadata is refused with `BadSecurityModeInsufficient`.
#[derive(Debug)]
pub struct Announcer {
    publisher_id: PublisherId,
    knowledge: Knowledge,
    speaks_for_publisher: bool,
    max_message_size: usize,
    announce_rate: Duration,
    next_cycle: Option<Instant>,
    sequence_number: u16,
    schedule: Schedule<Topic>,
}

impl Announcer {
    /// Tells of a connection of a configuration, beginning with the metadata of all its DataSetWriters. `seed` makes the delays
    /// random.
    ///
    /// # Errors
    /// The connection has no PublisherId.
    pub fn new(
        configuration: &PubSubConfiguration2DataType,
        connection: &PubSubConnectionDataType,
        application: Application,
        seed: u64,
        now: Instant,
    ) -> Result<Self, ConfigurationError> {
        let publisher_id =
            PublisherId::from_variant(&connection.publisher_id).ok_or_else(|| {
                let what = "neither Byte, UInt16, UInt32, UInt64 nor String (6.2.7.1)";
                ConfigurationProblem::parameter("PublisherId", what).at(connection.name.as_str())
            })?;
        let settings: Option<DatagramConnectionTransport2DataType> =
            connection.transport_settings.decode_as().ok();
        let settings = settings.unwrap_or_default();
        let rate = Duration::from_secs(settings.discovery_announce_rate.into());
        let mut announcer = Self {
            publisher_id,
            knowledge: Knowledge::new(configuration, connection, application),
            speaks_for_publisher: true,
            max_message_size: match settings.discovery_max_message_size {
                0 => DEFAULT_MAX_MESSAGE_SIZE,
                size => size as usize,
            },
            announce_rate: rate,
            next_cycle: Some(now + rate).filter(|_| !rate.is_zero()),
            sequence_number: 0,
            schedule: Schedule::new(seed),
        };
        announcer.announce_meta_data(now);
        Ok(announcer)
    }

    /// Leaves what concerns the whole Publisher to the announcer of another connection with the same PublisherId.
    #[must_use]
    pub fn for_connection_only(mut self) -> Self {
        self.speaks_for_publisher = false;
        self.schedule.forget(&Topic::ActionResponder);
        self
    }

    /// Announces the metadata of all DataSetWriters that can be told, and of all Actions.
    pub fn announce_meta_data(&mut self, now: Instant) {
        for (id, meta_data) in &self.knowledge.meta_data {
            if meta_data.is_ok() {
                self.schedule.add(now, Topic::MetaData(*id));
            }
        }
        if self.speaks_for_publisher && !self.knowledge.responders.is_empty() {
            self.schedule.add(now, Topic::ActionResponder);
        }
    }

    /// Takes a message. What is no probe, or not for this Publisher, is ignored.
    ///
    /// # Errors
    /// It is no message of OPC 10000-14.
    pub fn receive(&mut self, now: Instant, message: &[u8]) -> Result<(), ReceiveError> {
        let message = NetworkMessageRef::new_checked(message)?;
        if message.network_message_type != NetworkMessageType::DiscoveryProbe {
            return Ok(());
        }
        let PayloadRef::DiscoveryProbe(probe) = message.payload(&PayloadParameters::default())?
        else {
            return Ok(());
        };
        let mine = message
            .publisher_id
            .is_some_and(|id| same_publisher(self.publisher_id.as_ref(), id));
        if !mine && probe != DiscoveryProbe::FindApplications {
            return Ok(());
        }
        let due = self.schedule.delay(now);
        for topic in self.topics(probe) {
            self.schedule.add(due, topic);
        }
        Ok(())
    }

    /// What a probe asks for, as far as it is to be answered.
    fn topics(&self, probe: DiscoveryProbe) -> Vec<Topic> {
        let for_publisher = |topic| match self.speaks_for_publisher {
            true => vec![topic],
            false => Vec::new(),
        };
        match probe {
            DiscoveryProbe::FindApplications => match &self.knowledge.application.description {
                Some(_) => for_publisher(Topic::Application),
                None => Vec::new(),
            },
            DiscoveryProbe::PublisherEndpoints => for_publisher(Topic::Endpoints),
            DiscoveryProbe::PubSubConnections {
                transport_profile_uris,
                include_writer_groups,
                include_data_set_writers,
            } => {
                let connections = Topic::Connections {
                    transport_profile_uris,
                    with_groups: include_writer_groups,
                    with_writers: include_writer_groups && include_data_set_writers,
                };
                let mut topics = for_publisher(connections);
                // There is no probe for Responders alone.
                if !self.knowledge.responders.is_empty() {
                    topics.extend(for_publisher(Topic::ActionResponder));
                }
                topics
            }
            DiscoveryProbe::DataSetMetaData {
                data_set_writer_ids,
            } => {
                let ids = data_set_writer_ids.into_iter();
                ids.filter(|id| self.answers_for(*id))
                    .map(Topic::MetaData)
                    .collect()
            }
            DiscoveryProbe::DataSetWriterConfiguration {
                data_set_writer_ids,
            } => {
                let ids = data_set_writer_ids.into_iter();
                ids.filter(|id| self.answers_for(*id))
                    .map(|id| Topic::Writer(group_of(&self.knowledge.groups, id), id))
                    .collect()
            }
            DiscoveryProbe::WriterGroupConfiguration {
                writer_group_id,
                include_data_set_writers,
            } => {
                let mut groups = self.knowledge.groups.iter();
                let is_mine = groups.any(|group| group.writer_group_id == writer_group_id);
                let topic = Topic::Group {
                    id: writer_group_id,
                    with_writers: include_data_set_writers,
                };
                is_mine.then_some(topic).into_iter().collect()
            }
        }
    }

    /// Whether a DataSetWriter is of this connection; one that no connection of the Publisher has is denied.
    fn answers_for(&self, id: u16) -> bool {
        let mut connections = self.knowledge.connections.iter();
        group_of(&self.knowledge.groups, id).is_some()
            || self.speaks_for_publisher
                && !connections.any(|other| group_of(&other.writer_groups, id).is_some())
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called.
    pub fn next_timeout(&self) -> Option<Instant> {
        let waiting = self.schedule.next_timeout();
        waiting.into_iter().chain(self.next_cycle).min()
    }

    /// The messages that are to be sent now. Announcements that are longer than DiscoveryMaxMessageSize are in chunks.
    ///
    /// # Errors
    /// One cannot be encoded; the others may be sent with the next call.
    pub fn handle_timeout(&mut self, now: Instant) -> Result<Vec<Vec<u8>>, WireEncodeError> {
        if self.next_cycle.is_some_and(|next| next <= now) {
            self.announce_meta_data(now);
            self.next_cycle = Some(now + self.announce_rate);
        }
        let together = |one: &Topic, other: &Topic| match (one, other) {
            (Topic::Writer(one, _), Topic::Writer(other, _)) => one == other,
            _ => false,
        };
        let topics = self.schedule.take(now, together);
        let mut messages = Vec::new();
        for content in self.knowledge.contents(&topics) {
            self.encode(content, &mut messages)?;
        }
        Ok(messages)
    }

    fn encode(
        &mut self,
        content: AnnouncementContent,
        messages: &mut Vec<Vec<u8>>,
    ) -> Result<(), WireEncodeError> {
        let announcement = DiscoveryAnnouncement {
            sequence_number: self.sequence_number,
            content,
        };
        self.sequence_number = self.sequence_number.wrapping_add(1);
        let payload = Payload::DiscoveryAnnouncement(Box::new(announcement));
        let message = NetworkMessage::discovery(self.publisher_id.clone(), payload);
        let encoded = message.encode_to_vec()?;
        if encoded.len() <= self.max_message_size {
            messages.push(encoded);
            return Ok(());
        }
        for chunk in ChunkWriter::new(&message, self.max_message_size, 0)? {
            let publisher_id = self.publisher_id.clone();
            let message = NetworkMessage::discovery(publisher_id, Payload::Chunk(chunk));
            messages.push(message.encode_to_vec()?);
        }
        Ok(())
    }
}
