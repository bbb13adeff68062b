//! Methods of the PublishSubscribe object and of its folder SecurityGroups (OPC 10000-14, 8).

use std::sync::Arc;

use takt_space::{AddressSpace, AddressSpaceError, CallError, Caller};
use takt_ua::structures::SecurityGroupDataType;
use takt_ua::{NodeId, StatusCode, UaString, Variant, ids};

use super::SecurityGroups;
use super::changers::{Changer, adder, changer};
use super::holder::KeyHolder;

/// Binds the Methods of the PublishSubscribe object and of its folder SecurityGroups.
pub(crate) fn bind(
    space: &AddressSpace,
    groups: &Arc<SecurityGroups>,
) -> Result<(), AddressSpaceError> {
    let (for_keys, durable) = (Arc::clone(groups), Arc::clone(&groups.durable));
    let handler = move |caller: &Caller, _: &NodeId, inputs: &[Variant]| {
        let outputs = KeyHolder::of(caller).and_then(|holder| get(&for_keys, &holder, inputs));
        outputs.map_err(CallError::from)
    };
    let method = NodeId::from(ids::PUBLISH_SUBSCRIBE_GET_SECURITY_KEYS);
    space.set_method(&method, durable.handler(handler))?;
    bind_one(
        space,
        groups,
        ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS_ADD_SECURITY_GROUP,
        add,
    )?;
    bind_one(
        space,
        groups,
        ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS_REMOVE_SECURITY_GROUP,
        remove,
    )
}

type MethodOfGroups = fn(&SecurityGroups, &Caller, &[Variant]) -> Result<Vec<Variant>, StatusCode>;

fn bind_one(
    space: &AddressSpace,
    groups: &Arc<SecurityGroups>,
    method: u32,
    run: MethodOfGroups,
) -> Result<(), AddressSpaceError> {
    let (groups, durable) = (Arc::clone(groups), Arc::clone(&groups.durable));
    let handler = move |caller: &Caller, _: &NodeId, inputs: &[Variant]| {
        run(&groups, caller, inputs).map_err(CallError::from)
    };
    space.set_method(&NodeId::from(method), durable.handler(handler))
}

fn get(
    groups: &SecurityGroups,
    holder: &KeyHolder,
    inputs: &[Variant],
) -> Result<Vec<Variant>, StatusCode> {
    let [
        Variant::String(id),
        Variant::UInt32(starting_token_id),
        Variant::UInt32(requested_key_count),
    ] = inputs
    else {
        return Err(StatusCode::BadInvalidArgument);
    };
    let now = groups.clock.now();
    groups.keys(
        id.as_str(),
        *starting_token_id,
        *requested_key_count,
        holder,
        now,
    )
}

fn add(
    groups: &SecurityGroups,
    caller: &Caller,
    inputs: &[Variant],
) -> Result<Vec<Variant>, StatusCode> {
    let user = adder(caller, groups.own_user)?;
    let [
        Variant::String(name),
        Variant::Double(key_lifetime),
        Variant::String(security_policy_uri),
        Variant::UInt32(max_future_key_count),
        Variant::UInt32(max_past_key_count),
    ] = inputs
    else {
        return Err(StatusCode::BadInvalidArgument);
    };
    let configuration = SecurityGroupDataType {
        name: name.clone(),
        key_lifetime: *key_lifetime,
        security_policy_uri: security_policy_uri.clone(),
        max_future_key_count: *max_future_key_count,
        max_past_key_count: *max_past_key_count,
        ..SecurityGroupDataType::default()
    };
    let node_id = groups.add(configuration, Changer::new(caller, user))?;
    let security_group_id: UaString = name.clone();
    Ok(vec![security_group_id.into(), node_id.into()])
}

fn remove(
    groups: &SecurityGroups,
    caller: &Caller,
    inputs: &[Variant],
) -> Result<Vec<Variant>, StatusCode> {
    let user = changer(caller, groups.own_user)?;
    let [Variant::NodeId(node_id)] = inputs else {
        return Err(StatusCode::BadInvalidArgument);
    };
    groups.remove(node_id, Changer::new(caller, user))?;
    Ok(Vec::new())
}
