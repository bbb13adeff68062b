//! A push target takes keys from named applications on encrypted channels, and a SecurityKeyService gives them to nobody else.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use takt_app::serve::{EndpointSecurity, ServeOptions};
use takt_app::{
    Client, ClientError, ClientOptions, ClientSecurity, KeyNews, KeyReceiver, KeyReceiverOptions,
};
use takt_crypto::CertificateError;
use takt_pubsub::security::{PubSubSecurityPolicy, SecurityKeyUpdate};
use takt_ua::StatusCode;

fn target(certificates: &Path) -> KeyReceiver {
    let services = [("Plant", "urn:plant:keys"), ("Line", "urn:line:keys")];
    let services = services.map(|(group, uri)| (group.to_owned(), [uri.to_owned()].into()));
    KeyReceiver::start(KeyReceiverOptions {
        application_name: "Press".to_owned(),
        endpoint: "opc.tcp://127.0.0.1:0".parse().unwrap(),
        services: BTreeMap::from(services),
        serve: ServeOptions {
            security: EndpointSecurity {
                certificates: Some(certificates.to_owned()),
                secured_loopback: true,
                ..EndpointSecurity::default()
            },
            ..ServeOptions::default()
        },
    })
    .unwrap()
}

fn update(first_token_id: u32) -> SecurityKeyUpdate {
    let policy = PubSubSecurityPolicy::PubSubAes256Ctr;
    SecurityKeyUpdate {
        security_policy_uri: policy.uri().to_owned(),
        first_token_id,
        keys: vec![vec![7; policy.key_data_length()].into(); 3],
        time_to_next_key: Duration::from_secs(60),
        key_lifetime: Duration::from_secs(60),
    }
}

/// Returns a client of an application with this name.
fn client(
    target: &KeyReceiver,
    certificates: &Path,
    name: &str,
    choice: &str,
    server_uri: &str,
) -> Client {
    let options = ClientOptions {
        application_uri: format!("urn:plant:{name}"),
        server_uri: Some(server_uri.to_owned()),
        timeout: Duration::from_secs(20),
        security: ClientSecurity {
            choice: choice.parse().unwrap(),
            certificates: Some(certificates.to_owned()),
            ..ClientSecurity::default()
        },
        ..ClientOptions::named(name)
    };
    Client::new(target.endpoint().unwrap(), options)
}

#[test]
fn keys_are_set_by_named_applications_on_encrypted_channels() {
    let folder = tempfile::tempdir().unwrap();
    // The applications of one folder trust each other.
    let certificates = folder.path().join("pki");
    let target = target(&certificates);
    assert_eq!(target.application_uri(), "urn:takt:pubsub:Press");
    let connect = |name: &str, choice: &str, server_uri: &str| {
        client(&target, &certificates, name, choice, server_uri)
    };
    let own = target.application_uri();
    let status = |mut client: Client, group: &str, update: &SecurityKeyUpdate| {
        let error = client.set_security_keys(group, update).unwrap_err();
        error.status_code()
    };
    for choice in ["none", "sign"] {
        let refused = status(connect("keys", choice, own), "Plant", &update(1));
        assert_eq!(refused, StatusCode::BadSecurityModeInsufficient, "{choice}");
    }
    let encrypted = |name: &str| connect(name, "encrypt", own);
    let denied = StatusCode::BadUserAccessDenied;
    // A trusted application, but no SecurityKeyService; and that of another group.
    for (name, group) in [("pump", "Plant"), ("pump", "Nobody"), ("keys", "Line")] {
        let refused = status(encrypted(name), group, &update(1));
        assert_eq!(refused, denied, "{name} {group}");
    }
    let unknown = status(encrypted("keys"), "Nobody", &update(1));
    assert_eq!(unknown, StatusCode::BadNotFound);
    let foreign = SecurityKeyUpdate {
        security_policy_uri: "urn:foreign".to_owned(),
        ..update(1)
    };
    let invalid = status(encrypted("keys"), "Plant", &foreign);
    assert_eq!(invalid, StatusCode::BadInvalidArgument);
    assert!(target.news(Instant::now()).is_empty());

    encrypted("keys")
        .set_security_keys("Plant", &update(5))
        .unwrap();
    let news = target.news(Instant::now());
    let [
        KeyNews::Keys {
            security_group_id,
            ring,
            ..
        },
    ] = &news[..]
    else {
        panic!("{news:?}");
    };
    let sending = ring.sending(Instant::now()).unwrap();
    assert_eq!(security_group_id, "Plant");
    assert_eq!(sending.security_token_id(), 5);

    // The same keys again are no news, other ones are.
    let mut client = encrypted("keys");
    let later = SecurityKeyUpdate {
        time_to_next_key: Duration::from_secs(30),
        ..update(5)
    };
    client.set_security_keys("Plant", &later).unwrap();
    assert!(target.news(Instant::now()).is_empty());
    client.set_security_keys("Plant", &update(6)).unwrap();
    assert_eq!(target.news(Instant::now()).len(), 1);

    // A service does not give keys to another application than the one that it means.
    let mut mistaken = connect("keys", "encrypt", "urn:takt:pubsub:Pump");
    let refused = mistaken.set_security_keys("Plant", &update(6)).unwrap_err();
    assert!(
        matches!(
            refused,
            ClientError::ServerCertificate {
                cause: CertificateError::Uri,
                ..
            }
        ),
        "{refused}"
    );
    assert!(target.news(Instant::now()).is_empty());
}

/// Environment variable of the process in a mount namespace: its folder with the small disk.
const FOLDER: &str = "TAKT_TEST_SMALL_DISK";

/// Returns the token of the current key that has come.
fn token(target: &KeyReceiver) -> Option<u32> {
    let now = Instant::now();
    let rings = target.news(now).into_iter().filter_map(|news| match news {
        KeyNews::Keys { ring, .. } => Some(ring),
        KeyNews::Missing { .. } => None,
    });
    Some(rings.last()?.sending(now).ok()?.security_token_id())
}

/// The keys on the disk are the last ones for which there was space.
fn push_to_a_full_disk(disk: &Path) {
    let certificates = disk.join("pki");
    let receiver = target(&certificates);
    let push = |receiver: &KeyReceiver, token: u32| {
        let own = receiver.application_uri();
        let mut client = client(receiver, &certificates, "keys", "encrypt", own);
        client.set_security_keys("Plant", &update(token)).unwrap();
    };
    push(&receiver, 5);
    assert_eq!(token(&receiver), Some(5));
    let ballast = disk.join("ballast");
    let mut file = std::fs::File::create(&ballast).unwrap();
    while file.write_all(&[1; 4096]).is_ok() {}
    drop(file);
    push(&receiver, 6);
    assert_eq!(token(&receiver), Some(6), "new keys are used");
    drop(receiver);
    let receiver = target(&certificates);
    assert_eq!(token(&receiver), Some(5), "stored keys are not damaged");
    std::fs::remove_file(&ballast).unwrap();
    push(&receiver, 7);
    drop(receiver);
    assert_eq!(token(&target(&certificates)), Some(7));
}

#[test]
fn a_target_with_a_full_disk_uses_new_keys_and_keeps_the_stored_ones() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return push_to_a_full_disk(&PathBuf::from(folder));
    }
    let disk = tempfile::tempdir().unwrap();
    let path = disk.path().display();
    let mount = format!("mount -t tmpfs -o size=1m,mode=700 tmpfs {path} && exec \"$@\"");
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount"]);
    command.args(["sh", "-c", &mount, "sh"]);
    command.arg(std::env::current_exe().unwrap());
    let test = "pushed_keys::a_target_with_a_full_disk_uses_new_keys_and_keeps_the_stored_ones";
    command.args([test, "--exact", "--nocapture"]);
    let Ok(output) = command.env(FOLDER, disk.path()).output() else {
        println!("left out: there is no unshare");
        return;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.starts_with("unshare:") {
        println!("left out: no namespaces here: {errors}");
        return;
    }
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("1 passed"), "{out}\n{errors}");
}
