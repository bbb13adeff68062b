//! Filter of a DataSetReader (OPC 10000-14, 6.2.9.1 to 6.2.9.3).

use takt_wire::{NetworkMessageRef, PublisherId, PublisherIdRef};

use super::data_set_reader::DataSetReader;

impl DataSetReader {
    /// Returns true if the NetworkMessage is from the configured Publisher and WriterGroup (OPC 10000-14, 6.2.9.1 to 6.2.9.3).
    /// Parts that a message does not have are not compared.
    pub(super) fn wants(&self, message: &NetworkMessageRef<'_>) -> bool {
        let group = message.group_header.unwrap_or_default();
        let publisher = match (&self.publisher_id, message.publisher_id) {
            (Some(wanted), Some(found)) => same_publisher(wanted.as_ref(), found),
            _ => true,
        };
        let equals = |wanted: u16, found: Option<u16>| {
            wanted == 0 || found.is_none_or(|found| found == wanted)
        };
        publisher
            && self.takes_uadp
            && equals(self.writer_group_id, group.writer_group_id)
            && equals(
                self.settings.network_message_number,
                group.network_message_number,
            )
            && (self.settings.group_version == 0
                || group
                    .group_version
                    .is_none_or(|found| found == self.settings.group_version))
    }

    /// Returns true if a DataSetMessage is from the configured DataSetWriter.
    pub(super) fn wants_writer(&self, data_set_writer_id: Option<u16>) -> bool {
        self.data_set_writer_id == 0
            || data_set_writer_id.is_none_or(|id| id == self.data_set_writer_id)
    }

    /// Returns true if it reads this DataSetWriter, or any.
    pub(super) fn reads(&self, data_set_writer_id: u16) -> bool {
        self.data_set_writer_id == 0 || self.data_set_writer_id == data_set_writer_id
    }

    /// Returns the DataSetWriter that it reads, if its metadata is missing.
    pub(super) fn missing_meta_data(&self) -> Option<(&PublisherId, u16)> {
        let is_missing = self.meta_data.fields.is_empty() || self.is_learned;
        let publisher_id = self.publisher_id.as_ref()?;
        (is_missing && self.data_set_writer_id != 0)
            .then_some((publisher_id, self.data_set_writer_id))
    }

    /// Returns true if an announcement is of this writer.
    pub(super) fn wants_announced(&self, publisher: PublisherIdRef<'_>, writer: u16) -> bool {
        let publisher_id = self.publisher_id.as_ref();
        publisher_id.is_none_or(|wanted| same_publisher(wanted.as_ref(), publisher))
            && self.data_set_writer_id == writer
    }
}

/// Compares PublisherIds. UIntegers of different sizes are the same if their values are.
pub(crate) fn same_publisher(wanted: PublisherIdRef<'_>, found: PublisherIdRef<'_>) -> bool {
    let number = |id| match id {
        PublisherIdRef::Byte(id) => Some(u64::from(id)),
        PublisherIdRef::UInt16(id) => Some(u64::from(id)),
        PublisherIdRef::UInt32(id) => Some(u64::from(id)),
        PublisherIdRef::UInt64(id) => Some(id),
        PublisherIdRef::String(_) => None,
    };
    match (number(wanted), number(found)) {
        (Some(wanted), Some(found)) => wanted == found,
        _ => wanted == found,
    }
}
