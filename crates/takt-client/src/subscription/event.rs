//! An Event of a subscription.

use takt_ua::Variant;

/// An Event that a server has sent.
#[derive(Debug, Clone, PartialEq)]
pub struct EventNotification {
    /// Handle of the item, which [`Subscription::monitor_events`](super::Subscription::monitor_events) returned.
    pub client_handle: u32,
    /// The selected fields, in the order of [`EventQuery::field`](crate::EventQuery::field); null where the Event has no such field.
    pub fields: Vec<Variant>,
}
