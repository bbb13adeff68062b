//! Observer that passes messages to the watches of their flows.

use std::sync::Arc;
use std::time::Instant;

use takt_ua::enumerations::PubSubState;
use takt_wire::{DiscoveryAnnouncement, PublisherIdRef};

use super::watch::{ArrivedMessage, ReceivingWatch};
use super::watched_flow::WatchedFlow;
use crate::error::ReceiveError;
use crate::subscriber::{ReceivedDataSet, SubscriberObserver};
use crate::time::Now;

/// Watches of the DataSetReaders of a Subscriber.
#[derive(Debug, Default)]
pub struct ReaderWatches {
    watches: Vec<(String, ReceivingWatch)>,
    /// Place of the watch that is tried first: messages mostly come in the same order.
    first: usize,
}

impl ReaderWatches {
    /// Adds the flow of a reader, by the name of the reader.
    pub fn add(&mut self, reader: &str, flow: Arc<WatchedFlow>) {
        self.watches
            .push((reader.to_owned(), ReceivingWatch::new(flow)));
    }

    /// Returns true if no flow is watched.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.watches.is_empty()
    }

    /// Begins to receive now, with links that were opened before: see [`ReceivingWatch::begin`].
    pub fn begin(&mut self, opened: Instant, now: Now) {
        for (_, watch) in &mut self.watches {
            watch.begin(opened, now);
        }
    }

    /// Notes that a reader did not receive for some time.
    pub fn restart(&mut self, reader: &str) {
        if let Some(watch) = self.of(reader) {
            watch.restart();
        }
    }

    /// Counts a message that was refused because it is too long. It is called with each error of
    /// [`Subscriber::receive`](crate::subscriber::Subscriber::receive); the observer gets the errors of parts of messages.
    #[cold]
    pub fn refused(&mut self, error: &ReceiveError) {
        if let ReceiveError::Length { reader, .. } = error
            && let Some(watch) = self.of(reader)
        {
            watch.refused();
        }
    }

    #[inline]
    fn of(&mut self, reader: &str) -> Option<&mut ReceivingWatch> {
        let (before, from_first) = self.watches.split_at(self.first.min(self.watches.len()));
        let is_it = |(name, _): &(String, ReceivingWatch)| name == reader;
        let found = from_first.iter().position(is_it);
        let found = found.map(|place| before.len() + place);
        let place = found.or_else(|| before.iter().position(is_it))?;
        self.first = (place + 1) % self.watches.len();
        self.watches.get_mut(place).map(|(_, watch)| watch)
    }
}

/// Observer of one NetworkMessage: counts its DataSetMessages for their flows, and passes everything on to another observer.
pub struct WatchingObserver<'a> {
    inner: &'a mut dyn SubscriberObserver,
    watches: &'a mut ReaderWatches,
    now: Now,
}

impl<'a> WatchingObserver<'a> {
    /// Creates the observer of a message that was received now.
    #[inline]
    pub fn new(
        inner: &'a mut dyn SubscriberObserver,
        watches: &'a mut ReaderWatches,
        now: Now,
    ) -> Self {
        Self {
            inner,
            watches,
            now,
        }
    }
}

impl SubscriberObserver for WatchingObserver<'_> {
    #[inline]
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        if let Some(watch) = self.watches.of(received.reader.name()) {
            let message = ArrivedMessage {
                kind: received.kind,
                sequence_number: received.sequence_number,
                missing: received.missing,
                timestamp: received.timestamp,
            };
            watch.received(self.now, message);
        }
        self.inner.data_set(received);
    }

    #[cfg(feature = "runtime")]
    fn link_time(&mut self, time: Option<takt_link::ReceiveTime>) {
        self.inner.link_time(time);
    }

    fn state_changed(&mut self, reader: &str, state: PubSubState) {
        self.inner.state_changed(reader, state);
    }

    fn refused(&mut self, error: &ReceiveError) {
        self.watches.refused(error);
        self.inner.refused(error);
    }

    fn unclaimed(&mut self, message: &dyn std::fmt::Display) {
        self.inner.unclaimed(message);
    }

    fn forgotten(&mut self, reader: &str) {
        self.inner.forgotten(reader);
    }

    fn announced(
        &mut self,
        publisher_id: PublisherIdRef<'_>,
        announcement: &DiscoveryAnnouncement,
    ) {
        self.inner.announced(publisher_id, announcement);
    }
}
