//! Readers of discovered DataSetWriters, and announced metadata: the memory that Publishers can make a Subscriber use.
//!
//! Any host can send messages of many Publishers. If there is no room for a new reader, the least important one makes room: so
//! neither readers nor metadata of forged Publishers keep a new Publisher out.

use takt_ua::structures::{DataSetMetaDataType, DataSetReaderDataType};

use super::connection::Subscriber;
use super::data_set_reader::DataSetReader;
use super::memory::meta_data_size;
use super::received::SubscriberObserver;
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
        observer: &mut dyn SubscriberObserver,
    ) -> Result<(), ReceiveError> {
        while self.readers.len() >= self.max_discovered && self.forget_one(&|_| false, observer) {}
        let mut nowhere = |_: SubscribedField<'_>| None;
        // Nothing in this configuration can be invalid.
        let made = DataSetReader::new(configuration, &[], &mut nowhere, &self.memory);
        if let Ok(mut reader) = made {
            reader.data_set_writer_name = writer_name.to_owned();
            reader.begins_at(now.instant);
            self.with_room(0, &|_| false, observer, |_| reader.keep(0, "the name"))?;
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
        observer: &mut dyn SubscriberObserver,
        wants: impl Fn(&DataSetReader, Option<usize>) -> bool,
    ) -> Result<(), ReceiveError> {
        let size = meta_data_size(meta_data);
        let stays = |reader: &DataSetReader| wants(reader, None);
        self.with_room(size, &stays, observer, |subscriber| {
            subscriber.try_giving_meta_data(meta_data, &wants)
        })
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

    /// Tries `keep` until there is memory for it; discovered readers make room, except those that `stays` returns true for.
    /// `size` is the least memory that is needed, in bytes.
    ///
    /// # Errors
    /// The error of `keep`.
    pub(super) fn with_room(
        &mut self,
        size: usize,
        stays: &dyn Fn(&DataSetReader) -> bool,
        observer: &mut dyn SubscriberObserver,
        mut keep: impl FnMut(&mut Self) -> Result<(), ReceiveError>,
    ) -> Result<(), ReceiveError> {
        let is_possible = size <= self.memory.limit();
        loop {
            match keep(self) {
                Err(ReceiveError::Memory { .. })
                    if is_possible && self.forget_one(stays, observer) => {}
                outcome => return outcome,
            }
        }
    }

    /// Removes the least important of the discovered readers; returns `false` if there is none that may go.
    fn forget_one(
        &mut self,
        stays: &dyn Fn(&DataSetReader) -> bool,
        observer: &mut dyn SubscriberObserver,
    ) -> bool {
        if self.max_discovered == 0 {
            return false;
        }
        let readers = self.readers.iter().enumerate();
        let may_go = readers.filter(|(_, reader)| !stays(reader));
        let least = may_go.min_by_key(|(_, reader)| reader.importance());
        let Some((index, reader)) = least else {
            return false;
        };
        observer.forgotten(reader.name());
        self.layouts.forget_reader(index, self.readers.len() - 1);
        self.readers.swap_remove(index);
        self.group_of.swap_remove(index);
        self.protection_of.swap_remove(index);
        true
    }
}
