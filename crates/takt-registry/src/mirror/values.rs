//! Values of a mirrored server: subscribed, read once, kept within the budget, or read at the server for each Read.

use std::collections::HashMap;
use std::sync::Arc;

use takt_app::client::Client;
use takt_app::{Attribute, DataChange, MonitoredItemOptions, Subscription, SubscriptionOptions};
use takt_space::StoredValue;
use takt_ua::binary::Encode;
use takt_ua::{DataValue, NodeId, StatusCode};

use super::budget;
use super::follower::Follower;
use super::scan::ScanError;
use super::silence::Silence;
use super::unreadable::Fault;
use crate::forwarding::Maps;

/// Lifetime of the Subscription without a request, in publishing intervals.
const LIFETIME: u32 = 40;

/// A Subscription for the values of all Variables, in one session.
pub(super) struct Followed {
    pub(super) subscription: Subscription,
    /// Values by the handles of the Subscription.
    pub(super) targets: HashMap<u32, (NodeId, Arc<StoredValue>)>,
    /// NamespaceIndexes of the session.
    pub(super) maps: Maps,
    pub(super) silence: Silence,
}

impl Follower {
    /// Notes whether a value can be decoded.
    fn note(&mut self, node: &NodeId, fault: Option<Fault>, maps: &Maps) {
        let copy = &self.copy;
        let name = || copy.name_of(node, &maps.to_server.node_id(node));
        if self.unreadable.note(node, fault, name) {
            self.live.set_known(node, fault.is_some());
            self.show_available();
        }
    }

    /// Notes values that clients have read at the server.
    pub(super) fn note_live(&mut self, maps: &Maps) {
        for (node, fault) in self.live.take() {
            self.note(&node, fault, maps);
        }
    }

    /// Lets Variables be read at the server for each Read, after whose values nothing else of a message can be decoded.
    pub(super) fn leave_unreadable(&mut self, followed: &mut Followed) {
        for handle in followed.subscription.take_unreadable() {
            if let Some((node, _)) = followed.targets.remove(&handle) {
                let fault = Fault::Undecodable(StatusCode::BadDecodingError);
                self.note(&node, Some(fault), &followed.maps);
                self.copy.read_live(&node);
            }
        }
    }

    /// Returns true if the copy has other values than before: they must be subscribed anew.
    pub(super) fn has_other_values(&self, before: &HashMap<NodeId, Arc<StoredValue>>) -> bool {
        let values = self.copy.values();
        let is_same = |(node, value): (&NodeId, &Arc<StoredValue>)| {
            before
                .get(node)
                .is_some_and(|before| Arc::ptr_eq(before, value))
        };
        values.len() != before.len() || !values.iter().all(is_same)
    }

    /// Monitors all Variables, each with one item.
    pub(super) fn subscribe(
        &mut self,
        mut client: Client,
        mut maps: Maps,
    ) -> Result<Followed, ScanError> {
        self.naming.update(&mut client, &mut maps)?;
        let options = SubscriptionOptions {
            publishing_interval: self.options.interval,
            // A server that hangs is noticed soon.
            max_keep_alive_count: 1,
            lifetime_count: LIFETIME,
            ..SubscriptionOptions::default()
        };
        let mut subscription = Subscription::create(client, options)?;
        let item = MonitoredItemOptions {
            sampling_interval: self.options.interval,
            ..MonitoredItemOptions::default()
        };
        let values: Vec<(NodeId, Arc<StoredValue>)> = self
            .copy
            .values()
            .iter()
            .map(|(node, value)| (node.clone(), Arc::clone(value)))
            .collect();
        let items = values
            .iter()
            .map(|(node, _)| (maps.to_server.node_id(node), item.clone()));
        let results = subscription.monitor_all(items.collect())?;
        is_in_session(subscription.client(), &maps)?;
        let mut targets = HashMap::new();
        for ((node, value), result) in values.into_iter().zip(results) {
            match result {
                Ok(handle) => {
                    targets.insert(handle, (node, value));
                }
                Err(status) => value.set_data_value(&DataValue::status(status)),
            }
        }
        Ok(Followed {
            subscription,
            targets,
            maps,
            silence: Silence::default(),
        })
    }

    /// Reads all values once.
    pub(super) fn read(&mut self, client: &mut Client, maps: &Maps) -> Result<(), ScanError> {
        let nodes: Vec<NodeId> = self.copy.values().keys().cloned().collect();
        for batch in nodes.chunks(budget::READ) {
            if self.is_stopped() {
                return Err(ScanError::Stopped);
            }
            let wanted: Vec<(NodeId, Attribute)> = batch
                .iter()
                .map(|node| (maps.to_server.node_id(node), Attribute::Value))
                .collect();
            let values = client.read_attributes(&wanted)?;
            is_in_session(client, maps)?;
            for (node, value) in batch.iter().zip(values) {
                self.note(node, Fault::of(&value), maps);
                let target = self.copy.values().get(node).map(Arc::clone);
                if let Some(target) = target {
                    // A value that is too large comes again with the Subscription.
                    let _ = self.keep(&target, value, maps);
                }
            }
        }
        Ok(())
    }

    /// Keeps a value; returns false if it is too large.
    fn keep(&mut self, target: &StoredValue, mut value: DataValue, maps: &Maps) -> bool {
        if let Some(value) = &mut value.value {
            maps.to_registry.replace(value);
        }
        let size = value
            .value
            .as_ref()
            .map_or(0, |value| value.encode_to_vec().len());
        let kept = (self.kept + size).saturating_sub(target.size_of_value());
        let fits = size <= budget::MAX_VALUE && kept <= self.memory.values;
        if fits {
            self.kept = kept;
            target.set_data_value(&value);
        }
        fits
    }

    /// Keeps a changed value. Values that are too large are read at the server from now on.
    pub(super) fn take(&mut self, followed: &mut Followed, change: DataChange) {
        let DataChange {
            client_handle,
            value,
        } = change;
        let Some((node, target)) = followed.targets.get(&client_handle) else {
            return;
        };
        let (node, target) = (node.clone(), Arc::clone(target));
        self.note(&node, Fault::of(&value), &followed.maps);
        if self.keep(&target, value, &followed.maps) {
            return;
        }
        self.kept = self.kept.saturating_sub(target.size_of_value());
        followed.targets.remove(&client_handle);
        self.copy.read_live(&node);
        // The server may refuse; its further changes find no target.
        let _ = followed.subscription.forget(client_handle);
    }

    /// Marks all values: they are the last ones.
    pub(super) fn mark_away(&self) {
        for value in self.copy.values().values() {
            let current = value.get();
            let has_value = current.value.is_some_and(|value| !value.is_empty());
            value.set_status(match has_value {
                true => StatusCode::UncertainLastUsableValue,
                false => StatusCode::BadNoCommunication,
            });
        }
    }
}

/// Checks that the maps are those of the session of `client`: another session may have other NamespaceIndexes.
pub(super) fn is_in_session(client: &Client, maps: &Maps) -> Result<(), ScanError> {
    match maps.are_of(client) {
        true => Ok(()),
        false => Err(ScanError::OtherSession),
    }
}
