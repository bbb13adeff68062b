//! Receivers of WriterGroups: readers by their identity, and devices that listen at the address.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use takt_link::Address;
use takt_scenario::NodeIndex;
use takt_ua::structures::{DataSetWriterDataType, UadpDataSetWriterMessageDataType};

use crate::agreement::disagreements;
use crate::heard::HeardReader;
use crate::identity::{PublisherKey, hears, joins};
use crate::lines::Step;
use crate::notes::Notes;
use crate::sent::{SentGroup, named};

/// Receivers of each WriterGroup.
#[derive(Debug, Default)]
pub(crate) struct Receivers {
    /// Readers of each group by their nodes, as indexes.
    pub(crate) readers: Vec<BTreeMap<NodeIndex, BTreeSet<usize>>>,
    /// Nodes to which bridges forward the frames of each group, because they listen at its address, also those that read nothing of it.
    pub(crate) listeners: Vec<BTreeSet<NodeIndex>>,
}

impl Receivers {
    /// Lets the frames of all groups with the same multicast group and VLAN go to the same nodes: bridges tell them apart by nothing else.
    fn join_groups(&mut self, groups: &[SentGroup<'_>]) {
        let key = |sent: &SentGroup<'_>| Some((sent.multicast?.ethernet(), sent.vlan.value));
        let mut all: HashMap<([u8; 6], u16), BTreeSet<NodeIndex>> = HashMap::new();
        for ((sent, listeners), readers) in groups.iter().zip(&self.listeners).zip(&self.readers) {
            if let Some(key) = key(sent) {
                let nodes = all.entry(key).or_default();
                nodes.extend(listeners.iter().chain(readers.keys()));
            }
        }
        for (sent, listeners) in groups.iter().zip(&mut self.listeners) {
            if let Some(nodes) = key(sent).and_then(|key| all.get(&key)) {
                listeners.clone_from(nodes);
            }
        }
    }
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
            let hearing = hearing.filter(|(address, _)| match sent.multicast {
                Some(_) => joins(address, &sent.address),
                None => hears(address, &sent.address),
            });
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
    found.join_groups(groups);
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
    let wanted = heard.settings.network_message_number;
    // Settings are decoded last, because many readers are compared with many writers.
    let has_number = || {
        let settings: UadpDataSetWriterMessageDataType =
            writer.message_settings.decode_as().unwrap_or_default();
        same(wanted, settings.network_message_number)
    };
    same(reader.writer_group_id, sent.group.writer_group_id)
        && same(reader.data_set_writer_id, writer.data_set_writer_id)
        && (heard.publisher.is_none() || heard.publisher == sent.publisher)
        && (wanted == 0 || has_number())
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
