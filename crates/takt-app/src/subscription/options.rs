//! What a Subscription and its MonitoredItems are asked to be.

use std::time::Duration;

use takt_ua::structures::{DataChangeFilter, MonitoringParameters};
use takt_ua::{ExtensionObject, NodeId};

use crate::client::Attribute;

/// How a Subscription publishes (OPC 10000-4, 5.14.2). The server may revise what it cannot do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubscriptionOptions {
    /// How often changes are sent.
    pub publishing_interval: Duration,
    /// After how many intervals without a change the server says that it is there.
    pub max_keep_alive_count: u32,
    /// After how many intervals without a sign of this side the server forgets the Subscription.
    pub lifetime_count: u32,
    /// Most changes in one message; 0: as many as the server likes.
    pub max_notifications_per_publish: u32,
    /// Which Subscription of a Session is served first.
    pub priority: u8,
    /// How many Publish requests wait at the server, so that it never has to wait for one. Over shared memory there is
    /// room for three.
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

/// What `takt_shm::ShmClient::send` allows.
pub(super) const MOST_REQUESTS: usize = 3;

/// How an item is watched (OPC 10000-4, 7.21).
#[derive(Debug, Clone, PartialEq)]
pub struct MonitoredItemOptions {
    /// The attribute; [`Attribute::Value`] unless told otherwise.
    pub attribute: Attribute,
    /// How often the server looks. Zero: as fast as is practical, for stored values every value that is set.
    pub sampling_interval: Duration,
    /// How many values wait at the server between two messages.
    pub queue_size: u32,
    /// True if the oldest value goes when there are too many, or the newest is replaced.
    pub discard_oldest: bool,
    /// What counts as a change; every other value or StatusCode if there is no filter.
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

/// An item as it was asked for, to be asked for again after a lost connection.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) node: NodeId,
    pub(super) options: MonitoredItemOptions,
    /// The item's id at the server.
    pub(super) id: u32,
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
