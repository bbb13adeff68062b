//! SecurityKeyService: SecurityGroups, their keys, and the authorized users (OPC 10000-14, 8).
//!
//! Keys are returned over shared memory, which others cannot read, and where the kernel identifies the caller; and over encrypted
//! `opc.tcp`, where a certificate identifies the application. All other requests get BadSecurityModeInsufficient. The role
//! security-admin changes all groups, over shared memory or encrypted `opc.tcp`; over shared memory, an engineer adds groups, and
//! changes those.
//!
//! Keys are on the disk before they are returned: after a restart the same token stands for the same key. The Methods
//! are answered when all that they did or saw is on the disk. Keys are updated at requests; there is no timer.

mod changers;
mod group;
mod holder;
mod key_clock;
mod methods;
mod nodes;
mod options;
mod push;
mod push_signal;
mod storage;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use takt_app::refusals::{Refusals, shown};
use takt_space::{AddressSpace, AddressSpaceError, CallError, Caller};
use takt_ua::structures::SecurityGroupDataType;
use takt_ua::{ByteString, DateTime, NodeId, StatusCode, Variant};

use crate::database::{Contents, DatabaseError, GroupOnItsWay};
use crate::durable::DurableMethods;
use crate::error::RegistryError;
use crate::rules::Rules;
use changers::{Changer, changer};
use group::{FIRST_TOKEN_ID, SecurityGroup, milliseconds, revise};
use holder::KeyHolder;
use key_clock::KeyClock;

pub(crate) use group::MOST_KEYS;
pub(crate) use methods::bind as bind_methods;
pub(crate) use nodes::{checked_by_method, node_id as group_node_id};
pub use options::{SecurityGroupOptions, SecurityGroupOptionsError};
pub(crate) use push_signal::PushSignal;

/// Largest number of SecurityGroups.
const MAX_SECURITY_GROUPS: usize = 1000;

/// The registry's SecurityGroups.
pub(crate) struct SecurityGroups {
    /// Rules, for their database.
    rules: Arc<Rules>,
    durable: Arc<DurableMethods>,
    space: Weak<AddressSpace>,
    /// Reference to itself, for the Methods of the groups' Objects.
    this: Weak<Self>,
    state: Mutex<State>,
    /// Unix users who may get the keys of each SecurityGroup, from the options of the registry.
    users: HashMap<String, Vec<u32>>,
    /// ApplicationUris of the applications that may get them over encrypted `opc.tcp`.
    applications: HashMap<String, Vec<String>>,
    /// The registry's own Unix user.
    own_user: u32,
    /// Push targets of SecurityGroups, which are told of keys that change before their time.
    push_targets: Mutex<Vec<(String, Arc<PushSignal>)>>,
    refusals: Refusals,
    clock: KeyClock,
}

/// Change that a Method of a group makes to its keys.
type KeyChange = fn(&mut SecurityGroup, DateTime);

struct State {
    groups: HashMap<String, SecurityGroup>,
    /// Last change of each group that was handed over to the database, unless it is a removal.
    handed_over: HashMap<String, GroupOnItsWay>,
    /// Highest token of all groups so far. A new group begins above it, so that consecutive groups with the same name
    /// never use a token for different keys.
    last_token: u32,
}

impl SecurityGroups {
    /// Creates the groups of the database.
    pub(crate) fn new(
        rules: &Arc<Rules>,
        durable: &Arc<DurableMethods>,
        space: &Arc<AddressSpace>,
        contents: &mut Contents,
        options: &[SecurityGroupOptions],
    ) -> Result<Arc<Self>, DatabaseError> {
        let mut groups = HashMap::new();
        for record in contents.security_groups.drain(..) {
            let name = record.configuration.name.as_str().to_owned();
            let group = SecurityGroup::restore(record).ok_or_else(|| DatabaseError::Record {
                table: "security groups",
                record: format!("SecurityGroup {name}"),
                reason: "the configuration of the SecurityGroup is inconsistent".to_owned(),
            })?;
            groups.insert(name, group);
        }
        let users = options.iter();
        Ok(Arc::new_cyclic(|this| Self {
            this: this.clone(),
            rules: Arc::clone(rules),
            durable: Arc::clone(durable),
            space: Arc::downgrade(space),
            state: Mutex::new(State {
                groups,
                handed_over: HashMap::new(),
                last_token: contents.last_token,
            }),
            users: users
                .clone()
                .map(|group| (group.name.clone(), group.users.clone()))
                .collect(),
            applications: users
                .map(|group| (group.name.clone(), group.applications.clone()))
                .collect(),
            own_user: rustix::process::geteuid().as_raw(),
            push_targets: Mutex::default(),
            refusals: Refusals::default(),
            clock: KeyClock::start(),
        }))
    }

    /// Adds all groups to the address space, and creates the configured ones.
    pub(crate) fn start(&self, options: &[SecurityGroupOptions]) -> Result<(), RegistryError> {
        if let Some(space) = self.space.upgrade() {
            for group in self.lock().groups.values() {
                self.show(&space, &group.configuration)?;
            }
        }
        for wanted in options {
            let policy = self
                .lock()
                .groups
                .get(&wanted.name)
                .map(|group| group.security_policy);
            match (policy, wanted.security_policy) {
                (Some(found), Some(wanted_policy)) if found != wanted_policy => {
                    return Err(RegistryError::SecurityGroup(wanted.name.clone()));
                }
                (Some(_), _) => {}
                (None, policy) => {
                    let configuration = SecurityGroupDataType {
                        name: wanted.name.as_str().into(),
                        security_policy_uri: policy
                            .map(|policy| policy.uri().into())
                            .unwrap_or_default(),
                        key_lifetime: wanted.key_lifetime.map_or(0.0, milliseconds),
                        ..SecurityGroupDataType::default()
                    };
                    self.add(configuration, self.own_user).map_err(|status| {
                        RegistryError::AddSecurityGroup {
                            name: wanted.name.clone(),
                            status,
                        }
                    })?;
                }
            }
        }
        // A registry that cannot store its groups does not start.
        Ok(self.rules.database.settle_now()?)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change below is complete when the lock is released.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the user may configure the group: the user who added it, the registry's user, and root.
    fn may_configure(&self, user: u32, group: &SecurityGroup) -> bool {
        user == group.user || user == self.own_user || user == 0
    }

    /// Returns whether the user or application may get the keys of the group.
    fn may_get_keys(&self, caller: &KeyHolder, group: &SecurityGroup) -> bool {
        let name = group.configuration.name.as_str();
        let user = match caller {
            KeyHolder::User(user) => *user,
            KeyHolder::Application(uri) => {
                let listed = self.applications.get(name);
                return listed.is_some_and(|applications| applications.contains(uri));
            }
        };
        let listed = self.users.get(name);
        self.may_configure(user, group) || listed.is_some_and(|users| users.contains(&user))
    }

    /// Adds a group to the address space, and binds its Methods.
    fn show(
        &self,
        space: &AddressSpace,
        group: &SecurityGroupDataType,
    ) -> Result<(), AddressSpaceError> {
        nodes::show(space, group)?;
        let changes: [KeyChange; 2] = [SecurityGroup::invalidate, SecurityGroup::rotate];
        for (method, change) in nodes::METHODS.into_iter().zip(changes) {
            let (groups, name) = (self.this.clone(), group.name.to_string());
            let handler = move |caller: &Caller, _: &NodeId, inputs: &[Variant]| {
                let groups = groups.upgrade().ok_or(StatusCode::BadShutdown)?;
                let user = changer(caller, groups.own_user)?;
                if !inputs.is_empty() {
                    return Err(CallError::from(StatusCode::BadTooManyArguments));
                }
                let changer = Changer::new(caller, user);
                groups.change_keys(&name, changer, method, change)?;
                Ok(Vec::new())
            };
            let method = nodes::property_id(group.name.as_str(), method);
            space.set_method(&method, self.durable.handler(handler))?;
        }
        Ok(())
    }

    /// Handles `InvalidateKeys` (OPC 10000-14, 8.4.2) and `ForceKeyRotation` (OPC 10000-14, 8.4.3).
    fn change_keys(
        &self,
        name: &str,
        changer: impl Into<Changer>,
        method: &str,
        change: KeyChange,
    ) -> Result<(), StatusCode> {
        let changer = changer.into();
        let mut state = self.lock();
        let group = state.groups.get(name).ok_or(StatusCode::BadNotFound)?;
        if !self.may_configure(changer.user, group) {
            return Err(StatusCode::BadUserAccessDenied);
        }
        let now = self.clock.now();
        let mut group = group.clone();
        // Due key changes are made first.
        group.advance(now, random)?;
        change(&mut group, now);
        group.advance(now, random)?;
        self.keep(&mut state, &group, |bytes| self.rules.reserve(bytes))?;
        tracing::info!(
            security_group = name,
            user = changer.name,
            method,
            "keys changed"
        );
        state.groups.insert(name.to_owned(), group);
        self.keys_changed(name);
        Ok(())
    }

    /// Handles `AddSecurityGroup` (OPC 10000-14, 8.5.2).
    fn add(
        &self,
        wanted: SecurityGroupDataType,
        changer: impl Into<Changer>,
    ) -> Result<NodeId, StatusCode> {
        let changer = changer.into();
        let revised = revise(wanted)?;
        let space = self.space.upgrade().ok_or(StatusCode::BadShutdown)?;
        let name = revised.0.name.as_str().to_owned();
        let mut state = self.lock();
        if let Some(group) = state.groups.get(&name) {
            return match group.is(&revised.0) {
                true => Ok(nodes::node_id(&name)),
                false => Err(StatusCode::BadNodeIdExists),
            };
        }
        if state.groups.len() >= MAX_SECURITY_GROUPS {
            return Err(StatusCode::BadResourceUnavailable);
        }
        let now = self.clock.now();
        // Not 0 after the last one: in GetSecurityKeys, 0 stands for the current token.
        let first_token = state.last_token.checked_add(1).unwrap_or(FIRST_TOKEN_ID);
        let mut group = SecurityGroup::new(revised, changer.user, first_token, now);
        group.advance(now, random)?;
        self.keep(&mut state, &group, |bytes| self.rules.reserve(bytes))?;
        self.show(&space, &group.configuration)
            .map_err(|error| error.status_code())?;
        tracing::info!(security_group = %name, user = changer.name, "added");
        state.groups.insert(name.clone(), group);
        self.keys_changed(&name);
        Ok(nodes::node_id(&name))
    }

    /// Handles `RemoveSecurityGroup` (OPC 10000-14, 8.5.3).
    fn remove(&self, node_id: &NodeId, changer: impl Into<Changer>) -> Result<(), StatusCode> {
        let changer = changer.into();
        let space = self.space.upgrade().ok_or(StatusCode::BadShutdown)?;
        let mut state = self.lock();
        let name = state
            .groups
            .keys()
            .find(|name| nodes::node_id(name) == *node_id);
        let Some(name) = name.cloned() else {
            return Err(match space.view().node(node_id) {
                Some(_) => StatusCode::BadNodeIdInvalid,
                None => StatusCode::BadNodeIdUnknown,
            });
        };
        let group = state.groups.get(&name);
        let group = group.filter(|group| self.may_configure(changer.user, group));
        let group = group.ok_or(StatusCode::BadUserAccessDenied)?;
        self.keep_removal(&state, &name, group)?;
        nodes::hide(&space, &name);
        state.groups.remove(&name);
        // A later state of a group with this name must not come before the removal.
        state.handed_over.remove(&name);
        tracing::info!(security_group = %name, user = changer.name, "removed");
        Ok(())
    }

    /// Handles `GetSecurityKeys` (OPC 10000-14, 8.3.2).
    fn keys(
        &self,
        security_group_id: &str,
        starting_token_id: u32,
        count: u32,
        holder: &KeyHolder,
        now: DateTime,
    ) -> Result<Vec<Variant>, StatusCode> {
        let mut state = self.lock();
        let group = state.groups.get(security_group_id);
        let group = group.ok_or(match holder {
            KeyHolder::User(_) => StatusCode::BadNotFound,
            // Others on the network do not learn which groups exist.
            KeyHolder::Application(_) => StatusCode::BadUserAccessDenied,
        })?;
        if !self.may_get_keys(holder, group) {
            let member = shown(&holder.member());
            self.refusals.warn(&format_args!(
                "the keys of {security_group_id} are refused to {member}: the SecurityGroup \
                 '{security_group_id}:{member}' admits it"
            ));
            return Err(StatusCode::BadUserAccessDenied);
        }
        let group = self.brought_up_to_date(&mut state, security_group_id, now)?;
        let keys = group.keys(starting_token_id, count, now);
        let key_data = keys.keys.iter().map(|key| ByteString::from(key.as_slice()));
        let outputs = vec![
            Variant::from(group.configuration.security_policy_uri.clone()),
            Variant::from(keys.first_token_id),
            Variant::from(key_data.collect::<Vec<_>>()),
            Variant::from(keys.time_to_next_key),
            Variant::from(group.configuration.key_lifetime),
        ];
        Ok(outputs)
    }

    /// Makes the due key changes of a group, and returns its present state.
    fn brought_up_to_date(
        &self,
        state: &mut State,
        name: &str,
        now: DateTime,
    ) -> Result<SecurityGroup, StatusCode> {
        let group = state.groups.get(name).ok_or(StatusCode::BadNotFound)?;
        // A copy, because `advance` may fail between two keys: then the group stays as it was.
        let mut group = group.clone();
        if group.advance(now, random)? {
            // A renewal is not refused: a group has one change that waits, and one that is being committed.
            self.keep(state, &group, |bytes| self.rules.reserve_anyway(bytes))?;
            state.groups.insert(name.to_owned(), group.clone());
        }
        Ok(group)
    }
}

/// Makes a new key.
fn random(key: &mut [u8]) -> Result<(), StatusCode> {
    getrandom::fill(key).map_err(|error| {
        tracing::error!(%error, "a key could not be made");
        StatusCode::BadResourceUnavailable
    })
}
