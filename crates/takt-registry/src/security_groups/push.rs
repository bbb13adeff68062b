//! Keys of SecurityGroups for push targets (OPC 10000-14, 8.6.2).

use std::collections::BTreeSet;
use std::sync::{Arc, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use takt_pubsub::security::SecurityKeyUpdate;
use takt_ua::{NodeId, StatusCode};

use super::push_signal::PushSignal;
use super::{SecurityGroups, group_node_id};

impl SecurityGroups {
    /// Returns the current key of a group and the future ones, `count` at most, for a push target. Waits until they are on the disk.
    pub(crate) fn keys_to_push(
        &self,
        name: &str,
        count: u16,
    ) -> Result<SecurityKeyUpdate, StatusCode> {
        let database = &self.rules.database;
        // Before keys are made: a loss from now on may concern them.
        let losses = database.losses();
        let now = self.clock.now();
        let group = self.brought_up_to_date(&mut self.lock(), name, now)?;
        // After a crash, the registry would use the tokens of keys that are not on the disk for other keys.
        let (send, settled) = mpsc::sync_channel(1);
        let then = move |result: Result<(), _>| {
            // The receiver waits for it.
            let _ = send.send(result.is_ok());
        };
        database.settle(Some(losses), Box::new(then));
        if settled.recv() != Ok(true) {
            return Err(StatusCode::BadResourceUnavailable);
        }
        let keys = group.keys(0, count.into(), now);
        let time = |milliseconds: f64| {
            Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or_default()
        };
        Ok(SecurityKeyUpdate {
            security_policy_uri: group.security_policy.uri().to_owned(),
            first_token_id: keys.first_token_id,
            keys: keys.keys,
            time_to_next_key: time(keys.time_to_next_key),
            key_lifetime: time(group.configuration.key_lifetime),
        })
    }

    /// Tells a push target of keys of these groups that change before their time, and of no other group.
    pub(crate) fn tell_changes(&self, names: &BTreeSet<String>, signal: &Arc<PushSignal>) {
        let mut told = self.push_targets();
        told.retain(|(_, known)| !Arc::ptr_eq(known, signal));
        told.extend(names.iter().map(|name| (name.clone(), Arc::clone(signal))));
    }

    /// Returns the name of the group with this NodeId.
    pub(crate) fn name_of(&self, node_id: &NodeId) -> Option<String> {
        let state = self.lock();
        let mut names = state.groups.keys();
        names.find(|name| group_node_id(name) == *node_id).cloned()
    }

    /// Notes that the keys of a group have changed before their time.
    pub(super) fn keys_changed(&self, name: &str) {
        for (group, signal) in self.push_targets().iter() {
            if group == name {
                signal.keys_changed(name);
            }
        }
    }

    fn push_targets(&self) -> MutexGuard<'_, Vec<(String, Arc<PushSignal>)>> {
        self.push_targets
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
