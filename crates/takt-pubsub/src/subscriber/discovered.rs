//! Readers of discovered DataSetWriters, and announced metadata: the memory that Publishers can make a Subscriber use.
//!
//! Any host can send messages of many Publishers. If there is no room for a new reader, the least important one makes room: so
//! neither readers nor metadata of forged Publishers keep a new Publisher out.

use takt_ua::structures::{
    DataSetMetaDataType, DataSetReaderDataType, JsonDataSetReaderMessageDataType,
};
use takt_ua::{DateTime, ExtensionObject, Variant};

use super::connection::Subscriber;
use super::data_set_reader::DataSetReader;
use super::identity::{Identity, Said};
use super::memory::meta_data_size;
use super::received::SubscriberObserver;
use super::target::SubscribedField;
use crate::error::ReceiveError;
use crate::time::Now;

impl Subscriber {
    /// Makes a reader for a DataSetWriter that sends, if it has none yet.
    ///
    /// # Errors
    /// There is no room for the reader.
    pub(super) fn discover_writer(
        &mut self,
        said: &Said<'_>,
        now: Now,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<(), ReceiveError> {
        let is_this =
            |reader: &DataSetReader| reader.identity.as_ref().is_some_and(|it| it.is(said));
        if let Some(reader) = self.readers.iter_mut().find(|reader| is_this(reader)) {
            // Its states are reported from its first message on.
            if std::mem::take(&mut reader.is_announced) {
                self.changes.note();
            }
            return Ok(());
        }
        let is_described = |reader: &DataSetReader| {
            let identity = reader.identity.as_ref();
            reader.is_announced && identity.is_some_and(|it| it.is_described_by(said))
        };
        let Some(index) = self.readers.iter().position(is_described) else {
            return self.add_reader(said, false, now, observer);
        };
        // The metadata came first, and may say less or more than the messages.
        let name = self.free_name(said);
        if let Some(reader) = self.readers.get_mut(index) {
            reader.name = name;
            reader.identity = Some(Identity::of(said));
            reader.is_announced = false;
            self.changes.note();
        }
        self.with_room(0, &is_this, observer, |subscriber| {
            let reader = subscriber.readers.iter_mut().find(|reader| is_this(reader));
            reader.map_or(Ok(()), |reader| {
                let size = meta_data_size(&reader.meta_data);
                reader.keep(size, "the metadata")
            })
        })
    }

    /// Makes a reader for a DataSetWriter whose metadata was announced, if it has none yet.
    ///
    /// # Errors
    /// There is no room for the reader.
    pub(super) fn announce_writer(
        &mut self,
        said: &Said<'_>,
        now: Now,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<(), ReceiveError> {
        let mut identities = self
            .readers
            .iter()
            .filter_map(|reader| reader.identity.as_ref());
        match identities.any(|identity| identity.is_described_by(said)) {
            true => Ok(()),
            false => self.add_reader(said, true, now, observer),
        }
    }

    fn add_reader(
        &mut self,
        said: &Said<'_>,
        is_announced: bool,
        now: Now,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<(), ReceiveError> {
        while self.readers.len() >= self.max_discovered && self.forget_one(&|_| false, observer) {}
        let configuration = DataSetReaderDataType {
            name: self.free_name(said).as_str().into(),
            enabled: true,
            publisher_id: said
                .publisher_id
                .map(|id| Variant::from(id.to_owned()))
                .unwrap_or_default(),
            data_set_writer_id: said.data_set_writer_id.unwrap_or(0),
            message_settings: match said.is_json {
                true => {
                    ExtensionObject::from_structure(&JsonDataSetReaderMessageDataType::default())
                }
                false => ExtensionObject::NULL,
            },
            ..DataSetReaderDataType::default()
        };
        let mut nowhere = |_: SubscribedField<'_>| None;
        // Nothing in this configuration can be invalid.
        let made = DataSetReader::new(&configuration, &[], &mut nowhere, &self.memory);
        if let Ok(mut reader) = made {
            reader.identity = Some(Identity::of(said));
            reader.is_announced = is_announced;
            reader.expect_unprotected();
            reader.begins_at(now.instant);
            self.with_room(0, &|_| false, observer, |_| reader.keep(0, "the name"))?;
            reader.changes = self.changes.clone();
            self.changes.note();
            self.readers.push(reader);
            self.group_of.push(0);
            // Keys are for configured readers only.
            self.protection_of.push(None);
        }
        Ok(())
    }

    /// Returns a name that no other reader has: different senders may say the same, as a number and as a text.
    fn free_name(&self, said: &Said<'_>) -> String {
        let name = said.to_string();
        let is_free = |name: &String| !self.readers.iter().any(|reader| reader.name == *name);
        let numbered = (2..).map(|number: u32| format!("{name} ({number})"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        names.find(is_free).unwrap_or_default()
    }

    /// Passes announced metadata to the readers that need it.
    ///
    /// # Errors
    /// There is no room for the metadata.
    pub(super) fn give_meta_data(
        &mut self,
        meta_data: &DataSetMetaDataType,
        now: DateTime,
        observer: &mut dyn SubscriberObserver,
        wants: impl Fn(&DataSetReader, Option<usize>) -> bool,
    ) -> Result<(), ReceiveError> {
        let size = meta_data_size(meta_data);
        let stays = |reader: &DataSetReader| wants(reader, None);
        self.with_room(size, &stays, observer, |subscriber| {
            subscriber.try_giving_meta_data(meta_data, now, &wants)
        })
    }

    fn try_giving_meta_data(
        &mut self,
        meta_data: &DataSetMetaDataType,
        now: DateTime,
        wants: impl Fn(&DataSetReader, Option<usize>) -> bool,
    ) -> Result<(), ReceiveError> {
        let mut outcome = Ok(());
        let mut changed = false;
        for (reader, protection) in self.readers.iter_mut().zip(&self.protection_of) {
            if wants(reader, *protection) {
                match reader.take_meta_data(meta_data, now) {
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
        // Otherwise all other readers would be forgotten in vain.
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
        reader.statistics().add_losses(&mut self.forgotten);
        self.layouts.forget_reader(index, self.readers.len() - 1);
        // The last reader takes the same index in all of these.
        self.readers.swap_remove(index);
        self.group_of.swap_remove(index);
        self.protection_of.swap_remove(index);
        true
    }
}
