//! Work in units: limits for one slice, and for one request.

/// Inverse of the fraction of a slice that is reserved for finishing started operations: one eighth.
const RESERVE: u64 = 8;

/// Bytes of copying that take as long as decoding an element, for each byte of its memory: 8 elements of 64 bytes, about 160 ns,
/// are one unit.
pub(crate) const ELEMENT_COST: usize = 2;

/// Work in progress, counted in units.
///
/// A unit takes about 50 to 300 ns: one reference visited, one operation decoded or done, one KiB copied. The code that works
/// [spends](Self::spend) units and stops when the slice [is over](Self::is_over). Other connections are served before the next
/// slice.
#[derive(Debug)]
pub(crate) struct Work {
    spent: u64,
    limit: u64,
    /// Units that earlier slices of the same request took.
    before: u64,
    /// Maximum number of units of the request in total.
    most: u64,
}

impl Work {
    /// Creates a slice of `limit` units, of a request that has taken `before` units and may take `most`.
    pub(crate) fn new(limit: u64, before: u64, most: u64) -> Self {
        Self {
            spent: 0,
            limit: limit - limit / RESERVE,
            before,
            most,
        }
    }

    /// Counts units.
    #[inline]
    pub(crate) fn spend(&mut self, units: u64) {
        self.spent = self.spent.saturating_add(units);
    }

    /// Counts the units for copying `bytes` bytes.
    #[inline]
    pub(crate) fn spend_bytes(&mut self, bytes: usize) {
        self.spend(u64::try_from(bytes >> 10).unwrap_or(u64::MAX));
    }

    /// Counts the units for decoding elements that take `memory` bytes: see [`takt_ua::binary::Limits::max_memory`].
    #[inline]
    pub(crate) fn spend_memory(&mut self, memory: usize) {
        self.spend_bytes(memory.saturating_mul(ELEMENT_COST));
    }

    /// Returns true if the work has to stop now and continue in the next slice.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.spent >= self.limit
    }

    /// Returns the remaining units of the slice.
    #[inline]
    pub(crate) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.spent)
    }

    /// Returns true if the request has used all its work.
    #[inline]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.total() >= self.most
    }

    /// Returns the units that this slice has taken.
    pub(crate) fn spent(&self) -> u64 {
        self.spent
    }

    /// Returns the units that the request has taken so far.
    #[inline]
    pub(crate) fn total(&self) -> u64 {
        self.before.saturating_add(self.spent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_keeps_a_reserve_and_a_request_has_a_limit_of_its_own() {
        let mut work = Work::new(80, 100, 175);
        work.spend(69);
        assert!(!work.is_over() && !work.is_exhausted());
        work.spend_bytes(1 << 10);
        assert!(work.is_over() && !work.is_exhausted());
        work.spend(5);
        assert!(work.is_exhausted());
        assert_eq!((work.spent(), work.total()), (75, 175));
    }
}
