//! Good values with their times.

use takt_app::{DataValue, DateTime, Variant};

/// A good value, and the time at which its source had it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Good {
    pub(super) value: Variant,
    pub(super) since: DateTime,
}

impl Good {
    /// Returns the value; `None` if it is bad.
    pub(super) fn of(value: &DataValue) -> Option<Self> {
        let good = value.value.clone();
        let good = good.filter(|_| value.status_code().is_good());
        good.map(|good| Self {
            value: good,
            since: value.source_timestamp.unwrap_or(DateTime::MIN),
        })
    }
}
