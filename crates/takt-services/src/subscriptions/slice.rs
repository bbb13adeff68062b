//! One slice of sampling and publishing: what is done in one go before other connections are served.

/// Units of work of one look at a small value, which is the unit of the sampling budget.
const WORK_PER_LOOK: u64 = 4;

/// Notifications of a message that take one unit of work to encode.
const NOTIFICATIONS_PER_UNIT: usize = 8;

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

    /// Whether the rest has to wait for the next slice. There is always room for something.
    pub(crate) fn is_over(&self) -> bool {
        self.spent > 0 && self.spent >= self.limit
    }

    /// Counts a sample, by its cost in units of the sampling budget.
    pub(crate) fn spend_sample(&mut self, cost: u32) {
        self.spent += u64::from(cost.max(1)) * WORK_PER_LOOK;
    }

    /// Counts a message that was encoded.
    pub(crate) fn spend_message(&mut self, bytes: usize, notifications: usize) {
        let units = 1 + (bytes >> 10) + notifications / NOTIFICATIONS_PER_UNIT;
        self.spent += u64::try_from(units).unwrap_or(u64::MAX >> 1);
    }

    /// The units that were used.
    pub(crate) fn spent(&self) -> u64 {
        self.spent
    }
}
