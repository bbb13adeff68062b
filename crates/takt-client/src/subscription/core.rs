//! A Subscription with its items, for blocking and asynchronous clients: creation, and restoration after a lost connection.
//!
//! A future of this module may be dropped at any point: what it has begun is continued or repeated by the next one, and no
//! notification is lost with it.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::time::{Duration, Instant};

use takt_ua::enumerations::{MonitoringMode, TimestampsToReturn};
use takt_ua::structures::*;
use takt_ua::{DataValue, NodeId, StatusCode, Variant, ids};

use super::acknowledgements::Acknowledgements;
use super::change::DataChange;
use super::event::EventNotification;
use super::lacking::Recovery;
use super::options::{MOST_REQUESTS, Monitored, Wanted};
use super::options::{MonitoredItemOptions, SubscriptionOptions};
use super::session_namespaces::SessionNamespaces;
use crate::client::{AttributeServices, Batched, Requests};
use crate::error::ClientError;

/// A session with Publish requests that wait at the server.
pub(crate) trait Publishing: Requests {
    /// Returns the time limit of a request.
    fn timeout(&self) -> Duration;
    /// Returns whether a session is open, as far as this side knows.
    fn is_connected(&self) -> bool;
    /// Returns the number of sessions so far.
    fn epoch(&self) -> u64;
    /// Returns the number of connections so far.
    fn connections(&self) -> u64;
    /// Opens the connection and the session if there are none.
    fn reopen(&mut self) -> impl Future<Output = Result<(), ClientError>>;
    /// Sends a request whose response is [received](Self::receive_publish) later.
    fn send_publish(&mut self, request: PublishRequest) -> Result<(), ClientError>;
    /// Waits for the next response. The outer error concerns the connection or the time.
    fn receive_publish(
        &mut self,
        timeout: Duration,
    ) -> impl Future<Output = Result<Result<PublishResponse, ClientError>, ClientError>>;
    /// Gives up the connection, but not the session.
    fn disconnect(&mut self);
    /// Closes session and connection.
    fn close(&mut self);
}

/// A message that is handled in its turn.
pub(super) enum Pending {
    /// A received message.
    Message(NotificationMessage),
    /// A missing one, which the server can send again.
    Missing(u32),
}

/// A Subscription with its items.
pub(crate) struct Core<C> {
    pub(crate) client: C,
    pub(super) options: SubscriptionOptions,
    pub(super) items: BTreeMap<u32, Wanted>,
    last_handle: u32,
    pub(super) namespaces: SessionNamespaces,
    /// The Subscription at the server; `None` if the next call has to create it.
    pub(super) created: Option<Created>,
    /// Received and missing messages, in their order.
    pub(super) pending: VecDeque<Pending>,
    pub(crate) changes: VecDeque<DataChange>,
    pub(crate) events: VecDeque<EventNotification>,
    pub(crate) lost_messages: u64,
    /// True once the receiver wanted the states of Conditions: it wants them in each session.
    wants_conditions: bool,
    /// Handles of items that are not monitored any more, because nothing after their values can be decoded.
    pub(super) unreadable: Vec<u32>,
}

/// State of a Subscription that exists at the server.
pub(super) struct Created {
    pub(super) id: u32,
    /// Session in which it was created.
    pub(super) epoch: u64,
    /// Connection on which the Publish requests wait.
    connection: u64,
    pub(super) publishing_interval: Duration,
    /// Longest time between two messages.
    keep_alive: Duration,
    /// Time without a message after which the server is considered dead.
    pub(super) patience: Duration,
    /// Time of the last message of this Subscription, or of the connection.
    pub(super) last_message: Instant,
    /// False if the Subscription has sent nothing on this connection, to which its session was moved.
    pub(super) is_heard: bool,
    /// Number of unanswered Publish requests, and its target.
    pub(super) outstanding: usize,
    pub(super) wanted: usize,
    /// SequenceNumber of the next message.
    pub(super) next_sequence_number: u32,
    pub(super) acknowledgements: Acknowledgements,
    /// Handles of items that the server does not monitor yet, as it did for the previous Subscription.
    pub(super) to_restore: Vec<u32>,
    /// Values that the receiver may lack.
    pub(super) recovery: Recovery,
    /// True if the receiver does not know the states of the Conditions.
    lacks_conditions: bool,
}

impl Created {
    /// Continues on another connection: the Publish requests of the previous one are lost, and so are their
    /// acknowledgements, perhaps.
    fn resume(&mut self, connection: u64) {
        self.connection = connection;
        self.outstanding = 0;
        self.acknowledgements.repeat();
        // The time without a connection does not count as silence of the Subscription.
        self.last_message = Instant::now();
        self.is_heard = false;
        self.recovery.request();
    }
}

impl<C: Publishing> Core<C> {
    pub(crate) async fn create(
        client: C,
        options: SubscriptionOptions,
    ) -> Result<Self, ClientError> {
        let mut core = Self {
            client,
            options,
            items: BTreeMap::new(),
            last_handle: 0,
            namespaces: SessionNamespaces::default(),
            created: None,
            pending: VecDeque::new(),
            changes: VecDeque::new(),
            events: VecDeque::new(),
            lost_messages: 0,
            wants_conditions: false,
            unreadable: Vec::new(),
        };
        core.created().await?;
        Ok(core)
    }

    pub(crate) fn publishing_interval(&self) -> Duration {
        let created = self.created.as_ref();
        created.map_or(self.options.publishing_interval, |created| {
            created.publishing_interval
        })
    }

    pub(crate) fn keep_alive(&self) -> Duration {
        let created = self.created.as_ref();
        created.map_or(Duration::ZERO, |created| created.keep_alive)
    }

    pub(crate) fn silence(&self) -> Duration {
        let created = self.created.as_ref();
        created.map_or(Duration::ZERO, |created| created.last_message.elapsed())
    }

    /// Returns the time after which the server is considered dead if it sends nothing.
    #[cfg(feature = "async")]
    pub(crate) fn patience(&self) -> Duration {
        let created = self.created.as_ref();
        created.map_or(Duration::ZERO, |created| {
            let silent = created.last_message.elapsed();
            // So that the patience is over when a timer of this length ends.
            created.patience.saturating_sub(silent) + Duration::from_millis(1)
        })
    }

    pub(crate) async fn monitor_one(
        &mut self,
        node: &NodeId,
        monitored: Monitored,
    ) -> Result<u32, ClientError> {
        let mut handles = self.monitor_wanted(vec![(node.clone(), monitored)]).await?;
        handles
            .pop()
            .unwrap_or(Err(StatusCode::BadUnexpectedError))
            .map_err(|status| ClientError::operation(node, status))
    }

    pub(crate) async fn monitor_values(
        &mut self,
        items: Vec<(NodeId, MonitoredItemOptions)>,
    ) -> Result<Vec<Result<u32, StatusCode>>, ClientError> {
        let items = items.into_iter();
        let items = items.map(|(node, options)| (node, Monitored::Values(options)));
        self.monitor_wanted(items.collect()).await
    }

    async fn monitor_wanted(
        &mut self,
        items: Vec<(NodeId, Monitored)>,
    ) -> Result<Vec<Result<u32, StatusCode>>, ClientError> {
        self.created().await?;
        self.know_namespaces(&items).await?;
        let mut wanted = Vec::new();
        for (node, monitored) in items {
            // Handles are not used again: changes of an item that was forgotten may still arrive.
            self.last_handle += 1;
            let item = Wanted {
                node,
                namespaces: self.namespaces.uris(),
                monitored,
                id: 0,
                refused: None,
            };
            wanted.push((self.last_handle, item));
        }
        let results = self.create_items(&mut wanted).await?;
        let mut handles = Vec::with_capacity(wanted.len());
        for ((handle, item), status) in wanted.into_iter().zip(results) {
            if status.is_bad() {
                handles.push(Err(status));
            } else {
                self.items.insert(handle, item);
                handles.push(Ok(handle));
            }
        }
        Ok(handles)
    }

    pub(crate) async fn refresh_conditions(&mut self) -> Result<(), ClientError> {
        // This is noted first: later sessions request the states even if this call fails.
        self.wants_conditions = true;
        let created = self.created().await?;
        created.lacks_conditions = true;
        self.refresh().await
    }

    /// Requests the states of the Conditions in a new session: one that the server does not know any more would never end otherwise.
    pub(super) async fn refresh_again(&mut self) -> Result<(), ClientError> {
        let created = self.created.as_ref();
        if !created.is_some_and(|created| created.lacks_conditions && created.to_restore.is_empty())
        {
            return Ok(());
        }
        match self.refresh().await {
            Err(error) if error.is_connection() => Err(error),
            Err(error) => {
                tracing::debug!("no ConditionRefresh: {error}");
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    async fn refresh(&mut self) -> Result<(), ClientError> {
        let Some(id) = self.created.as_ref().map(|created| created.id) else {
            return Ok(());
        };
        let condition_type = NodeId::from(ids::CONDITION_TYPE);
        let method = NodeId::from(ids::CONDITION_TYPE_CONDITION_REFRESH);
        let inputs = vec![Variant::from(id)];
        let client = &mut self.client;
        let called = client.call_method(&condition_type, &method, inputs).await;
        // What fails with the connection is repeated.
        let is_over = !called.as_ref().is_err_and(ClientError::is_connection);
        if let Some(created) = self.created.as_mut().filter(|created| created.id == id) {
            created.lacks_conditions &= !is_over;
        }
        called.map(drop)
    }

    pub(crate) async fn forget(&mut self, handle: u32) -> Result<(), ClientError> {
        let Some(item) = self.items.remove(&handle) else {
            let status = StatusCode::BadMonitoredItemIdInvalid;
            return Err(ClientError::operation(handle, status));
        };
        // A refused item does not exist at the server.
        let Some(created) = self.created.as_ref().filter(|_| item.refused.is_none()) else {
            return Ok(());
        };
        let request = DeleteMonitoredItemsRequest {
            subscription_id: created.id,
            monitored_item_ids: vec![item.id],
            ..DeleteMonitoredItemsRequest::default()
        };
        let response = self.client.call(request).await?;
        let name = "DeleteMonitoredItemsResponse";
        self.client.expect_count(name, 1, response.results.len())
    }

    /// Creates the Subscription with all items if there is none.
    pub(super) async fn created(&mut self) -> Result<&mut Created, ClientError> {
        loop {
            if !self.client.is_connected() {
                self.client.reopen().await?;
            }
            let (epoch, connection) = (self.client.epoch(), self.client.connections());
            // Subscriptions are not transferred: that of another session is lost.
            self.created.take_if(|created| created.epoch != epoch);
            match &mut self.created {
                Some(created) if created.connection != connection => created.resume(connection),
                Some(_) => {}
                None => self.recreate().await?,
            }
            self.restore().await?;
            self.refresh_again().await?;
            if self.recover().await? {
                break;
            }
        }
        self.created
            .as_mut()
            .ok_or(ClientError::Invalid("no Subscription".to_owned()))
    }

    async fn recreate(&mut self) -> Result<(), ClientError> {
        let options = self.options;
        let response = self
            .client
            .call(CreateSubscriptionRequest {
                requested_publishing_interval: options.publishing_interval.as_secs_f64() * 1000.0,
                requested_lifetime_count: options.lifetime_count,
                requested_max_keep_alive_count: options.max_keep_alive_count,
                max_notifications_per_publish: options.max_notifications_per_publish,
                publishing_enabled: true,
                priority: options.priority,
                ..CreateSubscriptionRequest::default()
            })
            .await?;
        let interval = response.revised_publishing_interval / 1000.0;
        // A server may return a number that is no time.
        let publishing_interval =
            Duration::try_from_secs_f64(interval).unwrap_or(options.publishing_interval);
        // The server sends a message after this number of intervals; the limit is twice that, plus the time limit of
        // a request.
        let keep_alive = publishing_interval.saturating_mul(response.revised_max_keep_alive_count);
        let silence = keep_alive.saturating_mul(2);
        // The server has no messages of the previous Subscription any more.
        let count = self.pending.len();
        self.pending
            .retain(|one| matches!(one, Pending::Message(_)));
        self.lost_messages += (count - self.pending.len()) as u64;
        self.created = Some(Created {
            id: response.subscription_id,
            epoch: self.client.epoch(),
            connection: self.client.connections(),
            publishing_interval,
            keep_alive,
            patience: silence.saturating_add(self.client.timeout()),
            last_message: Instant::now(),
            is_heard: true,
            outstanding: 0,
            wanted: options.publish_requests.clamp(1, MOST_REQUESTS),
            next_sequence_number: 1,
            acknowledgements: Acknowledgements::default(),
            to_restore: self.items.keys().copied().collect(),
            recovery: Recovery::default(),
            lacks_conditions: self.wants_conditions,
        });
        Ok(())
    }

    /// Monitors the items that the previous Subscription had.
    async fn restore(&mut self) -> Result<(), ClientError> {
        self.follow_namespaces().await?;
        while let Some(created) = &self.created
            && !created.to_restore.is_empty()
        {
            let count = created.to_restore.len().min(self.items_per_call());
            let some = created.to_restore.iter().take(count);
            let mut items: Vec<_> = some
                .filter_map(|handle| Some((*handle, self.items.get(handle)?.clone())))
                .collect();
            let results = match self.create_batch(&mut items).await {
                Err(error) if self.takes_fewer(items.len(), &error) => continue,
                // The server may have created some: everything begins again in another session.
                results => results.inspect_err(|_| self.abandon())?,
            };
            if let Some(created) = &mut self.created {
                created.to_restore.drain(..count);
            }
            for ((handle, item), status) in items.into_iter().zip(results) {
                self.restored(handle, item, status);
            }
        }
        Ok(())
    }

    /// Notes the result of an item that was monitored again. A refused one is tried again later: a server that has just started
    /// may add its nodes one after another.
    fn restored(&mut self, handle: u32, mut item: Wanted, status: StatusCode) {
        let refused = Some(status).filter(|status| status.is_bad());
        let before = std::mem::replace(&mut item.refused, refused);
        if let Some(created) = &mut self.created
            && refused.is_some()
        {
            created.recovery.refused.push(handle);
        }
        match (refused, &item.monitored) {
            // The receiver knows this status already.
            (Some(status), _) if before == Some(status) => {}
            (Some(status), Monitored::Events(_)) => {
                tracing::warn!(node = %item.node, %status, "Events cannot be monitored any more");
            }
            (Some(status), Monitored::Values(_)) => self.changes.push_back(DataChange {
                client_handle: handle,
                value: DataValue::status(status),
            }),
            (None, _) => {}
        }
        self.items.insert(handle, item);
    }

    /// Calls CreateMonitoredItems in requests of a size that the server accepts.
    async fn create_items(
        &mut self,
        items: &mut [(u32, Wanted)],
    ) -> Result<Vec<StatusCode>, ClientError> {
        let mut statuses = Vec::with_capacity(items.len());
        while let Some(left) = items.get_mut(statuses.len()..)
            && !left.is_empty()
        {
            let count = left.len().min(self.items_per_call());
            let batch = left.get_mut(..count).unwrap_or_default();
            match self.create_batch(batch).await {
                Ok(created) => statuses.extend(created),
                Err(error) if self.takes_fewer(count, &error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(statuses)
    }

    /// Calls CreateMonitoredItems in one request.
    async fn create_batch(
        &mut self,
        items: &mut [(u32, Wanted)],
    ) -> Result<Vec<StatusCode>, ClientError> {
        let Some(created) = &self.created else {
            return Err(ClientError::Invalid("no Subscription".to_owned()));
        };
        let (id, epoch) = (created.id, created.epoch);
        if items.is_empty() {
            return Ok(Vec::new());
        }
        let items_to_create = items.iter().map(|(handle, item)| {
            let mut requested_parameters = item.monitored.parameters(*handle);
            if let Some(map) = self.namespaces.map(item) {
                map.replace_filter(&mut requested_parameters.filter);
            }
            MonitoredItemCreateRequest {
                item_to_monitor: ReadValueId {
                    node_id: self.namespaces.node(item),
                    attribute_id: item.monitored.attribute() as u32,
                    ..ReadValueId::default()
                },
                monitoring_mode: MonitoringMode::Reporting,
                requested_parameters,
            }
        });
        let items_to_create: Vec<_> = items_to_create.collect();
        let response = self
            .client
            .call(CreateMonitoredItemsRequest {
                subscription_id: id,
                timestamps_to_return: TimestampsToReturn::Both,
                items_to_create,
                ..CreateMonitoredItemsRequest::default()
            })
            .await?;
        let name = "CreateMonitoredItemsResponse";
        self.client
            .expect_count(name, items.len(), response.results.len())?;
        // The request was repeated in a new session, where this SubscriptionId is that of another Subscription, if any.
        if self.client.epoch() != epoch {
            return Err(self.client.protocol("the session was replaced meanwhile"));
        }
        let mut statuses = Vec::with_capacity(items.len());
        for ((_, item), result) in items.iter_mut().zip(response.results) {
            item.id = result.monitored_item_id;
            statuses.push(result.status_code);
        }
        Ok(statuses)
    }

    fn items_per_call(&self) -> usize {
        let accepted = self.client.batches().size(Batched::CreateMonitoredItems);
        accepted.min(ITEMS_PER_CALL)
    }

    /// Returns true if the server refused this number of items, and smaller requests are to be tried.
    fn takes_fewer(&self, count: usize, error: &ClientError) -> bool {
        let batches = self.client.batches();
        batches.shrink(Batched::CreateMonitoredItems, count, error)
    }
}

/// Largest number of items in one CreateMonitoredItems request.
const ITEMS_PER_CALL: usize = 1000;
