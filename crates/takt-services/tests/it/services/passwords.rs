//! Passwords of users: other clients are served while one is checked, and clear text is for secrets of applications only.

use std::net::SocketAddr;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use takt_crypto::{ApplicationSecurity, CertificateStore, NewCertificate};
use takt_services::{Authenticator, EndpointConfig, Server, TCP_PROFILE};
use takt_space::{Channel, ChannelSecurity, Peer, RoleSet, UserIdentity, UserRole};
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::structures::{
    ActivateSessionRequest, ActivateSessionResponse, CancelRequest, CancelResponse,
    GetEndpointsRequest, GetEndpointsResponse, UserNameIdentityToken,
};
use takt_ua::{ByteString, ExtensionObject, StatusCode, Variant};

use crate::common::{Client, builder, decode, message};
use crate::services::test_users::TestUsers;

/// Time of the server, which every client may read.
const CLOCK: u32 = 2258;

/// Returns users with one, `anna`, whose password is checked when the test says so. `begun` is told of each check.
fn slow(begun: Sender<()>, go_on: Receiver<()>) -> Arc<TestUsers> {
    let go_on = Mutex::new(go_on);
    let check = move |password: &[u8]| {
        begun.send(()).unwrap();
        let _ = go_on.lock().unwrap().recv();
        match password {
            b"hammer" => Ok(RoleSet::from(UserRole::Operator)),
            _ => Err(StatusCode::BadUserAccessDenied),
        }
    };
    Arc::new(TestUsers {
        login: Some(("anna", Box::new(check))),
        ..TestUsers::default()
    })
}

/// A server with these users, the beginnings of its checks, and what lets a check go on.
fn server() -> (Arc<Server>, Receiver<()>, Sender<()>) {
    let (begun, beginnings) = mpsc::channel();
    let (release, go_on) = mpsc::channel();
    let server = builder()
        .authenticator(Arc::new(Applications))
        .build()
        .unwrap();
    server.set_users(slow(begun, go_on));
    (server, beginnings, release)
}

fn activate(client: &mut Client, name: &str, password: &str) -> Vec<u8> {
    message(&ActivateSessionRequest {
        request_header: client.header(),
        user_identity_token: ExtensionObject::from_structure(&UserNameIdentityToken {
            policy_id: "username".into(),
            user_name: name.into(),
            password: ByteString::from(password.as_bytes()),
            ..UserNameIdentityToken::default()
        }),
        ..ActivateSessionRequest::default()
    })
}

#[test]
fn other_clients_are_served_while_a_password_is_checked() {
    let (server, beginnings, release) = server();
    let mut other = Client::new(&server);
    let mut client = Client::connect(&server);
    client.create().unwrap();
    for (password, expected) in [
        ("nail", Some(StatusCode::BadUserAccessDenied)),
        ("hammer", None),
    ] {
        let request = activate(&mut client, "anna", password);
        client.defer(&request, 5).unwrap();
        let rests = (0..10).any(|_| !server.work());
        assert!(rests, "it waits without work for the server");
        beginnings.recv().unwrap();
        assert!(matches!(
            other.read_value(CLOCK).value,
            Some(Variant::DateTime(_))
        ));
        assert!(client.connection.take_completed().is_none());
        assert!(!client.connection.has_session());
        release.send(()).unwrap();
        let (id, answer) = client.completed();
        let activated = decode::<ActivateSessionResponse>(&answer);
        assert_eq!((id, activated.err()), (5, expected));
    }
    assert!(client.read_value(CLOCK).value.is_some());
    // As another user on the same channel.
    let request = activate(&mut client, "anna", "nail");
    client.defer(&request, 6).unwrap();
    release.send(()).unwrap();
    let refused = decode::<ActivateSessionResponse>(&client.completed().1);
    assert_eq!(refused.unwrap_err(), StatusCode::BadUserAccessDenied);
    assert!(
        client.read_value(CLOCK).value.is_some(),
        "it stays as it was"
    );
}

/// The time of a refusal does not tell whether a user or an application has the name.
#[test]
fn known_and_unknown_names_are_refused_after_the_same_time() {
    const REFUSAL: Duration = Duration::from_secs(1);
    let (server, beginnings, release) = server();
    // More than there are checks, so that no check waits.
    for _ in 0..9 {
        release.send(()).unwrap();
    }
    for name in ["anna", "nobody", "Mixer"] {
        let mut client = Client::connect(&server);
        client.create().unwrap();
        let request = activate(&mut client, name, "nail");
        let begin = std::time::Instant::now();
        client.defer(&request, 5).unwrap();
        if name == "anna" {
            // The check has ended before the server goes on with the request.
            beginnings.recv().unwrap();
            std::thread::sleep(REFUSAL / 10);
        }
        let refused = decode::<ActivateSessionResponse>(&client.completed().1);
        assert_eq!(refused.unwrap_err(), StatusCode::BadUserAccessDenied);
        assert!(begin.elapsed() >= REFUSAL, "{name}");
    }
}

#[test]
fn a_channel_may_close_while_its_password_is_checked() {
    let (server, beginnings, release) = server();
    let mut client = Client::connect(&server);
    client.create().unwrap();
    let request = activate(&mut client, "anna", "hammer");
    client.defer(&request, 5).unwrap();
    beginnings.recv().unwrap();
    server.disconnect(client.connection);
    release.send(()).unwrap();
    assert_eq!(server.session_count(), 0);
    let mut other = Client::new(&server);
    assert!(other.read_value(CLOCK).value.is_some());
}

#[test]
fn an_activation_is_cancelled_while_its_password_is_checked() {
    let (server, beginnings, release) = server();
    let mut client = Client::new(&server);
    let request = activate(&mut client, "anna", "hammer");
    let handle = client.handle;
    client.defer(&request, 5).unwrap();
    beginnings.recv().unwrap();
    let cancel = CancelRequest {
        request_header: client.header(),
        request_handle: handle,
    };
    let cancelled: CancelResponse = client.call(cancel).unwrap();
    assert_eq!(cancelled.cancel_count, 1);
    let answer = client.completed().1;
    let answer = decode::<ActivateSessionResponse>(&answer);
    assert_eq!(answer.unwrap_err(), StatusCode::BadRequestCancelledByClient);
    release.send(()).unwrap();
    assert!(client.read_value(CLOCK).value.is_some());
}

/// Applications with the secret `key`, also in clear text.
struct Applications;

impl Authenticator for Applications {
    fn allows_user_names(&self) -> bool {
        true
    }

    fn allows_clear_text(&self) -> bool {
        true
    }

    fn user_name(
        &self,
        _: &Channel,
        name: &str,
        password: &[u8],
    ) -> Result<UserIdentity, StatusCode> {
        let name = name.to_owned();
        match password {
            b"key" => Ok(UserIdentity::Application { name }),
            _ => Err(StatusCode::BadUserAccessDenied),
        }
    }
}

/// A client over TCP without security, from this address.
fn over_tcp(server: &Arc<Server>, address: &str) -> Client {
    let mut client = Client::connect(server);
    let address: SocketAddr = address.parse().unwrap();
    let url = "opc.tcp://localhost:4840".to_owned();
    let (peer, none) = (Peer::tcp(address), ChannelSecurity::none());
    client.connection = server.connect(peer, none, url, Arc::new(|| {}));
    client.create().unwrap();
    client
}

#[test]
fn clear_text_is_for_secrets_of_applications_on_this_host() {
    let (server, beginnings, _release) = server();
    for (address, name, password, expected) in [
        (
            "127.0.0.1:1",
            "anna",
            "hammer",
            Some(StatusCode::BadUserAccessDenied),
        ),
        (
            "127.0.0.1:1",
            "Mixer",
            "hammer",
            Some(StatusCode::BadUserAccessDenied),
        ),
        ("127.0.0.1:1", "Mixer", "key", None),
        ("[::1]:1", "Mixer", "key", None),
        (
            "192.0.2.7:1",
            "Mixer",
            "key",
            Some(StatusCode::BadIdentityTokenInvalid),
        ),
    ] {
        let mut client = over_tcp(&server, address);
        let request = activate(&mut client, name, password);
        let answer = decode::<ActivateSessionResponse>(&client.raw(&request));
        assert_eq!(answer.err(), expected, "{address} {name}");
    }
    assert!(beginnings.try_recv().is_err(), "no password was checked");
}

#[test]
fn clear_text_is_offered_only_if_applications_may_use_it() {
    let offered = |server: &Arc<Server>| {
        let url = "opc.tcp://localhost:4840";
        server.add_endpoint(EndpointConfig::without_security(url, TCP_PROFILE));
        let mut client = Client::connect(server);
        let found: GetEndpointsResponse = client.call(GetEndpointsRequest::default()).unwrap();
        let policies = found.endpoints[0].user_identity_tokens.iter();
        let policies = policies.map(|policy| policy.policy_id.as_str().to_owned());
        policies.collect::<Vec<_>>()
    };
    let (with_applications, ..) = server();
    assert_eq!(offered(&with_applications), ["anonymous", "username"]);
    let (begun, _) = mpsc::channel();
    let without = builder().build().unwrap();
    without.set_users(slow(begun, mpsc::channel().1));
    assert_eq!(offered(&without), ["anonymous"]);
}

#[test]
fn a_client_without_security_gets_the_certificate_that_encrypts_its_password() {
    let folder = tempfile::tempdir().unwrap();
    let application = NewCertificate {
        application_name: "Test".to_owned(),
        application_uri: "urn:test:server".to_owned(),
        host_names: vec!["localhost".to_owned()],
        addresses: Vec::new(),
        validity: Duration::from_secs(3600),
        key_bits: 2048,
    };
    let store = CertificateStore::open(folder.path()).unwrap();
    let security = Arc::new(ApplicationSecurity::open(store, &application).unwrap());
    let endpoint = || EndpointConfig::without_security("opc.tcp://localhost:4840", TCP_PROFILE);
    let server = builder().build().unwrap();
    server.set_security(Arc::clone(&security));
    server.add_endpoint(endpoint());
    let create = |mut client: Client| client.create().unwrap();
    let over_tcp = || Client::connect_over_tcp(&server, MessageSecurityMode::None);

    let created = create(over_tcp());
    assert!(
        created.server_certificate.is_null(),
        "no user has a password"
    );
    let (begun, _) = mpsc::channel();
    server.set_users(slow(begun, mpsc::channel().1));
    let created = create(over_tcp());
    let own = security.identity();
    assert_eq!(
        created.server_certificate.as_bytes(),
        own.certificate().der()
    );
    assert!(created.server_signature.signature.is_null());
    let created = create(Client::connect(&server));
    assert!(created.server_certificate.is_null(), "over shared memory");
}
