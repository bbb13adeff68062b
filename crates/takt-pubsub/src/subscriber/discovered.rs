//! Readers of discovered DataSetWriters, and announced metadata: the memory that Publishers can make a Subscriber use.

use takt_ua::structures::{DataSetMetaDataType, DataSetReaderDataType};

use super::connection::Subscriber;
use super::data_set_reader::{DataSetReader, short};
use super::memory::FORGET_READER_AFTER;
use super::target::SubscribedField;
use crate::error::ReceiveError;
use crate::time::Now;

impl Subscriber {
    /// Makes a reader for a discovered DataSetWriter. `writer_name` identifies it if it has no DataSetWriterId.
    ///
    /// # Errors
    /// There is no room for the reader.
    pub(super) fn add_reader(
        &mut self,
        configuration: &DataSetReaderDataType,
        writer_name: &str,
        now: Now,
    ) -> Result<(), ReceiveError> {
        let is_full = |subscriber: &Self| subscriber.readers.len() >= subscriber.max_discovered;
        if is_full(self) {
            self.forget_silent_readers(now);
        }
        if is_full(self) {
            return Err(ReceiveError::TooManyReaders {
                name: short(configuration.name.as_str()).to_owned(),
                count: self.readers.len(),
            });
        }
        let mut nowhere = |_: SubscribedField<'_>| None;
        // Nothing in this configuration can be invalid.
        let made = DataSetReader::new(configuration, &[], &mut nowhere, &self.memory);
        if let Ok(mut reader) = made {
            reader.data_set_writer_name = writer_name.to_owned();
            reader.begins_at(now.instant);
            if reader.keep(0, "the name").is_err() {
                self.forget_silent_readers(now);
                reader.keep(0, "the name")?;
            }
            reader.changes = self.changes.clone();
            self.changes.note();
            self.readers.push(reader);
            self.group_of.push(0);
            self.protection_of.push(None);
        }
        Ok(())
    }

    /// Passes announced metadata to the readers that need it.
    ///
    /// # Errors
    /// There is no room for the metadata.
    pub(super) fn give_meta_data(
        &mut self,
        meta_data: &DataSetMetaDataType,
        now: Now,
        wants: impl Fn(&DataSetReader, Option<usize>) -> bool,
    ) -> Result<(), ReceiveError> {
        let mut given = self.try_giving_meta_data(meta_data, &wants);
        if given.is_err() && self.forget_silent_readers(now) {
            given = self.try_giving_meta_data(meta_data, &wants);
        }
        given
    }

    fn try_giving_meta_data(
        &mut self,
        meta_data: &DataSetMetaDataType,
        wants: impl Fn(&DataSetReader, Option<usize>) -> bool,
    ) -> Result<(), ReceiveError> {
        let mut outcome = Ok(());
        let mut changed = false;
        for (reader, protection) in self.readers.iter_mut().zip(&self.protection_of) {
            if wants(reader, *protection) {
                match reader.take_meta_data(meta_data) {
                    Ok(taken) => changed |= taken,
                    Err(error) => outcome = Err(error),
                }
            }
        }
        if changed {
            self.layouts.clear();
        }
        outcome
    }

    /// Removes discovered readers that were silent for long; returns `false` if there are none.
    fn forget_silent_readers(&mut self, now: Now) -> bool {
        if self.max_discovered == 0 {
            return false;
        }
        let is_silent = |reader: &DataSetReader| {
            let since = reader.last_received();
            since.is_none_or(|since| {
                now.instant.saturating_duration_since(since) >= FORGET_READER_AFTER
            })
        };
        let before = self.readers.len();
        let mut index = 0;
        while let Some(reader) = self.readers.get(index) {
            if is_silent(reader) {
                self.readers.swap_remove(index);
                self.group_of.swap_remove(index);
                self.protection_of.swap_remove(index);
            } else {
                index += 1;
            }
        }
        let has_forgotten = self.readers.len() < before;
        if has_forgotten {
            // Layouts name readers by their indexes.
            self.layouts.clear();
        }
        has_forgotten
    }
}
