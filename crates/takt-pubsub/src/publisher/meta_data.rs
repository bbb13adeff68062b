//! Metadata of the DataSetWriters of a WriterGroup (OPC 10000-14, 7.2.4.6.4 and 7.2.5.5.2).

use super::output::Output;
use super::protection::send_bytes;
use super::writer_group::WriterGroup;
use crate::error::PublishError;
use crate::time::Now;

impl WriterGroup {
    /// Returns a message with the metadata of a DataSetWriter, in the mapping of the group. `None` if there is no such writer, if
    /// it has no DataSet, or if the group is protected, because this message would not be protected.
    ///
    /// # Errors
    /// The message cannot be encoded.
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
        let message = self
            .mapping
            .meta_data_message(&self.parameters, writer, meta_data, now)?;
        Ok(Some(message))
    }

    /// Sends the metadata of all DataSetWriters and returns the number of messages.
    ///
    /// # Errors
    /// The first error; the other messages are sent nevertheless.
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
