//! Subscriber of a connection (OPC 10000-14, 6.2.7 and 6.2.8).

use std::hash::RandomState;
use std::time::Instant;

use takt_rt::memory_budget::MemoryBudget;
use takt_ua::enumerations::PubSubState;
use takt_ua::structures::{PubSubConnectionDataType, StandaloneSubscribedDataSetDataType};
use takt_wire::{ChunkReassembler, NetworkMessageRef, PublisherId};

use super::cell_parts::CellParts;
use super::data_set_reader::{DataSetReader, StateChanges};
use super::expected::ReaderLinks;
use super::fixed::FixedLayouts;
use super::mapping::is_json;
use super::memory::default_budget;
use super::origin::Origin;
use super::protection::{MAX_PROTECTIONS, Protections, is_signed};
use super::received::SubscriberObserver;
use super::target::DataTarget;
use crate::error::{ConfigurationError, ReceiveError};
use crate::losses::{LossCause, Losses};
use crate::security::KeyRing;
use crate::state::Condition;
use crate::time::Now;

/// Result of receiving a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reception {
    /// Number of DataSetMessages that readers have accepted.
    pub accepted: usize,
    /// True if the message took the fast path.
    pub fixed: bool,
    /// Number of parts that were not accepted, while others were. The observer has their errors.
    pub refused: usize,
}

impl Reception {
    /// Returns the result of a message with errors of its parts. If no part was accepted, the last error is that of the message.
    pub(super) fn of(
        accepted: usize,
        mut errors: Vec<ReceiveError>,
        observer: &mut dyn SubscriberObserver,
    ) -> Result<Self, ReceiveError> {
        let last = match accepted {
            0 => errors.pop(),
            _ => None,
        };
        for error in &errors {
            observer.refused(error);
        }
        match last {
            Some(error) => Err(error),
            None => Ok(Self {
                accepted,
                fixed: false,
                refused: errors.len(),
            }),
        }
    }
}

#[derive(Debug)]
pub(super) struct ReaderGroup {
    name: String,
    enabled: bool,
}

/// Subscriber with the ReaderGroups of a PubSubConnection.
///
/// It has no clock and no socket: [`receive`](Self::receive) takes messages and the time, and
/// [`next_timeout`](Self::next_timeout) returns the time at which [`handle_timeout`](Self::handle_timeout) is to be called. A
/// message whose fields have a fixed size is decoded once; the next ones of the same layout are recognized by their constant
/// bytes, and their values are copied from their places into cells, without allocation.
#[derive(Debug)]
pub struct Subscriber {
    pub(super) groups: Vec<ReaderGroup>,
    pub(super) readers: Vec<DataSetReader>,
    /// Index of each reader's group.
    pub(super) group_of: Vec<usize>,
    /// Index of each reader's protection, if its messages are protected.
    pub(super) protection_of: Vec<Option<usize>>,
    protections: Protections,
    pub(super) layouts: FixedLayouts,
    pub(super) reassembler: ChunkReassembler,
    /// Hasher of the origins of chunks.
    pub(super) origins: RandomState,
    pub(super) changes: StateChanges,
    /// State of the connection at the last report of states.
    told: Option<PubSubState>,
    /// Limit of the readers for discovered DataSetWriters.
    pub(super) max_discovered: usize,
    /// Number of readers that were made for the current message.
    pub(super) made_for_message: usize,
    /// Memory for names, metadata and layouts of Publishers.
    pub(super) memory: MemoryBudget,
    /// Number of messages that no reader takes.
    pub(super) unclaimed: u64,
    /// Number of messages that cannot be decoded, so that their readers are not known.
    pub(super) undecodable: u64,
    /// Losses of readers that were removed.
    pub(super) forgotten: Losses,
    /// Links whose first message without a reader was reported.
    pub(super) reported_links: Vec<usize>,
}

impl Default for Subscriber {
    fn default() -> Self {
        Self {
            groups: Vec::new(),
            readers: Vec::new(),
            group_of: Vec::new(),
            protection_of: Vec::new(),
            protections: Protections::default(),
            layouts: FixedLayouts::default(),
            reassembler: ChunkReassembler::default(),
            origins: RandomState::new(),
            changes: StateChanges::default(),
            told: None,
            max_discovered: 0,
            made_for_message: 0,
            memory: default_budget(),
            unclaimed: 0,
            undecodable: 0,
            forgotten: Losses::default(),
            reported_links: Vec::new(),
        }
    }
}

impl Subscriber {
    /// Creates a subscriber with the ReaderGroups of a connection; `standalone` are the SubscribedDataSets of the whole
    /// configuration.
    ///
    /// # Errors
    /// A parameter has a value that the standard forbids, or `target` has no target for a target Variable.
    pub fn new(
        connection: &PubSubConnectionDataType,
        standalone: &[StandaloneSubscribedDataSetDataType],
        target: &mut dyn DataTarget,
    ) -> Result<Self, ConfigurationError> {
        Self::with_parts(connection, standalone, target, &mut CellParts::default())
    }

    /// Creates a subscriber as [`new`](Self::new) does; `parts` are those of cells that other connections write, too.
    pub(crate) fn with_parts(
        connection: &PubSubConnectionDataType,
        standalone: &[StandaloneSubscribedDataSetDataType],
        target: &mut dyn DataTarget,
        parts: &mut CellParts,
    ) -> Result<Self, ConfigurationError> {
        let mut subscriber = Self::default();
        for group in &connection.reader_groups {
            let name = group.name.to_string();
            for reader in &group.data_set_readers {
                let protection = subscriber.protections.of(group, reader);
                let protection =
                    protection.map_err(|problem| problem.at(reader.name.as_str()).within(&name))?;
                subscriber.protection_of.push(protection);
                let mut reader = DataSetReader::new(reader, standalone, target, &subscriber.memory)
                    .map_err(|error| error.within(&name))?;
                if protection.is_none() {
                    reader.expect_unprotected();
                }
                reader.changes = subscriber.changes.clone();
                subscriber.readers.push(reader);
                subscriber.group_of.push(subscriber.groups.len());
            }
            subscriber.groups.push(ReaderGroup {
                name,
                enabled: group.enabled,
            });
        }
        let readers = subscriber.readers.iter_mut();
        let targets = readers.flat_map(|reader| &mut reader.targets);
        for (cell, part) in targets.filter_map(|target| target.part_mut()) {
            parts.join(cell, part);
        }
        Ok(subscriber)
    }

    /// Creates a subscriber that makes a reader for every DataSetWriter that it discovers, up to a number of them. Readers get
    /// their metadata from announcements; without metadata, they accept fields that contain their type.
    ///
    /// Names are `PublisherId/WriterGroup/DataSetWriter`, with `?` for parts that messages do not have. Messages that do not say
    /// their Publisher are told apart by the address of their sender, and messages of a broker that do not say their Publisher or
    /// DataSetWriter by their topic: it follows the name.
    ///
    /// At this number of readers, or when the budget is spent, the reader that was silent for longest makes room for another one;
    /// readers with one message at most do so first ([`SubscriberObserver::forgotten`]).
    pub fn discovering(max_readers: usize) -> Self {
        Self {
            groups: vec![ReaderGroup {
                name: String::new(),
                enabled: true,
            }],
            max_discovered: max_readers,
            ..Self::default()
        }
    }

    /// Returns the memory budget of announcements: [`DEFAULT_MAX_MEMORY`](super::DEFAULT_MAX_MEMORY) bytes of names, metadata and
    /// layouts.
    pub fn memory(&self) -> &MemoryBudget {
        &self.memory
    }

    /// Returns the readers of all groups.
    pub fn readers(&self) -> &[DataSetReader] {
        &self.readers
    }

    /// Returns names and states of the groups, given the state of the connection.
    pub fn group_states(
        &self,
        connection: PubSubState,
    ) -> impl Iterator<Item = (&str, PubSubState)> {
        let state = move |group: &ReaderGroup| group.state(connection);
        self.groups
            .iter()
            .map(move |group| (group.name.as_str(), state(group)))
    }

    /// Returns the DataSetWriters, by Publisher, whose readers have no metadata yet: they are to be probed for. Readers of
    /// protected messages accept only protected metadata.
    pub fn missing_meta_data(&self) -> Vec<(PublisherId, Vec<u16>)> {
        let mut missing: Vec<(PublisherId, Vec<u16>)> = Vec::new();
        let readers = self.readers.iter();
        for (publisher_id, id) in readers.filter_map(DataSetReader::missing_meta_data) {
            match missing.iter_mut().find(|(known, _)| known == publisher_id) {
                Some((_, ids)) if ids.contains(&id) => {}
                Some((_, ids)) => ids.push(id),
                None => missing.push((publisher_id.clone(), vec![id])),
            }
        }
        missing
    }

    /// Returns the state of a reader, given that of the connection.
    pub fn reader_state(&self, index: usize, connection: PubSubState) -> Option<PubSubState> {
        let group = self.groups.get(*self.group_of.get(index)?)?;
        Some(self.readers.get(index)?.state(group.state(connection)))
    }

    /// Enables or disables a reader; returns `false` if there is none with this name.
    pub fn set_reader_enabled(&mut self, name: &str, enabled: bool) -> bool {
        let found = self.readers.iter_mut().find(|reader| reader.name() == name);
        // The readers of the layouts have changed.
        self.layouts.clear();
        found.is_some_and(|reader| {
            reader.set_enabled(enabled);
            true
        })
    }

    /// Returns the SecurityGroups whose keys it needs; one may be there twice.
    pub fn security_group_ids(&self) -> impl Iterator<Item = &str> {
        self.protections.group_ids()
    }

    /// Returns the keys of a SecurityGroup, if it needs them. They contain the time of the next request.
    pub fn keys(&self, security_group_id: &str) -> Option<&KeyRing> {
        self.protections.keys(security_group_id)
    }

    /// Sets the keys of a SecurityGroup, which verify and decrypt messages.
    pub fn set_keys(&mut self, security_group_id: &str, keys: &KeyRing) {
        self.protections.set_keys(security_group_id, keys);
    }

    /// Sets the link of a reader's messages, and further links of its metadata, by indexes of links. Until then, the reader
    /// takes messages from all links of the connection.
    pub fn set_reader_links(&mut self, reader: usize, data: usize, meta_data: Vec<usize>) {
        if let Some(reader) = self.readers.get_mut(reader) {
            reader.links = ReaderLinks::new(data, meta_data);
        }
    }

    /// Sets the length in bytes of the longest NetworkMessage of a reader, or chunk of one, for which a delay is proven, with headers
    /// and signature. A longer UADP message is refused with [`ReceiveError::Length`].
    pub fn set_longest_message(&mut self, reader: usize, longest: Option<usize>) {
        // A learned layout has the length of the message from which it was learned.
        self.layouts.clear();
        if let Some(reader) = self.readers.get_mut(reader) {
            reader.longest = longest;
        }
    }

    /// Returns the numbers of received messages that were not passed on, and of missing ones. Messages that are refused with an
    /// error are not among them.
    pub fn losses(&self) -> Losses {
        let mut losses = self.forgotten;
        for reader in &self.readers {
            reader.statistics().add_losses(&mut losses);
        }
        let chunks = self.reassembler.incomplete() + self.protections.incomplete();
        losses.add(LossCause::Chunks, chunks);
        losses.add(LossCause::Unclaimed, self.unclaimed);
        losses.add(LossCause::Encoding, self.undecodable);
        losses
    }

    /// Receives a NetworkMessage of an unknown sender, through the link with index 0; an encrypted one is decrypted in place.
    ///
    /// # Errors
    /// Nothing of the message was accepted. If only a part was not, [`Reception::refused`] counts it.
    pub fn receive(
        &mut self,
        now: Now,
        connection: PubSubState,
        message: &mut [u8],
        observer: &mut dyn SubscriberObserver,
    ) -> Result<Reception, ReceiveError> {
        self.receive_from(&Origin::default(), now, connection, message, observer)
    }

    /// Receives a NetworkMessage as [`receive`](Self::receive) does, from this origin.
    ///
    /// # Errors
    /// The errors are those of [`receive`](Self::receive).
    pub fn receive_from(
        &mut self,
        origin: &Origin<'_>,
        now: Now,
        connection: PubSubState,
        message: &mut [u8],
        observer: &mut dyn SubscriberObserver,
    ) -> Result<Reception, ReceiveError> {
        if is_json(message) {
            let outcome = self
                .receive_json(origin, now, connection, message, observer)
                .inspect_err(|error| self.note_undecodable(error));
            self.tell_states(now, connection, observer);
            return outcome;
        }
        let protection = match self.protections.is_empty() {
            true => None,
            false => self
                .verify(origin, now, connection, message)
                .inspect_err(|error| self.note_undecodable(error))?,
        };
        let message = &*message;
        let listens = |reader: &DataSetReader, index: usize| {
            let group = self
                .group_of
                .get(index)
                .and_then(|group| self.groups.get(*group));
            // A reader takes only messages with its own protection: nobody without its keys can send to it.
            self.protection_of.get(index) == Some(&protection)
                && group.is_some_and(|group| reader.listens(group.state(connection)))
        };
        let received = (message, origin.link);
        let fixed = self
            .layouts
            .receive(received, &mut self.readers, listens, now, observer);
        let outcome = match fixed {
            Some(outcome) => outcome.map(|accepted| Reception {
                accepted,
                fixed: true,
                refused: 0,
            }),
            None => self
                .receive_general(origin, now, connection, message, protection, observer)
                .inspect_err(|error| self.note_undecodable(error)),
        };
        self.tell_states(now, connection, observer);
        outcome
    }

    /// Verifies and decrypts a signed message, and returns the index of its protection; `None` if it is not signed, or if no reader
    /// of protected messages wants it.
    fn verify(
        &mut self,
        origin: &Origin<'_>,
        now: Now,
        connection: PubSubState,
        bytes: &mut [u8],
    ) -> Result<Option<usize>, ReceiveError> {
        let message = NetworkMessageRef::new_checked(bytes)?;
        if !is_signed(&message) {
            return Ok(None);
        }
        // An array on the stack, because receiving allocates nothing.
        let mut wanted = [false; MAX_PROTECTIONS];
        for (index, reader) in self.readers.iter().enumerate() {
            let group = self
                .group_of
                .get(index)
                .and_then(|group| self.groups.get(*group));
            let listens = group.is_some_and(|group| reader.listens(group.state(connection)));
            if let Some(Some(protection)) = self.protection_of.get(index)
                && let Some(wanted) = wanted.get_mut(*protection)
                && listens
                && reader.wants(&message, origin)
            {
                *wanted = true;
            }
        }
        // No reader with keys wants it, which saves the time for its signature.
        if !wanted.contains(&true) {
            return Ok(None);
        }
        let wanted = wanted.iter().enumerate().filter(|(_, wanted)| **wanted);
        let candidates = wanted.map(|(index, _)| index);
        self.protections
            .verify(candidates, bytes, now)
            .map(|(index, _)| Some(index))
    }

    /// Counts a message that no reader takes, and reports the first one of each link.
    pub(super) fn note_unclaimed(
        &mut self,
        link: usize,
        said: &dyn std::fmt::Display,
        observer: &mut dyn SubscriberObserver,
    ) {
        self.unclaimed += 1;
        if !self.reported_links.contains(&link) {
            self.reported_links.push(link);
            observer.unclaimed(said);
        }
    }

    /// Counts a message that was refused because it cannot be decoded.
    #[cold]
    fn note_undecodable(&mut self, error: &ReceiveError) {
        self.undecodable += u64::from(error.is_of_encoding());
    }

    /// Returns the reassembler of chunks with this protection. Chunks with another protection, which others may have sent, are
    /// not mixed in.
    pub(super) fn reassembler(&mut self, protection: Option<usize>) -> &mut ChunkReassembler {
        let protected = protection.and_then(|index| self.protections.reassembler(index));
        protected.unwrap_or(&mut self.reassembler)
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) is to be called.
    pub fn next_timeout(&self) -> Option<Instant> {
        let readers = self.readers.iter().filter_map(DataSetReader::next_timeout);
        let chunks = self.reassembler.next_timeout().into_iter();
        let protected = self.protections.next_timeout();
        readers.chain(chunks).chain(protected).min()
    }

    /// Sets readers that have waited for too long to Error (OPC 10000-14, 6.2.9.6). It is also called when the state of the
    /// connection changes.
    pub fn handle_timeout(
        &mut self,
        now: Now,
        connection: PubSubState,
        observer: &mut dyn SubscriberObserver,
    ) {
        self.reassembler.handle_timeout(now.instant);
        self.protections.handle_timeout(now.instant);
        for reader in &mut self.readers {
            reader.handle_timeout(now.instant);
        }
        self.tell_states(now, connection, observer);
    }

    /// Reports changed states to the observer. It checks nothing if neither the connection nor a reader has changed.
    #[inline]
    fn tell_states(
        &mut self,
        now: Now,
        connection: PubSubState,
        observer: &mut dyn SubscriberObserver,
    ) {
        // This is called for each message, and hardly ever has a state changed.
        if !self.changes.take() && self.told == Some(connection) {
            return;
        }
        self.told = Some(connection);
        for (reader, group) in self.readers.iter_mut().zip(&self.group_of) {
            if let Some(group) = self.groups.get(*group)
                && !reader.is_announced
                && let Some(state) = reader.take_new_state(group.state(connection), now.date_time)
            {
                observer.state_changed(&reader.name, state);
            }
        }
    }
}

impl ReaderGroup {
    pub(super) fn state(&self, connection: PubSubState) -> PubSubState {
        crate::state::state(self.enabled, connection, Condition::Ready)
    }
}
