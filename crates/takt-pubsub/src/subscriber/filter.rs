//! Filter of a DataSetReader (OPC 10000-14, 6.2.9.1 to 6.2.9.3).

use takt_wire::{NetworkMessageRef, PublisherId};

use super::data_set_reader::DataSetReader;
use super::identity::Said;
use super::origin::Origin;
use super::same_publisher::same_publisher;

impl DataSetReader {
    /// Returns true if the NetworkMessage is from the configured Publisher and WriterGroup (OPC 10000-14, 6.2.9.1 to 6.2.9.3), and
    /// came through the reader's link. Parts that a message does not have are not compared, unless the configured masks announce
    /// them (6.3.1.4.5).
    pub(super) fn wants(&self, message: &NetworkMessageRef<'_>, origin: &Origin<'_>) -> bool {
        if let Some(identity) = &self.identity {
            return identity.is_in(message, origin);
        }
        let group = message.group_header.unwrap_or_default();
        let publisher = match (&self.publisher_id, message.publisher_id) {
            (Some(wanted), Some(found)) => same_publisher(wanted.as_ref(), found),
            (Some(_), None) => !self.needs.publisher_id,
            _ => true,
        };
        let equals = |wanted: u16, found: Option<u16>| {
            // A configured 0 means every number.
            wanted == 0 || found.is_none_or(|found| found == wanted)
        };
        publisher
            && self.takes_uadp
            && self.links.have_data(origin.link)
            && equals(self.writer_group_id, group.writer_group_id)
            // The chunks of a message have several numbers, and name their DataSetWriter.
            && (message.chunk
                || equals(
                    self.settings.network_message_number,
                    group.network_message_number,
                ))
            && (self.settings.group_version == 0
                || group
                    .group_version
                    .is_none_or(|found| found == self.settings.group_version))
    }

    /// Returns true if a DataSetMessage is from the configured DataSetWriter.
    pub(super) fn wants_writer(&self, data_set_writer_id: Option<u16>) -> bool {
        match (&self.identity, data_set_writer_id) {
            (Some(identity), found) => identity.has_writer_id(found),
            (None, Some(id)) => self.data_set_writer_id == 0 || self.data_set_writer_id == id,
            (None, None) => self.data_set_writer_id == 0 || !self.needs.data_set_writer_id,
        }
    }

    /// Returns the DataSetWriter that it reads, if its metadata is missing.
    pub(super) fn missing_meta_data(&self) -> Option<(&PublisherId, u16)> {
        let is_missing = self.meta_data.fields.is_empty() || self.is_learned;
        let publisher_id = self.publisher_id.as_ref()?;
        // A probe names a DataSetWriter. A reader of all of them has no number to ask for.
        (is_missing && self.data_set_writer_id != 0)
            .then_some((publisher_id, self.data_set_writer_id))
    }

    /// Returns true if an announcement in UADP is of the DataSetWriter that it reads.
    pub(super) fn wants_announced(&self, announced: &Said<'_>, link: usize) -> bool {
        if let Some(identity) = &self.identity {
            return identity.is_described_by(announced);
        }
        let wanted = self.publisher_id.as_ref();
        let publisher = wanted.is_none_or(|wanted| {
            let found = announced.publisher_id;
            found.is_some_and(|found| same_publisher(wanted.as_ref(), found))
        });
        publisher
            && announced.data_set_writer_id == Some(self.data_set_writer_id)
            && self.links.have_meta_data(link)
    }
}
