//! Announcements of Publishers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use takt_ua::StatusCode;
use takt_ua::structures::{
    DataSetMetaDataType, DatagramConnectionTransport2DataType,
    DatagramWriterGroupTransport2DataType, PubSubConfiguration2DataType, PubSubConnectionDataType,
    WriterGroupDataType,
};
use takt_wire::{
    AnnouncementContent, ChunkWriter, DiscoveryAnnouncement, DiscoveryProbe, NetworkMessage,
    NetworkMessageRef, NetworkMessageType, Payload, PayloadParameters, PayloadRef, PublisherId,
};

use super::knowledge::{AnnouncedApplication, Knowledge, Topic, groups_of_writers};
use super::schedule::Schedule;
use crate::error::{ConfigurationError, ConfigurationProblem, PublishError, ReceiveError};
use crate::publisher::Protection;
use crate::security::KeyRing;
use crate::subscriber::same_publisher;
use crate::time::Now;

/// Largest number of unknown DataSetWriters that the answer to one probe denies.
const MAX_DENIED: usize = 64;

/// DiscoveryMaxMessageSize of `opc.udp`, in bytes, if none is configured (OPC 10000-14, 7.3.2.1).
const DEFAULT_MAX_MESSAGE_SIZE: usize = 4096;

/// Announcer of one connection, which also answers probes.
///
/// It has no clock and no socket: [`receive`](Self::receive) takes probes, and [`next_timeout`](Self::next_timeout) returns the
/// time at which [`handle_timeout`](Self::handle_timeout) has messages to send. Answers wait 100 ms to 500 ms, so that one
/// answers all Subscribers that ask at the same time, and nothing is announced twice within 500 ms (OPC 10000-14, 7.2.4.6.12.2).
///
/// Metadata of DataSetWriters whose messages are protected is protected the same way, with the keys of their SecurityGroup.
/// Without keys, it is refused with `BadSecurityModeInsufficient`. Nothing else is protected.
#[derive(Debug)]
pub struct Announcer {
    publisher_id: PublisherId,
    knowledge: Knowledge,
    protections: Vec<GroupProtection>,
    cycles: Vec<GroupCycle>,
    speaks_for_publisher: bool,
    max_message_size: usize,
    announce_rate: Duration,
    next_cycle: Option<Instant>,
    sequence_number: u16,
    schedule: Schedule<Topic>,
}

/// Protection of the metadata of a WriterGroup.
#[derive(Debug)]
struct GroupProtection {
    security_group_id: String,
    data_set_writer_ids: Vec<u16>,
    protection: Protection,
}

/// Periodic announcement of a WriterGroup (OPC 10000-14, 6.4.1.3.7).
#[derive(Debug)]
struct GroupCycle {
    writer_group_id: u16,
    data_set_writer_ids: Vec<u16>,
    announce_rate: Duration,
    next: Instant,
}

impl Announcer {
    /// Creates the announcer of a connection of a configuration. It begins with the metadata of all its DataSetWriters. `seed`
    /// makes the delays random.
    ///
    /// # Errors
    /// The connection has no PublisherId.
    pub fn new(
        configuration: &PubSubConfiguration2DataType,
        connection: &PubSubConnectionDataType,
        application: AnnouncedApplication,
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
            protections: connection
                .writer_groups
                .iter()
                .filter_map(|group| GroupProtection::new(group).transpose())
                .collect::<Result<_, _>>()?,
            cycles: connection
                .writer_groups
                .iter()
                .filter_map(|group| GroupCycle::new(group, now))
                .collect(),
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

    /// Leaves announcements of the whole Publisher to the announcer of another connection with the same PublisherId.
    #[must_use]
    pub fn for_connection_only(mut self) -> Self {
        self.speaks_for_publisher = false;
        // `new` has scheduled it already.
        self.schedule.forget(&Topic::ActionResponder);
        self
    }

    /// Announces the metadata of all DataSetWriters that may be announced, and of all Actions.
    pub fn announce_meta_data(&mut self, now: Instant) {
        for (id, meta_data) in &self.knowledge.meta_data {
            let protection = self.protections.iter().find(|it| it.is_of(*id));
            if meta_data.is_ok() && protection.is_none_or(|it| it.is_ready(now)) {
                self.schedule.add(now, Topic::MetaData(*id));
            }
        }
        if self.speaks_for_publisher && !self.knowledge.responders.is_empty() {
            self.schedule.add(now, Topic::ActionResponder);
        }
    }

    /// Returns the SecurityGroups whose keys it needs; one may be there twice.
    pub fn security_group_ids(&self) -> impl Iterator<Item = &str> {
        let protections = self.protections.iter();
        protections.map(|protection| protection.security_group_id.as_str())
    }

    /// Sets the keys of a SecurityGroup, which protect metadata. With the first keys, the metadata is announced.
    pub fn set_keys(&mut self, now: Instant, security_group_id: &str, keys: &KeyRing) {
        for group in &mut self.protections {
            if group.security_group_id != security_group_id {
                continue;
            }
            let was_ready = group.is_ready(now);
            group.protection.keys = keys.clone();
            if !was_ready && group.is_ready(now) {
                for id in &group.data_set_writer_ids {
                    self.schedule.add(now, Topic::MetaData(*id));
                }
            }
        }
    }

    /// Receives a message. Ignores it if it is not a probe, or not for this Publisher.
    ///
    /// # Errors
    /// The message is not one of OPC 10000-14.
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
        // A probe for applications has no PublisherId, and is for all Publishers.
        if !mine && probe != DiscoveryProbe::FindApplications {
            return Ok(());
        }
        // One delay for all topics of a probe, so that they can share messages.
        let due = self.schedule.delay(now);
        for topic in self.topics(probe) {
            self.schedule.add(due, topic);
        }
        Ok(())
    }

    /// Returns the announcements that a probe asks for and that are to be sent.
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
                let ids = self.answered(&data_set_writer_ids);
                ids.into_keys().map(Topic::MetaData).collect()
            }
            DiscoveryProbe::DataSetWriterConfiguration {
                data_set_writer_ids,
            } => {
                let ids = self.answered(&data_set_writer_ids);
                let topic = |(id, group)| Topic::Writer(group, id);
                ids.into_iter().map(topic).collect()
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

    /// Returns the DataSetWriters of this connection, with the indexes of their groups, and those that must be denied because no
    /// connection of the Publisher has them: not more than [`MAX_DENIED`].
    fn answered(&self, wanted: &[u16]) -> BTreeMap<u16, Option<usize>> {
        let own = groups_of_writers(&self.knowledge.groups);
        let connections = self.knowledge.connections.iter();
        let known: BTreeSet<u16> = connections
            .flat_map(|other| groups_of_writers(&other.writer_groups).into_keys())
            .collect();
        let mut denied = 0;
        let mut answered = BTreeMap::new();
        for id in wanted.iter().copied() {
            let group = own.get(&id).copied();
            let is_denied = group.is_none() && self.speaks_for_publisher && !known.contains(&id);
            // Each denial is an announcement of its own: a short probe must not cause thousands of them.
            if group.is_none() && (!is_denied || denied == MAX_DENIED) {
                continue;
            }
            let is_new = answered.insert(id, group).is_none();
            denied += usize::from(is_new && is_denied);
        }
        answered
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) is to be called.
    pub fn next_timeout(&self) -> Option<Instant> {
        let waiting = self.schedule.next_timeout();
        let cycles = self.cycles.iter().map(|cycle| cycle.next);
        waiting
            .into_iter()
            .chain(self.next_cycle)
            .chain(cycles)
            .min()
    }

    /// Returns the messages that are to be sent now. Announcements that are longer than DiscoveryMaxMessageSize are in chunks.
    /// One that cannot be encoded or protected is left out; the first such error is returned, too.
    pub fn handle_timeout(&mut self, now: Instant) -> (Vec<Vec<u8>>, Option<PublishError>) {
        for cycle in self.cycles.iter_mut().filter(|cycle| cycle.next <= now) {
            // From now on, not from the time that was due: announcements missed during a pause are not made up for.
            cycle.next = now + cycle.announce_rate;
            let with_writers = true;
            let id = cycle.writer_group_id;
            self.schedule.add(now, Topic::Group { id, with_writers });
            for id in &cycle.data_set_writer_ids {
                self.schedule.add(now, Topic::MetaData(*id));
            }
        }
        if self.next_cycle.is_some_and(|next| next <= now) {
            self.announce_meta_data(now);
            self.next_cycle = Some(now + self.announce_rate);
        }
        let together = |one: &Topic, other: &Topic| match (one, other) {
            (Topic::Writer(one, _), Topic::Writer(other, _)) => one == other,
            _ => false,
        };
        let topics = self.schedule.take(now, together);
        let (mut messages, mut failed) = (Vec::new(), None);
        for content in self.knowledge.contents(&topics) {
            match self.encode(content, now) {
                Ok(encoded) => messages.extend(encoded),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        (messages, failed)
    }

    fn encode(
        &mut self,
        mut content: AnnouncementContent,
        now: Instant,
    ) -> Result<Vec<Vec<u8>>, PublishError> {
        let now = Now {
            instant: now,
            ..Now::read()
        };
        let mut protection = None;
        if let AnnouncementContent::DataSetMetaData {
            data_set_writer_id: id,
            meta_data,
            status_code,
        } = &mut content
            && let Some(group) = self.protections.iter_mut().find(|it| it.is_of(*id))
        {
            match group.is_ready(now.instant) {
                true => protection = Some(&mut group.protection),
                false => {
                    // Names and types of protected fields are as secret as their values.
                    **meta_data = DataSetMetaDataType::default();
                    *status_code = StatusCode::BadSecurityModeInsufficient;
                }
            }
        }
        let sequence_number = self.sequence_number;
        self.sequence_number = sequence_number.wrapping_add(1);
        let announcement = DiscoveryAnnouncement {
            sequence_number,
            content,
        };
        let payload = Payload::DiscoveryAnnouncement(Box::new(announcement));
        let mut message = NetworkMessage::discovery(self.publisher_id.clone(), payload);
        if let Some(protection) = &protection {
            // Chunks leave room for the SecurityHeader and the signature.
            protection.prepare(&mut message);
        }
        let limit = self.max_message_size;
        let mut finish = |message: NetworkMessage| match &mut protection {
            Some(protection) => protection.encode(message, now),
            None => Ok(message.encode_to_vec()?),
        };
        // If the message is too long, one nonce is used up in vain, which does no harm.
        let encoded = finish(message.clone())?;
        if encoded.len() <= limit {
            return Ok(vec![encoded]);
        }
        let chunks = ChunkWriter::new(&message, limit, 0)?.map(|chunk| {
            let publisher_id = self.publisher_id.clone();
            finish(NetworkMessage::discovery(
                publisher_id,
                Payload::Chunk(chunk),
            ))
        });
        chunks.collect()
    }
}

impl GroupProtection {
    /// Returns the protection; `None` for a group without security.
    fn new(group: &WriterGroupDataType) -> Result<Option<Self>, ConfigurationError> {
        let protection =
            Protection::new(group).map_err(|problem| problem.at(group.name.as_str()))?;
        Ok(protection.map(|protection| Self {
            security_group_id: group.security_group_id.to_string(),
            data_set_writer_ids: ids_of(group),
            protection,
        }))
    }

    fn is_of(&self, data_set_writer_id: u16) -> bool {
        self.data_set_writer_ids.contains(&data_set_writer_id)
    }

    fn is_ready(&self, now: Instant) -> bool {
        self.protection.keys.sending(now).is_ok()
    }
}

impl GroupCycle {
    /// Returns the cycle; `None` for a group without a DiscoveryAnnounceRate.
    fn new(group: &WriterGroupDataType, now: Instant) -> Option<Self> {
        let settings: DatagramWriterGroupTransport2DataType =
            group.transport_settings.decode_as().ok()?;
        let announce_rate = Duration::from_secs(settings.discovery_announce_rate.into());
        (!announce_rate.is_zero()).then(|| Self {
            writer_group_id: group.writer_group_id,
            data_set_writer_ids: ids_of(group),
            announce_rate,
            next: now + announce_rate,
        })
    }
}

fn ids_of(group: &WriterGroupDataType) -> Vec<u16> {
    let writers = group.data_set_writers.iter();
    writers.map(|writer| writer.data_set_writer_id).collect()
}
