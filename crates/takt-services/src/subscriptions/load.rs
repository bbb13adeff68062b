//! The sampling budget: the work per second that a server spends on sampling for MonitoredItems.
//!
//! The load of an item is the cost of one sample times its samples per second. It is granted when the item is created or
//! modified, by RevisedSamplingInterval (OPC 10000-4, 5.13.1.2), and changed later only by the client. An item that would
//! exceed the budget gets a longer interval.

use takt_space::Value;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Work per second, in thousandths of a unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Load(u64);

impl std::iter::Sum for Load {
    fn sum<I: Iterator<Item = Self>>(loads: I) -> Self {
        Self(loads.map(|load| load.0).sum())
    }
}

/// Bytes of a value that cost one more unit to sample.
const BYTES_PER_UNIT: usize = 4096;

/// Returns the units of work that one sample costs: 1 for a small value in memory.
pub(crate) fn cost(value: Option<&Value>) -> u32 {
    // One less than the maximum, because 1 is added.
    let of_size = |bytes: usize| u32::try_from(bytes / BYTES_PER_UNIT).unwrap_or(u32::MAX - 1);
    match value {
        Some(Value::Stored(stored)) => 1 + of_size(stored.size_of_value()),
        Some(Value::Cell(cell)) => 1 + of_size(cell.capacity()),
        // Code of the application, or an attribute that has to be composed.
        Some(Value::Callback(_)) | None => 4,
        // A hand-over to a worker thread, or a request to another server.
        Some(Value::Remote(remote)) if remote.callback.is_some() => 10,
        Some(Value::Remote(_)) => 20,
    }
}

impl Load {
    /// Converts units per second to a load.
    pub(crate) fn units_per_second(units: u32) -> Self {
        Self(u64::from(units) * 1000)
    }

    /// Returns the load of an item with this cost and sampling interval.
    pub(crate) fn of(cost: u32, interval: Duration) -> Self {
        let work = u128::from(cost) * 1000 * 1_000_000_000;
        // Rounded up: many small loads must not look like none.
        let load = work.div_ceil(interval.as_nanos().max(1));
        Self(u64::try_from(load).unwrap_or(u64::MAX))
    }

    /// Returns the shortest interval at which an item with this cost has no higher load; `None` if there is none.
    fn interval(self, cost: u32) -> Option<Duration> {
        let work = u128::from(cost) * 1000 * 1_000_000_000;
        // Rounded up: the load of the interval must not exceed the granted one.
        let nanos = work.div_ceil(u128::from((self.0 > 0).then_some(self.0)?));
        Some(Duration::from_nanos(u64::try_from(nanos).ok()?))
    }

    /// Returns half of the load.
    pub(crate) fn half(self) -> Self {
        Self(self.0 / 2)
    }

    /// Returns the load in units per second, rounded up.
    fn units(self) -> u64 {
        self.0.div_ceil(1000)
    }

    fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// Maximum load that one request may add.
///
/// A Session gets at most half of the budget that the others leave, and one request at most half of the rest of its Session, so
/// later requests still get a part. Within a request each item gets an equal share; the unused part of a share goes to the next
/// items.
#[derive(Debug)]
pub(crate) struct Allotment {
    room: Load,
    items: u64,
}

impl Allotment {
    /// Creates the allotment for `items` items of a Session that has the load `own` of `total`.
    pub(crate) fn new(limit: Load, own: Load, total: Load, items: usize) -> Self {
        let others = total.minus(own);
        let of_session = Load(limit.minus(others).0 / 2).minus(own);
        Self {
            room: Load(of_session.0 / 2),
            items: u64::try_from(items).unwrap_or(u64::MAX).max(1),
        }
    }

    /// Limits the allotment to another one.
    pub(crate) fn within(mut self, other: &Self) -> Self {
        self.room = self.room.min(other.room);
        self
    }

    /// Returns the interval for the next item, between the requested one and `longest`, and its load. The item keeps the load
    /// `held` that it has already.
    pub(crate) fn grant(
        &mut self,
        cost: u32,
        held: Load,
        requested: Duration,
        longest: Duration,
    ) -> (Duration, Load) {
        let share = Load((self.room.0 / self.items).saturating_add(held.0));
        self.items = self.items.saturating_sub(1).max(1);
        let interval = match share.interval(cost) {
            Some(shortest) => requested.max(shortest),
            // Nothing is left, but no item is refused for that: the longest interval exceeds the budget least.
            None => requested.max(longest),
        };
        let interval = interval.min(longest.max(requested));
        let load = Load::of(cost, interval);
        self.room = self.room.minus(load.minus(held));
        (interval, load)
    }
}

/// The load of all items of a server.
#[derive(Debug, Clone, Default)]
pub(crate) struct TotalLoad(Arc<AtomicU64>);

impl TotalLoad {
    pub(crate) fn get(&self) -> Load {
        Load(self.0.load(Ordering::Relaxed))
    }

    /// Returns the load in units per second.
    pub(crate) fn units(&self) -> u64 {
        self.get().units()
    }
}

/// The load of the items of one Subscription, a part of the total until it is dropped.
#[derive(Debug)]
pub(crate) struct PartialLoad {
    total: TotalLoad,
    own: Load,
    /// True if the items are not sampled, and their load is left to others.
    is_lent: bool,
}

impl PartialLoad {
    pub(crate) fn of(total: &TotalLoad) -> Self {
        Self {
            total: total.clone(),
            own: Load::default(),
            is_lent: false,
        }
    }

    /// Returns the load that counts in the total.
    pub(crate) fn get(&self) -> Load {
        match self.is_lent {
            true => Load::default(),
            false => self.own,
        }
    }

    pub(crate) fn add(&mut self, load: Load) {
        self.own.0 += load.0;
        if !self.is_lent {
            // It changes under the lock of the engine only; others just read it.
            self.total.0.fetch_add(load.0, Ordering::Relaxed);
        }
    }

    pub(crate) fn subtract(&mut self, load: Load) {
        self.own = self.own.minus(load);
        if !self.is_lent {
            self.total.0.fetch_sub(load.0, Ordering::Relaxed);
        }
    }

    /// Leaves the load to others, or takes it again.
    pub(crate) fn lend(&mut self, is_lent: bool) {
        let own = self.own.0;
        match std::mem::replace(&mut self.is_lent, is_lent) {
            before if before == is_lent => {}
            true => drop(self.total.0.fetch_add(own, Ordering::Relaxed)),
            false => drop(self.total.0.fetch_sub(own, Ordering::Relaxed)),
        }
    }

    /// Gives back the load of all items.
    pub(crate) fn clear(&mut self) {
        self.subtract(self.own);
    }
}

impl Drop for PartialLoad {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_secs(3600);
    const LIMIT: u32 = 4000;

    fn grant_all(allotment: &mut Allotment, items: usize, interval: Duration) -> Vec<Duration> {
        let grant = |_| allotment.grant(1, Load::default(), interval, LONGEST).0;
        (0..items).map(grant).collect()
    }

    fn allotment(own: u32, others: u32, items: usize) -> Allotment {
        let units = Load::units_per_second;
        Allotment::new(units(LIMIT), units(own), units(own + others), items)
    }

    #[test]
    fn items_within_the_budget_get_the_requested_interval() {
        let interval = Duration::from_millis(100);
        let granted = grant_all(&mut allotment(0, 0, 100), 100, interval);
        assert!(granted.iter().all(|granted| *granted == interval));
    }

    #[test]
    fn items_of_one_request_share_its_allotment() {
        let granted = grant_all(&mut allotment(0, 0, 1000), 1000, Duration::from_millis(1));
        // A quarter of the budget: 1000 units per second.
        let second = Duration::from_secs(1);
        assert!(
            granted.iter().all(|granted| *granted == second),
            "{granted:?}"
        );
    }

    #[test]
    fn a_session_leaves_half_to_the_others() {
        let (mut own, interval) = (Load::default(), Duration::from_millis(1));
        for _ in 0..100 {
            let limit = Load::units_per_second(LIMIT);
            let mut allotment = Allotment::new(limit, own, own, 10);
            for _ in 0..10 {
                own.0 += allotment.grant(1, Load::default(), interval, LONGEST).1.0;
            }
        }
        // The longest interval has a load, too, and is always granted.
        assert!(own.units() <= u64::from(LIMIT / 2) + 1, "{own:?}");
        let (interval, _) = allotment(0, LIMIT / 2, 1).grant(1, Load::default(), interval, LONGEST);
        assert_eq!(
            interval,
            Duration::from_millis(2),
            "half of half of the rest"
        );
    }

    #[test]
    fn an_item_keeps_what_it_holds() {
        let millisecond = Duration::from_millis(1);
        let held = Load::of(1, millisecond);
        let mut spent = allotment(LIMIT, 0, 1);
        assert_eq!(
            spent.grant(1, held, millisecond, LONGEST),
            (millisecond, held)
        );
    }

    #[test]
    fn without_any_room_the_interval_is_the_longest() {
        let mut spent = allotment(LIMIT, 0, 1);
        let millisecond = Duration::from_millis(1);
        assert_eq!(
            spent.grant(1, Load::default(), millisecond, LONGEST).0,
            LONGEST
        );
        assert_eq!(
            spent.grant(1, Load::default(), 2 * LONGEST, LONGEST).0,
            2 * LONGEST
        );
    }

    #[test]
    fn the_total_is_the_sum_of_its_parts() {
        let total = TotalLoad::default();
        let (mut first, mut second) = (PartialLoad::of(&total), PartialLoad::of(&total));
        first.add(Load(1500));
        second.add(Load(2000));
        second.subtract(Load(500));
        assert_eq!((total.units(), second.get()), (3, Load(1500)));
        first.lend(true);
        first.lend(true);
        first.add(Load(500));
        assert_eq!((total.units(), first.get()), (2, Load(0)));
        first.lend(false);
        assert_eq!((total.units(), first.get()), (4, Load(2000)));
        second.lend(true);
        drop(first);
        drop(second);
        assert_eq!(total.units(), 0);
    }
}
