//! PubSubKeyPushTarget Objects in the address space (OPC 10000-14, 8.6.1).

use std::sync::{Arc, Weak};

use takt_space::{AddressSpace, AddressSpaceError, Value};
use takt_ua::{DataValue, DateTime, ExtensionObject, NodeId, QualifiedName, Variant, ids};

use super::changes::PushTargetChanges;
use super::methods::{connecting, triggering};
use super::running::Running;
use super::schedule::LONGEST_RETRY;
use super::target::LastPush;
use crate::durable::DurableMethods;
use crate::security_groups::{checked_by_method, group_node_id};

/// The registry's own namespace.
const NAMESPACE: u16 = 1;

const PROPERTIES: [&str; 8] = [
    "ApplicationUri",
    "EndpointUrl",
    "SecurityPolicyUri",
    "UserTokenType",
    "RequestedKeyCount",
    "RetryInterval",
    "LastPushExecutionTime",
    "LastPushErrorTime",
];

const CONNECT: &str = "ConnectSecurityGroups";
const DISCONNECT: &str = "DisconnectSecurityGroups";
const TRIGGER: &str = "TriggerKeyUpdate";

/// Arrays of one dimension (ValueRank).
const ARRAY: i32 = 1;

/// Returns the NodeId of the Object of a target.
pub(super) fn node_id(application_uri: &str) -> NodeId {
    NodeId::string(NAMESPACE, &format!("KeyPushTargets/{application_uri}"))
}

/// Returns the NodeId of a Property or Method of a target.
fn part(application_uri: &str, name: &str) -> NodeId {
    NodeId::string(
        NAMESPACE,
        &format!("KeyPushTargets.{name}/{application_uri}"),
    )
}

/// Adds the Object of a target below the folder KeyPushTargets, and binds its Methods.
pub(super) fn show(
    space: &AddressSpace,
    target: &Running,
    targets: &Weak<dyn PushTargetChanges>,
    durable: &Arc<DurableMethods>,
) -> Result<(), AddressSpaceError> {
    let record = &target.record;
    let uri = record.application_uri.as_str();
    let object = space
        .add_object(QualifiedName::new(NAMESPACE, uri))
        .node_id(node_id(uri))
        .component_of(ids::PUBLISH_SUBSCRIBE_KEY_PUSH_TARGETS)
        .type_definition(ids::PUB_SUB_KEY_PUSH_TARGET_TYPE)
        .add()?;
    let time = |get: fn(LastPush) -> Option<DateTime>| {
        let status = Arc::clone(&target.status);
        Value::callback(move || DataValue::good(get(status.get()).unwrap_or_default()))
    };
    // The default is Anonymous: the certificate of the channel identifies the registry.
    let user = ExtensionObject::from_structure(&record.user_token_type);
    let retry = match record.retry_interval {
        // 0 stands for the pause of the registry, which is this one at most.
        0.0 => LONGEST_RETRY.as_secs_f64() * 1000.0,
        retry => retry,
    };
    let values: [(u32, Value); 8] = [
        (ids::STRING, Value::stored(record.application_uri.clone())),
        (ids::STRING, Value::stored(record.endpoint_url.clone())),
        // An empty one is the best that the target offers.
        (
            ids::STRING,
            Value::stored(record.security_policy_uri.clone()),
        ),
        (ids::USER_TOKEN_POLICY, Value::stored(Variant::from(user))),
        (ids::UINT16, Value::stored(record.requested_key_count)),
        (ids::DURATION, Value::stored(retry)),
        (ids::DATE_TIME, time(|last| last.execution)),
        (ids::DATE_TIME, time(|last| last.error)),
    ];
    for (name, (data_type, value)) in PROPERTIES.into_iter().zip(values) {
        space
            .add_variable(QualifiedName::new(0, name))
            .node_id(part(uri, name))
            .property_of(object.clone())
            .data_type(data_type)
            .value(value)
            .add()?;
    }
    let method = |name: &str| {
        space
            .add_method(QualifiedName::new(0, name))
            .node_id(part(uri, name))
            .component_of(object.clone())
            .access(checked_by_method())
    };
    for (name, results, connects) in [
        (CONNECT, "ConnectResults", true),
        (DISCONNECT, "DisconnectResults", false),
    ] {
        let node = method(name)
            .input("SecurityGroupIds", ids::NODE_ID, ARRAY)
            .output(results, ids::STATUS_CODE, ARRAY)
            .add()?;
        space.set_method(&node, connecting(targets, durable, uri, connects))?;
    }
    let trigger = method(TRIGGER).add()?;
    space.set_method(&trigger, triggering(targets, uri))?;
    for group in target.security_groups() {
        connect(space, uri, &group, true)?;
    }
    Ok(())
}

/// Adds or removes the reference from a target to a SecurityGroup, if that exists.
pub(super) fn connect(
    space: &AddressSpace,
    application_uri: &str,
    group: &str,
    connects: bool,
) -> Result<(), AddressSpaceError> {
    let (object, group) = (node_id(application_uri), group_node_id(group));
    let mut edit = space.edit();
    if edit.view().node(&group).is_none() {
        return Ok(());
    }
    let reference_type = NodeId::from(ids::HAS_PUSHED_SECURITY_GROUP);
    match connects {
        true => edit.add_reference(&object, &reference_type, true, &group.into()),
        false => edit.delete_reference(&object, &reference_type, true, &group.into(), true),
    }
}

/// Removes the Object of a target.
pub(super) fn hide(space: &AddressSpace, application_uri: &str) {
    let mut edit = space.edit();
    let parts = PROPERTIES.iter().chain(&[CONNECT, DISCONNECT, TRIGGER]);
    let parts = parts.map(|name| part(application_uri, name));
    for node in parts.chain([node_id(application_uri)]) {
        // A missing node needs no deletion.
        let _ = edit.delete_node(&node, true);
    }
}
