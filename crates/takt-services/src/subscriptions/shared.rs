//! The engine of a server behind its lock, with values that are read without the lock.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::engine::Engine;
use super::event_dispatch::Dispatch;
use super::event_items::EventItems;
use super::load::TotalLoad;
use super::now::Now;
use super::sampler::Sources;
use super::session_memory::SessionMemory;
use super::snapshots::{Snapshot, Snapshots};
use crate::budgets::SubscriptionBudgets;
use crate::events::queue::EventQueue;
use crate::responses::deadline::Deadline;

/// All Subscriptions of a server.
pub(crate) struct Subscriptions {
    engine: Mutex<Engine>,
    /// Time of the next call of the engine, readable without the lock.
    deadline: Deadline,
    /// Load of all items in the sampling budget.
    load: TotalLoad,
    /// Number of Subscriptions, and of those that were ever created.
    counts: [AtomicU32; 2],
    snapshots: Arc<Snapshots>,
    /// Events that wait for the engine.
    events: Arc<EventQueue>,
    epoch: Instant,
}

impl Subscriptions {
    pub(crate) fn new(
        budgets: SubscriptionBudgets,
        max_response_size: usize,
        work_per_slice: u32,
        first_id: u32,
        memory: SessionMemory,
    ) -> Self {
        // The completion of a started operation may take a little more than the rest of the slice.
        let work_per_slice = u64::from(work_per_slice) / 8 * 7;
        let events = Arc::<EventQueue>::default();
        let items = EventItems::new(Arc::clone(&events));
        let dispatch = Dispatch::new(Arc::clone(&events), items);
        let snapshots = Arc::<Snapshots>::default();
        let engine = Engine::new(
            budgets,
            max_response_size,
            work_per_slice,
            dispatch,
            first_id,
            memory,
            Arc::clone(&snapshots),
        );
        Self {
            load: engine.total_load(),
            engine: Mutex::new(engine),
            deadline: Deadline::default(),
            counts: Default::default(),
            snapshots,
            events,
            epoch: Instant::now(),
        }
    }

    /// Returns the load of all items in the sampling budget, in units of work per second.
    pub(crate) fn sampling_load(&self) -> u64 {
        self.load.units()
    }

    /// Returns the number of Subscriptions, and of those that were ever created. Takes no lock.
    pub(crate) fn counts(&self) -> (u32, u32) {
        let [current, created] = &self.counts;
        (
            current.load(Ordering::Relaxed),
            created.load(Ordering::Relaxed),
        )
    }

    /// Reads diagnostics from the engine, or from the snapshot if the engine samples. `None`: there is no snapshot yet, and the
    /// sampler asks again when there is one.
    pub(crate) fn look<R>(
        &self,
        engine: impl FnOnce(&Engine) -> R,
        snapshot: impl FnOnce(&Snapshot) -> R,
    ) -> Option<R> {
        // Sampling reads the diagnostics with the lock held: to wait for it would be a deadlock.
        if self.snapshots.is_held_here() {
            return self.snapshots.get().map(|newest| snapshot(&newest));
        }
        let locked = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        Some(engine(&locked))
    }

    /// Returns the snapshots for diagnostics, and the SubscriptionIds.
    pub(crate) fn snapshots(&self) -> &Snapshots {
        &self.snapshots
    }

    /// Returns the Events that wait for the engine.
    pub(crate) fn events(&self) -> &Arc<EventQueue> {
        &self.events
    }

    /// Runs `work` on the engine, and stores the time of its next call.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut Engine) -> R) -> R {
        let mut engine: MutexGuard<'_, Engine> =
            self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        let _held = self.snapshots.hold();
        let result = work(&mut engine);
        // Under the lock: an older deadline must not replace a newer one.
        self.deadline.set(engine.next_deadline());
        for (count, new) in self.counts.iter().zip(engine.counts()) {
            count.store(new, Ordering::Relaxed);
        }
        result
    }

    /// Returns the time at which [`tick`](Self::tick) is due. Takes no lock.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        if self.events.is_waiting() {
            return Some(self.epoch);
        }
        self.deadline.get()
    }

    /// Runs one slice of due sampling and publishing. Returns its units of work.
    pub(crate) fn tick(&self, sources: Sources<'_>, now: Now) -> u64 {
        if !self.deadline.is_due(now.instant) && !self.events.is_waiting() {
            return 0;
        }
        self.with(|engine| engine.tick(sources, now))
    }
}
