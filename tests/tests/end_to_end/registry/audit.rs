//! The audit log of a registry: who did what, and who was refused.

use std::path::Path;

use serde_json::Value;
use takt_app::{Client, Identity, model};
use takt_tests::{Registry, Sandbox};
use takt_ua::{NodeId, QualifiedName, StatusCode};

use crate::registry::ownership::{add_named, add_provider, delete};
use crate::registry::refusals::logs;
use crate::registry::roles::{add_user, client_of};
use crate::registry::security_groups::{add, remove, status};
use crate::registry::{PATIENCE, client_as, consumer, eventually, tank, wait_until_available};

/// Returns all records of an audit log. A reader may see a part of the last line while the registry writes it.
fn records(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let whole = text.rfind('\n').map_or(0, |last| last + 1);
    let lines = text[..whole].lines().map(serde_json::from_str);
    lines.map(Result::unwrap).collect()
}

/// Waits for a record with these fields, and returns it.
pub(crate) fn find(path: &Path, fields: &[(&str, Value)]) -> Value {
    let mut found = None;
    eventually(&format!("a record with {fields:?}"), PATIENCE, || {
        let mut records = records(path).into_iter();
        found = records.find(|record| {
            let mut fields = fields.iter();
            fields.all(|(name, value)| record.get(*name) == Some(value))
        });
        found.is_some()
    });
    found.unwrap()
}

#[test]
fn the_audit_log_tells_who_did_what() {
    let sandbox = Sandbox::new();
    let path = sandbox.data_directory().join("audit.jsonl");
    let arguments = ["--audit", path.to_str().unwrap()];
    let registry = Registry::start(&sandbox, &arguments);
    let _ = add_user(&sandbox, "anna", "operator,engineer,security-admin");
    let name = sandbox.application("Tank");
    let _tank = tank(&sandbox, &name, &registry.shared_memory()).unwrap();
    wait_until_available(&mut consumer(&sandbox, &registry), &name);

    // Channels and Sessions.
    let uri = "urn:plant:desk";
    let mut anna = client_of(&sandbox, &registry, "anna", uri, "encrypt");
    let level = anna.find(&format!("{name}/Level")).unwrap().node_id.node_id;
    let opened = find(
        &path,
        &[
            ("EventType", "AuditOpenSecureChannelEventType".into()),
            ("SecurityMode", "SignAndEncrypt".into()),
        ],
    );
    let address = opened["ClientAddress"].as_str().unwrap();
    assert!(address.starts_with("127.0.0.1:"), "{opened}");
    let thumbprint = opened["ClientCertificateThumbprint"].as_str().unwrap();
    assert_eq!(thumbprint.len(), 40, "{opened}");
    let activated = find(
        &path,
        &[
            ("EventType", "AuditActivateSessionEventType".into()),
            ("ClientUserId", "anna".into()),
        ],
    );
    assert_eq!(activated["Status"], true);
    assert_eq!(activated["ClientApplicationUri"], uri);
    assert_eq!(activated["SecureChannelId"], opened["SecureChannelId"]);
    let roles = activated["Roles"].as_str().unwrap();
    assert!(
        roles.ends_with("operator,engineer,security-admin"),
        "{activated}"
    );
    let session = &activated["SessionId"];
    let created = find(
        &path,
        &[
            ("EventType", "AuditCreateSessionEventType".into()),
            ("SessionId", session.clone()),
        ],
    );
    assert_eq!(created["SourceName"], "Session/CreateSession");

    // Writes, good and bad, also forwarded ones.
    let written = |value: &str| {
        [
            ("EventType", Value::from("AuditWriteUpdateEventType")),
            ("SourceNode", level.to_string().into()),
            ("ClientUserId", value.into()),
        ]
    };
    anna.write(&level, 50.0.into()).unwrap();
    let record = find(&path, &written("anna"));
    assert_eq!(
        (&record["Status"], &record["AttributeId"]),
        (&true.into(), &13.into())
    );
    assert_eq!(&record["SessionId"], session);
    let _ = add_user(&sandbox, "carl", "observer");
    let mut carl = client_of(&sandbox, &registry, "carl", uri, "sign");
    let denied = StatusCode::BadUserAccessDenied;
    assert_eq!(status(carl.write(&level, 60.0.into())), denied);
    let record = find(&path, &written("carl"));
    assert_eq!(record["Status"], false);
    let code = record["StatusCodeId"].as_str().unwrap();
    assert!(code.starts_with("BadUserAccessDenied"), "{record}");

    // Methods, among them those that change SecurityGroups.
    let object = anna.find(&name).unwrap().node_id.node_id;
    let double = NodeId::string(object.namespace, "Double");
    anna.call_method(&object, &double, vec![4.0.into()])
        .unwrap();
    let cell = add(&mut anna, "Cell", 0.0, "").unwrap();
    remove(&mut anna, &cell).unwrap();
    assert_eq!(
        status(add(&mut carl, "Line", 0.0, "")),
        StatusCode::BadSecurityModeInsufficient
    );
    for (method, user, good) in [
        ("Double", "anna", true),
        ("AddSecurityGroup", "anna", true),
        ("RemoveSecurityGroup", "anna", true),
        ("AddSecurityGroup", "carl", false),
    ] {
        let fields = [
            ("EventType", Value::from("AuditUpdateMethodEventType")),
            ("Method", method.into()),
            ("ClientUserId", user.into()),
        ];
        assert_eq!(find(&path, &fields)["Status"], good, "{method} of {user}");
    }

    // NodeManagement.
    let pump = sandbox.application("Pump");
    let pump_uri = model::provider_uri(&pump);
    let mut engineer = client_of(&sandbox, &registry, "anna", &pump_uri, "encrypt");
    assert_eq!(add_provider(&mut engineer, &pump), StatusCode::Good);
    let pump = engineer.find(&pump).unwrap().node_id.node_id;
    let valve = NodeId::string(pump.namespace, "Valve");
    let named = QualifiedName::new(pump.namespace, "Valve");
    let add_valve =
        |client: &mut Client| add_named(client, pump.clone(), valve.clone().into(), named.clone());
    assert_eq!(add_valve(&mut carl), denied);
    assert_eq!(add_valve(&mut engineer), StatusCode::Good);
    assert_eq!(delete(&mut engineer, &valve), StatusCode::Good);
    for (event_type, user, good) in [
        ("AuditAddNodesEventType", "carl", false),
        ("AuditAddNodesEventType", "anna", true),
        ("AuditDeleteNodesEventType", "anna", true),
    ] {
        let fields = [
            ("EventType", Value::from(event_type)),
            ("Node", valve.to_string().into()),
            ("ClientUserId", user.into()),
        ];
        assert_eq!(
            find(&path, &fields)["Status"],
            good,
            "{event_type} of {user}"
        );
    }

    // The end of Session and channel.
    drop(anna);
    find(
        &path,
        &[
            ("EventType", "AuditSessionEventType".into()),
            ("SessionId", session.clone()),
        ],
    );
    find(
        &path,
        &[
            ("SourceName", "SecureChannel/CloseSecureChannel".into()),
            ("SecureChannelId", opened["SecureChannelId"].clone()),
        ],
    );
    // Over shared memory the kernel tells who it is.
    let user = format!("unix-user={}", rustix::process::geteuid().as_raw());
    find(
        &path,
        &[
            ("EventType", "AuditAddNodesEventType".into()),
            ("ClientUserId", user.into()),
        ],
    );
    for record in records(&path) {
        for field in ["Time", "ActionTimeStamp", "ServerId", "ClientAuditEntryId"] {
            assert!(record.get(field).is_some_and(Value::is_string), "{record}");
        }
    }
}

#[test]
fn the_audit_log_tells_who_was_refused() {
    let sandbox = Sandbox::new();
    let path = sandbox.data_directory().join("audit.jsonl");
    let arguments = ["--audit", path.to_str().unwrap()];
    let registry = Registry::start(&sandbox, &arguments);
    let _ = add_user(&sandbox, "anna", "operator");
    // A wrong password, an unknown user, and an application without a registration.
    let guess = |user: &str| {
        let identity = Identity::UserName {
            name: user.to_owned(),
            password: "nail".to_owned(),
        };
        let mut client = client_as(&sandbox, &registry.endpoint, "urn:plant:desk", identity);
        assert!(client.namespace_array().is_err());
        let record = find(
            &path,
            &[
                ("EventType", "AuditActivateSessionEventType".into()),
                ("ClientUserId", user.into()),
            ],
        );
        assert_eq!(record["Status"], false);
        assert!(record.get("Roles").is_none(), "{record}");
    };
    guess("anna");
    guess("nobody");
    // A certificate that is not trusted.
    let stranger = sandbox.elsewhere();
    let certificates = stranger.data_directory().join("pki");
    let read = [
        "read",
        &registry.endpoint,
        "i=2258",
        "--security",
        "encrypt",
        "--certificates",
        certificates.to_str().unwrap(),
    ];
    // The client does not trust the server either: it trusts all that it has seen, and tries again.
    let _ = stranger.run(&read).expect_failure();
    let trust = ["trust", "--certificates", certificates.to_str().unwrap()];
    let own = sandbox.data_directory().join("pki/own/certs");
    for certificate in std::fs::read_dir(own).unwrap() {
        let certificate = certificate.unwrap().path();
        let add = [&trust[..], &["add", certificate.to_str().unwrap()]].concat();
        let _ = stranger.run(&add).expect_success();
    }
    let _ = stranger.run(&read).expect_failure();
    let record = find(
        &path,
        &[("EventType", "AuditCertificateUntrustedEventType".into())],
    );
    let closed = ["WARN", "closing the connection", "client=127.0.0.1:"];
    let facts = ["SecurityPolicy#", "certificate=\"urn:", "is not trusted"];
    logs(&registry, &[closed, facts].concat());
    assert_eq!(record["Status"], false);
    let address = record["ClientAddress"].as_str().unwrap();
    assert!(address.starts_with("127.0.0.1:"), "{record}");
    let thumbprint = record["ClientCertificateThumbprint"].as_str().unwrap();
    let folder = sandbox.data_directory().join("pki");
    let list = [
        "trust",
        "--certificates",
        folder.to_str().unwrap(),
        "list",
        "--json",
    ];
    let rejected = sandbox.run(&list).expect_success();
    assert!(rejected.contains(thumbprint), "{record}: {rejected}");
    let subject = record["ClientCertificateSubject"].as_str().unwrap();
    assert!(subject.contains("CN="), "{record}");

    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("nail") && !text.contains("hammer"), "{text}");
    let broken = [
        "registry",
        "--endpoint",
        "opc.tcp://127.0.0.1:0",
        "--audit",
        "/missing/audit",
    ];
    let refused = sandbox.run(&broken).expect_failure();
    assert!(refused.contains("/missing/audit"), "{refused}");
    assert!(refused.contains("--audit FILE"), "{refused}");
}
