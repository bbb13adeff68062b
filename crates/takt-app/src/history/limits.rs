//! Limits of a history.

use std::time::Duration;

/// Time from the first new record to the commit: a value is durable at the latest this long, and the time of the disk, after it was recorded.
pub const COMMIT_INTERVAL: Duration = Duration::from_millis(500);

/// Maximum number of values of a Variable in one response: MaxReturnDataValues.
pub const MAX_RETURN_DATA_VALUES: u32 = 10_000;

/// Maximum number of Events of a notifier in one response: MaxReturnEventValues.
pub const MAX_RETURN_EVENT_VALUES: u32 = 10_000;

/// Largest number of Variables that one history records.
pub const MAX_RECORDED: usize = 10_000;
