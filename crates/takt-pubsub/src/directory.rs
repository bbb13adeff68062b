//! DataSets of many Publishers, for tools that show messages without being a Subscriber.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use takt_rt::memory_budget::BudgetExhausted;
use takt_ua::enumerations::DataSetOrderingType;
use takt_ua::structures::{
    DataSetMetaDataType, DataSetReaderDataType, DataSetWriterDataType,
    PubSubConfiguration2DataType, StandaloneSubscribedDataSetDataType,
    StandaloneSubscribedDataSetRefDataType, UadpDataSetReaderMessageDataType,
    UadpDataSetWriterMessageDataType, UadpWriterGroupMessageDataType, WriterGroupDataType,
};
use takt_wire::{
    AnnouncementContent, DataSetFields, NetworkMessageRef, PublisherId, PublisherIdRef,
};

use crate::message_numbers::FreeNumbers;
use crate::settings::decode_settings;
use crate::subscriber::{DEFAULT_MAX_MEMORY, meta_data_size, same_publisher, text_size};

/// DataSets of a configuration, and those that Publishers have announced.
#[derive(Debug)]
pub struct DataSetDirectory {
    entries: Vec<Entry>,
    places: Vec<Place>,
    /// Limit of the memory for announcements, in bytes.
    max_memory: usize,
}

impl Default for DataSetDirectory {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            places: Vec::new(),
            max_memory: DEFAULT_MAX_MEMORY,
        }
    }
}

/// Key of a DataSetWriter; null and 0 match any.
#[derive(Debug)]
struct Writer {
    /// True if the Publisher has announced it: messages that do not say their Publisher may be of others.
    is_announced: bool,
    publisher_id: Option<PublisherId>,
    writer_group_id: u16,
    data_set_writer_id: u16,
}

/// Metadata of a DataSetWriter.
#[derive(Debug)]
struct Entry {
    writer: Writer,
    fields: DataSetFields,
    /// Size of the entry in bytes.
    size: usize,
}

impl Entry {
    fn new(writer: Writer, meta_data: &DataSetMetaDataType) -> Self {
        Self {
            size: size_of::<Self>() + writer.name_size() + meta_data_size(meta_data),
            fields: DataSetFields::new(meta_data),
            writer,
        }
    }
}

/// Place of a DataSetWriter's messages in NetworkMessages without a PayloadHeader.
#[derive(Debug)]
struct Place {
    writer: Writer,
    network_message_number: u16,
    data_set_offset: u16,
    configured_size: u16,
}

/// DataSets of the DataSetMessages of a NetworkMessage, in their order.
#[derive(Debug, Default)]
pub struct DataSetsOfMessage<'d> {
    /// Fields of each DataSetMessage, if its metadata is known.
    pub fields: Vec<Option<&'d DataSetFields>>,
    /// Size of each in bytes, if only the configuration has it and the message does not.
    pub sizes: Vec<u16>,
}

impl DataSetDirectory {
    /// Creates a directory of the DataSets that a configuration publishes and subscribes.
    pub fn of_configuration(configuration: &PubSubConfiguration2DataType) -> Self {
        let mut directory = Self::default();
        for connection in &configuration.connections {
            let publisher_id = PublisherId::from_variant(&connection.publisher_id);
            for group in &connection.writer_groups {
                let places = places_of_group(publisher_id.as_ref(), group, false);
                directory.places.extend(places);
                for writer in &group.data_set_writers {
                    let mut data_sets = configuration.published_data_sets.iter();
                    let found = data_sets.find(|it| it.name == writer.data_set_name);
                    if let Some(found) = found {
                        let writer = Writer {
                            is_announced: false,
                            publisher_id: publisher_id.clone(),
                            writer_group_id: group.writer_group_id,
                            data_set_writer_id: writer.data_set_writer_id,
                        };
                        let entry = Entry::new(writer, &found.data_set_meta_data);
                        directory.entries.push(entry);
                    }
                }
            }
            let standalone = &configuration.subscribed_data_sets;
            for group in &connection.reader_groups {
                for reader in &group.data_set_readers {
                    directory.learn_reader(reader, standalone);
                }
            }
        }
        directory
    }

    fn learn_reader(
        &mut self,
        reader: &DataSetReaderDataType,
        standalone: &[StandaloneSubscribedDataSetDataType],
    ) {
        let writer = || Writer {
            is_announced: false,
            publisher_id: PublisherId::from_variant(&reader.publisher_id),
            writer_group_id: reader.writer_group_id,
            data_set_writer_id: reader.data_set_writer_id,
        };
        let meta_data = meta_data_of(reader, standalone);
        if !meta_data.fields.is_empty() {
            self.entries.push(Entry::new(writer(), meta_data));
        }
        let settings: UadpDataSetReaderMessageDataType =
            decode_settings(&reader.message_settings).unwrap_or_default();
        self.places.push(Place {
            writer: writer(),
            network_message_number: settings.network_message_number,
            data_set_offset: settings.data_set_offset,
            // Settings of readers have no ConfiguredSize.
            configured_size: 0,
        });
    }

    /// Adds the announcement of a Publisher. It replaces earlier metadata of the same DataSetWriter.
    ///
    /// # Errors
    /// The announcement would exceed [`DEFAULT_MAX_MEMORY`] and is not taken; earlier ones stay.
    pub fn learn(
        &mut self,
        publisher_id: PublisherIdRef<'_>,
        announced: &AnnouncementContent,
    ) -> Result<(), BudgetExhausted> {
        match announced {
            AnnouncementContent::DataSetMetaData {
                data_set_writer_id,
                meta_data,
                status_code,
            } if !status_code.is_bad() => {
                let is_replaced = |entry: &Entry| {
                    entry.writer.data_set_writer_id == *data_set_writer_id
                        && entry.writer.is_of(Some(publisher_id), None)
                };
                let writer = Writer {
                    is_announced: true,
                    publisher_id: Some(publisher_id.to_owned()),
                    // An announcement of metadata does not name the WriterGroup.
                    writer_group_id: 0,
                    data_set_writer_id: *data_set_writer_id,
                };
                let entry = Entry::new(writer, meta_data);
                let replaced = self.entries.iter().filter(|entry| is_replaced(entry));
                self.make_sure_of(entry.size, replaced.map(|entry| entry.size).sum())?;
                self.entries.retain(|entry| !is_replaced(entry));
                self.entries.push(entry);
            }
            AnnouncementContent::DataSetWriterConfiguration {
                data_set_writer_config: group,
                status_codes,
                ..
            } if status_codes.iter().all(|status| !status.is_bad()) => {
                let group_id = Some(group.writer_group_id);
                let is_replaced = |place: &Place| place.writer.is_of(Some(publisher_id), group_id);
                let places = places_of_group(Some(&publisher_id.to_owned()), group, true);
                let replaced = self.places.iter().filter(|place| is_replaced(place));
                let replaced = replaced.map(Place::size).sum();
                self.make_sure_of(places.iter().map(Place::size).sum(), replaced)?;
                self.places.retain(|place| !is_replaced(place));
                self.places.extend(places);
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks that there is room for this many more bytes when `fewer` bytes are gone.
    fn make_sure_of(&self, more: usize, fewer: usize) -> Result<(), BudgetExhausted> {
        let entries = self.entries.iter().map(|entry| entry.size);
        let used: usize = entries.chain(self.places.iter().map(Place::size)).sum();
        match used.saturating_sub(fewer).saturating_add(more) <= self.max_memory {
            true => Ok(()),
            false => Err(BudgetExhausted {
                limit: self.max_memory,
            }),
        }
    }

    /// Returns the DataSets of the DataSetMessages of a message, whose payload must have been decrypted.
    pub fn data_sets_of(&self, message: &NetworkMessageRef<'_>) -> DataSetsOfMessage<'_> {
        let mut ids = message.data_set_writer_ids().peekable();
        if ids.peek().is_some() {
            return DataSetsOfMessage {
                fields: ids.map(|id| self.fields(message, id)).collect(),
                sizes: Vec::new(),
            };
        }
        let header = message.group_header.unwrap_or_default();
        let mut places: Vec<&Place> = Vec::new();
        let mut known = BTreeSet::new();
        for place in &self.places {
            let number = header.network_message_number;
            let same = place
                .writer
                .is_of(message.publisher_id, header.writer_group_id)
                && (place.network_message_number == 0
                    || number.is_none_or(|number| number == place.network_message_number));
            // A writer may be known from its own configuration, from readers, and from announcements.
            if same && known.insert(place.writer.data_set_writer_id) {
                places.push(place);
            }
        }
        self.placed(message, places)
    }

    /// Returns the DataSets of DataSetMessages that only their places distinguish.
    fn placed(
        &self,
        message: &NetworkMessageRef<'_>,
        mut places: Vec<&Place>,
    ) -> DataSetsOfMessage<'_> {
        let fields = |place: &&Place| self.fields(message, place.writer.data_set_writer_id);
        if places.iter().all(|place| place.data_set_offset == 0) {
            let number = places.first().map(|place| place.network_message_number);
            if places
                .iter()
                .any(|place| Some(place.network_message_number) != number)
            {
                // The message has no number, so that it may be any of several.
                return DataSetsOfMessage::default();
            }
            let sizes = places.iter().map(|place| place.configured_size);
            let sizes: Vec<u16> = sizes.collect();
            return DataSetsOfMessage {
                fields: places.iter().map(fields).collect(),
                sizes: match sizes.contains(&0) {
                    true => Vec::new(),
                    false => sizes,
                },
            };
        }
        // The first one may have no offset; any other one without an offset is absent.
        places.sort_by_key(|place| place.data_set_offset);
        let unplaced = places.iter().filter(|it| it.data_set_offset == 0).count();
        places.drain(..unplaced.saturating_sub(1));
        let Some(Range { start, end }) = payload(message) else {
            return DataSetsOfMessage::default();
        };
        let mut found = DataSetsOfMessage::default();
        let mut at = start;
        let mut current = None;
        for place in places {
            let offset = usize::from(place.data_set_offset);
            if offset > at {
                found.fields.push(current);
                found.sizes.push(size(at, offset));
                at = offset;
            }
            current = fields(&place);
        }
        found.fields.push(current);
        found.sizes.push(size(at, end));
        found
    }

    /// Returns the fields of a DataSetWriter, from the entry that matches most exactly.
    fn fields(&self, message: &NetworkMessageRef<'_>, id: u16) -> Option<&DataSetFields> {
        let group = message
            .group_header
            .and_then(|header| header.writer_group_id);
        let fits = |entry: &&Entry| {
            let writer = &entry.writer;
            (writer.data_set_writer_id == id || writer.data_set_writer_id == 0)
                && writer.is_of(message.publisher_id, group)
        };
        let known = self.entries.iter().filter(fits);
        // An entry that names its writer and its Publisher is more certain than one for all of them.
        let best = known.min_by_key(|entry| {
            let writer = &entry.writer;
            Reverse((
                writer.data_set_writer_id != 0,
                writer.publisher_id.is_some(),
            ))
        });
        best.map(|entry| &entry.fields)
    }
}

impl Place {
    /// Returns the size of the entry in bytes.
    fn size(&self) -> usize {
        size_of::<Self>() + self.writer.name_size()
    }
}

impl Writer {
    /// Returns the size of the name of its Publisher in bytes.
    fn name_size(&self) -> usize {
        match &self.publisher_id {
            Some(PublisherId::String(name)) => text_size(name.as_str()),
            _ => 0,
        }
    }

    /// Returns true if it may be one of this Publisher and group. Unknown parts are not compared.
    fn is_of(&self, publisher_id: Option<PublisherIdRef<'_>>, group: Option<u16>) -> bool {
        let publisher = match (&self.publisher_id, publisher_id) {
            (Some(known), Some(found)) => same_publisher(known.as_ref(), found),
            (Some(_), None) => !self.is_announced,
            _ => true,
        };
        let id = self.writer_group_id;
        publisher && (id == 0 || group.is_none_or(|group| group == id))
    }
}

/// Returns the messages that the DataSetWriters of a group share, and their order (OPC 10000-14, 6.3.1.1.3).
fn places_of_group(
    publisher_id: Option<&PublisherId>,
    group: &WriterGroupDataType,
    is_announced: bool,
) -> Vec<Place> {
    let settings: UadpWriterGroupMessageDataType =
        decode_settings(&group.message_settings).unwrap_or_default();
    let mut writers: Vec<_> = group.data_set_writers.iter().collect();
    // A group with an order sends its DataSetMessages by their ids.
    if settings.data_set_ordering != DataSetOrderingType::Undefined {
        writers.sort_by_key(|writer| writer.data_set_writer_id);
    }
    let settings = |writer: &DataSetWriterDataType| -> UadpDataSetWriterMessageDataType {
        decode_settings(&writer.message_settings).unwrap_or_default()
    };
    let numbers = writers.iter().map(|it| settings(it).network_message_number);
    let mut numbers = FreeNumbers::beside(numbers);
    let place = |writer: &DataSetWriterDataType| {
        let settings = settings(writer);
        // Without a number and a size, the writer has a NetworkMessage of its own, with a free number.
        let number = match (settings.network_message_number, settings.configured_size) {
            (0, 0) => numbers.take(),
            (number, _) => number,
        };
        Place {
            writer: Writer {
                is_announced,
                publisher_id: publisher_id.cloned(),
                writer_group_id: group.writer_group_id,
                data_set_writer_id: writer.data_set_writer_id,
            },
            network_message_number: number,
            data_set_offset: settings.data_set_offset,
            configured_size: settings.configured_size,
        }
    };
    writers.into_iter().map(place).collect()
}

/// Returns the metadata that a reader expects.
fn meta_data_of<'c>(
    reader: &'c DataSetReaderDataType,
    standalone: &'c [StandaloneSubscribedDataSetDataType],
) -> &'c DataSetMetaDataType {
    let reference: Option<StandaloneSubscribedDataSetRefDataType> =
        reader.subscribed_data_set.decode_as().ok();
    let found = reference.and_then(|reference| {
        let mut standalone = standalone.iter();
        standalone.find(|it| it.name == reference.data_set_name)
    });
    found.map_or(&reader.data_set_meta_data, |found| {
        &found.data_set_meta_data
    })
}

/// Returns the bytes in which the DataSetMessages are.
fn payload(message: &NetworkMessageRef<'_>) -> Option<Range<usize>> {
    let layout = message.security_layout(crate::security::SIGNATURE_LENGTH);
    layout.ok().map(|layout| layout.encrypted)
}

fn size(start: usize, end: usize) -> u16 {
    u16::try_from(end.saturating_sub(start)).unwrap_or(u16::MAX)
}
