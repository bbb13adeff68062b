//! Counts for SubscriptionDiagnosticsDataType (OPC 10000-5, 12.15).

/// Counts of what happened to one Subscription.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) modified: u32,
    pub(crate) enabled: u32,
    pub(crate) disabled: u32,
    pub(crate) republish_requests: u32,
    pub(crate) republished: u32,
    pub(crate) transfers: u32,
    pub(crate) transferred: u32,
    pub(crate) publish_requests: u32,
    pub(crate) data_changes: u32,
    pub(crate) events: u32,
}

/// Adds one to a count; a full one starts again.
pub(crate) fn count(count: &mut u32) {
    *count = count.wrapping_add(1);
}
