//! Memory budgets: a limit on the bytes that a server holds on behalf of its clients.
//!
//! A [`MemoryBudget`] has a limit and counts the bytes in use. A [`part`](MemoryBudget::part) of it has its own lower
//! limit, and counts in the whole as well: one connection, or all connections without a Session, are parts of the
//! budget of their server. An owner of memory keeps a [`Charge`], resizes it when its buffers grow, and drops it to
//! return the bytes.
//!
//! A budget may keep a [reserve](MemoryBudget::with_reserve) for small messages, so that they go on when large ones have taken
//! the rest. A [fair part](MemoryBudget::fair_part) leaves at least as much to the others as it takes itself. Messages pass by,
//! so they do not count what the others leave.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Error of memory that is not granted because a limit would be exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the memory budget of {limit} bytes is exhausted")]
pub struct BudgetExhausted {
    /// Limit that would be exceeded, in bytes.
    pub limit: usize,
}

/// A limit in bytes, and the number of bytes in use. Clones share one count.
#[derive(Debug, Clone)]
pub struct MemoryBudget(Arc<Budget>);

#[derive(Debug)]
struct Budget {
    limit: usize,
    /// Bytes of the limit that only small messages may take.
    reserve: usize,
    /// True if charges, messages excepted, leave as much of the whole to its other parts as this part has then.
    is_fair: bool,
    used: AtomicUsize,
    peak: AtomicUsize,
    whole: Option<MemoryBudget>,
}

/// Kind of a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Memory that a client keeps at the server.
    Lasting,
    /// A message on its way.
    Message,
    /// A short message, which may use the reserves.
    SmallMessage,
}

impl Kind {
    fn message(bytes: usize) -> Self {
        match bytes <= SMALL_MESSAGE {
            true => Self::SmallMessage,
            false => Self::Message,
        }
    }
}

/// Bytes of the largest message that may use the reserves: a short response, a keep-alive message, a Session.
pub const SMALL_MESSAGE: usize = 8 << 10;

impl MemoryBudget {
    /// Creates a budget of `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self::with(limit, 0, false, None)
    }

    /// Creates a budget of `limit` bytes, of which `reserve` bytes are for small messages.
    #[must_use]
    pub fn with_reserve(limit: usize, reserve: usize) -> Self {
        Self::with(limit, reserve, false, None)
    }

    /// Creates a budget without a limit, which only counts.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(usize::MAX)
    }

    /// Creates a budget of `limit` bytes whose charges count in this budget as well.
    #[must_use]
    pub fn part(&self, limit: usize) -> Self {
        self.part_with_reserve(limit, 0)
    }

    /// Creates a [part](Self::part) of `limit` bytes, of which `reserve` bytes are for small messages.
    #[must_use]
    pub fn part_with_reserve(&self, limit: usize, reserve: usize) -> Self {
        Self::with(limit, reserve, false, Some(self.clone()))
    }

    /// Creates a [part](Self::part) of `limit` bytes that has at most half of the bytes that the other parts of this budget
    /// leave. So the first part gets half of the whole, the next one a quarter, and something is left for all that follow. Messages
    /// have `limit` bytes, whatever the others leave.
    #[must_use]
    pub fn fair_part(&self, limit: usize) -> Self {
        Self::with(limit, 0, true, Some(self.clone()))
    }

    fn with(limit: usize, reserve: usize, is_fair: bool, whole: Option<Self>) -> Self {
        Self(Arc::new(Budget {
            limit,
            reserve,
            is_fair,
            used: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            whole,
        }))
    }

    /// Returns the limit in bytes.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.0.limit
    }

    /// Returns the number of bytes in use.
    #[must_use]
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes that are available for messages in this budget and in those that it is a part of, without the
    /// reserves.
    #[must_use]
    pub fn available(&self) -> usize {
        let budget = &*self.0;
        let own = budget.limit.saturating_sub(budget.reserve);
        let own = own.saturating_sub(self.used());
        match &budget.whole {
            Some(whole) => own.min(whole.available()),
            None => own,
        }
    }

    /// Returns the highest number of bytes in use so far.
    #[must_use]
    pub fn peak(&self) -> usize {
        self.0.peak.load(Ordering::Relaxed)
    }

    /// Takes `bytes` from this budget and from those that it is a part of.
    ///
    /// # Errors
    /// An error if one of the limits would be exceeded; nothing is charged then.
    pub fn charge(&self, bytes: usize) -> Result<Charge, BudgetExhausted> {
        self.take(bytes, Kind::Lasting)?;
        Ok(Charge {
            budget: self.clone(),
            bytes,
            is_message: false,
        })
    }

    /// Takes `bytes` for a message. Up to [`SMALL_MESSAGE`] bytes may come from the reserves.
    ///
    /// # Errors
    /// An error if one of the limits would be exceeded; nothing is charged then.
    pub fn charge_message(&self, bytes: usize) -> Result<Charge, BudgetExhausted> {
        self.take(bytes, Kind::message(bytes))?;
        Ok(Charge {
            budget: self.clone(),
            bytes,
            is_message: true,
        })
    }

    /// Returns a charge of no bytes, to be [resized](Charge::resize) later.
    #[must_use]
    pub fn empty_charge(&self) -> Charge {
        Charge {
            budget: self.clone(),
            bytes: 0,
            is_message: false,
        }
    }

    /// Returns a charge of no bytes for a message: see [`charge_message`](Self::charge_message).
    #[must_use]
    pub fn empty_message(&self) -> Charge {
        let mut charge = self.empty_charge();
        charge.is_message = true;
        charge
    }

    fn take(&self, bytes: usize, kind: Kind) -> Result<(), BudgetExhausted> {
        let budget = &*self.0;
        let limit = match &budget.whole {
            _ if kind == Kind::SmallMessage => budget.limit,
            Some(whole) if budget.is_fair && kind == Kind::Lasting => {
                // The numbers may change meanwhile. Then the share is not exact, but the limits are.
                let own = budget.used.load(Ordering::Relaxed);
                let left = whole.available().saturating_add(own);
                budget.limit.min(own.max(left / 2))
            }
            _ => budget.limit.saturating_sub(budget.reserve),
        };
        let within = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= limit);
        // Relaxed: the number is exact, but it guards no other memory.
        let used = budget
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, within)
            .map_err(|_| BudgetExhausted { limit })?;
        if let Some(whole) = &budget.whole
            && let Err(exhausted) = whole.take(bytes, kind)
        {
            // A part is not charged: the budget of the whole has no room.
            budget.used.fetch_sub(bytes, Ordering::Relaxed);
            return Err(exhausted);
        }
        budget.peak.fetch_max(used + bytes, Ordering::Relaxed);
        Ok(())
    }

    fn take_anyway(&self, bytes: usize) {
        let mut budget = Some(self);
        while let Some(MemoryBudget(inner)) = budget {
            let used = inner.used.fetch_add(bytes, Ordering::Relaxed);
            inner.peak.fetch_max(used + bytes, Ordering::Relaxed);
            budget = inner.whole.as_ref();
        }
    }

    fn give_back(&self, bytes: usize) {
        let mut budget = Some(self);
        while let Some(MemoryBudget(inner)) = budget {
            inner.used.fetch_sub(bytes, Ordering::Relaxed);
            budget = inner.whole.as_ref();
        }
    }
}

/// Charge of bytes on a [`MemoryBudget`] until it is dropped.
#[derive(Debug)]
pub struct Charge {
    budget: MemoryBudget,
    bytes: usize,
    is_message: bool,
}

impl Charge {
    /// Returns the charged budget.
    #[must_use]
    pub fn budget(&self) -> &MemoryBudget {
        &self.budget
    }

    /// Returns the number of charged bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn kind(&self, bytes: usize) -> Kind {
        match self.is_message {
            true => Kind::message(bytes),
            false => Kind::Lasting,
        }
    }

    /// Raises or lowers the charge to `bytes`. It makes no system call and takes no lock.
    ///
    /// # Errors
    /// An error if a limit would be exceeded; the charge is unchanged then.
    pub fn resize(&mut self, bytes: usize) -> Result<(), BudgetExhausted> {
        match bytes.checked_sub(self.bytes) {
            Some(more) => self.budget.take(more, self.kind(bytes))?,
            None => self.budget.give_back(self.bytes - bytes),
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Sets the charge to `bytes` even above the limit: for memory that exists already and cannot be refused.
    pub fn force(&mut self, bytes: usize) {
        match bytes.checked_sub(self.bytes) {
            Some(more) => self.budget.take_anyway(more),
            None => self.budget.give_back(self.bytes - bytes),
        }
        self.bytes = bytes;
    }

    /// Moves the charge to another budget.
    ///
    /// # Errors
    /// An error if the other budget has not enough bytes; the charge is unchanged then.
    pub fn move_to(&mut self, budget: &MemoryBudget) -> Result<(), BudgetExhausted> {
        if Arc::ptr_eq(&self.budget.0, &budget.0) {
            return Ok(());
        }
        // The bytes are returned first: both budgets may be parts of one that has no room for them twice.
        self.budget.give_back(self.bytes);
        if let Err(exhausted) = budget.take(self.bytes, self.kind(self.bytes)) {
            self.budget.take_anyway(self.bytes);
            return Err(exhausted);
        }
        self.budget = budget.clone();
        Ok(())
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_charge_counts_until_it_is_dropped() {
        let budget = MemoryBudget::new(100);
        let mut charge = budget.charge(60).unwrap();
        assert_eq!(budget.charge(41).unwrap_err().limit, 100);
        charge.resize(90).unwrap();
        assert!(charge.resize(101).is_err());
        assert_eq!((charge.bytes(), budget.used()), (90, 90));
        charge.resize(10).unwrap();
        assert_eq!(budget.used(), 10);
        drop(charge);
        assert_eq!((budget.used(), budget.peak()), (0, 90));
    }

    #[test]
    fn a_part_counts_in_the_whole() {
        let whole = MemoryBudget::new(100);
        let part = whole.part(60);
        let first = part.charge(50).unwrap();
        assert_eq!(part.charge(20).unwrap_err().limit, 60);
        let second = whole.charge(45).unwrap();
        // The part has room, but the whole does not.
        assert_eq!(part.charge(10).unwrap_err().limit, 100);
        assert_eq!((part.used(), whole.used()), (50, 95));
        assert_eq!((part.available(), whole.available()), (5, 5));
        drop((first, second));
        assert_eq!((part.used(), whole.used()), (0, 0));
    }

    #[test]
    fn memory_that_exists_counts_above_the_limit() {
        let budget = MemoryBudget::new(10);
        let mut charge = budget.empty_charge();
        charge.force(25);
        assert_eq!(budget.used(), 25);
        assert!(budget.charge(0).is_err());
        charge.force(5);
        assert_eq!(budget.used(), 5);
    }

    #[test]
    fn a_charge_moves_between_parts_of_one_whole() {
        let whole = MemoryBudget::new(100);
        let (strangers, known) = (whole.part(80), whole.part(100));
        let mut charge = strangers.charge(70).unwrap();
        charge.move_to(&known).unwrap();
        assert_eq!((strangers.used(), known.used(), whole.used()), (0, 70, 70));
        let small = whole.part(10);
        assert!(charge.move_to(&small).is_err());
        assert_eq!((small.used(), known.used(), whole.used()), (0, 70, 70));
    }

    #[test]
    fn small_messages_go_on_when_large_charges_have_taken_the_rest() {
        let whole = MemoryBudget::with_reserve(100_000, 10_000);
        let part = whole.part_with_reserve(50_000, 5_000);
        assert_eq!((whole.available(), part.available()), (90_000, 45_000));
        assert!(part.charge(45_001).is_err());
        let large = part.charge(45_000).unwrap();
        assert!(part.charge(1).is_err() && part.charge_message(SMALL_MESSAGE + 1).is_err());
        let mut small = part.charge_message(4_000).unwrap();
        assert_eq!((part.available(), small.resize(5_001).is_err()), (0, true));
        small.resize(5_000).unwrap();
        // Without a reserve in the part, that of the whole counts.
        let rest = whole.charge(40_000).unwrap();
        assert_eq!(whole.available(), 0);
        let other = whole.part(1 << 20);
        assert!(other.charge(1).is_err());
        assert_eq!(other.charge_message(5_000).unwrap().bytes(), 5_000);
        // A charge that grows beyond a small message may not keep the reserve for itself.
        let mut grows = other.empty_message();
        grows.resize(1_000).unwrap();
        assert!(grows.resize(SMALL_MESSAGE + 1).is_err());
        drop((large, small, rest, grows));
        assert_eq!((whole.used(), part.used()), (0, 0));
    }

    #[test]
    fn each_fair_part_leaves_half_of_the_rest() {
        let whole = MemoryBudget::new(64_000);
        let parts: Vec<_> = (0..5).map(|_| whole.fair_part(64_000)).collect();
        let mut charges = Vec::new();
        for (part, half) in parts.iter().zip([32_000, 16_000, 8_000, 4_000, 2_000]) {
            assert!(part.charge(half + 1).is_err());
            // In two steps as in one.
            charges.push(part.charge(half / 4).unwrap());
            charges.push(part.charge(half / 4 * 3).unwrap());
            assert!(part.charge(1).is_err());
        }
        assert!(parts[0].charge(1).is_err() && parts[0].charge(0).is_ok());
        assert!(parts[0].charge_message(1_000).is_ok());
        assert!(parts[0].charge_message(2_000).is_ok() && parts[0].charge_message(2_001).is_err());
        charges.truncate(2);
        assert_eq!((whole.used(), whole.available()), (32_000, 32_000));
        // A message has all that is left, also if it is large.
        assert!(parts[1].charge(16_001).is_err());
        assert!(parts[1].charge_message(32_000).is_ok());
        let limited = whole.fair_part(100);
        assert_eq!(
            (limited.available(), limited.charge(101).is_err()),
            (100, true)
        );
    }
}
