//! Subscriptions on the Consumer's side (OPC 10000-4, 5.13 and 5.14): values as they change.
//!
//! Some Publish requests always wait at the server, which responds when there are notifications: over shared memory
//! changes are pushed into this side's channel, over TCP into its socket. Every message is acknowledged; a missing
//! one is requested again (Republish).
//!
//! After the loss of the connection the next call opens another one. If the server still has the session, it is
//! resumed there, and the Subscription goes on: changes meanwhile arrive, as far as its queues hold them. Otherwise the
//! Subscription is created anew with all items, whose values are then sent again.

mod events;
mod options;
mod receive;

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use takt_ua::enumerations::{MonitoringMode, TimestampsToReturn};
use takt_ua::structures::*;
use takt_ua::{DataValue, NodeId, StatusCode, Variant, ids};

pub use events::{EventNotification, EventQuery};
pub use options::{MonitoredItemOptions, SubscriptionOptions};

use crate::client::Client;
use crate::error::ClientError;
use options::{MOST_REQUESTS, Monitored, Wanted};

/// A changed value.
#[derive(Debug, Clone, PartialEq)]
pub struct DataChange {
    /// Handle of the item, which [`Subscription::monitor`] returned.
    pub client_handle: u32,
    /// Its value, StatusCode and timestamps.
    pub value: DataValue,
}

impl DataChange {
    /// Returns whether other values were lost, because the item's queue was too short (OPC 10000-4, 7.39.1).
    pub fn is_overflow(&self) -> bool {
        const OVERFLOW: u32 = 0x0480;
        self.value.status_code().0 & OVERFLOW == OVERFLOW
    }
}

/// A Subscription with its items, on its own connection. It is used by one thread.
pub struct Subscription {
    client: Client,
    options: SubscriptionOptions,
    items: BTreeMap<u32, Wanted>,
    last_handle: u32,
    /// The Subscription at the server; `None` if the next call has to create it.
    created: Option<Created>,
    changes: VecDeque<DataChange>,
    events: VecDeque<EventNotification>,
    lost_messages: u64,
}

/// State of a Subscription that exists at the server.
struct Created {
    id: u32,
    /// Session in which it was created.
    epoch: u64,
    /// Connection on which the Publish requests wait.
    connection: u64,
    publishing_interval: Duration,
    /// Time without a message after which the server is considered dead.
    patience: Duration,
    last_message: Instant,
    /// Number of unanswered Publish requests, and its target.
    outstanding: usize,
    wanted: usize,
    /// SequenceNumber of the next message.
    next_sequence_number: u32,
    to_acknowledge: Vec<u32>,
}

impl Created {
    /// Continues on another connection: the Publish requests of the previous one are lost, and so are their
    /// acknowledgements, perhaps. A message that is acknowledged twice does no harm.
    fn resume(&mut self, connection: u64) {
        self.connection = connection;
        self.outstanding = 0;
        self.last_message = Instant::now();
    }
}

impl Subscription {
    /// Creates a Subscription on the connection of `client`.
    pub fn create(mut client: Client, options: SubscriptionOptions) -> Result<Self, ClientError> {
        client.resume_sessions();
        let mut subscription = Self {
            client,
            options,
            items: BTreeMap::new(),
            last_handle: 0,
            created: None,
            changes: VecDeque::new(),
            events: VecDeque::new(),
            lost_messages: 0,
        };
        subscription.created()?;
        Ok(subscription)
    }

    /// Returns the session of the Subscription, for other requests.
    pub fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Returns the publishing interval, as revised by the server.
    pub fn publishing_interval(&self) -> Duration {
        let created = self.created.as_ref();
        created.map_or(self.options.publishing_interval, |created| {
            created.publishing_interval
        })
    }

    /// Returns the number of missing messages that the server could not send again.
    pub fn lost_messages(&self) -> u64 {
        self.lost_messages
    }

    /// Monitors one item and returns the handle of its changes.
    pub fn monitor(
        &mut self,
        node: &NodeId,
        options: MonitoredItemOptions,
    ) -> Result<u32, ClientError> {
        let mut handles = self.monitor_all(vec![(node.clone(), options)])?;
        handles
            .pop()
            .unwrap_or(Err(StatusCode::BadUnexpectedError))
            .map_err(|status| ClientError::operation(node, status))
    }

    /// Monitors many items at once; returns their handles or errors, in the order of the items.
    pub fn monitor_all(
        &mut self,
        items: Vec<(NodeId, MonitoredItemOptions)>,
    ) -> Result<Vec<Result<u32, StatusCode>>, ClientError> {
        let items = items.into_iter();
        self.monitor_wanted(items.map(|(node, options)| (node, Monitored::Values(options))))
    }

    fn monitor_wanted(
        &mut self,
        items: impl Iterator<Item = (NodeId, Monitored)>,
    ) -> Result<Vec<Result<u32, StatusCode>>, ClientError> {
        self.created()?;
        let mut wanted = Vec::new();
        for (node, monitored) in items {
            self.last_handle += 1;
            let item = Wanted {
                node,
                monitored,
                id: 0,
            };
            wanted.push((self.last_handle, item));
        }
        let results = self.create_items(&mut wanted)?;
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

    /// Monitors the Events of a node, for example of the Server Object (`ids::SERVER`), and returns the handle of its Events.
    ///
    /// # Errors
    /// The connection is lost, or the server refuses the node or the query.
    pub fn monitor_events(&mut self, node: &NodeId, query: EventQuery) -> Result<u32, ClientError> {
        let item = (node.clone(), Monitored::Events(query));
        let mut handles = self.monitor_wanted(std::iter::once(item))?;
        handles
            .pop()
            .unwrap_or(Err(StatusCode::BadUnexpectedError))
            .map_err(|status| ClientError::operation(node, status))
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
        self.next_of(timeout, |subscription| subscription.events.pop_front())
    }

    /// Requests the last Events of all Conditions that are retained (ConditionRefresh, OPC 10000-9, 5.5.7), between a
    /// RefreshStartEvent and a RefreshEndEvent.
    ///
    /// # Errors
    /// The connection is lost, or the server has no Conditions.
    pub fn refresh_conditions(&mut self) -> Result<(), ClientError> {
        let id = self.created()?.id;
        let condition_type = NodeId::from(ids::CONDITION_TYPE);
        let method = NodeId::from(ids::CONDITION_TYPE_CONDITION_REFRESH);
        let inputs = vec![Variant::from(id)];
        self.client.call_method(&condition_type, &method, inputs)?;
        Ok(())
    }

    /// Stops monitoring an item. Changes that were already sent may still arrive.
    pub fn forget(&mut self, handle: u32) -> Result<(), ClientError> {
        let Some(item) = self.items.remove(&handle) else {
            let status = StatusCode::BadMonitoredItemIdInvalid;
            return Err(ClientError::operation(handle, status));
        };
        let Some(created) = &self.created else {
            return Ok(());
        };
        let response = self.client.call(DeleteMonitoredItemsRequest {
            subscription_id: created.id,
            monitored_item_ids: vec![item.id],
            ..DeleteMonitoredItemsRequest::default()
        })?;
        let name = "DeleteMonitoredItemsResponse";
        self.client.expect_count(name, 1, response.results.len())
    }

    /// Waits for the next change; returns `None` after `timeout`.
    ///
    /// # Errors
    /// An error if the connection is lost or the server refuses. The next call tries again.
    pub fn next(&mut self, timeout: Duration) -> Result<Option<DataChange>, ClientError> {
        self.next_of(timeout, |subscription| subscription.changes.pop_front())
    }

    fn next_of<T>(
        &mut self,
        timeout: Duration,
        mut take: impl FnMut(&mut Self) -> Option<T>,
    ) -> Result<Option<T>, ClientError> {
        let end = Instant::now().checked_add(timeout);
        loop {
            if let Some(taken) = take(self) {
                return Ok(Some(taken));
            }
            let left = end.map_or(LOOK, |end| {
                end.saturating_duration_since(Instant::now()).min(LOOK)
            });
            if left.is_zero() && !timeout.is_zero() {
                return Ok(None);
            }
            self.receive(left)?;
            if timeout.is_zero() {
                return Ok(take(self));
            }
        }
    }

    /// Creates the Subscription with all items if there is none.
    fn created(&mut self) -> Result<&mut Created, ClientError> {
        if !self.client.is_connected() {
            self.client.reopen()?;
        }
        let (epoch, connection) = (self.client.epoch(), self.client.connections());
        self.created.take_if(|created| created.epoch != epoch);
        match &mut self.created {
            Some(created) if created.connection != connection => created.resume(connection),
            Some(_) => {}
            None => self.recreate()?,
        }
        self.created
            .as_mut()
            .ok_or(ClientError::Invalid("no Subscription".to_owned()))
    }

    fn recreate(&mut self) -> Result<(), ClientError> {
        let options = self.options;
        let response = self.client.call(CreateSubscriptionRequest {
            requested_publishing_interval: options.publishing_interval.as_secs_f64() * 1000.0,
            requested_lifetime_count: options.lifetime_count,
            requested_max_keep_alive_count: options.max_keep_alive_count,
            max_notifications_per_publish: options.max_notifications_per_publish,
            publishing_enabled: true,
            priority: options.priority,
            ..CreateSubscriptionRequest::default()
        })?;
        let interval = response.revised_publishing_interval / 1000.0;
        let publishing_interval =
            Duration::try_from_secs_f64(interval).unwrap_or(options.publishing_interval);
        // The server sends a message after this number of intervals; the limit is twice that, plus the time limit of
        // a request.
        let silence = publishing_interval
            .saturating_mul(response.revised_max_keep_alive_count.saturating_mul(2));
        self.created = Some(Created {
            id: response.subscription_id,
            epoch: self.client.epoch(),
            connection: self.client.connections(),
            publishing_interval,
            patience: silence.saturating_add(self.client.options().timeout),
            last_message: Instant::now(),
            outstanding: 0,
            wanted: options.publish_requests.clamp(1, MOST_REQUESTS),
            next_sequence_number: 1,
            to_acknowledge: Vec::new(),
        });
        let mut items: Vec<_> = std::mem::take(&mut self.items).into_iter().collect();
        let results = if items.is_empty() {
            Ok(Vec::new())
        } else {
            self.create_items(&mut items)
        };
        // Items that cannot be monitored now are requested again later.
        self.items.extend(items.iter().cloned());
        let results = results.inspect_err(|_| self.created = None)?;
        for ((handle, item), status) in items.into_iter().zip(results) {
            if let (true, Monitored::Events(_)) = (status.is_bad(), &item.monitored) {
                tracing::warn!(node = %item.node, %status, "Events cannot be monitored any more");
            } else if status.is_bad() {
                let value = DataValue::status(status);
                self.changes.push_back(DataChange {
                    client_handle: handle,
                    value,
                });
            }
        }
        Ok(())
    }

    /// Calls CreateMonitoredItems in requests of a size that servers accept.
    fn create_items(
        &mut self,
        items: &mut [(u32, Wanted)],
    ) -> Result<Vec<StatusCode>, ClientError> {
        let Some(created) = &self.created else {
            return Err(ClientError::Invalid("no Subscription".to_owned()));
        };
        let (id, epoch) = (created.id, created.epoch);
        let mut statuses = Vec::with_capacity(items.len());
        for items in items.chunks_mut(ITEMS_PER_CALL) {
            let items_to_create = items
                .iter()
                .map(|(handle, item)| MonitoredItemCreateRequest {
                    item_to_monitor: ReadValueId {
                        node_id: item.node.clone(),
                        attribute_id: item.monitored.attribute() as u32,
                        ..ReadValueId::default()
                    },
                    monitoring_mode: MonitoringMode::Reporting,
                    requested_parameters: item.monitored.parameters(*handle),
                });
            let response = self.client.call(CreateMonitoredItemsRequest {
                subscription_id: id,
                timestamps_to_return: TimestampsToReturn::Both,
                items_to_create: items_to_create.collect(),
                ..CreateMonitoredItemsRequest::default()
            })?;
            let name = "CreateMonitoredItemsResponse";
            self.client
                .expect_count(name, items.len(), response.results.len())?;
            if self.client.epoch() != epoch {
                return Err(self.client.protocol("the session was replaced meanwhile"));
            }
            for ((_, item), result) in items.iter_mut().zip(response.results) {
                item.id = result.monitored_item_id;
                statuses.push(result.status_code);
            }
        }
        Ok(statuses)
    }
}

/// Interval at which the thread checks whether the server was silent for too long.
const LOOK: Duration = Duration::from_secs(1);

/// Number of items in one CreateMonitoredItems request.
const ITEMS_PER_CALL: usize = 1000;
