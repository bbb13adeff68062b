//! PubSubKeyPushTarget Objects in the address space (OPC 10000-14, 8.6.1).

use std::sync::Arc;

use takt_space::{AddressSpace, AddressSpaceError, CallError, Caller, MethodHandler, Peer, Value};
use takt_ua::structures::UserTokenPolicy;
use takt_ua::{
    DataValue, DateTime, ExtensionObject, NodeId, QualifiedName, StatusCode, Variant, ids,
};

use super::schedule::LONGEST_RETRY;
use super::signal::PushSignal;
use super::target::{LastPush, PushStatus};
use crate::security_groups::{MOST_KEYS, group_node_id};

/// The registry's own namespace.
const NAMESPACE: u16 = 1;

/// Adds the Object of a target below the folder KeyPushTargets. `groups` are its SecurityGroups.
pub(super) fn show(
    space: &AddressSpace,
    application_uri: &str,
    endpoint_url: &str,
    groups: &[String],
    signal: &Arc<PushSignal>,
    status: &Arc<PushStatus>,
) -> Result<(), AddressSpaceError> {
    let object = space
        .add_object(QualifiedName::new(NAMESPACE, application_uri))
        .node_id(NodeId::string(
            NAMESPACE,
            &format!("KeyPushTargets/{application_uri}"),
        ))
        .component_of(ids::PUBLISH_SUBSCRIBE_KEY_PUSH_TARGETS)
        .type_definition(ids::PUB_SUB_KEY_PUSH_TARGET_TYPE)
        .add()?;
    let part = |name: &str| {
        NodeId::string(
            NAMESPACE,
            &format!("KeyPushTargets.{name}/{application_uri}"),
        )
    };
    let time = |get: fn(LastPush) -> Option<DateTime>| {
        let status = Arc::clone(status);
        Value::callback(move || DataValue::good(get(status.get()).unwrap_or_default()))
    };
    let text = |text: &str| Value::stored(Variant::from(text));
    // The default is Anonymous: the certificate of the channel identifies the registry.
    let user = ExtensionObject::from_structure(&UserTokenPolicy::default());
    let retry = LONGEST_RETRY.as_secs_f64() * 1000.0;
    let properties: [(&str, u32, Value); 8] = [
        ("ApplicationUri", ids::STRING, text(application_uri)),
        ("EndpointUrl", ids::STRING, text(endpoint_url)),
        // The best one that the target offers.
        ("SecurityPolicyUri", ids::STRING, text("")),
        (
            "UserTokenType",
            ids::USER_TOKEN_POLICY,
            Value::stored(Variant::from(user)),
        ),
        ("RequestedKeyCount", ids::UINT16, Value::stored(MOST_KEYS)),
        ("RetryInterval", ids::DURATION, Value::stored(retry)),
        (
            "LastPushExecutionTime",
            ids::DATE_TIME,
            time(|last| last.execution),
        ),
        ("LastPushErrorTime", ids::DATE_TIME, time(|last| last.error)),
    ];
    for (name, data_type, value) in properties {
        space
            .add_variable(QualifiedName::new(0, name))
            .node_id(part(name))
            .property_of(object.clone())
            .data_type(data_type)
            .value(value)
            .add()?;
    }
    let trigger = space
        .add_method(QualifiedName::new(0, "TriggerKeyUpdate"))
        .node_id(part("TriggerKeyUpdate"))
        .component_of(object.clone())
        .add()?;
    let (signal, pushed) = (Arc::clone(signal), groups.to_vec());
    let handler = move |caller: &Caller, _: &NodeId, _: &[Variant]| {
        may_configure(caller)?;
        for group in &pushed {
            signal.keys_changed(group);
        }
        Ok::<_, CallError>(Vec::new())
    };
    space.set_method(&trigger, MethodHandler::local(handler))?;
    let mut edit = space.edit();
    for group in groups {
        let group = group_node_id(group);
        if edit.view().node(&group).is_some() {
            let reference_type = NodeId::from(ids::HAS_PUSHED_SECURITY_GROUP);
            edit.add_reference(&object, &reference_type, true, &group.into())?;
        }
    }
    Ok(())
}

/// Checks that the caller is the registry's user or root on this host (OPC 10000-14, 8.6.5).
fn may_configure(caller: &Caller) -> Result<(), StatusCode> {
    match caller.peer() {
        Peer::Tcp { .. } => Err(StatusCode::BadSecurityModeInsufficient),
        Peer::SharedMemory { user, .. } => {
            let own = rustix::process::geteuid().as_raw();
            match user {
                Some(user) if *user == own || *user == 0 => Ok(()),
                _ => Err(StatusCode::BadUserAccessDenied),
            }
        }
    }
}
