//! Certificates and trust lists of a server that administrators change over the network (OPC 10000-12, 7.10).

use std::path::Path;
use std::time::Duration;

use takt_app::Client;
use takt_crypto::{Certificate, EllipticCurve, KeyKind, NewCertificate, issue};
use takt_tests::authority::Authority;
use takt_tests::{Registry, Sandbox};
use takt_ua::binary::Encode;
use takt_ua::structures::TrustListDataType;
use takt_ua::{ByteString, NodeId, StatusCode, UaString, Variant, ids};

use crate::registry::audit;
use crate::registry::roles::{add_user, client_of};
use crate::registry::trust::TwoUsers;

const URI: &str = "urn:plant:desk";

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs `takt trust` of the client with a server and its administrator.
fn remote(users: &TwoUsers, command: &[&str]) -> takt_tests::process::Finished {
    let password = users.sandbox.data_directory().join("password");
    let server = ["--server", &users.registry.endpoint, "--user", "carl"];
    let password = ["--password-file", text(&password)];
    let all = [&["trust"], command, &server, &password].concat();
    users.elsewhere.run(&all)
}

#[test]
fn an_administrator_renews_the_certificate_of_a_server_and_changes_its_trust() {
    let users = TwoUsers::new(&[]);
    let _ = add_user(&users.sandbox, "carl", "security-admin");
    let authority = Authority::new(&users.elsewhere.data_directory());
    let watch = users.watch();

    let listed = remote(&users, &["list"]).expect_success();
    let line = |folder: &str| listed.lines().find(|line| line.starts_with(folder));
    assert!(
        line("own").is_some_and(|line| line.contains(&users.registry.name)),
        "{listed}"
    );
    assert!(
        line("trusted").is_some_and(|line| line.contains(&users.client[..16])),
        "{listed}"
    );

    let missing = remote(&users, &["renew"]).expect_failure();
    assert!(missing.contains("--ca FILE"), "{missing}");
    let ca = [
        "--ca",
        text(&authority.certificate),
        "--ca-key",
        text(&authority.key),
    ];
    let renewed = remote(&users, &[&["renew"], &ca[..]].concat()).expect_success();
    assert!(renewed.contains("CN=Plant CA"), "{renewed}");
    // The channel that was open stays open; new ones have the new certificate, whose issuer the client does not know.
    let refused = users.read().expect_failure();
    assert!(
        refused.contains("is not trusted") || refused.contains("revocation"),
        "{refused}"
    );
    users.client_changes(&["add", text(&authority.certificate)]);
    users.client_changes(&["add", text(&authority.revocations)]);
    let _ = users.read().expect_success();
    drop(watch);

    // The certificate for a curve: its issuer has a key on a curve, too.
    let curve = users.elsewhere.data_directory().join("curve");
    std::fs::create_dir(&curve).unwrap();
    let on_curve = Authority::with_key(&curve, KeyKind::Ec(EllipticCurve::NistP256));
    let ca = [
        "--ca",
        text(&on_curve.certificate),
        "--ca-key",
        text(&on_curve.key),
    ];
    let renew = ["renew", "--key", "nistP256"];
    let renewed = remote(&users, &[&renew[..], &ca[..]].concat()).expect_success();
    assert!(renewed.contains("new nistP256 certificate"), "{renewed}");
    let renew = ["renew", "--key", "nistP384"];
    let missing = remote(&users, &[&renew[..], &ca[..]].concat()).expect_failure();
    assert!(
        missing.contains("no certificate with such a key"),
        "{missing}"
    );

    // The trust list of the server: an issuer with its revocation list, an application, and the client itself.
    for added in [&authority.certificate, &authority.revocations] {
        let _ = remote(&users, &["add", text(added)]).expect_success();
    }
    let list = ["trust", "list", "--certificates", &users.folder];
    let listed = users.sandbox.rows(&list);
    let is_ca = |row: &&serde_json::Value| row["name"] == "Plant CA" && row["folder"] == "trusted";
    let ca = listed.iter().find(is_ca).unwrap()["thumbprint"].clone();
    let crls = Path::new(&users.folder).join("trusted/crl");
    assert_eq!(std::fs::read_dir(&crls).unwrap().count(), 1);
    let _ = remote(&users, &["reject", ca.as_str().unwrap()]).expect_success();
    assert!(!users.sandbox.rows(&list).iter().any(|row| is_ca(&row)));
    assert_eq!(
        std::fs::read_dir(&crls).unwrap().count(),
        0,
        "its lists go with it"
    );
    let _ = remote(&users, &["reject", &users.client]).expect_success();
    let refused = users.read().expect_failure();
    assert!(refused.contains("BadSecurityChecksFailed"), "{refused}");
}

/// A registry with its folders, and its administrator.
struct Administered {
    sandbox: Sandbox,
    registry: Registry,
}

impl Administered {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(options: &[&str]) -> Self {
        let sandbox = Sandbox::new();
        let audit = sandbox.data_directory().join("audit.jsonl");
        let options = [&["--audit", text(&audit)], options].concat();
        let registry = Registry::start(&sandbox, &options);
        let _ = add_user(&sandbox, "carl", "security-admin");
        let _ = add_user(&sandbox, "bert", "operator,engineer,configure-admin");
        Self { sandbox, registry }
    }

    fn client(&self, user: &str, security: &str) -> Client {
        client_of(&self.sandbox, &self.registry, user, URI, security)
    }

    /// Returns the certificate that the folders have.
    fn certificate(&self) -> Vec<u8> {
        let file = format!("pki/own/certs/{}.der", self.registry.name);
        std::fs::read(self.sandbox.data_directory().join(file)).unwrap()
    }
}

const TRUST_LIST: u32 =
    ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST;
const OPEN: u32 =
    ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_OPEN;
const READ: u32 =
    ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_READ;
const WRITE: u32 =
    ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_WRITE;
const CLOSE: u32 =
    ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_CLOSE;
const CLOSE_AND_UPDATE: u32 =
    ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_CLOSE_AND_UPDATE;
const ADD: u32 =
    ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_TRUST_LIST_ADD_CERTIFICATE;
const APPLY: u32 = ids::SERVER_CONFIGURATION_APPLY_CHANGES;
pub(crate) const CANCEL: u32 = ids::SERVER_CONFIGURATION_CANCEL_CHANGES;
const UPDATE: u32 = ids::SERVER_CONFIGURATION_UPDATE_CERTIFICATE;

/// Calls a Method of the trust list or of ServerConfiguration; returns its first output argument.
pub(crate) fn call(
    client: &mut Client,
    method: u32,
    inputs: Vec<Variant>,
) -> Result<Variant, StatusCode> {
    let object = match method {
        APPLY | CANCEL | UPDATE => ids::SERVER_CONFIGURATION,
        _ => TRUST_LIST,
    };
    let called = client.call_method(&NodeId::from(object), &NodeId::from(method), inputs);
    let outputs = called.map_err(|error| error.status_code())?;
    Ok(outputs.into_iter().next().unwrap_or_default())
}

/// Arguments of UpdateCertificate.
fn update(certificate: &[u8]) -> Vec<Variant> {
    vec![
        NodeId::NULL.into(),
        NodeId::NULL.into(),
        ByteString::from(certificate).into(),
        Variant::from(Vec::<ByteString>::new()),
        UaString::null().into(),
        ByteString::null().into(),
    ]
}

fn open(client: &mut Client, mode: u8) -> Result<Variant, StatusCode> {
    call(client, OPEN, vec![mode.into()])
}

/// Writes a trust list that trusts this certificate in addition to nobody, without ApplyChanges.
pub(crate) fn begin(client: &mut Client, certificate: &Certificate) -> Result<Variant, StatusCode> {
    let list = TrustListDataType {
        specified_lists: 1,
        trusted_certificates: vec![certificate.der().into()],
        ..TrustListDataType::default()
    };
    let handle = open(client, 6)?;
    let data = ByteString::from(list.encode_to_vec());
    call(client, WRITE, vec![handle.clone(), data.into()])?;
    call(client, CLOSE_AND_UPDATE, vec![handle])
}

/// Returns the certificate of an application that nobody knows.
pub(crate) fn stranger(uri: &str) -> Certificate {
    let new = NewCertificate {
        application_name: "Stranger".to_owned(),
        application_uri: uri.to_owned(),
        host_names: vec!["localhost".to_owned()],
        addresses: Vec::new(),
        validity: Duration::from_secs(24 * 3600),
        key_bits: 2048,
    };
    new.create(KeyKind::Rsa).unwrap().certificate().clone()
}

#[test]
fn only_administrators_on_encrypted_channels_manage_certificates() {
    let plant = Administered::new();
    let denied = Err(StatusCode::BadUserAccessDenied);
    let insufficient = Err(StatusCode::BadSecurityModeInsufficient);
    for (user, security, expected) in [
        ("bert", "encrypt", denied),
        ("carl", "sign", insufficient),
        ("carl", "none", insufficient),
    ] {
        let mut client = plant.client(user, security);
        let check = |what: &str, result: Result<(), StatusCode>| {
            assert_eq!(result, expected, "{user} {security} {what}");
        };
        for (what, method, inputs) in [
            ("Open", OPEN, vec![1_u8.into()]),
            (
                "AddCertificate",
                ADD,
                vec![ByteString::null().into(), true.into()],
            ),
            ("UpdateCertificate", UPDATE, update(b"")),
            ("ApplyChanges", APPLY, Vec::new()),
        ] {
            check(what, call(&mut client, method, inputs).map(drop));
        }
        let code = |error: takt_app::ClientError| error.status_code();
        check(
            "list",
            client.rejected_certificates().map(drop).map_err(code),
        );
        check("own", client.server_certificates().map(drop).map_err(code));
        check(
            "request",
            client
                .create_signing_request(KeyKind::Rsa, false)
                .map(drop)
                .map_err(code),
        );
    }
    // Over shared memory, the Unix user of the registry has all roles.
    let endpoint = plant.registry.shared_memory();
    let mut own = crate::registry::client(&plant.sandbox, &endpoint);
    assert_eq!(own.read_trust_list().unwrap().specified_lists, 15);
}

#[test]
fn changes_wait_for_apply_changes_and_die_with_their_session() {
    let plant = Administered::new();
    let (mut first, mut second) = (
        plant.client("carl", "encrypt"),
        plant.client("carl", "encrypt"),
    );
    let known = stranger("urn:plant:stranger");
    let trusted = |client: &mut Client| client.read_trust_list().unwrap().trusted_certificates;
    assert_eq!(
        call(&mut first, APPLY, Vec::new()),
        Err(StatusCode::BadNothingToDo)
    );
    assert_eq!(begin(&mut first, &known), Ok(Variant::from(true)));
    assert!(trusted(&mut second).is_empty(), "not yet");
    let pending = Err(StatusCode::BadTransactionPending);
    let add = || vec![ByteString::from(known.der()).into(), true.into()];
    assert_eq!(call(&mut second, ADD, add()), pending);
    assert_eq!(open(&mut second, 6), pending);
    assert_eq!(
        call(&mut second, UPDATE, update(&plant.certificate())),
        pending
    );
    assert_eq!(call(&mut second, APPLY, Vec::new()), pending);
    call(&mut first, APPLY, Vec::new()).unwrap();
    assert_eq!(trusted(&mut second), [ByteString::from(known.der())]);

    // Discarded, and gone with the Session.
    let other = stranger("urn:plant:other");
    begin(&mut first, &other).unwrap();
    call(&mut first, CANCEL, Vec::new()).unwrap();
    begin(&mut first, &other).unwrap();
    drop(first);
    assert_eq!(trusted(&mut second), [ByteString::from(known.der())]);
    let mut first = plant.client("carl", "encrypt");
    let handle = open(&mut first, 6).unwrap();
    assert_eq!(open(&mut second, 1), Err(StatusCode::BadNotReadable));
    let stolen = call(&mut second, CLOSE, vec![handle]);
    assert_eq!(stolen, Err(StatusCode::BadInvalidArgument));
    drop(first);
    for _ in 0..4 {
        open(&mut second, 1).unwrap();
    }
    assert_eq!(
        open(&mut second, 1),
        Err(StatusCode::BadResourceUnavailable)
    );
    assert_eq!(open(&mut second, 2), Err(StatusCode::BadNotSupported));
    drop(second);

    // A list that is damaged or too long changes nothing.
    let mut client = plant.client("carl", "encrypt");
    let handle = open(&mut client, 6).unwrap();
    let part = ByteString::from(vec![0; 1 << 19]);
    let mut write = |data: &ByteString| {
        call(
            &mut client,
            WRITE,
            vec![handle.clone(), data.clone().into()],
        )
    };
    write(&part).unwrap();
    write(&part).unwrap();
    assert_eq!(
        write(&ByteString::from(b"x")),
        Err(StatusCode::BadRequestTooLarge)
    );
    let read = call(&mut client, READ, vec![handle.clone(), 1_i32.into()]);
    assert_eq!(read, Err(StatusCode::BadInvalidState));
    let closed = call(&mut client, CLOSE_AND_UPDATE, vec![handle.clone()]);
    assert_eq!(closed, Err(StatusCode::BadInvalidArgument));
    assert_eq!(
        call(&mut client, CLOSE, vec![handle]),
        Err(StatusCode::BadInvalidArgument)
    );
    assert_eq!(trusted(&mut client), [ByteString::from(known.der())]);
    let audit = plant.sandbox.data_directory().join("audit.jsonl");
    let updated = [
        ("EventType", "TrustListUpdatedAuditEventType".into()),
        ("Status", true.into()),
    ];
    let record = audit::find(&audit, &updated);
    assert_eq!(record["TrustListId"], "i=12642");
    assert_eq!(record["ClientUserId"], "carl");
}

#[test]
fn a_new_certificate_has_to_be_for_the_server() {
    let plant = Administered::new();
    let folder = plant.sandbox.data_directory();
    let mut client = plant.client("carl", "encrypt");
    let before = plant.certificate();
    let uri = Certificate::from_der(&before)
        .unwrap()
        .application_uri
        .unwrap();
    let refused = Err(StatusCode::BadSecurityChecksFailed);
    // A key that the server does not have; another ApplicationUri; no certificate at all.
    for wrong in [stranger(&uri), stranger("urn:plant:stranger")] {
        assert_eq!(call(&mut client, UPDATE, update(wrong.der())), refused);
    }
    let invalid = Err(StatusCode::BadCertificateInvalid);
    assert_eq!(call(&mut client, UPDATE, update(b"certificate")), invalid);
    // The issuer is neither sent nor known.
    let authority = Authority::new(&folder).identity();
    let request = client.create_signing_request(KeyKind::Rsa, true).unwrap();
    let day = Duration::from_secs(24 * 3600);
    let new = issue(request.as_bytes(), &authority, day).unwrap();
    assert_eq!(call(&mut client, UPDATE, update(new.der())), refused);
    // A later request has another key.
    let later = client.create_signing_request(KeyKind::Rsa, true).unwrap();
    let chain = [new.der(), authority.certificate().der()].concat();
    assert_eq!(call(&mut client, UPDATE, update(&chain)), refused);
    assert_eq!(plant.certificate(), before);
    let new = issue(later.as_bytes(), &authority, day).unwrap();
    client
        .update_certificate(KeyKind::Rsa, new.der(), &[authority.certificate().der()])
        .unwrap();
    let chain = [new.der(), authority.certificate().der()].concat();
    assert_eq!(plant.certificate(), chain);
    // The first one is that for RSA.
    let own = client.server_certificates().unwrap();
    assert_eq!(own.first(), Some(&ByteString::from(new.der())));
    // The key of the request is the own one now, and a certificate for it is taken without a new request.
    let same_key = client.create_signing_request(KeyKind::Rsa, false).unwrap();
    let again = issue(same_key.as_bytes(), &authority, day).unwrap();
    client
        .update_certificate(KeyKind::Rsa, again.der(), &[authority.certificate().der()])
        .unwrap();
    assert_eq!(
        Certificate::leaf_of(&plant.certificate()),
        Some(again.der())
    );
    let audit = folder.join("audit.jsonl");
    let updated = [
        ("EventType", "CertificateUpdatedAuditEventType".into()),
        ("Status", true.into()),
    ];
    let record = audit::find(&audit, &updated);
    assert_eq!(record["CertificateGroup"], "i=14156");
    // The files of keys are for this user only, and the one of the request is gone.
    let keys = std::fs::read_dir(folder.join("pki/own/private")).unwrap();
    let keys: Vec<_> = keys.map(|file| file.unwrap()).collect();
    assert!(
        !keys
            .iter()
            .any(|file| file.path().extension().is_some_and(|end| end == "request"))
    );
    for key in keys {
        let mode = std::os::unix::fs::PermissionsExt::mode(&key.metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn certificates_for_curves_are_replaced_each_on_its_own() {
    let plant = Administered::with(&["--curves", "all"]);
    let folder = plant.sandbox.data_directory();
    let day = Duration::from_secs(24 * 3600);
    let rsa = plant.certificate();
    for curve in EllipticCurve::ALL {
        let kind = KeyKind::Ec(curve);
        let own = folder.join(curve.name());
        std::fs::create_dir(&own).unwrap();
        let authority = Authority::with_key(&own, kind);
        let pki = folder.join("pki");
        for file in [&authority.certificate, &authority.revocations] {
            let add = ["trust", "add", text(file), "--certificates", text(&pki)];
            let _ = plant.sandbox.run(&add).expect_success();
        }
        let policy = format!("ECC_{}", curve.name());
        let mut client = plant.client("carl", &policy);
        let request = client.create_signing_request(kind, true).unwrap();
        let new = issue(request.as_bytes(), &authority.identity(), day).unwrap();
        let issuer = std::fs::read(&authority.certificate).unwrap();
        let other = client.update_certificate(KeyKind::Rsa, new.der(), &[&issuer]);
        assert_eq!(
            other.unwrap_err().status_code(),
            StatusCode::BadSecurityChecksFailed
        );
        client
            .update_certificate(kind, new.der(), &[&issuer])
            .unwrap();
        let certificates = client.server_certificates().unwrap();
        assert_eq!(certificates.len(), KeyKind::ALL.len());
        assert!(
            certificates.contains(&ByteString::from(new.der())),
            "{kind}"
        );
        let file = format!("own/certs/{} [{}].der", plant.registry.name, curve.name());
        let chain = [new.der(), &issuer].concat();
        assert_eq!(std::fs::read(pki.join(file)).unwrap(), chain, "{kind}");
        // A new channel has the new certificate and its key.
        let mut again = plant.client("carl", &policy);
        assert_eq!(again.server_certificates().unwrap(), certificates, "{kind}");
        // The present key, without a new request.
        let same_key = again.create_signing_request(kind, false).unwrap();
        let next = issue(same_key.as_bytes(), &authority.identity(), day).unwrap();
        again
            .update_certificate(kind, next.der(), &[&issuer])
            .unwrap();
    }
    assert_eq!(plant.certificate(), rsa, "it stays as it was");
    let types =
        ids::SERVER_CONFIGURATION_CERTIFICATE_GROUPS_DEFAULT_APPLICATION_GROUP_CERTIFICATE_TYPES;
    let mut client = plant.client("carl", "encrypt");
    let expected = [
        ids::RSA_SHA256_APPLICATION_CERTIFICATE_TYPE,
        ids::ECC_NIST_P256_APPLICATION_CERTIFICATE_TYPE,
        ids::ECC_NIST_P384_APPLICATION_CERTIFICATE_TYPE,
        ids::ECC_CURVE25519_APPLICATION_CERTIFICATE_TYPE,
    ];
    assert_eq!(
        client.read_good(&NodeId::from(types)).unwrap(),
        Variant::from(expected.map(NodeId::from).to_vec())
    );
}
