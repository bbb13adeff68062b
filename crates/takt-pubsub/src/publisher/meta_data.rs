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
        let mut outcome = Ok(());
        let mut count = 0;
        for id in self.data_set_writer_ids().collect::<Vec<_>>() {
            match self.publish_meta_data_of(id, now, output) {
                Ok(true) => count += 1,
                Ok(false) => {}
                Err(error) => outcome = outcome.and(Err(error)),
            }
        }
        outcome.map(|()| count)
    }

    /// Sends the metadata of a DataSetWriter; returns `false` if there is none, as [`meta_data_message`](Self::meta_data_message) does.
    ///
    /// # Errors
    /// The message cannot be encoded, is too long, or is not taken by the output ([`PublishError::Output`]).
    pub fn publish_meta_data_of<O: Output>(
        &mut self,
        data_set_writer_id: u16,
        now: Now,
        output: &mut O,
    ) -> Result<bool, PublishError> {
        let limit = self.limit(output);
        let Some(message) = self.meta_data_message(data_set_writer_id, now)? else {
            return Ok(false);
        };
        if message.len() > limit {
            let length = message.len();
            return Err(PublishError::TooLong { length, limit });
        }
        send_bytes(&message, output).map(|()| true)
    }

    /// Returns the DataSetWriterIds of the group, in the order of the configuration.
    pub fn data_set_writer_ids(&self) -> impl Iterator<Item = u16> + '_ {
        self.writers.iter().map(|it| it.data_set_writer_id)
    }
}
