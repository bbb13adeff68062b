//! Methods of push targets and their folder (OPC 10000-14, 8.6 and 8.7).

use std::sync::{Arc, Weak};

use takt_space::{
    AddressSpace, AddressSpaceError, CallError, Caller, MethodHandler, Peer, UserRole,
};
use takt_ua::structures::{PubSubKeyPushTargetDataType, UserTokenPolicy};
use takt_ua::{Elements, NodeId, StatusCode, Variant, ids};

use super::changes::PushTargetChanges;
use crate::durable::DurableMethods;

/// Most SecurityGroups of one call.
const MOST_GROUPS: usize = 1000;

/// Binds the Methods of the folder KeyPushTargets.
pub(super) fn bind(
    space: &AddressSpace,
    durable: &Arc<DurableMethods>,
    targets: &Weak<dyn PushTargetChanges>,
) -> Result<(), AddressSpaceError> {
    let adding = targets.clone();
    let add = move |caller: &Caller, _: &NodeId, inputs: &[Variant]| {
        check(caller)?;
        let target = read(inputs)?;
        Ok::<_, CallError>(vec![Variant::from(upgrade(&adding)?.add(target)?)])
    };
    let removing = targets.clone();
    let remove = move |caller: &Caller, _: &NodeId, inputs: &[Variant]| {
        check(caller)?;
        let [Variant::NodeId(node)] = inputs else {
            return Err(CallError::from(StatusCode::BadInvalidArgument));
        };
        upgrade(&removing)?.remove(node)?;
        Ok(Vec::new())
    };
    let method = NodeId::from(ids::PUBLISH_SUBSCRIBE_KEY_PUSH_TARGETS_ADD_PUSH_TARGET);
    space.set_method(&method, durable.handler(add))?;
    let method = NodeId::from(ids::PUBLISH_SUBSCRIBE_KEY_PUSH_TARGETS_REMOVE_PUSH_TARGET);
    space.set_method(&method, durable.handler(remove))
}

/// Returns the handler of ConnectSecurityGroups or DisconnectSecurityGroups of a target.
pub(super) fn connecting(
    targets: &Weak<dyn PushTargetChanges>,
    durable: &Arc<DurableMethods>,
    application_uri: &str,
    connects: bool,
) -> MethodHandler {
    let (targets, uri) = (targets.clone(), application_uri.to_owned());
    durable.handler(move |caller: &Caller, _: &NodeId, inputs: &[Variant]| {
        check(caller)?;
        let [Variant::Array(groups)] = inputs else {
            return Err(CallError::from(StatusCode::BadInvalidArgument));
        };
        let Elements::NodeId(groups) = &groups.elements else {
            return Err(StatusCode::BadInvalidArgument.into());
        };
        if groups.len() > MOST_GROUPS {
            return Err(StatusCode::BadTooManyOperations.into());
        }
        let results = upgrade(&targets)?.connect(&uri, groups, connects)?;
        Ok(vec![Variant::from(results)])
    })
}

/// Returns the handler of TriggerKeyUpdate of a target.
pub(super) fn triggering(
    targets: &Weak<dyn PushTargetChanges>,
    application_uri: &str,
) -> MethodHandler {
    let (targets, uri) = (targets.clone(), application_uri.to_owned());
    // Not a durable handler: nothing is changed that is stored.
    MethodHandler::local(move |caller: &Caller, _: &NodeId, _: &[Variant]| {
        check(caller)?;
        upgrade(&targets)?.trigger(&uri)?;
        Ok::<_, CallError>(Vec::new())
    })
}

fn upgrade(
    targets: &Weak<dyn PushTargetChanges>,
) -> Result<Arc<dyn PushTargetChanges>, StatusCode> {
    targets.upgrade().ok_or(StatusCode::BadShutdown)
}

/// Checks that the caller administers security, on a channel that nobody else reads.
fn check(caller: &Caller) -> Result<(), StatusCode> {
    match caller.peer() {
        Peer::Tcp { .. } if !caller.channel.security.is_encrypted() => {
            Err(StatusCode::BadSecurityModeInsufficient)
        }
        _ if caller.roles.contains(UserRole::SecurityAdmin) => Ok(()),
        _ => Err(StatusCode::BadUserAccessDenied),
    }
}

/// Reads the input arguments of AddPushTarget.
fn read(inputs: &[Variant]) -> Result<PubSubKeyPushTargetDataType, StatusCode> {
    let [
        Variant::String(application_uri),
        Variant::String(endpoint_url),
        Variant::String(security_policy_uri),
        user_token_type,
        Variant::UInt16(requested_key_count),
        Variant::Double(retry_interval),
    ] = inputs
    else {
        return Err(StatusCode::BadInvalidArgument);
    };
    let user_token_type: UserTokenPolicy = match user_token_type {
        Variant::ExtensionObject(policy) if !policy.is_null() => policy
            .decode_as()
            .map_err(|_| StatusCode::BadInvalidArgument)?,
        Variant::Empty | Variant::ExtensionObject(_) => UserTokenPolicy::default(),
        _ => return Err(StatusCode::BadInvalidArgument),
    };
    Ok(PubSubKeyPushTargetDataType {
        application_uri: application_uri.clone(),
        endpoint_url: endpoint_url.clone(),
        security_policy_uri: security_policy_uri.clone(),
        user_token_type,
        requested_key_count: *requested_key_count,
        retry_interval: *retry_interval,
        ..PubSubKeyPushTargetDataType::default()
    })
}
