//! DataSetReaders, and the writers that they read.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use takt_link::Address;
use takt_scenario::NodeIndex;
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::{
    DataSetReaderDataType, DataSetWriterDataType, UadpDataSetReaderMessageDataType,
    UadpDataSetWriterMessageDataType,
};

use crate::agreement::disagreements;
use crate::configuration::ValueOrigin;
use crate::identity::{PublisherKey, address_of_reader, hears, publisher, stays_on_host};
use crate::instances::Instance;
use crate::lines::Step;
use crate::notes::Notes;
use crate::sent::{SentGroup, named};

/// A DataSetReader that receives frames.
#[derive(Debug)]
pub(crate) struct HeardReader<'a> {
    pub(crate) node: NodeIndex,
    pub(crate) reader: &'a DataSetReaderDataType,
    pub(crate) settings: UadpDataSetReaderMessageDataType,
    pub(crate) origin: ValueOrigin,
    /// Name from the outside in: `UDP/Fast/Spindle`.
    pub(crate) entry: String,
    pub(crate) address: Address,
    pub(crate) publisher: Option<PublisherKey>,
    pub(crate) security: MessageSecurityMode,
}

/// Returns the enabled readers that receive frames.
pub(crate) fn heard_readers<'a>(instances: &[Instance<'a>]) -> Vec<HeardReader<'a>> {
    let mut readers = Vec::new();
    for instance in instances {
        let file = instance.configuration;
        let configuration = &file.file.configuration;
        let connections = configuration.connections.iter().enumerate();
        for (index, connection) in connections.filter(|_| configuration.enabled) {
            let outer = named(connection.name.as_str(), index);
            let groups = connection.reader_groups.iter().enumerate();
            for (at, group) in groups.filter(|(_, it)| connection.enabled && it.enabled) {
                let of_group = named(group.name.as_str(), at);
                for (number, reader) in group.data_set_readers.iter().enumerate() {
                    let address = address_of_reader(reader, &connection.address);
                    let address = address.filter(|it| !stays_on_host(it) && !it.has_topics());
                    let Some(address) = address.filter(|_| reader.enabled) else {
                        continue;
                    };
                    let own = named(reader.name.as_str(), number);
                    readers.push(HeardReader {
                        node: instance.node,
                        reader,
                        settings: reader.message_settings.decode_as().unwrap_or_default(),
                        origin: file.origin(&[
                            Step::Key("connections"),
                            Step::Index(index),
                            Step::Key("reader_groups"),
                            Step::Index(at),
                            Step::Key("data_set_readers"),
                            Step::Index(number),
                        ]),
                        entry: format!("{outer}/{of_group}/{own}"),
                        address,
                        publisher: publisher(&reader.publisher_id),
                        security: match reader.security_mode {
                            MessageSecurityMode::Invalid => group.security_mode,
                            own => own,
                        },
                    });
                }
            }
        }
    }
    readers
}

/// Receivers of each WriterGroup.
#[derive(Debug, Default)]
pub(crate) struct Receivers {
    /// Readers of each group by their nodes, as indexes.
    pub(crate) readers: Vec<BTreeMap<NodeIndex, BTreeSet<usize>>>,
    /// Nodes that listen at the address of each group, also those that read nothing of it.
    pub(crate) listeners: Vec<BTreeSet<NodeIndex>>,
}

/// Finds the readers of all groups, and notes readers and writers that find nothing, and those that do not agree.
pub(crate) fn receivers(
    groups: &[SentGroup<'_>],
    readers: &[HeardReader<'_>],
    notes: &mut Notes,
) -> Receivers {
    let mut by_writer: HashMap<u16, Vec<usize>> = HashMap::new();
    let mut by_address: HashMap<&Address, BTreeSet<NodeIndex>> = HashMap::new();
    for (index, heard) in readers.iter().enumerate() {
        let id = heard.reader.data_set_writer_id;
        by_writer.entry(id).or_default().push(index);
        by_address
            .entry(&heard.address)
            .or_default()
            .insert(heard.node);
    }
    let mut is_read = vec![false; readers.len()];
    let mut found = Receivers::default();
    let mut of_address: HashMap<&Address, BTreeSet<NodeIndex>> = HashMap::new();
    for sent in groups {
        let listeners = of_address.entry(&sent.address).or_insert_with(|| {
            let hearing = by_address.iter();
            let hearing = hearing.filter(|(address, _)| hears(address, &sent.address));
            hearing.flat_map(|(_, nodes)| nodes).copied().collect()
        });
        found.listeners.push(listeners.clone());
        let mut nodes: BTreeMap<NodeIndex, BTreeSet<usize>> = BTreeMap::new();
        let writers = sent.group.data_set_writers.iter().enumerate();
        for (number, writer) in writers.filter(|(_, writer)| writer.enabled) {
            // A reader with the number 0 reads all writers.
            let ids = [writer.data_set_writer_id, 0];
            let candidates = ids.iter().filter_map(|id| by_writer.get(id)).flatten();
            let mut has_reader = false;
            for index in candidates {
                let Some(heard) = readers.get(*index) else {
                    continue;
                };
                if !reads(heard, sent, writer) {
                    continue;
                }
                has_reader = true;
                if let Some(is_read) = is_read.get_mut(*index) {
                    *is_read = true;
                }
                nodes.entry(heard.node).or_default().insert(*index);
                for message in disagreements(sent, writer, heard) {
                    notes.warn(heard.origin.clone(), &heard.entry, message);
                }
            }
            if !has_reader {
                let own = named(writer.name.as_str(), number);
                let steps = [Step::Key("data_set_writers"), Step::Index(number)];
                let origin = sent.place.origin(sent.instance.configuration, &steps);
                let entry = format!("{}/{own}", sent.entry);
                notes.warn(origin, &entry, "no reader of these configurations reads it");
            }
        }
        found.readers.push(nodes);
    }
    for (heard, _) in readers.iter().zip(is_read).filter(|(_, is_read)| !is_read) {
        notes.warn(heard.origin.clone(), &heard.entry, unread(heard, groups));
    }
    found
}

/// Returns true if a reader reads a writer.
fn reads(heard: &HeardReader<'_>, sent: &SentGroup<'_>, writer: &DataSetWriterDataType) -> bool {
    has_identity(heard, sent, writer) && hears(&heard.address, &sent.address)
}

fn has_identity(
    heard: &HeardReader<'_>,
    sent: &SentGroup<'_>,
    writer: &DataSetWriterDataType,
) -> bool {
    // 0 means any.
    let same = |wanted: u16, found: u16| wanted == 0 || found == 0 || wanted == found;
    let reader = heard.reader;
    let settings: UadpDataSetWriterMessageDataType =
        writer.message_settings.decode_as().unwrap_or_default();
    (heard.publisher.is_none() || heard.publisher == sent.publisher)
        && same(reader.writer_group_id, sent.group.writer_group_id)
        && same(reader.data_set_writer_id, writer.data_set_writer_id)
        && same(
            heard.settings.network_message_number,
            settings.network_message_number,
        )
}

/// Describes a reader that reads nothing.
fn unread(heard: &HeardReader<'_>, groups: &[SentGroup<'_>]) -> String {
    let elsewhere = groups.iter().find(|sent| {
        let mut writers = sent.group.data_set_writers.iter();
        writers.any(|writer| writer.enabled && has_identity(heard, sent, writer))
    });
    match elsewhere {
        Some(sent) => format!(
            "matches nothing at {}: '{}' of {} has this identity, at {}",
            heard.address, sent.entry, sent.instance.configuration.name, sent.address
        ),
        None => format!(
            "matches nothing: no writer has publisher_id {}, writer_group_id {} and data_set_writer_id {}",
            any(heard.publisher.as_ref().map(|id| match id {
                PublisherKey::Number(id) => id.to_string(),
                PublisherKey::Text(id) => format!("\"{id}\""),
            })),
            any(Some(heard.reader.writer_group_id).filter(|id| *id != 0)),
            any(Some(heard.reader.data_set_writer_id).filter(|id| *id != 0)),
        ),
    }
}

fn any(id: Option<impl ToString>) -> String {
    id.map_or_else(|| "any".to_owned(), |id| id.to_string())
}
