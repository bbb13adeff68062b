//! SubscriptionDiagnosticsDataType (OPC 10000-5, 12.15): parameters, and counts of what happened to a Subscription.

use takt_ua::NodeId;
use takt_ua::structures::SubscriptionDiagnosticsDataType;

use super::engine::Engine;
use super::snapshots::{OfSession, Snapshot};

impl Engine {
    /// Returns the diagnostics of one Subscription.
    pub(crate) fn diagnostics_of(&self, id: u32) -> Option<SubscriptionDiagnosticsDataType> {
        Some(self.subscriptions.get(&id)?.diagnostics())
    }

    /// Returns the part of one Session.
    pub(crate) fn part_of(&self, session: &NodeId) -> OfSession {
        let Some(queue) = self.sessions.get(session) else {
            return OfSession::default();
        };
        let own = queue
            .subscriptions
            .iter()
            .filter_map(|id| self.subscriptions.get(id));
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        OfSession {
            subscriptions: count(queue.subscriptions.len()),
            items: own.map(|one| count(one.item_count())).sum(),
            publish_requests: count(queue.waiting()),
        }
    }

    /// Returns the state of all Subscriptions.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for subscription in self.subscriptions.values() {
            snapshot.subscriptions.push(subscription.diagnostics());
            let session = &subscription.session;
            if !snapshot.sessions.contains_key(session) {
                let part = self.part_of(session);
                snapshot.sessions.insert(session.clone(), part);
            }
        }
        snapshot
            .subscriptions
            .sort_by_key(|one| one.subscription_id);
        snapshot
    }
}
