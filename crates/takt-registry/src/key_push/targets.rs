//! All push targets, and changes of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use takt_app::{ClientOptions, Endpoint};
use takt_crypto::PolicyProfile;
use takt_space::AddressSpace;
use takt_ua::binary::Encode;
use takt_ua::enumerations::UserTokenType;
use takt_ua::structures::PubSubKeyPushTargetDataType;
use takt_ua::{NodeId, StatusCode, UaString};

use super::changes::PushTargetChanges;
use super::nodes;
use super::options::PushTargetOptions;
use super::parts::KeyPushParts;
use super::running::{Running, revised_key_count};
use crate::durable::DurableMethods;
use crate::error::RegistryError;
use crate::rules::Rules;
use crate::security_groups::SecurityGroups;

/// Largest number of push targets: each has a thread.
pub(super) const MAX_PUSH_TARGETS: usize = 64;

/// Longest ApplicationUri and EndpointUrl, in bytes.
const LONGEST: usize = 1024;

/// Memory in bytes of a change that waits for the disk, beside two states of the target.
const HANDED_OVER: usize = 1024;

/// The push targets by their ApplicationUris.
pub(super) struct PushTargets {
    this: Weak<Self>,
    groups: Arc<SecurityGroups>,
    rules: Arc<Rules>,
    durable: Arc<DurableMethods>,
    space: Weak<AddressSpace>,
    client: ClientOptions,
    running: Mutex<BTreeMap<String, Running>>,
}

impl PushTargets {
    /// Starts the targets of the options and those of the database.
    pub(super) fn start(
        configured: &[PushTargetOptions],
        stored: Vec<PubSubKeyPushTargetDataType>,
        parts: &KeyPushParts<'_>,
    ) -> Result<Arc<Self>, RegistryError> {
        let mut merged: BTreeMap<&str, (&Endpoint, BTreeSet<String>)> = BTreeMap::new();
        for target in configured {
            let uri = target.application_uri.as_str();
            let (endpoint, groups) = merged
                .entry(uri)
                .or_insert_with(|| (&target.endpoint, BTreeSet::new()));
            if **endpoint != target.endpoint {
                return Err(RegistryError::PushTarget(uri.to_owned()));
            }
            groups.insert(target.security_group.clone());
        }
        let targets = Arc::new_cyclic(|this| Self {
            this: this.clone(),
            groups: Arc::clone(parts.groups),
            rules: Arc::clone(parts.rules),
            durable: Arc::clone(parts.durable),
            space: Arc::downgrade(parts.space),
            client: parts.client.clone(),
            running: Mutex::default(),
        });
        let mut stored: BTreeMap<String, PubSubKeyPushTargetDataType> = stored
            .into_iter()
            .map(|record| (record.application_uri.as_str().to_owned(), record))
            .collect();
        for (uri, (endpoint, groups)) in merged {
            let record = stored.remove(uri).unwrap_or_default();
            let record = PubSubKeyPushTargetDataType {
                application_uri: uri.into(),
                // The options say where the target is now.
                endpoint_url: endpoint.to_string().as_str().into(),
                requested_key_count: revised_key_count(record.requested_key_count),
                ..record
            };
            targets.run(record, Some(groups))?;
        }
        for record in stored.into_values() {
            targets.run(record, None)?;
        }
        Ok(targets)
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<String, Running>> {
        // Every change below is complete when the lock is released.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts and shows a target.
    fn run(
        &self,
        record: PubSubKeyPushTargetDataType,
        configured: Option<BTreeSet<String>>,
    ) -> Result<(), RegistryError> {
        let endpoint = record.endpoint_url.as_str().parse()?;
        let uri = record.application_uri.as_str().to_owned();
        let target = Running::start(record, configured, endpoint, &self.client, &self.groups)?;
        if let Some(space) = self.space.upgrade() {
            let changes: Weak<dyn PushTargetChanges> = self.this.clone();
            nodes::show(&space, &target, &changes, &self.durable)?;
        }
        self.running().insert(uri, target);
        Ok(())
    }

    /// Ends all threads.
    pub(super) fn end(&self) {
        let all = std::mem::take(&mut *self.running());
        Running::end_all(all.into_values());
    }

    /// Hands the state of a target over to the database, `None` for its removal. It is taken back if it is lost.
    fn keep(
        &self,
        uri: &str,
        record: Option<PubSubKeyPushTargetDataType>,
        before: Option<PubSubKeyPushTargetDataType>,
    ) -> Result<(), StatusCode> {
        let sizes = record.iter().chain(&before);
        let size: usize = sizes.map(|record| record.encode_to_vec().len()).sum();
        let charge = self.rules.reserve(HANDED_OVER + 2 * size)?;
        let (targets, name) = (self.this.clone(), uri.to_owned());
        let undo = move || {
            if let Some(targets) = targets.upgrade() {
                targets.restore(&name, before);
            }
        };
        let database = &self.rules.database;
        let kept = database.keep_push_target(uri, record, Box::new(undo), charge);
        kept.map_err(|error| {
            tracing::error!(%error, "a push target could not be stored");
            StatusCode::BadResourceUnavailable
        })
    }

    /// Restores the state of a target before a change that is lost.
    fn restore(&self, uri: &str, before: Option<PubSubKeyPushTargetDataType>) {
        let old = self.take(uri);
        let configured = old.as_ref().and_then(|old| old.configured.clone());
        Running::end_all(old.into_iter());
        if let Some(before) = before
            && let Err(error) = self.run(before, configured)
        {
            tracing::error!(target = uri, %error, "cannot be restored");
        }
    }

    /// Removes a target from the list and the address space.
    fn take(&self, uri: &str) -> Option<Running> {
        let target = self.running().remove(uri)?;
        if let Some(space) = self.space.upgrade() {
            nodes::hide(&space, uri);
        }
        self.groups.tell_changes(&BTreeSet::new(), &target.signal);
        Some(target)
    }

    /// Returns the StatusCode of a NodeId that is not the expected one.
    fn why_unknown(&self, node: &NodeId) -> StatusCode {
        let space = self.space.upgrade();
        match space.is_some_and(|space| space.view().node(node).is_some()) {
            true => StatusCode::BadNodeIdInvalid,
            false => StatusCode::BadNodeIdUnknown,
        }
    }
}

impl PushTargetChanges for PushTargets {
    fn add(&self, wanted: PubSubKeyPushTargetDataType) -> Result<NodeId, StatusCode> {
        let record = revised(wanted)?;
        let uri = record.application_uri.as_str().to_owned();
        if let Some(known) = self.running().get(&uri) {
            let same = PubSubKeyPushTargetDataType {
                // AddPushTarget has no SecurityGroups: those of the known target do not make it another one.
                security_groups: known.record.security_groups.clone(),
                ..record
            };
            return match same == known.record {
                true => Ok(nodes::node_id(&uri)),
                false => Err(StatusCode::BadNodeIdExists),
            };
        }
        if self.running().len() >= MAX_PUSH_TARGETS {
            return Err(StatusCode::BadResourceUnavailable);
        }
        self.keep(&uri, Some(record.clone()), None)?;
        self.run(record, None).map_err(|error| {
            tracing::error!(%error, "a push target could not be started");
            // It is in the database, and started with the registry.
            StatusCode::BadResourceUnavailable
        })?;
        tracing::info!(target = uri, "push target added");
        Ok(nodes::node_id(&uri))
    }

    fn remove(&self, node: &NodeId) -> Result<(), StatusCode> {
        let named = |uri: &String| nodes::node_id(uri) == *node;
        let found = self.running().keys().find(|uri| named(uri)).cloned();
        let Some(uri) = found else {
            return Err(self.why_unknown(node));
        };
        let before = self.running().get(&uri).map(|target| {
            let is_configured = target.configured.is_some();
            (target.record.clone(), is_configured)
        });
        let before = match before {
            Some((before, false)) => before,
            // It would come back with the next start: the options of the registry name it.
            Some((_, true)) => return Err(StatusCode::BadInvalidState),
            None => return Err(StatusCode::BadNodeIdUnknown),
        };
        self.keep(&uri, None, Some(before))?;
        let removed = self.take(&uri);
        Running::end_all(removed.into_iter());
        tracing::info!(target = uri, "push target removed");
        Ok(())
    }

    fn connect(
        &self,
        uri: &str,
        group_ids: &[NodeId],
        connects: bool,
    ) -> Result<Vec<StatusCode>, StatusCode> {
        let mut running = self.running();
        let target = running.get_mut(uri).ok_or(StatusCode::BadNodeIdUnknown)?;
        let before = target.record.clone();
        let mut changed = Vec::new();
        let mut results = Vec::with_capacity(group_ids.len());
        let stored = &mut target.record.security_groups;
        for id in group_ids {
            let Some(name) = self.groups.name_of(id) else {
                results.push(self.why_unknown(id));
                continue;
            };
            let position = stored.iter().position(|known| known.as_str() == name);
            let is_configured = target
                .configured
                .as_ref()
                .is_some_and(|configured| configured.contains(&name));
            results.push(match (connects, position, is_configured) {
                (true, None, false) => {
                    stored.push(UaString::from(name.as_str()));
                    changed.push(name);
                    StatusCode::Good
                }
                (true, ..) => {
                    target.signal.keys_changed(&name);
                    StatusCode::GoodEntryReplaced
                }
                // The options of the registry name the group.
                (false, _, true) => StatusCode::BadInvalidState,
                (false, Some(position), false) => {
                    stored.remove(position);
                    changed.push(name);
                    StatusCode::Good
                }
                (false, None, false) => StatusCode::BadNotFound,
            });
        }
        if changed.is_empty() {
            return Ok(results);
        }
        let record = target.record.clone();
        if let Err(status) = self.keep(uri, Some(record), Some(before.clone())) {
            target.record = before;
            return Err(status);
        }
        target.assign(&self.groups);
        if let Some(space) = self.space.upgrade() {
            for name in &changed {
                nodes::connect(&space, uri, name, connects).map_err(|error| error.status_code())?;
            }
        }
        tracing::info!(target = uri, groups = ?changed, connects, "SecurityGroups changed");
        Ok(results)
    }

    fn trigger(&self, uri: &str) -> Result<(), StatusCode> {
        let running = self.running();
        let target = running.get(uri).ok_or(StatusCode::BadNodeIdUnknown)?;
        for group in target.security_groups() {
            target.signal.keys_changed(&group);
        }
        Ok(())
    }
}

/// Checks and revises the parameters of a target.
fn revised(wanted: PubSubKeyPushTargetDataType) -> Result<PubSubKeyPushTargetDataType, StatusCode> {
    let invalid = StatusCode::BadInvalidArgument;
    let (uri, url) = (
        wanted.application_uri.as_str(),
        wanted.endpoint_url.as_str(),
    );
    if uri.is_empty() || uri.len() > LONGEST || url.len() > LONGEST {
        return Err(invalid);
    }
    let endpoint: Endpoint = url.parse().map_err(|_| invalid)?;
    let policy = wanted.security_policy_uri.as_str();
    if endpoint.is_shared_memory() || !policy.is_empty() && PolicyProfile::by_uri(policy).is_none()
    {
        return Err(invalid);
    }
    // The certificate of the channel identifies the registry; it has no user.
    if wanted.user_token_type.token_type != UserTokenType::Anonymous {
        return Err(StatusCode::BadNotSupported);
    }
    let retry = wanted.retry_interval;
    Ok(PubSubKeyPushTargetDataType {
        requested_key_count: revised_key_count(wanted.requested_key_count),
        retry_interval: match retry.is_finite() && retry > 0.0 {
            true => retry.clamp(1000.0, 3_600_000.0),
            false => 0.0,
        },
        user_token_type: Default::default(),
        ..wanted
    })
}
