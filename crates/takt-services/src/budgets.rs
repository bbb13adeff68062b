//! Budgets of a server: what clients may use of it, in one request, each, and together. `docs/budgets.md` lists them.
//!
//! A limit is the number at which a budget is used up; OperationLimits have their name from the standard.

use std::time::Duration;

use takt_rt::memory_limit;
use takt_ua::binary::Limits;

/// The budgets of a server. They are enforced, and shown in ServerCapabilities (OPC 10000-5, 6.3.2 and 6.3.11).
#[derive(Debug, Clone, PartialEq)]
pub struct ServerBudgets {
    /// Limits on the operations of one request.
    pub operations: OperationLimits,
    /// Budgets of Subscriptions and MonitoredItems.
    pub subscriptions: SubscriptionBudgets,
    /// Limits of decoders: MaxStringLength, MaxByteStringLength and MaxArrayLength; and the memory of the elements of one operation.
    pub encoding: Limits,
    /// Maximum number of Sessions at once.
    pub max_sessions: u32,
    /// Shortest Session timeout: Sessions stay open at least this long without a request.
    pub min_session_timeout: Duration,
    /// Longest Session timeout: Sessions stay open at most this long without a request.
    pub max_session_timeout: Duration,
    /// MaxBrowseContinuationPoints per Session.
    pub max_browse_continuation_points: u16,
    /// MaxHistoryContinuationPoints per Session; the oldest gives way to a new one.
    pub max_history_continuation_points: u16,
    /// Maximum number of references per node in one Browse result; the rest is returned by BrowseNext.
    pub max_references_per_node: u32,
    /// Maximum number of nodes beyond namespace 0.
    pub max_nodes: usize,
    /// Maximum number of URIs in the NamespaceArray.
    pub max_namespaces: usize,
    /// Memory in bytes that the server holds for all its clients together: messages in transit, Sessions, queues, and nodes
    /// that clients added.
    pub max_memory: usize,
    /// Memory in bytes, a part of [`max_memory`](Self::max_memory), that all connections without an activated Session hold
    /// together.
    pub max_memory_without_session: usize,
    /// Memory in bytes, a part of [`max_memory`](Self::max_memory), that all Sessions hold together: their Subscriptions,
    /// MonitoredItems and queues, continuation points, and requests that are answered later. The rest is for messages in transit.
    pub max_memory_of_sessions: usize,
    /// Memory in bytes, a part of [`max_memory_of_sessions`](Self::max_memory_of_sessions), that one Session holds. The memory
    /// of a Subscription counts for the Session that created it. A Session has at most half of what the other ones leave.
    pub max_memory_per_session: usize,
    /// Memory in bytes, a part of [`max_memory_of_sessions`](Self::max_memory_of_sessions), that all durable Subscriptions hold
    /// together. They keep it without a client.
    pub max_memory_of_durable: usize,
    /// Memory in bytes, a part of [`max_memory`](Self::max_memory), for nodes, references and namespaces that clients added, and
    /// for values above 4 KiB that they wrote.
    pub max_memory_of_nodes: usize,
    /// Largest response to a deferred request in bytes.
    pub max_response_size: usize,
    /// Units of work in one slice of a request; other connections are served before the next one. A unit takes about 50 to
    /// 300 ns: one reference visited, one operation decoded or done, one KiB copied. One operation is not split, so reading
    /// or writing one large value may make a slice longer.
    pub work_per_slice: u32,
    /// Units of work that one Browse, BrowseNext or TranslateBrowsePathsToNodeIds may take in all. The rest of a Browse is
    /// returned by BrowseNext; the remaining browse paths get `BadTooManyOperations`.
    pub max_work_per_request: u64,
    /// Longest time that a remote source may take for its part of one request. A TimeoutHint of the client counts from the
    /// arrival of the request and may end it earlier, with `BadTimeout`.
    pub max_remote_timeout: Duration,
}

impl ServerBudgets {
    /// Default of [`max_memory`](Self::max_memory) in bytes.
    pub const DEFAULT_MEMORY: usize = 256 << 20;

    /// Returns the default budgets, with at most half of the memory that the cgroup of this process has: the rest is for the program
    /// itself, for the application's own data and for buffers of the kernel.
    #[must_use]
    pub fn of_process() -> Self {
        Self::default().with_memory(Self::memory_within(memory_limit::of_process()))
    }

    /// Returns the default of [`max_memory`](Self::max_memory) in a process that has `limit` bytes of memory.
    fn memory_within(limit: Option<u64>) -> usize {
        let half = limit.and_then(|bytes| usize::try_from(bytes / 2).ok());
        half.map_or(Self::DEFAULT_MEMORY, |half| half.min(Self::DEFAULT_MEMORY))
    }

    /// Returns the same budgets with `bytes` of memory for all clients together, and the usual share of it for each kind of use.
    #[must_use]
    pub const fn with_memory(self, bytes: usize) -> Self {
        // Division comes first: `bytes * 3` could overflow.
        Self {
            max_memory: bytes,
            max_memory_without_session: bytes / 4,
            max_memory_of_sessions: bytes / 4 * 3,
            max_memory_per_session: bytes / 8 * 3,
            max_memory_of_durable: bytes / 4,
            max_memory_of_nodes: bytes / 2,
            ..self
        }
    }
}

impl Default for ServerBudgets {
    fn default() -> Self {
        Self {
            operations: OperationLimits::default(),
            subscriptions: SubscriptionBudgets::default(),
            encoding: Limits::STRUCTURE,
            max_sessions: 1024,
            min_session_timeout: Duration::from_secs(1),
            max_session_timeout: Duration::from_secs(3600),
            max_browse_continuation_points: 16,
            max_history_continuation_points: 100,
            max_references_per_node: 10_000,
            max_nodes: 2_000_000,
            max_namespaces: 4096,
            // `with_memory` below sets all memory budgets.
            max_memory: 0,
            max_memory_without_session: 0,
            max_memory_of_sessions: 0,
            max_memory_per_session: 0,
            max_memory_of_durable: 0,
            max_memory_of_nodes: 0,
            // A value of 64 MiB and the message around it.
            max_response_size: (64 << 20) + (64 << 10),
            work_per_slice: 2_000,
            max_work_per_request: 1_000_000,
            max_remote_timeout: Duration::from_secs(10),
        }
        .with_memory(Self::DEFAULT_MEMORY)
    }
}

/// OperationLimits (OPC 10000-5, 6.3.11): a request with more operations gets `BadTooManyOperations`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the standard's")]
pub struct OperationLimits {
    pub max_nodes_per_read: u32,
    pub max_nodes_per_write: u32,
    pub max_nodes_per_method_call: u32,
    pub max_nodes_per_browse: u32,
    pub max_nodes_per_register_nodes: u32,
    pub max_nodes_per_translate_browse_paths_to_node_ids: u32,
    pub max_nodes_per_node_management: u32,
    pub max_monitored_items_per_call: u32,
    pub max_nodes_per_history_read_data: u32,
    pub max_nodes_per_history_read_events: u32,
}

impl Default for OperationLimits {
    fn default() -> Self {
        Self {
            max_nodes_per_read: 10_000,
            max_nodes_per_write: 10_000,
            max_nodes_per_method_call: 1_000,
            max_nodes_per_browse: 1_000,
            max_nodes_per_register_nodes: 10_000,
            max_nodes_per_translate_browse_paths_to_node_ids: 1_000,
            max_nodes_per_node_management: 1_000,
            max_monitored_items_per_call: 10_000,
            max_nodes_per_history_read_data: 100,
            max_nodes_per_history_read_events: 100,
        }
    }
}

/// Budgets of the Subscriptions and MonitoredItems of clients (OPC 10000-4, 5.13 and 5.14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscriptionBudgets {
    /// MaxSubscriptions of all Sessions; more get `BadTooManySubscriptions`.
    pub max_subscriptions: u32,
    /// MaxSubscriptionsPerSession.
    pub max_subscriptions_per_session: u32,
    /// MaxMonitoredItems of all Subscriptions; more get `BadTooManyMonitoredItems`.
    pub max_monitored_items: u32,
    /// MaxMonitoredItemsPerSubscription.
    pub max_monitored_items_per_subscription: u32,
    /// MaxMonitoredItemsQueueSize: maximum number of values in the queue of one item. When the memory of the Session is
    /// exhausted, each queue keeps one value and discards the others; the Overflow bit shows the loss.
    pub max_queue_size: u32,
    /// Maximum number of waiting Publish requests of one Session; the oldest is answered with `BadTooManyPublishRequests`.
    pub max_publish_requests: usize,
    /// Maximum number of messages of one Subscription that are kept until they are acknowledged.
    pub max_retransmission_queue: usize,
    /// Maximum number of values in one message; the rest follows at once.
    pub max_notifications_per_publish: u32,
    /// Shortest publishing interval, not zero.
    pub min_publishing_interval: Duration,
    /// Longest publishing interval, and longest sampling interval.
    pub max_publishing_interval: Duration,
    /// Shortest interval at which cells, callbacks and attributes are sampled, not zero.
    pub min_sampling_interval: Duration,
    /// Sampling budget in units of work per second for all Sessions together. One unit is one sample of a small value in
    /// memory, about 0.6 µs: 400 000 units are about 25 % of one core. It is granted to items by their RevisedSamplingInterval:
    /// a Session gets at most half of the budget that the other Sessions leave, and one request at most half of the rest of its
    /// Session.
    pub max_sampling_load: u32,
    /// Shortest interval at which values of another server are sampled.
    pub min_remote_sampling_interval: Duration,
    /// Shortest interval at which a Subscription without changes sends keep-alive messages (keep-alive count times publishing
    /// interval).
    pub min_keep_alive: Duration,
    /// Shortest lifetime of a Subscription without a Publish request: a client that is late does not lose its Subscription.
    pub min_lifetime: Duration,
    /// Longest lifetime of a Subscription without a Publish request (lifetime count times publishing interval). A publishing
    /// interval has at most a third of it.
    pub max_lifetime: Duration,
    /// Longest time that a Session may have no channel before its Subscriptions are abandoned, as they are when the Session ends.
    /// An abandoned Subscription is not sampled, and ends when others need its memory or its place. Durable ones go on.
    pub max_absence: Duration,
    /// Maximum number of durable Subscriptions (OPC 10000-4, 5.14.9).
    pub max_durable_subscriptions: u32,
    /// Longest lifetime of a durable Subscription without a Publish request, in hours; 0: there are no durable Subscriptions.
    pub max_durable_hours: u32,
    /// Maximum queue size of a MonitoredItem of a durable Subscription.
    pub max_durable_queue_size: u32,
}

impl SubscriptionBudgets {
    /// Default of [`max_lifetime`](Self::max_lifetime).
    pub const DEFAULT_LIFETIME: Duration = Duration::from_secs(3600);

    /// Returns the maximum number of acknowledgements in one Publish request: the maximum number of unacknowledged messages.
    pub(crate) fn max_acknowledgements(&self) -> usize {
        let subscriptions = usize::try_from(self.max_subscriptions_per_session).unwrap_or(1);
        subscriptions.saturating_mul(self.max_retransmission_queue)
    }
}

impl Default for SubscriptionBudgets {
    fn default() -> Self {
        Self {
            max_subscriptions: 1_000,
            max_subscriptions_per_session: 100,
            max_monitored_items: 500_000,
            max_monitored_items_per_subscription: 100_000,
            max_queue_size: 10_000,
            max_publish_requests: 100,
            max_retransmission_queue: 200,
            max_notifications_per_publish: 10_000,
            min_publishing_interval: Duration::from_millis(1),
            max_publishing_interval: Duration::from_secs(3600),
            min_sampling_interval: Duration::from_millis(1),
            max_sampling_load: 400_000,
            min_remote_sampling_interval: Duration::from_millis(100),
            min_keep_alive: Duration::from_millis(100),
            min_lifetime: Duration::from_secs(5),
            max_lifetime: Self::DEFAULT_LIFETIME,
            max_absence: Duration::from_secs(60),
            max_durable_subscriptions: 50,
            max_durable_hours: 72,
            max_durable_queue_size: 100_000,
        }
    }
}

/// Returns the part of a memory budget of `limit` bytes that is kept for small messages.
pub(crate) const fn reserve(limit: usize) -> usize {
    limit / 32
}

/// Returns true if a number of things has reached its limit.
pub(crate) fn is_full(count: usize, limit: u32) -> bool {
    count >= usize::try_from(limit).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_fits_the_memory_of_the_process() {
        let within = ServerBudgets::memory_within;
        assert_eq!(within(None), 256 << 20);
        assert_eq!(within(Some(8 << 30)), 256 << 20);
        assert_eq!(within(Some(200_000_000)), 100_000_000);
        assert!(ServerBudgets::of_process().max_memory <= ServerBudgets::DEFAULT_MEMORY);
    }
}
