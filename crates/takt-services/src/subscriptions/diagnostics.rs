//! SubscriptionDiagnosticsDataType (OPC 10000-5, 12.15): parameters, and counts of what happened to a Subscription.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use takt_ua::NodeId;
use takt_ua::structures::SubscriptionDiagnosticsDataType;

use super::engine::Engine;

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
    pub(crate) subscriptions: Vec<SubscriptionDiagnosticsDataType>,
    pub(crate) sessions: HashMap<NodeId, OfSession>,
}

/// The newest snapshot. A MonitoredItem of the diagnostics is sampled under the lock of the engine, where no snapshot can be
/// taken: it gets the previous one, and asks for another.
#[derive(Default)]
pub(super) struct Snapshots {
    newest: ArcSwap<Snapshot>,
    is_wanted: AtomicBool,
}

impl Snapshots {
    pub(super) fn newest(&self) -> std::sync::Arc<Snapshot> {
        self.newest.load_full()
    }

    pub(super) fn ask(&self) {
        self.is_wanted.store(true, Ordering::Relaxed);
    }

    /// Takes a snapshot if one was asked for.
    #[inline]
    pub(super) fn answer(&self, engine: &Engine) {
        if self.is_wanted.load(Ordering::Relaxed) {
            self.take(engine);
        }
    }

    #[cold]
    pub(super) fn take(&self, engine: &Engine) {
        // Before the snapshot: whoever asks meanwhile gets another one.
        self.is_wanted.store(false, Ordering::Relaxed);
        self.newest.store(std::sync::Arc::new(engine.snapshot()));
    }
}

impl Engine {
    fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for subscription in self.subscriptions.values() {
            let diagnostics = subscription.diagnostics();
            let of_session = snapshot.sessions.entry(subscription.session.clone());
            let of_session = of_session.or_default();
            of_session.subscriptions += 1;
            of_session.items += diagnostics.monitored_item_count;
            snapshot.subscriptions.push(diagnostics);
        }
        for (session, of_session) in &mut snapshot.sessions {
            let waiting = self
                .sessions
                .get(session)
                .map_or(0, |queue| queue.waiting());
            of_session.publish_requests = u32::try_from(waiting).unwrap_or(u32::MAX);
        }
        snapshot
            .subscriptions
            .sort_by_key(|one| one.subscription_id);
        snapshot
    }
}
