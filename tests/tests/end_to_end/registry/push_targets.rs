//! Push targets that administrators add over the network (OPC 10000-14, 8.6 and 8.7).

use std::time::Instant;

use takt_app::serve::{EndpointSecurity, ServeOptions};
use takt_app::{Client, ClientError, KeyNews, KeyReceiver, KeyReceiverOptions};
use takt_tests::{Registry, Sandbox};
use takt_ua::structures::UserTokenPolicy;
use takt_ua::{Elements, ExtensionObject, NodeId, StatusCode, Variant, ids};

use crate::registry::roles::{add_user, client_of};
use crate::registry::{PATIENCE, eventually};

const URI: &str = "urn:plant:desk";
pub(crate) const TARGET: &str = "urn:takt:pubsub:Press";
const FOLDER: u32 = ids::PUBLISH_SUBSCRIBE_KEY_PUSH_TARGETS;
const ADD: u32 = ids::PUBLISH_SUBSCRIBE_KEY_PUSH_TARGETS_ADD_PUSH_TARGET;
const REMOVE: u32 = ids::PUBLISH_SUBSCRIBE_KEY_PUSH_TARGETS_REMOVE_PUSH_TARGET;

/// Starts the push target, which takes the keys of `Plant` and `Line` from the registry with this name.
pub(crate) fn press(sandbox: &Sandbox, registry: &str) -> KeyReceiver {
    let service = takt_app::model::registry_uri(registry);
    let options = KeyReceiverOptions {
        application_name: "Press".to_owned(),
        endpoint: "opc.tcp://127.0.0.1:0".parse().unwrap(),
        services: ["Plant", "Line"]
            .map(|group| (group.to_owned(), [service.clone()].into()))
            .into(),
        serve: ServeOptions {
            security: EndpointSecurity {
                certificates: Some(sandbox.data_directory().join("pki")),
                secured_loopback: true,
                ..EndpointSecurity::default()
            },
            ..ServeOptions::default()
        },
    };
    KeyReceiver::start(options).unwrap()
}

/// Returns the token of the current key that has come, if any.
pub(crate) fn token(target: &KeyReceiver) -> Option<u32> {
    let now = Instant::now();
    let rings = target.news(now).into_iter().filter_map(|news| match news {
        KeyNews::Keys { ring, .. } => Some(ring),
        KeyNews::Missing { .. } => None,
    });
    let sending = rings.last()?.sending(now).ok()?.security_token_id();
    Some(sending)
}

pub(crate) fn wait_for_keys(target: &KeyReceiver) -> u32 {
    let mut found = None;
    eventually("keys are pushed", PATIENCE, || {
        found = token(target);
        found.is_some()
    });
    found.unwrap()
}

fn status<T>(result: Result<T, ClientError>) -> StatusCode {
    match result {
        Ok(_) => StatusCode::Good,
        Err(error) => error.status_code(),
    }
}

fn add_with(client: &mut Client, url: &str, retry: f64) -> Result<Vec<Variant>, ClientError> {
    let user = ExtensionObject::from_structure(&UserTokenPolicy::default());
    let inputs = vec![
        TARGET.into(),
        url.into(),
        "".into(),
        user.into(),
        0_u16.into(),
        retry.into(),
    ];
    client.call_method(&NodeId::from(FOLDER), &NodeId::from(ADD), inputs)
}

fn add(client: &mut Client, url: &str) -> Result<NodeId, ClientError> {
    let outputs = add_with(client, url, 0.0)?;
    match outputs.as_slice() {
        [Variant::NodeId(node)] => Ok(NodeId::clone(node)),
        other => panic!("{other:?}"),
    }
}

fn method(name: &str) -> NodeId {
    NodeId::string(1, &format!("KeyPushTargets.{name}/{TARGET}"))
}

fn target_id() -> NodeId {
    NodeId::string(1, &format!("KeyPushTargets/{TARGET}"))
}

fn group_id(name: &str) -> NodeId {
    NodeId::string(1, &format!("SecurityGroups/{name}"))
}

/// Calls ConnectSecurityGroups or DisconnectSecurityGroups for one group.
fn assign(client: &mut Client, name: &str, group: &NodeId) -> Result<StatusCode, ClientError> {
    let inputs = vec![Variant::from(vec![group.clone()])];
    let outputs = client.call_method(&target_id(), &method(name), inputs)?;
    match outputs.as_slice() {
        [Variant::Array(results)] => match &results.elements {
            Elements::StatusCode(results) => Ok(results[0]),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

const CONNECT: &str = "ConnectSecurityGroups";
const DISCONNECT: &str = "DisconnectSecurityGroups";

#[test]
fn an_administrator_adds_a_push_target_that_survives_a_restart() {
    let sandbox = Sandbox::new();
    let groups = ["--security-group", "Plant", "--security-group", "Line"];
    let mut registry = Registry::start(&sandbox, &groups);
    let _ = add_user(&sandbox, "carl", "security-admin");
    let _ = add_user(&sandbox, "bert", "operator,engineer,configure-admin");
    let target = press(&sandbox, &registry.name);
    let url = target.endpoint().unwrap().to_string();
    let admin = |registry: &Registry| client_of(&sandbox, registry, "carl", URI, "encrypt");
    let mut carl = admin(&registry);

    // Others may not.
    let mut bert = client_of(&sandbox, &registry, "bert", URI, "encrypt");
    assert_eq!(
        status(add(&mut bert, &url)),
        StatusCode::BadUserAccessDenied
    );
    let mut signed = client_of(&sandbox, &registry, "carl", URI, "sign");
    let insufficient = StatusCode::BadSecurityModeInsufficient;
    assert_eq!(status(add(&mut signed, &url)), insufficient);
    // No application over shared memory, no URL at all.
    let invalid = StatusCode::BadInvalidArgument;
    for wrong in ["opc.iox2://Press", "press", ""] {
        assert_eq!(status(add(&mut carl, wrong)), invalid, "{wrong}");
    }

    assert_eq!(add(&mut carl, &url).unwrap(), target_id());
    assert_eq!(add(&mut carl, &url).unwrap(), target_id(), "the same one");
    let other = status(add_with(&mut carl, &url, 5000.0));
    assert_eq!(other, StatusCode::BadNodeIdExists);
    let plant = group_id("Plant");
    assert_eq!(
        status(assign(&mut bert, CONNECT, &plant)),
        StatusCode::BadUserAccessDenied
    );
    assert_eq!(status(assign(&mut signed, CONNECT, &plant)), insufficient);
    assert_eq!(
        assign(&mut carl, CONNECT, &plant).unwrap(),
        StatusCode::Good
    );
    assert_eq!(
        assign(&mut carl, CONNECT, &plant).unwrap(),
        StatusCode::GoodEntryReplaced
    );
    let unknown = group_id("Nowhere");
    assert_eq!(
        assign(&mut carl, CONNECT, &unknown).unwrap(),
        StatusCode::BadNodeIdUnknown
    );
    let server = NodeId::from(ids::SERVER);
    assert_eq!(
        assign(&mut carl, CONNECT, &server).unwrap(),
        StatusCode::BadNodeIdInvalid
    );
    let first = wait_for_keys(&target);

    // The target is in the database, and its keys follow those of the group.
    registry.process.kill();
    let registry = Registry::start_at(&sandbox, &registry.endpoint, &[]);
    let mut carl = admin(&registry);
    let rotate = NodeId::string(1, "SecurityGroups.ForceKeyRotation/Plant");
    carl.call_method(&plant, &rotate, Vec::new()).unwrap();
    assert!(wait_for_keys(&target) > first);
    let trigger = |client: &mut Client| {
        status(client.call_method(&target_id(), &method("TriggerKeyUpdate"), Vec::new()))
    };
    assert_eq!(trigger(&mut carl), StatusCode::Good);
    let mut bert = client_of(&sandbox, &registry, "bert", URI, "encrypt");
    assert_eq!(trigger(&mut bert), StatusCode::BadUserAccessDenied);

    // No keys any more.
    assert_eq!(
        assign(&mut carl, DISCONNECT, &plant).unwrap(),
        StatusCode::Good
    );
    assert_eq!(
        assign(&mut carl, DISCONNECT, &plant).unwrap(),
        StatusCode::BadNotFound
    );
    let _ = token(&target);
    carl.call_method(&plant, &rotate, Vec::new()).unwrap();
    // Keys of another group come after the rotation, so those of this one would have come, too.
    let assigned = assign(&mut carl, CONNECT, &group_id("Line")).unwrap();
    assert_eq!(assigned, StatusCode::Good);
    let mut pushed = Vec::new();
    eventually("keys of the other group", PATIENCE, || {
        let news = target.news(Instant::now()).into_iter();
        pushed.extend(news.filter_map(|news| match news {
            KeyNews::Keys {
                security_group_id, ..
            } => Some(security_group_id),
            KeyNews::Missing { .. } => None,
        }));
        !pushed.is_empty()
    });
    assert_eq!(pushed, ["Line"]);
    let remove = |client: &mut Client| {
        let inputs = vec![Variant::from(target_id())];
        status(client.call_method(&NodeId::from(FOLDER), &NodeId::from(REMOVE), inputs))
    };
    assert_eq!(remove(&mut bert), StatusCode::BadUserAccessDenied);
    assert_eq!(remove(&mut carl), StatusCode::Good);
    assert_eq!(remove(&mut carl), StatusCode::BadNodeIdUnknown);
    assert!(trigger(&mut carl).is_bad());
}

/// A target of the options stays one.
#[test]
fn a_target_of_the_options_is_not_removed_and_uses_stored_keys_after_a_restart() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &["--security-group", "Plant"]);
    let _ = add_user(&sandbox, "carl", "security-admin");
    let target = press(&sandbox, &registry.name);
    let option = format!("Plant={TARGET}@{}", target.endpoint().unwrap());
    let endpoint = registry.endpoint.clone();
    drop(registry);
    let mut registry = Registry::start_at(&sandbox, &endpoint, &["--push-target", &option]);
    let pushed = wait_for_keys(&target);
    let mut carl = client_of(&sandbox, &registry, "carl", URI, "encrypt");
    let inputs = vec![Variant::from(target_id())];
    let removed = carl.call_method(&NodeId::from(FOLDER), &NodeId::from(REMOVE), inputs);
    assert_eq!(status(removed), StatusCode::BadInvalidState);
    let plant = group_id("Plant");
    let left = assign(&mut carl, DISCONNECT, &plant).unwrap();
    assert_eq!(left, StatusCode::BadInvalidState);

    // The registry is gone when the target starts again.
    registry.process.kill();
    drop(target);
    let target = press(&sandbox, &registry.name);
    assert_eq!(token(&target), Some(pushed));
    let file = sandbox.data_directory().join("pki/own/private/Press.keys");
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}
