//! WriterGroups and DataSetReaders of a configuration, with the parts that a scenario describes.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv6Addr};

use takt_link::{Address, LinkOptions};
use takt_pubsub::ConfigurationError;
use takt_pubsub::check::message_lengths;
use takt_pubsub::monitor::FlowDirection;
use takt_pubsub::runtime::{LinkPlan, reader_links, writer_group_link};
use takt_ua::Variant;
use takt_ua::structures::{
    DataSetReaderDataType, JsonDataSetReaderMessageDataType, JsonWriterGroupMessageDataType,
    PubSubConfiguration2DataType, PubSubConnectionDataType, PublishedDataSetDataType,
    ReaderGroupDataType, UadpDataSetReaderMessageDataType, WriterGroupDataType,
};

use crate::error::WatchError;

/// Name of the interface that leads back to the same host.
const LOOPBACK_INTERFACE: &str = "lo";

/// A WriterGroup or a DataSetReader.
#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) direction: FlowDirection,
    /// `CONNECTION/GROUP` or `CONNECTION/READER`.
    pub(crate) name: String,
    /// Further names by which it may be that of a flow.
    pub(crate) names: Vec<String>,
    /// PublisherId; `Empty` if a reader has none.
    pub(crate) publisher_id: Variant,
    /// WriterGroupId; 0 if a reader has none.
    pub(crate) writer_group_id: u16,
    pub(crate) link: LinkPlan,
    pub(crate) is_json: bool,
    /// Publishing interval in milliseconds, if it is known.
    pub(crate) interval: Option<f64>,
    /// True if a message is sent in each publishing interval, and not only when values change or events occur.
    pub(crate) is_cyclic: bool,
    /// Lengths of its messages of one publishing interval, if they are known.
    pub(crate) lengths: Option<Vec<usize>>,
}

impl Component {
    /// Returns the bytes of the headers of IP and UDP in each frame.
    pub(crate) fn headers(&self) -> usize {
        match &self.link.address {
            Address::Udp { host, .. } if host.parse::<Ipv6Addr>().is_ok() => 40 + 8,
            Address::Udp { .. } => 20 + 8,
            _ => 0,
        }
    }

    /// Returns true if its messages cannot leave this host, so that sender and receiver read the same clock.
    pub(crate) fn stays_on_host(&self) -> bool {
        let Address::Udp { host, .. } = &self.link.address else {
            return false;
        };
        let is_loopback = |text: &str| match text.parse::<IpAddr>() {
            Ok(address) => address.is_loopback(),
            Err(_) => false,
        };
        let interface = self.link.options.interface.as_deref();
        is_loopback(host) || interface.is_some_and(|it| it == LOOPBACK_INTERFACE || is_loopback(it))
    }
}

/// Returns the components of a configuration that are enabled.
pub(crate) fn of(
    configuration: &PubSubConfiguration2DataType,
) -> Result<Vec<Component>, ConfigurationError> {
    let mut components = Vec::new();
    let connections = configuration.connections.iter();
    for connection in connections.filter(|connection| connection.enabled) {
        let data_sets = &configuration.published_data_sets;
        for group in connection.writer_groups.iter().filter(|it| it.enabled) {
            components.push(writer_group(connection, group, data_sets)?);
        }
        for group in connection.reader_groups.iter().filter(|it| it.enabled) {
            let readers = group.data_set_readers.iter();
            for reader in readers.filter(|reader| reader.enabled) {
                components.push(data_set_reader(connection, group, reader)?);
            }
        }
    }
    Ok(components)
}

/// Refuses names that two components have: a running configuration is asked for a component by its name.
pub(crate) fn check_names(components: &[Component]) -> Result<(), WatchError> {
    let mut known = HashSet::new();
    let mut names = components.iter().map(|it| (it.direction, &it.name));
    match names.find(|name| !known.insert(*name)) {
        None => Ok(()),
        Some((_, component)) => Err(WatchError::SameName {
            component: component.clone(),
        }),
    }
}

fn writer_group(
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    data_sets: &[PublishedDataSetDataType],
) -> Result<Component, ConfigurationError> {
    let mut names = vec![group.name.to_string()];
    if let [writer] = &*group.data_set_writers {
        names.push(writer.name.to_string());
    }
    let settings = &group.message_settings;
    Ok(Component {
        direction: FlowDirection::Sending,
        name: format!("{}/{}", connection.name, group.name),
        names,
        publisher_id: connection.publisher_id.clone(),
        writer_group_id: group.writer_group_id,
        link: writer_group_link(connection, group, &LinkOptions::default())?,
        is_json: settings.is::<JsonWriterGroupMessageDataType>(),
        interval: Some(group.publishing_interval),
        is_cyclic: group
            .data_set_writers
            .iter()
            .any(|it| it.enabled && it.key_frame_count == 1),
        lengths: message_lengths(connection, group, data_sets),
    })
}

fn data_set_reader(
    connection: &PubSubConnectionDataType,
    group: &ReaderGroupDataType,
    reader: &DataSetReaderDataType,
) -> Result<Component, ConfigurationError> {
    // The links of a connection are those of all its readers, each once.
    let alone = PubSubConnectionDataType {
        reader_groups: vec![ReaderGroupDataType {
            data_set_readers: vec![reader.clone()],
            ..group.clone()
        }],
        ..connection.clone()
    };
    let link = reader_links(&alone, &LinkOptions::default())?;
    let settings = &reader.message_settings;
    let uadp: Option<UadpDataSetReaderMessageDataType> = settings.decode_as().ok();
    let interval = uadp.map(|uadp| uadp.publishing_interval);
    Ok(Component {
        direction: FlowDirection::Receiving,
        name: format!("{}/{}", connection.name, reader.name),
        names: vec![reader.name.to_string(), group.name.to_string()],
        publisher_id: reader.publisher_id.clone(),
        writer_group_id: reader.writer_group_id,
        link: link.into_iter().next().unwrap_or_else(|| LinkPlan {
            address: Address::Iox2 {
                name: String::new(),
            },
            options: LinkOptions::default(),
        }),
        is_json: settings.is::<JsonDataSetReaderMessageDataType>(),
        interval: interval.filter(|interval| *interval > 0.0),
        // Events are told by their messages.
        is_cyclic: reader.key_frame_count <= 1,
        lengths: None,
    })
}
