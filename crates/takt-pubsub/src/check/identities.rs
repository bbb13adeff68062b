//! Identities that have to be unique (OPC 10000-14, 6.2.4.1 and 6.2.6.1), and readers and targets that meet.

use std::collections::HashMap;

use takt_ua::structures::{
    BrokerDataSetReaderTransportDataType, DataSetReaderDataType,
    DatagramDataSetReaderTransportDataType, DatagramWriterGroupTransport2DataType,
    NetworkAddressUrlDataType, PubSubConfiguration2DataType,
    StandaloneSubscribedDataSetRefDataType, TargetVariablesDataType,
    UadpDataSetReaderMessageDataType,
};
use takt_ua::{ExtensionObject, NodeId, Variant};

use super::mistake::Place;
use super::queues;
use super::tables::{CONNECTIONS, READER_GROUPS, READERS, WRITER_GROUPS, WRITERS};

/// Address and topic of the messages of a writer or reader.
type Link = (String, String);

/// Checks that the identities of a configuration are unique.
pub(super) fn check(file: &mut Place<'_>, configuration: &PubSubConfiguration2DataType) {
    let mut groups = Seen::default();
    let mut writers = Seen::default();
    for (index, connection) in configuration.connections.iter().enumerate() {
        let mut place = file.entry(CONNECTIONS, connection.name.as_str(), index);
        let publisher = publisher(&connection.publisher_id);
        for (at, group) in connection.writer_groups.iter().enumerate() {
            let mut place = place.entry(WRITER_GROUPS, group.name.as_str(), at);
            let datagram: Option<DatagramWriterGroupTransport2DataType> =
                group.transport_settings.decode_as().ok();
            let own = datagram
                .map(|it| url(&it.address))
                .filter(|url| !url.is_empty());
            let url = own.unwrap_or_else(|| url(&connection.address));
            let link = (url, queues::topic_of(group).unwrap_or_default());
            groups.note(
                &mut place,
                "writer_group_id",
                (publisher.clone(), group.writer_group_id),
                (index, &link),
            );
            for (at, writer) in group.data_set_writers.iter().enumerate() {
                let mut place = place.entry(WRITERS, writer.name.as_str(), at);
                let id = writer.data_set_writer_id;
                writers.note(
                    &mut place,
                    "data_set_writer_id",
                    (publisher.clone(), id),
                    (index, &link),
                );
            }
        }
    }
    check_readers(file, configuration);
}

/// Entry with an identity.
struct Known {
    /// Index of its connection.
    connection: usize,
    link: Link,
    path: String,
}

/// Entries by PublisherId and number.
#[derive(Default)]
struct Seen(HashMap<(String, u16), Vec<Known>>);

impl Seen {
    /// Notes an entry, and reports it if an earlier one has its identity.
    fn note(
        &mut self,
        place: &mut Place<'_>,
        key: &'static str,
        identity: (String, u16),
        (connection, link): (usize, &Link),
    ) {
        let id = identity.1;
        if id == 0 {
            return;
        }
        let earlier = self.0.entry(identity).or_default();
        // Readers at other addresses and topics never see both.
        let meets = |it: &&Known| it.connection == connection || it.link == *link;
        if let Some(Known { path, .. }) = earlier.iter().find(meets) {
            let what =
                format!("{id} is that of '{path}' too, so that readers would mix their data");
            place.error(
                key,
                what,
                "Give each one of a Publisher a number of its own",
            );
        } else if let Some(Known { path, .. }) = earlier.first() {
            let what = format!("{id} is that of '{path}' too, at another address");
            place.warning(
                key,
                what,
                "Give each one of a Publisher a number of its own",
            );
        }
        earlier.push(Known {
            connection,
            link: link.clone(),
            path: place.path().to_owned(),
        });
    }
}

/// Returns a PublisherId as text: UIntegers of different sizes are equal if their values are.
fn publisher(id: &Variant) -> String {
    match id {
        Variant::String(text) => format!("'{text}'"),
        Variant::UInt64(number) => number.to_string(),
        id => id
            .as_i64()
            .map(|number| number.to_string())
            .unwrap_or_default(),
    }
}

fn url(address: &ExtensionObject) -> String {
    let address: Option<NetworkAddressUrlDataType> = address.decode_as().ok();
    address
        .map(|it| it.url.as_str().to_ascii_lowercase())
        .unwrap_or_default()
}

/// Reader, as far as it chooses messages.
struct Chosen<'c> {
    link: Link,
    reader: &'c DataSetReaderDataType,
    publisher: String,
    place: (u16, u16),
    path: String,
}

impl Chosen<'_> {
    fn meets(&self, other: &Self) -> bool {
        let same = |one: u16, other: u16| one == other || one == 0 || other == 0;
        let (one, two) = (self.reader, other.reader);
        // Numbers come first: each reader is compared with all before it, and most of them differ in one.
        same(one.data_set_writer_id, two.data_set_writer_id)
            && same(one.writer_group_id, two.writer_group_id)
            && same(self.place.0, other.place.0)
            && same(self.place.1, other.place.1)
            && (self.publisher == other.publisher
                || self.publisher.is_empty()
                || other.publisher.is_empty())
            && self.link == other.link
    }
}

fn check_readers(file: &mut Place<'_>, configuration: &PubSubConfiguration2DataType) {
    let mut chosen: Vec<Chosen<'_>> = Vec::new();
    let mut targets: HashMap<NodeId, String> = HashMap::new();
    for (index, connection) in configuration.connections.iter().enumerate() {
        let mut place = file.entry(CONNECTIONS, connection.name.as_str(), index);
        for (at, group) in connection.reader_groups.iter().enumerate() {
            let mut place = place.entry(READER_GROUPS, group.name.as_str(), at);
            for (at, reader) in group.data_set_readers.iter().enumerate() {
                let mut place = place.entry(READERS, reader.name.as_str(), at);
                let own = Chosen {
                    link: link_of(&connection.address, reader),
                    reader,
                    publisher: publisher(&reader.publisher_id),
                    place: place_of(reader),
                    path: place.path().to_owned(),
                };
                if let Some(other) = chosen.iter().find(|other| other.meets(&own)) {
                    place.warning(
                        "data_set_writer_id",
                        format!("takes messages that '{}' takes, too", other.path),
                        "Write publisher_id, writer_group_id and data_set_writer_id of one writer each",
                    );
                }
                chosen.push(own);
                check_targets(&mut place, reader, configuration, &mut targets);
            }
        }
    }
}

fn link_of(address: &ExtensionObject, reader: &DataSetReaderDataType) -> Link {
    let settings = &reader.transport_settings;
    let datagram: Option<DatagramDataSetReaderTransportDataType> = settings.decode_as().ok();
    let broker: Option<BrokerDataSetReaderTransportDataType> = settings.decode_as().ok();
    let own = datagram
        .map(|it| url(&it.address))
        .filter(|url| !url.is_empty());
    let queue = broker
        .map(|it| it.queue_name.to_string())
        .unwrap_or_default();
    (own.unwrap_or_else(|| url(address)), queue)
}

/// Returns the NetworkMessageNumber and the DataSetOffset of a reader; 0 if it has none.
fn place_of(reader: &DataSetReaderDataType) -> (u16, u16) {
    let settings: Option<UadpDataSetReaderMessageDataType> =
        reader.message_settings.decode_as().ok();
    settings.map_or((0, 0), |it| (it.network_message_number, it.data_set_offset))
}

/// Reports target Variables that an earlier field writes. Parts of one Variable may have several.
fn check_targets(
    place: &mut Place<'_>,
    reader: &DataSetReaderDataType,
    configuration: &PubSubConfiguration2DataType,
    targets: &mut HashMap<NodeId, String>,
) {
    let subscribed = &reader.subscribed_data_set;
    let reference: Option<StandaloneSubscribedDataSetRefDataType> = subscribed.decode_as().ok();
    let mut standalone = configuration.subscribed_data_sets.iter();
    let standalone = reference
        .and_then(|reference| standalone.find(|it| it.name == reference.data_set_name))
        .map(|found| &found.subscribed_data_set);
    let variables: Option<TargetVariablesDataType> =
        standalone.unwrap_or(subscribed).decode_as().ok();
    for target in variables.iter().flat_map(|it| &it.target_variables) {
        if !target.write_index_range.as_str().is_empty() || target.target_node_id == NodeId::NULL {
            continue;
        }
        let path = place.path().to_owned();
        if let Some(other) = targets.insert(target.target_node_id.clone(), path) {
            place.error(
                "target_node_id",
                format!("{} is written by '{other}', too", target.target_node_id),
                "Give each field a Variable of its own",
            );
        }
    }
}
