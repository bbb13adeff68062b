//! Memory budgets: a limit on the bytes that a server holds on behalf of its clients.
//!
//! A [`MemoryBudget`] has a limit and counts the bytes in use. A [`part`](MemoryBudget::part) of it has its own lower
//! limit, and counts in the whole as well: one connection, or all connections without a Session, are parts of the
//! budget of their server. An owner of memory keeps a [`Charge`], resizes it when its buffers grow, and drops it to
//! return the bytes.

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
    used: AtomicUsize,
    peak: AtomicUsize,
    whole: Option<MemoryBudget>,
}

impl MemoryBudget {
    /// Creates a budget of `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self::with(limit, None)
    }

    /// Creates a budget without a limit, which only counts.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(usize::MAX)
    }

    /// Creates a budget of `limit` bytes whose charges count in this budget as well.
    #[must_use]
    pub fn part(&self, limit: usize) -> Self {
        Self::with(limit, Some(self.clone()))
    }

    fn with(limit: usize, whole: Option<Self>) -> Self {
        Self(Arc::new(Budget {
            limit,
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

    /// Returns the number of bytes that are available in this budget and in those that it is a part of.
    #[must_use]
    pub fn available(&self) -> usize {
        let own = self.0.limit.saturating_sub(self.used());
        match &self.0.whole {
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
        self.take(bytes)?;
        Ok(Charge {
            budget: self.clone(),
            bytes,
        })
    }

    /// Returns a charge of no bytes, to be [resized](Charge::resize) later.
    #[must_use]
    pub fn empty_charge(&self) -> Charge {
        Charge {
            budget: self.clone(),
            bytes: 0,
        }
    }

    fn take(&self, bytes: usize) -> Result<(), BudgetExhausted> {
        let budget = &*self.0;
        let within = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= budget.limit);
        // Relaxed: the number is exact, but it guards no other memory.
        let used = budget
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, within)
            .map_err(|_| BudgetExhausted {
                limit: budget.limit,
            })?;
        if let Some(whole) = &budget.whole
            && let Err(exhausted) = whole.take(bytes)
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

    /// Raises or lowers the charge to `bytes`. It makes no system call and takes no lock.
    ///
    /// # Errors
    /// An error if a limit would be exceeded; the charge is unchanged then.
    pub fn resize(&mut self, bytes: usize) -> Result<(), BudgetExhausted> {
        match bytes.checked_sub(self.bytes) {
            Some(more) => self.budget.take(more)?,
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
        if let Err(exhausted) = budget.take(self.bytes) {
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
}
