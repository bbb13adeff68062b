//! Options of Subscriptions and MonitoredItems.

use std::sync::Arc;
use std::time::Duration;

use takt_ua::structures::{DataChangeFilter, MonitoringParameters};
use takt_ua::{ExtensionObject, NodeId, StatusCode};

use crate::client::{Attribute, EventQuery};

/// Options of a Subscription (OPC 10000-4, 5.14.2). The server may revise them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubscriptionOptions {
    /// Interval at which changes are sent.
    pub publishing_interval: Duration,
    /// Number of intervals without a change after which the server sends a keep-alive message.
    pub max_keep_alive_count: u32,
    /// Number of intervals without a request of this client after which the server deletes the Subscription.
    pub lifetime_count: u32,
    /// Largest number of changes in one message; 0 lets the server choose.
    pub max_notifications_per_publish: u32,
    /// Priority among the Subscriptions of a Session; higher ones are served first.
    pub priority: u8,
    /// Number of Publish requests that wait at the server, so that it never waits for one. Over shared memory the
    /// maximum is three.
    pub publish_requests: usize,
}

impl Default for SubscriptionOptions {
    fn default() -> Self {
        Self {
            publishing_interval: Duration::from_millis(100),
            max_keep_alive_count: 20,
            lifetime_count: 200,
            max_notifications_per_publish: 0,
            priority: 0,
            publish_requests: MOST_REQUESTS,
        }
    }
}

/// Largest number of requests that `takt_shm::ShmClient::send` allows.
pub(super) const MOST_REQUESTS: usize = 3;

/// Options of a MonitoredItem (OPC 10000-4, 7.21).
#[derive(Debug, Clone, PartialEq)]
pub struct MonitoredItemOptions {
    /// Monitored attribute; [`Attribute::Value`] by default.
    pub attribute: Attribute,
    /// Sampling interval. Zero stands for the fastest practical rate; for stored values every set value is sampled.
    pub sampling_interval: Duration,
    /// Number of values that the server queues between two messages.
    pub queue_size: u32,
    /// True if the oldest value is discarded when the queue is full; otherwise the newest is replaced.
    pub discard_oldest: bool,
    /// Filter of changes; without one, every new value or StatusCode is a change.
    pub filter: Option<DataChangeFilter>,
}

impl Default for MonitoredItemOptions {
    fn default() -> Self {
        Self {
            attribute: Attribute::Value,
            sampling_interval: Duration::ZERO,
            queue_size: 1,
            discard_oldest: true,
            filter: None,
        }
    }
}

/// Content of the notifications of an item.
#[derive(Debug, Clone)]
pub(crate) enum Monitored {
    Values(MonitoredItemOptions),
    Events(EventQuery),
}

impl Monitored {
    pub(super) fn attribute(&self) -> Attribute {
        match self {
            Self::Values(options) => options.attribute,
            Self::Events(_) => Attribute::EventNotifier,
        }
    }

    pub(super) fn parameters(&self, client_handle: u32) -> MonitoringParameters {
        match self {
            Self::Values(options) => options.parameters(client_handle),
            Self::Events(query) => query.parameters(client_handle),
        }
    }
}

/// A requested item, which is requested again after a lost connection.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) node: NodeId,
    /// NamespaceArray by which the item was requested, if one is needed.
    pub(super) namespaces: Option<Arc<[String]>>,
    pub(super) monitored: Monitored,
    /// The item's id at the server.
    pub(super) id: u32,
    /// StatusCode with which the server refused to monitor it again.
    pub(super) refused: Option<StatusCode>,
}

impl MonitoredItemOptions {
    pub(super) fn parameters(&self, client_handle: u32) -> MonitoringParameters {
        let filter = self.filter.as_ref().map(ExtensionObject::from_structure);
        MonitoringParameters {
            client_handle,
            sampling_interval: self.sampling_interval.as_secs_f64() * 1000.0,
            filter: filter.unwrap_or_default(),
            queue_size: self.queue_size,
            discard_oldest: self.discard_oldest,
        }
    }
}
