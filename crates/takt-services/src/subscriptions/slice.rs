//! One slice of sampling and publishing: what is done in one go before other connections are served.

/// Bytes of a message that cost one unit to encode.
const BYTES_PER_UNIT: usize = 256;

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

    pub(crate) fn spend(&mut self, units: u32) {
        self.spent += u64::from(units.max(1));
    }

    /// Counts a message that was encoded.
    pub(crate) fn spend_message(&mut self, bytes: usize) {
        let units = 1 + bytes / BYTES_PER_UNIT;
        self.spend(u32::try_from(units).unwrap_or(u32::MAX));
    }
}
