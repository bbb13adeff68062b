//! Links of a configuration (OPC 10000-14, 6.2.7.5, 6.4.1 and 6.4.2).

use takt_link::{
    Address, AddressError, Content, LaunchMode, LinkOptions, NOT_IN_LEVELS, ReceiveClock,
    TopicError, WithoutRoom,
};
use takt_ua::ExtensionObject;
use takt_ua::enumerations::BrokerTransportQualityOfService;
use takt_ua::structures::{
    BrokerDataSetReaderTransportDataType, BrokerDataSetWriterTransportDataType,
    BrokerWriterGroupTransportDataType, DataSetReaderDataType, DataSetWriterDataType,
    DatagramConnectionTransport2DataType, DatagramConnectionTransportDataType,
    DatagramDataSetReaderTransportDataType, DatagramWriterGroupTransport2DataType,
    JsonWriterGroupMessageDataType, NetworkAddressUrlDataType, PubSubConnectionDataType,
    WriterGroupDataType,
};

use super::RuntimeOptions;
use crate::authentication::Authentication;
use crate::error::{ConfigurationError, ConfigurationProblem};
use crate::link_times::{LAUNCH_MODES, LAUNCH_TIMES, RECEIVE_CLOCKS, RECEIVE_TIMES, word_property};

/// Link that is to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkPlan {
    /// Address of the link.
    pub address: Address,
    /// Options of the link.
    pub options: LinkOptions,
}

impl LinkPlan {
    /// Returns true if several receivers can receive the messages of the link.
    pub(super) fn is_shared(&self) -> bool {
        self.address.is_ip_multicast()
    }
}

/// Returns the link through which a WriterGroup sends. Options that the configuration does not have are taken from `base`.
pub fn writer_group_link(
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    base: &LinkOptions,
) -> Result<LinkPlan, ConfigurationError> {
    let datagram: Option<DatagramWriterGroupTransport2DataType> =
        group.transport_settings.decode_as().ok();
    let broker: Option<BrokerWriterGroupTransportDataType> =
        group.transport_settings.decode_as().ok();
    let own = datagram
        .map(|datagram| datagram.address)
        .filter(|address| !address.is_null());
    let address = own.as_ref().unwrap_or(&connection.address);
    let mut plan = plan(address, base).map_err(|problem| problem.at(group.name.as_str()))?;
    let own = word_property(&group.group_properties, LAUNCH_TIMES, LAUNCH_MODES)
        .map_err(|problem| problem.at(group.name.as_str()))?;
    let own = own.map(|word| match word {
        "deadline" => LaunchMode::Deadline,
        _ => LaunchMode::Strict,
    });
    // `plan` has left them out.
    plan.options.launch_times = own.or(base.launch_times);
    let mut writers = group.data_set_writers.iter();
    // A message with all values replaces the one before. Changes and events do not, nor does one of several messages of
    // the group, such as a chunk.
    if writers.all(|writer| writer.key_frame_count == 1) && base.without_room == WithoutRoom::Keep {
        plan.options.without_room = WithoutRoom::DiscardAlone;
    }
    if plan.address.has_topics() {
        let json = group
            .message_settings
            .is::<JsonWriterGroupMessageDataType>();
        plan.options.mqtt.content = if json { Content::Json } else { Content::Uadp };
        // One link serves the whole group: `check` refuses writers with a topic or credentials of their own.
        let writer = group.data_set_writers.first().and_then(|writer| {
            let settings = writer.transport_settings.decode_as();
            settings
                .ok()
                .map(|settings: BrokerDataSetWriterTransportDataType| {
                    (settings.queue_name, settings.requested_delivery_guarantee)
                })
        });
        let group_settings = broker.map(|it| (it.queue_name, it.requested_delivery_guarantee));
        let named = |settings: &(takt_ua::UaString, _)| !settings.0.as_str().is_empty();
        let (topic, guarantee) = match group_settings.filter(named).or(writer.filter(named)) {
            Some((queue, guarantee)) => (queue.to_string(), guarantee),
            None => {
                let topic = default_topic(connection, group, plan.options.mqtt.content)
                    .map_err(|problem| problem.at(group.name.as_str()))?;
                (topic, BrokerTransportQualityOfService::NotSpecified)
            }
        };
        plan.options.mqtt.topic = topic;
        plan.options.mqtt.quality_of_service = quality_of_service(guarantee, base);
        let outer = Authentication::of(&connection.transport_settings);
        let first = group.data_set_writers.first();
        let of_writer = first.map(|writer| Authentication::of(&writer.transport_settings));
        let own = Authentication::of(&group.transport_settings);
        own.or(&of_writer.unwrap_or_default())
            .or(&outer)
            .apply(&mut plan.options)
            .map_err(|problem| problem.at(group.name.as_str()))?;
    }
    Ok(plan)
}

/// Returns the link of probes and announcements of a UDP connection: its DiscoveryAddress (OPC 10000-14, 6.4.1.2.1), or that of
/// the standard if the options say so.
pub fn discovery_link(
    connection: &PubSubConnectionDataType,
    options: &RuntimeOptions,
) -> Result<Option<LinkPlan>, ConfigurationError> {
    let settings = &connection.transport_settings;
    let first: Option<DatagramConnectionTransportDataType> = settings.decode_as().ok();
    let second: Option<DatagramConnectionTransport2DataType> = settings.decode_as().ok();
    let configured = first.map(|it| it.discovery_address);
    let configured = configured.or(second.map(|it| it.discovery_address));
    let configured = configured.filter(|address| !address.is_null());
    if configured.is_none() && !options.default_discovery {
        return Ok(None);
    }
    let at = |problem: ConfigurationProblem| problem.at("DiscoveryAddress");
    let data = plan(&connection.address, &options.link).map_err(at)?;
    if !data.address.is_udp() {
        return Ok(None);
    }
    let Some(configured) = configured else {
        let address = Address::parse(takt_link::DISCOVERY_ADDRESS);
        let wrong = |error: AddressError| {
            at(ConfigurationProblem::parameter(
                "Address",
                error.to_string(),
            ))
        };
        return Ok(Some(LinkPlan {
            address: address.map_err(wrong)?,
            options: data.options,
        }));
    };
    plan(&configured, &options.link).map(Some).map_err(at)
}

/// Returns the links of the metadata of DataSetWriters, by their DataSetWriterIds: the MetaDataQueueNames of a broker, which
/// keeps the metadata for later subscribers (OPC 10000-14, 6.4.2.5.4).
pub fn meta_data_links(
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    base: &LinkOptions,
) -> Result<Vec<(u16, LinkPlan)>, ConfigurationError> {
    let group_link = writer_group_link(connection, group, base)?;
    let is_broker = group_link.address.has_topics();
    let writers = group.data_set_writers.iter().filter(|_| is_broker);
    let link = |writer: &DataSetWriterDataType| {
        let settings = writer.transport_settings.decode_as();
        let settings: BrokerDataSetWriterTransportDataType = settings.ok()?;
        let queue = settings.meta_data_queue_name.as_str();
        let mut plan = group_link.clone();
        plan.options.mqtt.topic = queue.to_owned();
        // Subscribers that come later get the metadata from the broker at once.
        plan.options.mqtt.retain = true;
        (!queue.is_empty()).then_some((writer.data_set_writer_id, plan))
    };
    Ok(writers.filter_map(link).collect())
}

/// Returns the links through which the readers of a connection receive, each once.
pub fn reader_links(
    connection: &PubSubConnectionDataType,
    base: &LinkOptions,
) -> Result<Vec<LinkPlan>, ConfigurationError> {
    ReaderLinkPlans::of(connection, base).map(|plans| plans.links)
}

/// Links of the readers of a connection.
#[derive(Debug, Default)]
pub(super) struct ReaderLinkPlans {
    /// Links, each once.
    pub(super) links: Vec<LinkPlan>,
    /// Indexes of the links of each reader: of its messages, and of its metadata if that has a link of its own.
    pub(super) of_readers: Vec<(usize, Option<usize>)>,
}

impl ReaderLinkPlans {
    pub(super) fn of(
        connection: &PubSubConnectionDataType,
        base: &LinkOptions,
    ) -> Result<Self, ConfigurationError> {
        let mut plans = Self::default();
        let properties = &connection.connection_properties;
        let own = word_property(properties, RECEIVE_TIMES, RECEIVE_CLOCKS)
            .map_err(|problem| problem.at(connection.name.as_str()))?;
        let own = own.map(|word| match word {
            "hardware" => ReceiveClock::Hardware,
            _ => ReceiveClock::Software,
        });
        let base = &LinkOptions {
            receive_times: own.or(base.receive_times),
            ..base.clone()
        };
        let groups = connection.reader_groups.iter();
        for reader in groups.flat_map(|group| &group.data_set_readers) {
            let (data, meta_data) = reader_plans(connection, reader, base)
                .map_err(|problem| problem.at(reader.name.as_str()))?;
            let meta_data = meta_data.map(|plan| plans.add(plan));
            let data = plans.add(data);
            plans.of_readers.push((data, meta_data));
        }
        Ok(plans)
    }

    /// Adds a link unless it is there already, and returns its index.
    pub(super) fn add(&mut self, plan: LinkPlan) -> usize {
        // Readers of one address and topic share a link.
        let known = self.links.iter().position(|known| *known == plan);
        known.unwrap_or_else(|| {
            self.links.push(plan);
            self.links.len() - 1
        })
    }
}

/// Returns the links of the messages of a reader, and of its metadata if it has a MetaDataQueueName.
fn reader_plans(
    connection: &PubSubConnectionDataType,
    reader: &DataSetReaderDataType,
    base: &LinkOptions,
) -> Result<(LinkPlan, Option<LinkPlan>), ConfigurationProblem> {
    let settings = &reader.transport_settings;
    let datagram: Option<DatagramDataSetReaderTransportDataType> = settings.decode_as().ok();
    let broker: Option<BrokerDataSetReaderTransportDataType> = settings.decode_as().ok();
    let own = datagram
        .map(|datagram| datagram.address)
        .filter(|address| !address.is_null());
    let address = own.as_ref().unwrap_or(&connection.address);
    let mut data = plan(address, base)?;
    if !data.address.has_topics() {
        return Ok((data, None));
    }
    let Some(broker) = broker.filter(|it| !it.queue_name.as_str().is_empty()) else {
        let what = "the topic is missing, from which messages of the broker are received";
        return Err(ConfigurationProblem::parameter("QueueName", what));
    };
    data.options.mqtt.topic = broker.queue_name.to_string();
    let outer = Authentication::of(&connection.transport_settings);
    let own = Authentication::of(settings).or(&outer);
    own.apply(&mut data.options)?;
    data.options.mqtt.quality_of_service =
        quality_of_service(broker.requested_delivery_guarantee, base);
    let queue = broker.meta_data_queue_name.as_str();
    let mut meta_data = data.clone();
    meta_data.options.mqtt.topic = queue.to_owned();
    Ok((data, (!queue.is_empty()).then_some(meta_data)))
}

fn plan(address: &ExtensionObject, base: &LinkOptions) -> Result<LinkPlan, ConfigurationProblem> {
    let wrong = |error: &dyn std::fmt::Display| {
        ConfigurationProblem::parameter("Address", error.to_string())
    };
    let address: NetworkAddressUrlDataType = address
        .decode_as()
        .map_err(|_| wrong(&"no NetworkAddressUrl"))?;
    // Messages other than those of WriterGroups are sent at any time, and have no launch time.
    let mut options = LinkOptions {
        launch_times: None,
        ..base.clone()
    };
    if !address.network_interface.as_str().is_empty() {
        options.interface = Some(address.network_interface.to_string());
    }
    let address = Address::parse(address.url.as_str()).map_err(|error| wrong(&error))?;
    Ok(LinkPlan { address, options })
}

/// Returns the topic of the data of a WriterGroup in the topic tree of the standard (OPC 10000-14, 7.3.4.7).
///
/// # Errors
/// The PublisherId or the name has a character with a special meaning in topics, for which the standard has no replacement.
fn default_topic(
    connection: &PubSubConnectionDataType,
    group: &WriterGroupDataType,
    content: Content,
) -> Result<String, ConfigurationProblem> {
    let encoding = content.topic_level();
    let publisher = takt_wire::PublisherId::from_variant(&connection.publisher_id);
    let publisher = publisher.map(|id| id.to_string()).unwrap_or_default();
    let name = group.name.as_str();
    for (parameter, level) in [("PublisherId", publisher.as_str()), ("Name", name)] {
        if level.contains(NOT_IN_LEVELS) {
            let error = TopicError::Level(level.to_owned());
            return Err(ConfigurationProblem::parameter(
                parameter,
                error.to_string(),
            ));
        }
    }
    Ok(format!("opcua/{encoding}/data/{publisher}/{name}"))
}

fn quality_of_service(guarantee: BrokerTransportQualityOfService, base: &LinkOptions) -> u8 {
    match guarantee {
        BrokerTransportQualityOfService::BestEffort
        | BrokerTransportQualityOfService::AtMostOnce => 0,
        BrokerTransportQualityOfService::AtLeastOnce => 1,
        BrokerTransportQualityOfService::ExactlyOnce => 2,
        _ => base.mqtt.quality_of_service,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(interface: &str, url: &str) -> ExtensionObject {
        ExtensionObject::from_structure(&NetworkAddressUrlDataType {
            network_interface: interface.into(),
            url: url.into(),
        })
    }

    #[test]
    fn a_group_may_have_an_address_of_its_own() {
        let connection = PubSubConnectionDataType {
            address: address("lo", "opc.udp://239.0.0.1"),
            ..PubSubConnectionDataType::default()
        };
        let mut group = WriterGroupDataType::default();
        let base = LinkOptions::default();
        let plan = writer_group_link(&connection, &group, &base).unwrap();
        assert_eq!(plan.address.to_string(), "opc.udp://239.0.0.1:4840");
        assert_eq!(plan.options.interface.as_deref(), Some("lo"));
        group.transport_settings =
            ExtensionObject::from_structure(&DatagramWriterGroupTransport2DataType {
                address: address("", "opc.udp://239.0.0.2:7000"),
                ..DatagramWriterGroupTransport2DataType::default()
            });
        let plan = writer_group_link(&connection, &group, &base).unwrap();
        assert_eq!(plan.address.to_string(), "opc.udp://239.0.0.2:7000");
    }

    #[test]
    fn topics_are_those_of_the_topic_tree_unless_a_queue_is_named() {
        let connection = PubSubConnectionDataType {
            publisher_id: takt_ua::Variant::UInt16(7),
            address: address("", "mqtt://localhost"),
            ..PubSubConnectionDataType::default()
        };
        let mut group = WriterGroupDataType {
            name: "Fast".into(),
            ..WriterGroupDataType::default()
        };
        let base = LinkOptions::default();
        let plan = writer_group_link(&connection, &group, &base).unwrap();
        assert_eq!(plan.options.mqtt.topic, "opcua/uadp/data/7/Fast");
        for (id, level) in [
            (takt_ua::Variant::UInt64(u64::MAX), "18446744073709551615"),
            (takt_ua::Variant::from("Press"), "Press"),
        ] {
            let connection = PubSubConnectionDataType {
                publisher_id: id,
                ..connection.clone()
            };
            let plan = writer_group_link(&connection, &group, &base).unwrap();
            let topic = format!("opcua/uadp/data/{level}/Fast");
            assert_eq!(plan.options.mqtt.topic, topic);
        }
        for (id, name) in [("Halle 3/Press", "Fast"), ("Press", "a+"), ("#", "Fast")] {
            let connection = PubSubConnectionDataType {
                publisher_id: id.into(),
                ..connection.clone()
            };
            group.name = name.into();
            let error = writer_group_link(&connection, &group, &base).unwrap_err();
            let text = "cannot be a level of a topic";
            assert!(error.to_string().contains(text), "{error}");
        }
        group.transport_settings =
            ExtensionObject::from_structure(&BrokerWriterGroupTransportDataType {
                queue_name: "machine/1".into(),
                requested_delivery_guarantee: BrokerTransportQualityOfService::AtLeastOnce,
                ..BrokerWriterGroupTransportDataType::default()
            });
        let plan = writer_group_link(&connection, &group, &base).unwrap();
        assert_eq!(plan.options.mqtt.topic, "machine/1");
        assert_eq!(plan.options.mqtt.quality_of_service, 1);
    }

    #[test]
    fn only_the_messages_of_writer_groups_have_launch_times() {
        let connection = PubSubConnectionDataType {
            address: address("", "opc.udp://239.0.0.1"),
            ..PubSubConnectionDataType::default()
        };
        let mut options = RuntimeOptions::default();
        options.link.launch_times = Some(takt_link::LaunchMode::Strict);
        options.default_discovery = true;
        let group = WriterGroupDataType::default();
        let data = writer_group_link(&connection, &group, &options.link).unwrap();
        assert_eq!(data.options.launch_times, options.link.launch_times);
        let discovery = discovery_link(&connection, &options).unwrap().unwrap();
        assert_eq!(discovery.options.launch_times, None);
    }

    #[test]
    fn invalid_addresses_are_reported() {
        let connection = PubSubConnectionDataType {
            address: address("", "opc.tcp://localhost"),
            ..PubSubConnectionDataType::default()
        };
        let group = WriterGroupDataType {
            name: "Group".into(),
            ..WriterGroupDataType::default()
        };
        let error = writer_group_link(&connection, &group, &LinkOptions::default()).unwrap_err();
        assert!(error.to_string().starts_with("Group: Address: "), "{error}");
    }
}
