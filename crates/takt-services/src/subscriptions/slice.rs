//! One slice of the work of Subscriptions; other connections are served after it.

/// Units of work of one sample of a small value, which is the unit of the sampling budget.
const WORK_PER_LOOK: u64 = 4;

/// Number of Notifications whose encoding takes one unit of work.
const NOTIFICATIONS_PER_UNIT: usize = 8;

/// Inverse of the fraction of a slice that must remain to begin a message.
const SMALLEST_MESSAGE: u64 = 8;

/// Units of work for the release of the memory of one MonitoredItem.
const WORK_PER_ITEM: u64 = 4;

/// Bytes of a sample whose release takes one more unit of work.
const BYTES_PER_UNIT: usize = 16 << 10;

/// The units of work of one slice.
#[derive(Debug)]
pub(crate) struct Slice {
    limit: u64,
    spent: u64,
}

impl Slice {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, spent: 0 }
    }

    /// Adds units to the limit.
    pub(crate) fn extend(&mut self, units: u64) {
        self.limit += units;
    }

    /// Returns true if the rest has to wait for the next slice. The first operation of a slice is always done.
    pub(crate) fn is_over(&self) -> bool {
        self.spent > 0 && self.spent >= self.limit
    }

    /// Returns the room for a message in Notifications and bytes; `None` if the message has to wait for the next slice.
    pub(crate) fn message(&self) -> Option<(usize, usize)> {
        let left = self.limit.saturating_sub(self.spent);
        if self.spent > 0 && left <= self.limit / SMALLEST_MESSAGE {
            return None;
        }
        let half = usize::try_from(left / 2).unwrap_or(usize::MAX >> 10);
        let notifications = half.saturating_mul(NOTIFICATIONS_PER_UNIT);
        Some((notifications.max(1), half.saturating_mul(1 << 10)))
    }

    /// Counts a sample, by its cost in units of the sampling budget.
    pub(crate) fn spend_sample(&mut self, cost: u32) {
        self.spent += u64::from(cost.max(1)) * WORK_PER_LOOK;
    }

    /// Counts units of work.
    pub(crate) fn spend_units(&mut self, units: u64) {
        self.spent = self.spent.saturating_add(units);
    }

    /// Counts a message that was encoded.
    pub(crate) fn spend_message(&mut self, bytes: usize, notifications: usize) {
        let units = 1 + (bytes >> 10) + notifications / NOTIFICATIONS_PER_UNIT;
        self.spent += u64::try_from(units).unwrap_or(u64::MAX >> 1);
    }

    /// Counts a MonitoredItem whose memory was given back.
    pub(crate) fn spend_item(&mut self) {
        self.spent += WORK_PER_ITEM;
    }

    /// Counts a sample or a message of `bytes` bytes whose memory was given back.
    pub(crate) fn spend_bytes_given_back(&mut self, bytes: usize) {
        self.spent += 1 + u64::try_from(bytes / BYTES_PER_UNIT).unwrap_or(u64::MAX >> 1);
    }

    /// Returns the used units.
    pub(crate) fn spent(&self) -> u64 {
        self.spent
    }
}
