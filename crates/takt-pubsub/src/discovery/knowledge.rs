//! Content of a Publisher's announcements (OPC 10000-14, 7.2.4.6.3 to 7.2.4.6.9).

use std::collections::BTreeMap;

use takt_ua::structures::{
    ApplicationDescription, DataSetMetaDataType, DataSetWriterDataType, EndpointDescription,
    PubSubConfiguration2DataType, PubSubConnectionDataType, PublishedDataSetDataType,
    WriterGroupDataType,
};
use takt_ua::{StatusCode, UaString};
use takt_wire::{AnnouncementContent, ApplicationInformation};

use crate::action::{PublishedAction, offers_actions};

/// Description of the application; empty without a name and Endpoints.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnnouncedApplication {
    /// ApplicationDescription, the answer to FindApplications.
    pub description: Option<ApplicationDescription>,
    /// Capabilities, with the identifiers of OPC 10000-12.
    pub capabilities: Vec<UaString>,
    /// Endpoints of its Server.
    pub endpoints: Vec<EndpointDescription>,
}

/// Kind of announcement; each kind is delayed separately.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Topic {
    Application,
    Endpoints,
    Connections {
        transport_profile_uris: Vec<UaString>,
        with_groups: bool,
        with_writers: bool,
    },
    /// Metadata of a DataSetWriter, or of its Action.
    MetaData(u16),
    /// Connections with Actions.
    ActionResponder,
    /// DataSetWriter, and the index of its WriterGroup.
    Writer(Option<usize>, u16),
    Group {
        id: u16,
        with_writers: bool,
    },
}

/// Content of the announcements of a connection.
#[derive(Debug)]
pub(super) struct Knowledge {
    pub(super) groups: Vec<WriterGroupDataType>,
    /// Metadata by DataSetWriterId, or the reason why it is not announced.
    pub(super) meta_data: Vec<(u16, Result<Box<DataSetMetaDataType>, StatusCode>)>,
    /// Actions that DataSetWriters of the connection offer.
    pub(super) actions: Vec<PublishedAction>,
    /// Connections of the Publisher that have WriterGroups of Actions only.
    pub(super) responders: Vec<PubSubConnectionDataType>,
    /// All connections of the Publisher, without ReaderGroups.
    pub(super) connections: Vec<PubSubConnectionDataType>,
    pub(super) application: AnnouncedApplication,
}

impl Knowledge {
    pub(super) fn new(
        configuration: &PubSubConfiguration2DataType,
        connection: &PubSubConnectionDataType,
        application: AnnouncedApplication,
    ) -> Self {
        let writers = connection
            .writer_groups
            .iter()
            .flat_map(|group| &group.data_set_writers);
        // An announcement is that of a PublisherId, which several connections may share.
        let same = |other: &&PubSubConnectionDataType| {
            other.enabled && other.publisher_id == connection.publisher_id
        };
        let connections = configuration.connections.iter().filter(same);
        let data_sets = &configuration.published_data_sets;
        let actions = writers
            .clone()
            .filter_map(|writer| PublishedAction::of_writer(writer, data_sets));
        Self {
            actions: actions.collect(),
            responders: connections
                .clone()
                .filter_map(|connection| responder(connection, data_sets))
                .collect(),
            meta_data: writers
                .map(|writer| meta_data(configuration, writer))
                .collect(),
            groups: connection.writer_groups.clone(),
            connections: connections
                .map(|connection| PubSubConnectionDataType {
                    reader_groups: Vec::new(),
                    ..connection.clone()
                })
                .collect(),
            application,
        }
    }

    /// Returns the announcements of these topics; one for all DataSetWriters of a WriterGroup.
    pub(super) fn contents(&self, topics: &[Topic]) -> Vec<AnnouncementContent> {
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
                Topic::ActionResponder => Some(AnnouncementContent::ActionResponder(
                    self.responders.clone(),
                )),
                Topic::Writer(group, _) if !done.contains(group) => {
                    done.push(*group);
                    let ids = topics.iter().filter_map(|other| match other {
                        Topic::Writer(other, id) if other == group => Some(*id),
                        _ => None,
                    });
                    Some(self.writers(*group, ids.collect()))
                }
                // The announcement of its group has it already.
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
        let mut actions = self.actions.iter();
        let action = actions.find(|action| action.data_set_writer_id == data_set_writer_id);
        if let Some(action) = action {
            return action.announcement();
        }
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

    /// Returns the configuration of DataSetWriters of one WriterGroup, or a denial.
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
}

/// Returns the announced part of a connection with Actions: only these, and no properties (OPC 10000-14, 7.2.5.5.8).
fn responder(
    connection: &PubSubConnectionDataType,
    data_sets: &[PublishedDataSetDataType],
) -> Option<PubSubConnectionDataType> {
    let groups = connection.writer_groups.iter();
    let groups = groups.filter(|group| offers_actions(group, data_sets));
    let groups = groups.map(|group| WriterGroupDataType {
        group_properties: Vec::new(),
        data_set_writers: group
            .data_set_writers
            .iter()
            .map(|writer| DataSetWriterDataType {
                data_set_writer_properties: Vec::new(),
                ..writer.clone()
            })
            .collect(),
        ..group.clone()
    });
    let writer_groups: Vec<_> = groups.collect();
    (!writer_groups.is_empty()).then(|| PubSubConnectionDataType {
        connection_properties: Vec::new(),
        reader_groups: Vec::new(),
        writer_groups,
        ..connection.clone()
    })
}

/// Returns the DataSetWriters of groups, with the indexes of their groups.
pub(super) fn groups_of_writers(groups: &[WriterGroupDataType]) -> BTreeMap<u16, usize> {
    let mut found = BTreeMap::new();
    for (index, group) in groups.iter().enumerate() {
        for writer in &group.data_set_writers {
            found.entry(writer.data_set_writer_id).or_insert(index);
        }
    }
    found
}

fn meta_data(
    configuration: &PubSubConfiguration2DataType,
    writer: &DataSetWriterDataType,
) -> (u16, Result<Box<DataSetMetaDataType>, StatusCode>) {
    let mut data_sets = configuration.published_data_sets.iter();
    let found = data_sets.find(|data_set| data_set.name == writer.data_set_name);
    let meta_data = match found {
        // A heartbeat has no fields.
        None => Err(StatusCode::BadNotFound),
        Some(data_set) => Ok(Box::new(data_set.data_set_meta_data.clone())),
    };
    (writer.data_set_writer_id, meta_data)
}
