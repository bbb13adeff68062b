//! Subscriptions on the Consumer's side (OPC 10000-4, 5.13 and 5.14): values as they change.
//!
//! Some Publish requests always wait at the server, which responds when there are notifications: over shared memory
//! changes are pushed into this side's channel, over TCP into its socket. Every message is acknowledged; a missing
//! one is requested again (Republish).
//!
//! After the loss of the connection the next call opens another one. If the server still has the session, it is
//! resumed there, and the Subscription goes on: changes meanwhile arrive, as far as its queues hold them, and then the current
//! value of each item, also if it has not changed. Otherwise the Subscription is created anew with all items, whose values are
//! then sent again, by the NamespaceArray of the new session. Items that the server refuses then are tried again each second.

mod acknowledgements;
mod change;
mod core;
mod event;
mod lacking;
mod missing;
mod namespaces;
mod notifications;
mod options;
mod receive;
mod recovery;
mod session_namespaces;

use std::time::{Duration, Instant};

use takt_ua::structures::{PublishRequest, PublishResponse};
use takt_ua::{NodeId, StatusCode};

pub use change::DataChange;
pub use event::EventNotification;
pub use options::{MonitoredItemOptions, SubscriptionOptions};

pub(crate) use self::core::{Core, Publishing};
pub(crate) use options::Monitored;

use crate::client::{Client, EventQuery, ready};
use crate::error::ClientError;

/// A Subscription with its items, on its own connection. It is used by one thread.
pub struct Subscription {
    core: Core<Client>,
}

impl Subscription {
    /// Creates a Subscription on the connection of `client`.
    pub fn create(mut client: Client, options: SubscriptionOptions) -> Result<Self, ClientError> {
        client.resume_sessions();
        let core = ready(Core::create(client, options))?;
        Ok(Self { core })
    }

    /// Returns the session of the Subscription, for other requests.
    pub fn client(&mut self) -> &mut Client {
        &mut self.core.client
    }

    /// Returns the publishing interval, as revised by the server.
    pub fn publishing_interval(&self) -> Duration {
        self.core.publishing_interval()
    }

    /// Returns the longest time between two messages of the server, as it has promised: the publishing interval times the keep-alive
    /// count.
    pub fn keep_alive(&self) -> Duration {
        self.core.keep_alive()
    }

    /// Returns the time since the last message of the server. Messages are received by [`next`](Self::next), so it is meaningful when
    /// that has returned nothing.
    pub fn silence(&self) -> Duration {
        self.core.silence()
    }

    /// Lets the current values of all items arrive again, also of those that have not changed.
    pub fn request_values(&mut self) {
        self.core.request_values();
    }

    /// Returns the number of missing messages that the server could not send again.
    pub fn lost_messages(&self) -> u64 {
        self.core.lost_messages
    }

    /// Returns the handles of items that are not monitored any more, because the ends of their values are not known, so that the
    /// values of other items in the same message could not be decoded (`takt_ua::foreign`). Each is returned once.
    pub fn take_unreadable(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.core.unreadable)
    }

    /// Monitors one item and returns the handle of its changes.
    pub fn monitor(
        &mut self,
        node: &NodeId,
        options: MonitoredItemOptions,
    ) -> Result<u32, ClientError> {
        ready(self.core.monitor_one(node, Monitored::Values(options)))
    }

    /// Monitors many items at once; returns their handles or errors, in the order of the items.
    pub fn monitor_all(
        &mut self,
        items: Vec<(NodeId, MonitoredItemOptions)>,
    ) -> Result<Vec<Result<u32, StatusCode>>, ClientError> {
        ready(self.core.monitor_values(items))
    }

    /// Monitors the Events of a node, for example of the Server Object (`ids::SERVER`), and returns the handle of its Events.
    ///
    /// # Errors
    /// The connection is lost, or the server refuses the node or the query.
    pub fn monitor_events(&mut self, node: &NodeId, query: EventQuery) -> Result<u32, ClientError> {
        ready(self.core.monitor_one(node, Monitored::Events(query)))
    }

    /// Waits for the next Event; returns `None` after `timeout`. Changes of values that arrive meanwhile are kept for
    /// [`next`](Self::next).
    ///
    /// # Errors
    /// An error if the connection is lost or the server refuses. The next call tries again.
    pub fn next_event(
        &mut self,
        timeout: Duration,
    ) -> Result<Option<EventNotification>, ClientError> {
        self.next_of(timeout, |core| core.events.pop_front())
    }

    /// Requests the last Events of all Conditions that are retained (ConditionRefresh, OPC 10000-9, 5.5.7), between a
    /// RefreshStartEvent and a RefreshEndEvent. If the server loses the session, they are requested again in the next one: a Condition
    /// that is not among them then has ended meanwhile.
    ///
    /// # Errors
    /// The connection is lost, or the server has no Conditions.
    pub fn refresh_conditions(&mut self) -> Result<(), ClientError> {
        ready(self.core.refresh_conditions())
    }

    /// Stops monitoring an item. Changes that were already sent may still arrive.
    pub fn forget(&mut self, handle: u32) -> Result<(), ClientError> {
        ready(self.core.forget(handle))
    }

    /// Waits for the next change; returns `None` after `timeout`.
    ///
    /// # Errors
    /// An error if the connection is lost or the server refuses. The next call tries again. Once it succeeds, the current values of
    /// all items arrive again, so a receiver may mark all of them as bad meanwhile.
    pub fn next(&mut self, timeout: Duration) -> Result<Option<DataChange>, ClientError> {
        self.next_of(timeout, |core| core.changes.pop_front())
    }

    fn next_of<T>(
        &mut self,
        timeout: Duration,
        mut take: impl FnMut(&mut Core<Client>) -> Option<T>,
    ) -> Result<Option<T>, ClientError> {
        let end = Instant::now().checked_add(timeout);
        loop {
            if let Some(taken) = take(&mut self.core) {
                return Ok(Some(taken));
            }
            let left = end.map_or(LOOK, |end| {
                end.saturating_duration_since(Instant::now()).min(LOOK)
            });
            // With a timeout of zero it still receives once, below.
            if left.is_zero() && !timeout.is_zero() {
                return Ok(None);
            }
            ready(self.core.receive(left))?;
            if timeout.is_zero() {
                return Ok(take(&mut self.core));
            }
        }
    }
}

/// Interval at which the thread checks whether the server was silent for too long.
const LOOK: Duration = Duration::from_secs(1);

impl Publishing for Client {
    fn timeout(&self) -> Duration {
        self.options().timeout
    }

    fn is_connected(&self) -> bool {
        Self::is_connected(self)
    }

    fn epoch(&self) -> u64 {
        Self::epoch(self)
    }

    fn connections(&self) -> u64 {
        Self::connections(self)
    }

    async fn reopen(&mut self) -> Result<(), ClientError> {
        Self::reopen(self)
    }

    fn send_publish(&mut self, request: PublishRequest) -> Result<(), ClientError> {
        self.send(request, Duration::ZERO).map(|_| ())
    }

    async fn receive_publish(
        &mut self,
        timeout: Duration,
    ) -> Result<Result<PublishResponse, ClientError>, ClientError> {
        self.receive(timeout, |response| response.decode::<PublishResponse>())
    }

    fn disconnect(&mut self) {
        Self::disconnect(self);
    }

    fn close(&mut self) {
        Self::close(self);
    }
}
