//! Publishers that tell of themselves.

use std::time::{Duration, Instant};

use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::{
    ApplicationDescription, DataSetMetaDataType, DataSetWriterDataType,
    DatagramConnectionTransport2DataType, EndpointDescription, PubSubConfiguration2DataType,
    PubSubConnectionDataType, WriterGroupDataType,
};
use takt_ua::{StatusCode, UaString};
use takt_wire::{
    AnnouncementContent, ApplicationInformation, ChunkWriter, DiscoveryAnnouncement,
    DiscoveryProbe, NetworkMessage, NetworkMessageRef, NetworkMessageType, Payload,
    PayloadParameters, PayloadRef, PublisherId, WireEncodeError,
};

use super::schedule::Schedule;
use crate::error::{ConfigurationError, ConfigurationProblem, ReceiveError};
use crate::subscriber::same_publisher;

/// DiscoveryMaxMessageSize of `opc.udp`, if none is configured (7.3.2.1).
const DEFAULT_MAX_MESSAGE_SIZE: usize = 4096;

/// What the application says of itself. Who has nothing to say has neither name nor Endpoints.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Application {
    /// What it is: the answer to FindApplications.
    pub description: Option<ApplicationDescription>,
    /// What it can do, in the words of OPC 10000-12.
    pub capabilities: Vec<UaString>,
    /// Where its Server is.
    pub endpoints: Vec<EndpointDescription>,
}

/// What can be announced. Each is delayed for itself.
#[derive(Debug, Clone, PartialEq)]
enum Topic {
    Application,
    Endpoints,
    Connections {
        transport_profile_uris: Vec<UaString>,
        with_groups: bool,
        with_writers: bool,
    },
    MetaData(u16),
    /// A DataSetWriter, and the index of its WriterGroup.
    Writer(Option<usize>, u16),
    Group {
        id: u16,
        with_writers: bool,
    },
}

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
    groups: Vec<WriterGroupDataType>,
    /// By DataSetWriterId: the metadata, or why it is not told.
    meta_data: Vec<(u16, Result<Box<DataSetMetaDataType>, StatusCode>)>,
    /// All of the Publisher, without ReaderGroups.
    connections: Vec<PubSubConnectionDataType>,
    application: Application,
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
        let same = |other: &&PubSubConnectionDataType| {
            other.enabled && other.publisher_id == connection.publisher_id
        };
        let connections = configuration.connections.iter().filter(same);
        let mut announcer = Self {
            publisher_id,
            meta_data: connection
                .writer_groups
                .iter()
                .flat_map(|group| group.data_set_writers.iter().map(move |it| (group, it)))
                .map(|(group, writer)| meta_data(configuration, group, writer))
                .collect(),
            groups: connection.writer_groups.clone(),
            connections: connections
                .map(|connection| PubSubConnectionDataType {
                    reader_groups: Vec::new(),
                    ..connection.clone()
                })
                .collect(),
            application,
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
        self
    }

    /// Announces the metadata of all DataSetWriters that can be told.
    pub fn announce_meta_data(&mut self, now: Instant) {
        for (id, meta_data) in &self.meta_data {
            if meta_data.is_ok() {
                self.schedule.add(now, Topic::MetaData(*id));
            }
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
            DiscoveryProbe::FindApplications => match &self.application.description {
                Some(_) => for_publisher(Topic::Application),
                None => Vec::new(),
            },
            DiscoveryProbe::PublisherEndpoints => for_publisher(Topic::Endpoints),
            DiscoveryProbe::PubSubConnections {
                transport_profile_uris,
                include_writer_groups,
                include_data_set_writers,
            } => for_publisher(Topic::Connections {
                transport_profile_uris,
                with_groups: include_writer_groups,
                with_writers: include_writer_groups && include_data_set_writers,
            }),
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
                    .map(|id| Topic::Writer(group_of(&self.groups, id), id))
                    .collect()
            }
            DiscoveryProbe::WriterGroupConfiguration {
                writer_group_id,
                include_data_set_writers,
            } => {
                let mut groups = self.groups.iter();
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
        let mut connections = self.connections.iter();
        group_of(&self.groups, id).is_some()
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
        if let Some(next) = self.next_cycle.filter(|next| *next <= now) {
            self.announce_meta_data(now);
            // What was missed is not made up for.
            let next = next + self.announce_rate;
            self.next_cycle = Some(next.max(now));
        }
        let together = |one: &Topic, other: &Topic| match (one, other) {
            (Topic::Writer(one, _), Topic::Writer(other, _)) => one == other,
            _ => false,
        };
        let topics = self.schedule.take(now, together);
        let mut messages = Vec::new();
        for content in self.contents(&topics) {
            self.encode(content, &mut messages)?;
        }
        Ok(messages)
    }

    fn contents(&self, topics: &[Topic]) -> Vec<AnnouncementContent> {
        let mut contents = Vec::new();
        let mut done = Vec::new();
        for topic in topics {
            contents.extend(match topic {
                Topic::Application => self.application_information(),
                Topic::Endpoints => Some(self.endpoints()),
                Topic::Connections {
                    transport_profile_uris,
                    with_groups,
                    with_writers,
                } => Some(self.connections(transport_profile_uris, *with_groups, *with_writers)),
                Topic::MetaData(id) => Some(self.meta_data(*id)),
                Topic::Writer(group, _) if !done.contains(group) => {
                    done.push(*group);
                    let ids = topics.iter().filter_map(|other| match other {
                        Topic::Writer(other, id) if other == group => Some(*id),
                        _ => None,
                    });
                    Some(self.writers(*group, ids.collect()))
                }
                Topic::Writer(..) => None,
                Topic::Group { id, with_writers } => self.group(*id, *with_writers),
            });
        }
        contents
    }

    fn application_information(&self) -> Option<AnnouncementContent> {
        let description = self.application.description.clone()?;
        let information = ApplicationInformation::ApplicationDescription {
            application_description: Box::new(description),
            capabilities: self.application.capabilities.clone(),
        };
        Some(AnnouncementContent::ApplicationInformation(information))
    }

    fn endpoints(&self) -> AnnouncementContent {
        let endpoints = self.application.endpoints.clone();
        AnnouncementContent::PublisherEndpoints {
            status_code: match endpoints.is_empty() {
                true => StatusCode::BadNotSupported,
                false => StatusCode::Good,
            },
            endpoints,
        }
    }

    fn connections(
        &self,
        profiles: &[UaString],
        with_groups: bool,
        with_writers: bool,
    ) -> AnnouncementContent {
        let wanted = |connection: &&PubSubConnectionDataType| {
            profiles.is_empty() || profiles.contains(&connection.transport_profile_uri)
        };
        let connections = self.connections.iter().filter(wanted).cloned();
        let connections = connections.map(|mut connection| {
            if !with_groups {
                connection.writer_groups.clear();
            }
            for group in connection
                .writer_groups
                .iter_mut()
                .filter(|_| !with_writers)
            {
                group.data_set_writers.clear();
            }
            connection
        });
        AnnouncementContent::PubSubConnections(connections.collect())
    }

    fn meta_data(&self, data_set_writer_id: u16) -> AnnouncementContent {
        let mut known = self.meta_data.iter();
        let known = known.find(|(id, _)| *id == data_set_writer_id);
        let (meta_data, status_code) = match known {
            Some((_, Ok(meta_data))) => (meta_data.clone(), StatusCode::Good),
            Some((_, Err(status))) => (Box::default(), *status),
            None => (Box::default(), StatusCode::BadNotFound),
        };
        AnnouncementContent::DataSetMetaData {
            data_set_writer_id,
            meta_data,
            status_code,
        }
    }

    /// The configuration of DataSetWriters of one WriterGroup, or a denial.
    fn writers(&self, group: Option<usize>, ids: Vec<u16>) -> AnnouncementContent {
        let group = group.and_then(|index| self.groups.get(index));
        let status = match group {
            Some(_) => StatusCode::Good,
            None => StatusCode::BadNotFound,
        };
        let mut configuration = group.cloned().unwrap_or_default();
        configuration
            .data_set_writers
            .retain(|writer| ids.contains(&writer.data_set_writer_id));
        AnnouncementContent::DataSetWriterConfiguration {
            status_codes: vec![status; ids.len()],
            data_set_writer_ids: ids,
            data_set_writer_config: Box::new(configuration),
        }
    }

    fn group(&self, id: u16, with_writers: bool) -> Option<AnnouncementContent> {
        let mut groups = self.groups.iter();
        let mut group = groups.find(|group| group.writer_group_id == id)?.clone();
        if !with_writers {
            group.data_set_writers.clear();
        }
        let writers = group.data_set_writers.iter();
        let ids: Vec<u16> = writers.map(|it| it.data_set_writer_id).collect();
        Some(AnnouncementContent::DataSetWriterConfiguration {
            status_codes: vec![StatusCode::Good; ids.len()],
            data_set_writer_ids: ids,
            data_set_writer_config: Box::new(group),
        })
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

/// Index of the WriterGroup that has a DataSetWriter.
fn group_of(groups: &[WriterGroupDataType], data_set_writer_id: u16) -> Option<usize> {
    groups.iter().position(|group| {
        let mut writers = group.data_set_writers.iter();
        writers.any(|writer| writer.data_set_writer_id == data_set_writer_id)
    })
}

fn meta_data(
    configuration: &PubSubConfiguration2DataType,
    group: &WriterGroupDataType,
    writer: &DataSetWriterDataType,
) -> (u16, Result<Box<DataSetMetaDataType>, StatusCode>) {
    let mut data_sets = configuration.published_data_sets.iter();
    let found = data_sets.find(|data_set| data_set.name == writer.data_set_name);
    let is_protected = !matches!(
        group.security_mode,
        MessageSecurityMode::None | MessageSecurityMode::Invalid
    );
    let meta_data = match found {
        _ if is_protected => Err(StatusCode::BadSecurityModeInsufficient),
        // A heartbeat has no fields.
        None => Err(StatusCode::BadNotFound),
        Some(data_set) => Ok(Box::new(data_set.data_set_meta_data.clone())),
    };
    (writer.data_set_writer_id, meta_data)
}
