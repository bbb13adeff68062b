//! Snapshots of all Subscriptions, for those that read diagnostics while the engine is locked.
//!
//! The diagnostics are read under the lock of the engine. A MonitoredItem of them is sampled under the same lock, while one
//! Subscription is being changed: it is sampled again when the others have their samples, from a snapshot of all Subscriptions.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_ua::NodeId;
use takt_ua::structures::SubscriptionDiagnosticsDataType;

/// Part of a Session in the engine.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OfSession {
    pub(crate) subscriptions: u32,
    pub(crate) items: u32,
    pub(crate) publish_requests: u32,
}

/// State of all Subscriptions at one time.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// In the order of their SubscriptionIds.
    pub(crate) subscriptions: Vec<SubscriptionDiagnosticsDataType>,
    pub(super) sessions: HashMap<NodeId, OfSession>,
}

impl Snapshot {
    pub(crate) fn subscription(&self, id: u32) -> Option<&SubscriptionDiagnosticsDataType> {
        let place = self
            .subscriptions
            .binary_search_by_key(&id, |one| one.subscription_id);
        self.subscriptions.get(place.ok()?)
    }

    pub(crate) fn session(&self, id: &NodeId) -> OfSession {
        self.sessions.get(id).copied().unwrap_or_default()
    }
}

/// Holder of the engine's lock that is no thread.
const NOBODY: u64 = 0;

/// Returns the number of the current thread.
fn this_thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(NOBODY + 1);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

/// Diagnostics of the engine for those that read them while it is locked.
#[derive(Default)]
pub(crate) struct Snapshots {
    /// The thread that has locked the engine. Only that thread compares it with its own number, so no memory has to be ordered.
    holder: AtomicU64,
    /// State of the engine, while MonitoredItems of the diagnostics are sampled.
    current: Mutex<Option<Arc<Snapshot>>>,
    is_wanted: AtomicBool,
    /// SessionIds of all Subscriptions, by SubscriptionId.
    ids: Mutex<BTreeMap<u32, NodeId>>,
}

/// Time in which this thread has locked the engine.
pub(super) struct Held<'s>(&'s Snapshots);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.holder.store(NOBODY, Ordering::Relaxed);
    }
}

impl Snapshots {
    /// Notes that this thread has locked the engine.
    pub(super) fn hold(&self) -> Held<'_> {
        self.holder.store(this_thread(), Ordering::Relaxed);
        Held(self)
    }

    /// Returns true if this thread has locked the engine.
    pub(super) fn is_held_here(&self) -> bool {
        self.holder.load(Ordering::Relaxed) == this_thread()
    }

    fn current(&self) -> MutexGuard<'_, Option<Arc<Snapshot>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the snapshot of the engine that this thread has locked. `None`: there is none yet, and the sampler learns that one is
    /// wanted.
    pub(super) fn get(&self) -> Option<Arc<Snapshot>> {
        let current = self.current().clone();
        if current.is_none() {
            self.is_wanted.store(true, Ordering::Relaxed);
        }
        current
    }

    /// Returns true if a snapshot was wanted since the last call.
    #[inline]
    pub(super) fn was_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed) && self.is_wanted.swap(false, Ordering::Relaxed)
    }

    /// Samples with a snapshot of the engine.
    pub(super) fn with_snapshot(&self, snapshot: Snapshot, sample: impl FnOnce()) {
        *self.current() = Some(Arc::new(snapshot));
        sample();
        *self.current() = None;
    }

    fn ids(&self) -> MutexGuard<'_, BTreeMap<u32, NodeId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a Subscription belongs to a Session.
    pub(super) fn set_session(&self, id: u32, session: &NodeId) {
        self.ids().insert(id, session.clone());
    }

    /// Notes that a Subscription has ended.
    pub(super) fn forget(&self, id: u32) {
        self.ids().remove(&id);
    }

    /// Returns the Session of a Subscription; `None` if there is no such Subscription.
    pub(crate) fn session_of(&self, id: u32) -> Option<NodeId> {
        self.ids().get(&id).cloned()
    }

    /// Returns the SubscriptionIds of a Session, or of all.
    pub(crate) fn ids_of(&self, session: Option<&NodeId>) -> Vec<u32> {
        let ids = self.ids();
        let wanted = ids
            .iter()
            .filter(|(_, of)| session.is_none_or(|one| one == *of));
        wanted.map(|(id, _)| *id).collect()
    }
}
