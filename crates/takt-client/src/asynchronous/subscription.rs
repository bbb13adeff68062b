//! Subscriptions of an asynchronous session, and the streams of their notifications.

use std::future::Future;
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_core::Stream;
use takt_ua::{NodeId, StatusCode};

use super::AsyncClient;
use super::publisher::Publisher;
use crate::client::EventQuery;
use crate::error::ClientError;
use crate::subscription::{
    Core, DataChange, EventNotification, Monitored, MonitoredItemOptions, SubscriptionOptions,
};

/// Pause before another attempt after a lost connection: the first one, and the longest.
const SHORTEST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A Subscription with its items, in a session of its own. It reconnects and is restored as a blocking
/// [`Subscription`](crate::Subscription) is. Each future and each stream may be dropped: no notification is lost with it.
pub struct AsyncSubscription {
    core: Core<Publisher>,
    /// Pause after an error of the connection, and time of the next attempt.
    pause: Option<(Duration, Instant)>,
}

impl AsyncClient {
    /// Creates a Subscription in another session with the endpoint and the options of this one.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses the Subscription.
    pub async fn subscribe(
        &self,
        options: SubscriptionOptions,
    ) -> Result<AsyncSubscription, ClientError> {
        let client = Self::connect(self.endpoint(), self.options().clone()).await?;
        Ok(AsyncSubscription {
            core: Core::create(Publisher::new(client), options).await?,
            pause: None,
        })
    }
}

impl AsyncSubscription {
    /// Returns the session of the Subscription, for other requests.
    #[must_use]
    pub fn client(&self) -> &AsyncClient {
        self.core.client.session()
    }

    /// Returns the publishing interval, as revised by the server.
    #[must_use]
    pub fn publishing_interval(&self) -> Duration {
        self.core.publishing_interval()
    }

    /// Returns the number of missing messages that the server could not send again.
    #[must_use]
    pub fn lost_messages(&self) -> u64 {
        self.core.lost_messages
    }

    /// Monitors one item and returns the handle of its changes.
    ///
    /// # Errors
    /// The connection is lost, or the server refuses the item.
    pub async fn monitor(
        &mut self,
        node: &NodeId,
        options: MonitoredItemOptions,
    ) -> Result<u32, ClientError> {
        let item = Monitored::Values(options);
        self.core.monitor_one(node, item).await
    }

    /// Monitors many items at once; returns their handles or errors, in the order of the items.
    ///
    /// # Errors
    /// The connection is lost, or the server refuses the request.
    pub async fn monitor_all(
        &mut self,
        items: Vec<(NodeId, MonitoredItemOptions)>,
    ) -> Result<Vec<Result<u32, StatusCode>>, ClientError> {
        self.core.monitor_values(items).await
    }

    /// Monitors the Events of a node, and returns the handle of its Events.
    ///
    /// # Errors
    /// The connection is lost, or the server refuses the node or the query.
    pub async fn monitor_events(
        &mut self,
        node: &NodeId,
        query: EventQuery,
    ) -> Result<u32, ClientError> {
        let item = Monitored::Events(query);
        self.core.monitor_one(node, item).await
    }

    /// Requests the last Events of all Conditions that are retained (ConditionRefresh, OPC 10000-9, 5.5.7).
    ///
    /// # Errors
    /// The connection is lost, or the server has no Conditions.
    pub async fn refresh_conditions(&mut self) -> Result<(), ClientError> {
        self.core.refresh_conditions().await
    }

    /// Stops monitoring an item. Changes that were already sent may still arrive.
    ///
    /// # Errors
    /// The handle is unknown, or the connection is lost.
    pub async fn forget(&mut self, handle: u32) -> Result<(), ClientError> {
        self.core.forget(handle).await
    }

    /// Waits for the next change.
    ///
    /// # Errors
    /// The connection is lost, or the server refuses. The next call tries again, after a pause. Once it succeeds, the current values
    /// of all items arrive again.
    pub async fn next_change(&mut self) -> Result<DataChange, ClientError> {
        self.next(|core| core.changes.pop_front()).await
    }

    /// Waits for the next Event. Changes of values that arrive meanwhile are kept.
    ///
    /// # Errors
    /// See [`next_change`](Self::next_change).
    pub async fn next_event(&mut self) -> Result<EventNotification, ClientError> {
        self.next(|core| core.events.pop_front()).await
    }

    async fn next<T>(
        &mut self,
        take: impl Fn(&mut Core<Publisher>) -> Option<T>,
    ) -> Result<T, ClientError> {
        loop {
            if let Some(taken) = take(&mut self.core) {
                return Ok(taken);
            }
            if let Some((_, next)) = self.pause {
                tokio::time::sleep_until(next.into()).await;
            }
            let patience = self.core.patience();
            let received = self.core.receive(patience).await;
            let is_lost = received.as_ref().is_err_and(ClientError::is_temporary);
            let longer = self.pause.map_or(SHORTEST_PAUSE, |(pause, _)| 2 * pause);
            let longer = longer.min(LONGEST_PAUSE);
            // Before the error is returned, so that the next call waits, whatever happens to this future.
            self.pause = is_lost.then(|| (longer, Instant::now() + longer));
            received?;
        }
    }

    /// Returns the changes as a stream, which never ends: after an error it goes on, as [`next_change`](Self::next_change)
    /// does. It is `Unpin`.
    pub fn changes(
        &mut self,
    ) -> impl Stream<Item = Result<DataChange, ClientError>> + Send + Unpin + '_ {
        Notifications::new(self, change)
    }

    /// Returns the changes as a stream that owns the Subscription, for another task.
    pub fn into_changes(
        self,
    ) -> impl Stream<Item = Result<DataChange, ClientError>> + Send + Unpin + 'static {
        Notifications::new(Box::new(self), change)
    }

    /// Returns the Events as a stream, which never ends.
    pub fn events(
        &mut self,
    ) -> impl Stream<Item = Result<EventNotification, ClientError>> + Send + Unpin + '_ {
        Notifications::new(self, event)
    }

    /// Returns the Events as a stream that owns the Subscription, for another task.
    pub fn into_events(
        self,
    ) -> impl Stream<Item = Result<EventNotification, ClientError>> + Send + Unpin + 'static {
        Notifications::new(Box::new(self), event)
    }
}

async fn change<S: DerefMut<Target = AsyncSubscription>>(
    mut subscription: S,
) -> (S, Result<DataChange, ClientError>) {
    let change = subscription.next_change().await;
    (subscription, change)
}

async fn event<S: DerefMut<Target = AsyncSubscription>>(
    mut subscription: S,
) -> (S, Result<EventNotification, ClientError>) {
    let event = subscription.next_event().await;
    (subscription, event)
}

/// A stream whose items are the results of one future after another, in the same memory.
struct Notifications<S, T, F: Future<Output = (S, T)>> {
    step: fn(S) -> F,
    running: Pin<Box<F>>,
}

impl<S, T, F: Future<Output = (S, T)>> Notifications<S, T, F> {
    fn new(state: S, step: fn(S) -> F) -> Self {
        Self {
            step,
            running: Box::pin(step(state)),
        }
    }
}

impl<S, T, F: Future<Output = (S, T)>> Stream for Notifications<S, T, F> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let stream = self.get_mut();
        let Poll::Ready((state, item)) = stream.running.as_mut().poll(context) else {
            return Poll::Pending;
        };
        stream.running.set((stream.step)(state));
        Poll::Ready(Some(item))
    }
}
