//! Metadata that a WriterGroup tells of its DataSetWriters (OPC 10000-14, 7.2.4.6.4 and 7.2.5.5.2).

use takt_ua::StatusCode;
use takt_wire::json::{JsonDiscoveryContent, JsonDiscoveryMessage, JsonMessage};
use takt_wire::{AnnouncementContent, DiscoveryAnnouncement, NetworkMessage, Payload};

use super::mapping::Mapping;
use super::output::Output;
use super::protection::send_bytes;
use super::writer_group::WriterGroup;
use crate::error::PublishError;
use crate::time::Now;

impl WriterGroup {
    /// The message that tells the metadata of a DataSetWriter, as the group's mapping has it. `None` if there is no such writer, if it
    /// has no DataSet, or if the group is protected: this message would not be.
    ///
    /// # Errors
    /// It cannot be encoded.
    pub fn meta_data_message(
        &mut self,
        data_set_writer_id: u16,
        now: Now,
    ) -> Result<Option<Vec<u8>>, PublishError> {
        let mut writers = self.writers.iter();
        let writer = writers.find(|writer| writer.data_set_writer_id == data_set_writer_id);
        let Some((writer, meta_data)) = writer.and_then(|it| Some((it, it.meta_data.as_ref()?)))
        else {
            return Ok(None);
        };
        if self.protection.is_some() {
            return Ok(None);
        }
        let publisher_id = self.publisher_id_text();
        let Mapping::Json(headers) = &mut self.mapping else {
            let announcement = DiscoveryAnnouncement {
                sequence_number: self.announcement_number,
                content: AnnouncementContent::DataSetMetaData {
                    data_set_writer_id,
                    meta_data: meta_data.clone(),
                    status_code: StatusCode::Good,
                },
            };
            self.announcement_number = self.announcement_number.wrapping_add(1);
            let payload = Payload::DiscoveryAnnouncement(Box::new(announcement));
            let message = NetworkMessage::discovery(self.publisher_id.clone(), payload);
            return Ok(Some(message.encode_to_vec()?));
        };
        let message = JsonDiscoveryMessage {
            message_id: headers.next_message_id(),
            publisher_id,
            timestamp: now.date_time,
            content: JsonDiscoveryContent::DataSetMetaData {
                data_set_writer_id: Some(data_set_writer_id),
                writer_group_name: self.configuration.name.clone(),
                data_set_writer_name: writer.name().into(),
                meta_data: (**meta_data).clone(),
            },
        };
        let text = JsonMessage::Discovery(Box::new(message)).encode()?;
        Ok(Some(text.into_bytes()))
    }

    /// Sends the metadata of all DataSetWriters; says how many messages that were.
    ///
    /// # Errors
    /// The first one; the other messages are sent nevertheless.
    pub fn publish_meta_data<O: Output>(
        &mut self,
        now: Now,
        output: &mut O,
    ) -> Result<usize, PublishError> {
        let ids: Vec<u16> = self
            .writers
            .iter()
            .map(|it| it.data_set_writer_id)
            .collect();
        let limit = self.limit(output);
        let mut outcome = Ok(());
        let mut count = 0;
        for id in ids {
            let sent = self
                .meta_data_message(id, now)
                .and_then(|message| match message {
                    None => Ok(0),
                    Some(message) if message.len() > limit => Err(PublishError::TooLong {
                        length: message.len(),
                        limit,
                    }),
                    Some(message) => send_bytes(&message, output).map(|()| 1),
                });
            match sent {
                Ok(sent) => count += sent,
                Err(error) => outcome = outcome.and(Err(error)),
            }
        }
        outcome.map(|()| count)
    }
}
