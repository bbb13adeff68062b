//! The SecurityKeyService: keys for PubSub, access to them, and their persistence.

use std::time::Instant;

use takt_app::{Client, ClientError, ClientOptions, ClientSecurity};
use takt_pubsub::security::{
    KeyRing, MessageProtector, MessageVerifier, PubSubSecurityPolicy, Replay, SIGNATURE_LENGTH,
    SecurityKeyUpdate, VerifyError,
};
use takt_tests::{Registry, Sandbox};
use takt_ua::binary::Encoder;
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::{NodeId, StatusCode, Variant, ids};
use takt_wire::{DataSetContent, DataSetMessage, Fields, NetworkMessage, PublisherId};

use crate::registry::{PATIENCE, client};

/// Adds a group and returns its NodeId.
pub(crate) fn add(
    client: &mut Client,
    name: &str,
    key_lifetime: f64,
    policy: &str,
) -> Result<NodeId, ClientError> {
    let outputs = client.call_method(
        &NodeId::from(ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS),
        &NodeId::from(ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS_ADD_SECURITY_GROUP),
        vec![
            name.into(),
            key_lifetime.into(),
            policy.into(),
            3_u32.into(),
            1_u32.into(),
        ],
    )?;
    match &outputs[..] {
        [Variant::String(id), Variant::NodeId(node)] if id.as_str() == name => {
            Ok(NodeId::clone(node))
        }
        other => panic!("{other:?}"),
    }
}

/// Removes a group.
pub(crate) fn remove(client: &mut Client, group: &NodeId) -> Result<(), ClientError> {
    let removed = client.call_method(
        &NodeId::from(ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS),
        &NodeId::from(ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS_REMOVE_SECURITY_GROUP),
        vec![Variant::from(group.clone())],
    );
    removed.map(drop)
}

/// Returns the StatusCode of an error.
pub(crate) fn status<T: std::fmt::Debug>(result: Result<T, ClientError>) -> StatusCode {
    result.unwrap_err().status_code()
}

#[test]
fn keys_are_given_over_shared_memory_only() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &["--security-group", "Plant=PubSub-Aes128-CTR"]);
    let mut local = client(&sandbox, &registry.shared_memory());
    let keys = local.get_security_keys("Plant", 2).unwrap();
    assert_eq!(
        keys.security_policy_uri,
        PubSubSecurityPolicy::PubSubAes128Ctr.uri()
    );
    assert_eq!(keys.keys.len(), 2);
    assert!(keys.keys.iter().all(|key| key.len() == 52));
    assert_ne!(keys.keys[0], keys.keys[1]);
    assert_eq!(keys.key_lifetime.as_secs(), 3600);
    assert!(keys.time_to_next_key <= keys.key_lifetime);
    assert_eq!(
        status(local.get_security_keys("Plan", 2)),
        StatusCode::BadNotFound
    );

    // Over TCP neither the caller nor eavesdroppers are known: the response does not even tell whether the group
    // exists.
    let mut remote = client(&sandbox, &registry.endpoint);
    let insufficient = StatusCode::BadSecurityModeInsufficient;
    for group in ["Plant", "Plan"] {
        assert_eq!(status(remote.get_security_keys(group, 2)), insufficient);
    }
    assert_eq!(status(add(&mut remote, "Cell", 0.0, "")), insufficient);
    let plant = NodeId::string(1, "SecurityGroups/Plant");
    assert_eq!(status(remove(&mut remote, &plant)), insufficient);
}

#[test]
fn groups_are_added_shown_and_removed() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let mut client = client(&sandbox, &registry.shared_memory());
    let group = add(&mut client, "Cell 7/A", 5_000.0, "").unwrap();
    let expected: [(&str, Variant); 5] = [
        ("SecurityGroupId", "Cell 7/A".into()),
        ("KeyLifetime", 5_000.0.into()),
        (
            "SecurityPolicyUri",
            PubSubSecurityPolicy::PubSubAes256Ctr.uri().into(),
        ),
        ("MaxFutureKeyCount", 3_u32.into()),
        ("MaxPastKeyCount", 1_u32.into()),
    ];
    let shown = client
        .browse(&group, &takt_app::client::Follow::children())
        .unwrap();
    // And two Methods.
    assert_eq!(shown.len(), expected.len() + 2);
    for (name, value) in expected {
        let property = shown
            .iter()
            .find(|node| node.browse_name.name.as_str() == name);
        let property = property.unwrap().node_id.node_id.clone();
        assert_eq!(client.read_good(&property).unwrap(), value, "{name}");
    }
    // An equal configuration returns the same group; a different one with this name is refused.
    assert_eq!(add(&mut client, "Cell 7/A", 5_000.0, "").unwrap(), group);
    let other = add(&mut client, "Cell 7/A", 6_000.0, "");
    assert_eq!(status(other), StatusCode::BadNodeIdExists);
    let wrong = add(&mut client, "Other", 0.0, "urn:no-policy");
    assert_eq!(status(wrong), StatusCode::BadInvalidArgument);

    // The current key, and as many future keys as the group has.
    let first = client.get_security_keys("Cell 7/A", 100).unwrap();
    assert_eq!(first.keys.len(), 4);
    remove(&mut client, &group).unwrap();
    assert_eq!(
        status(remove(&mut client, &group)),
        StatusCode::BadNodeIdUnknown
    );
    let folder = NodeId::from(ids::PUBLISH_SUBSCRIBE_SECURITY_GROUPS);
    assert_eq!(
        status(remove(&mut client, &folder)),
        StatusCode::BadNodeIdInvalid
    );
    let gone = client.get_security_keys("Cell 7/A", 1);
    assert_eq!(status(gone), StatusCode::BadNotFound);
    assert!(client.read_good(&group).is_err());
    // The group has the same name, but a token never stands for another key.
    let _ = add(&mut client, "Cell 7/A", 5_000.0, "").unwrap();
    let second = client.get_security_keys("Cell 7/A", 1).unwrap();
    assert!(second.first_token_id > first.first_token_id + 3);
}

/// Returns all keys of a group that are available, by token.
fn keys_by_token(update: &SecurityKeyUpdate) -> Vec<(u32, Vec<u8>)> {
    let tokens = update.first_token_id..;
    tokens
        .zip(update.keys.iter().map(|key| key.to_vec()))
        .collect()
}

#[test]
fn a_token_identifies_one_key_across_restarts_of_the_registry() {
    let sandbox = Sandbox::new();
    let mut registry = Registry::start(&sandbox, &[]);
    let mut asking = client(&sandbox, &registry.shared_memory());
    let _ = add(&mut asking, "Plant", 1_000.0, "").unwrap();
    let mut known = std::collections::BTreeMap::new();
    let mut last = 0;
    for round in 0..3 {
        let deadline = Instant::now() + std::time::Duration::from_millis(1_300);
        while Instant::now() < deadline {
            let update = asking.get_security_keys("Plant", 4).unwrap();
            assert!(update.first_token_id >= last);
            last = update.first_token_id;
            for (token, key) in keys_by_token(&update) {
                assert_eq!(*known.entry(token).or_insert_with(|| key.clone()), key);
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        if round < 2 {
            let endpoint = registry.endpoint.clone();
            registry.process.kill();
            registry = Registry::start_at(&sandbox, &endpoint, &[]);
            asking = client(&sandbox, &registry.shared_memory());
        }
    }
    assert!(known.len() > 5, "{}", known.len());
    // Only the registry's user can read the stored keys.
    use std::os::unix::fs::PermissionsExt;
    let file = sandbox.data_directory().join("registry.redb");
    let mode = std::fs::metadata(file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    registry.process.signal(rustix::process::Signal::TERM);
    assert!(registry.process.wait(PATIENCE).success());
}

#[test]
fn a_policy_that_differs_from_the_database_is_explained() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &["--security-group", "Plant=PubSub-Aes128-CTR"]);
    let name = registry.name.clone();
    drop(registry);
    let data = sandbox.data_directory();
    let with = |group: &str| {
        let data = data.to_str().unwrap();
        let arguments = ["registry", "--name", &name, "--data", data];
        let arguments = [&arguments, &["--security-group", group][..]].concat();
        sandbox.run(&arguments).expect_failure()
    };
    let said = with("Plant=PubSub-Aes256-CTR");
    assert!(said.contains("another SecurityPolicy"), "{said}");
    let said = with("Plant:anna");
    assert!(
        said.contains("is neither the name nor the number of a Unix user"),
        "{said}"
    );
}

/// A Publisher and a Subscriber with keys from the registry, while these change every second.
#[test]
fn messages_are_protected_with_keys_of_the_registry() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let mut publisher = client(&sandbox, &registry.shared_memory());
    let mut subscriber = client(&sandbox, &registry.shared_memory());
    let _ = add(&mut publisher, "Plant", 1_000.0, "").unwrap();
    let mode = MessageSecurityMode::SignAndEncrypt;
    let policy = PubSubSecurityPolicy::PubSubAes256Ctr;
    let content = DataSetContent::KeyFrame(Fields::Variant(vec![21.5.into()]));
    let message = NetworkMessage {
        security_header: Some(policy.security_header(mode).unwrap()),
        signature: vec![0; SIGNATURE_LENGTH],
        ..NetworkMessage::data(
            Some(PublisherId::UInt16(1)),
            vec![DataSetMessage::new(content)],
        )
    };
    let mut plain = Vec::new();
    let layout = message
        .encode(&mut Encoder::growing(&mut plain, 1000))
        .unwrap();
    let (mut sending, mut receiving) = (KeyRing::new(), KeyRing::new());
    let mut protector = MessageProtector::new(mode).unwrap();
    let mut verifier = MessageVerifier::new(mode).unwrap();
    let mut tokens = std::collections::BTreeSet::new();
    let start = Instant::now();
    while start.elapsed().as_millis() < 2_500 {
        let now = Instant::now();
        for (client, keys) in [
            (&mut publisher, &mut sending),
            (&mut subscriber, &mut receiving),
        ] {
            if keys.request_at().is_none_or(|at| at <= now) {
                let update = client.get_security_keys("Plant", 3).unwrap();
                keys.update(&update, Instant::now()).unwrap();
            }
        }
        let now = Instant::now();
        let mut bytes = plain.clone();
        protector
            .protect(&sending, &mut bytes, &layout, now)
            .unwrap();
        let mut again = bytes.clone();
        let verified = verifier.verify(&receiving, &mut bytes, now).unwrap();
        assert_eq!(
            bytes[layout.encrypted.clone()],
            plain[layout.encrypted.clone()]
        );
        assert_eq!(
            verifier.verify(&receiving, &mut again, now),
            Err(VerifyError::Replay(Replay::Seen))
        );
        tokens.insert(verified.security_token_id);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(tokens.len() >= 3, "{tokens:?}");
}

#[test]
fn keys_are_invalidated_and_rotated_on_demand() {
    let sandbox = Sandbox::new();
    let registry = Registry::start(&sandbox, &[]);
    let mut local = client(&sandbox, &registry.shared_memory());
    let group = add(&mut local, "Plant", 3_600_000.0, "").unwrap();
    let before = local.get_security_keys("Plant", 4).unwrap();
    let call = |client: &mut Client, method: &str| {
        let method = NodeId::string(1, &format!("SecurityGroups.{method}/Plant"));
        client.call_method(&group, &method, Vec::new())
    };
    call(&mut local, "ForceKeyRotation").unwrap();
    let rotated = local.get_security_keys("Plant", 4).unwrap();
    assert_eq!(rotated.first_token_id, before.first_token_id + 1);
    assert_eq!(rotated.keys[..3], before.keys[1..]);
    call(&mut local, "InvalidateKeys").unwrap();
    let invalidated = local.get_security_keys("Plant", 4).unwrap();
    let last = rotated.first_token_id + rotated.keys.len() as u32 - 1;
    assert_eq!(invalidated.first_token_id, last + 1);
    assert!(
        invalidated
            .keys
            .iter()
            .all(|key| !rotated.keys.contains(key))
    );
    // From then on a Subscriber does not need the old keys.
    let now = Instant::now();
    let mut ring = KeyRing::new();
    ring.update(&rotated, now).unwrap();
    assert!(ring.receiving(last, now).is_some());
    ring.update(&invalidated, now).unwrap();
    assert!(ring.receiving(last, now).is_none());

    let mut remote = client(&sandbox, &registry.endpoint);
    for method in ["InvalidateKeys", "ForceKeyRotation"] {
        assert_eq!(
            status(call(&mut remote, method)),
            StatusCode::BadSecurityModeInsufficient
        );
    }
}

/// Over an encrypted channel, the certificate of an application identifies it.
#[test]
fn listed_applications_get_keys_over_encrypted_tcp() {
    let sandbox = Sandbox::new();
    let groups = ["--security-group", "Plant:urn:plant:press"];
    let registry = Registry::start(&sandbox, &groups);
    let connect = |name: &str, choice: &str| {
        let options = ClientOptions {
            application_uri: format!("urn:plant:{name}"),
            timeout: std::time::Duration::from_secs(20),
            security: ClientSecurity {
                choice: choice.parse().unwrap(),
                // The applications of one folder trust each other.
                certificates: Some(sandbox.data_directory().join("pki")),
                ..ClientSecurity::default()
            },
            ..ClientOptions::named(name)
        };
        Client::connect(&registry.endpoint.parse().unwrap(), options).unwrap()
    };
    let mut press = connect("press", "encrypt");
    let keys = press.get_security_keys("Plant", 2).unwrap();
    let mut local = client(&sandbox, &registry.shared_memory());
    assert_eq!(keys.keys, local.get_security_keys("Plant", 2).unwrap().keys);
    let denied = StatusCode::BadUserAccessDenied;
    assert_eq!(status(press.get_security_keys("Plan", 2)), denied);
    assert_eq!(
        status(connect("pump", "encrypt").get_security_keys("Plant", 2)),
        denied
    );
    let insufficient = StatusCode::BadSecurityModeInsufficient;
    for choice in ["sign", "none"] {
        assert_eq!(
            status(connect("press", choice).get_security_keys("Plant", 2)),
            insufficient
        );
    }
    // The Unix user of the registry is an administrator.
    add(&mut press, "Cell", 3_600_000.0, "").unwrap();
}
