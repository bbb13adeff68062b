//! Changes of monitored values.

use takt_ua::DataValue;

/// A changed value.
#[derive(Debug, Clone, PartialEq)]
pub struct DataChange {
    /// Handle of the item, which [`Subscription::monitor`](super::Subscription::monitor) returned.
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
