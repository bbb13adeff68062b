//! Sessions (OPC 10000-4, 5.7): access, lifetime, and identity.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{Client, VALUE, builder, decode, message, read_id, server};
use takt_crypto::PeerCertificate;
use takt_services::{Authenticator, ServerBudgets};
use takt_space::{Caller, Channel, ChannelSecurity, Peer, UserIdentity};
use takt_ua::structures::{
    ActivateSessionRequest, ActivateSessionResponse, AnonymousIdentityToken, CallMethodRequest,
    CallRequest, CallResponse, CancelRequest, CancelResponse, CloseSessionRequest,
    CloseSessionResponse, CreateSessionRequest, CreateSessionResponse, UserNameIdentityToken,
};
use takt_ua::{ByteString, ExtensionObject, NodeId, StatusCode, Structure, Variant, ids};

fn read(client: &mut Client) -> Result<(), StatusCode> {
    client
        .read(vec![read_id(ids::SERVER_SERVICE_LEVEL, VALUE)])
        .map(|_| ())
}

fn close(client: &mut Client) -> Result<CloseSessionResponse, StatusCode> {
    let request_header = client.header();
    client.call(CloseSessionRequest {
        request_header,
        delete_subscriptions: true,
    })
}

fn activate_with<T: Structure>(
    client: &mut Client,
    token: &T,
) -> Result<ActivateSessionResponse, StatusCode> {
    let request_header = client.header();
    client.call(ActivateSessionRequest {
        request_header,
        user_identity_token: ExtensionObject::from_structure(token),
        ..ActivateSessionRequest::default()
    })
}

#[test]
fn the_life_of_a_session() {
    let mut client = Client::connect(&server());
    assert_eq!(read(&mut client), Err(StatusCode::BadSessionIdInvalid));
    let created = client.create().unwrap();
    assert_eq!(created.revised_session_timeout, 60_000.0);
    assert_eq!(created.server_nonce.as_bytes().len(), 32);
    assert!(!created.session_id.is_null() && !created.authentication_token.is_null());
    assert_ne!(created.session_id, created.authentication_token);
    let activated = client.activate().unwrap();
    assert_eq!(activated.server_nonce.as_bytes().len(), 32);
    assert_ne!(activated.server_nonce, created.server_nonce);
    assert_eq!(read(&mut client), Ok(()));
    close(&mut client).unwrap();
    assert_eq!(read(&mut client), Err(StatusCode::BadSessionIdInvalid));
    assert_eq!(client.server.session_count(), 0);
}

#[test]
fn tokens_are_random() {
    let mut client = Client::connect(&server());
    let tokens: Vec<NodeId> = (0..100)
        .map(|_| client.create().unwrap().authentication_token)
        .collect();
    for (index, token) in tokens.iter().enumerate() {
        assert!(!tokens[index + 1..].contains(token));
    }
}

#[test]
fn one_channel_may_have_several_sessions() {
    let mut client = Client::new(&server());
    let first = client.token.clone();
    client.create().unwrap();
    client.activate().unwrap();
    let second = std::mem::replace(&mut client.token, first);
    assert_eq!(read(&mut client), Ok(()));
    client.token = second;
    assert_eq!(read(&mut client), Ok(()));
    close(&mut client).unwrap();
    assert_eq!(client.server.session_count(), 1);
}

#[test]
fn a_session_belongs_to_its_channel_and_moves_only_with_its_user() {
    let server = server();
    let mut first = Client::new(&server);
    let mut second = Client::connect(&server);
    second.token = first.token.clone();
    assert_eq!(
        read(&mut second),
        Err(StatusCode::BadSecureChannelIdInvalid)
    );
    // Another Unix user cannot take it over, even with the token.
    let mut stranger = Client::connect_as(&server, Some(1001));
    stranger.token = first.token.clone();
    assert_eq!(
        stranger.activate().unwrap_err(),
        StatusCode::BadUserAccessDenied
    );
    assert_eq!(read(&mut first), Ok(()));
    // The same user can continue it on a new channel, and only there.
    second.activate().unwrap();
    assert_eq!(read(&mut second), Ok(()));
    assert_eq!(read(&mut first), Err(StatusCode::BadSecureChannelIdInvalid));
}

#[test]
fn a_session_that_is_not_activated_cannot_be_used_by_another_channel() {
    let server = server();
    let mut first = Client::connect(&server);
    first.create().unwrap();
    let mut second = Client::connect(&server);
    second.token = first.token.clone();
    assert_eq!(
        second.activate().unwrap_err(),
        StatusCode::BadSecureChannelIdInvalid
    );
    assert_eq!(
        close(&mut second).unwrap_err(),
        StatusCode::BadSessionNotActivated
    );
    // The Session is closed with its channel.
    server.disconnect(first.connection);
    assert_eq!(server.session_count(), 0);
}

#[test]
fn a_service_before_activate_session_closes_the_session() {
    let mut client = Client::connect(&server());
    client.create().unwrap();
    // A request through another channel does not close it.
    let mut stranger = Client::connect(&client.server);
    stranger.token = client.token.clone();
    assert_eq!(read(&mut stranger), Err(StatusCode::BadSessionNotActivated));
    assert_eq!(client.server.session_count(), 1);
    assert_eq!(read(&mut client), Err(StatusCode::BadSessionNotActivated));
    assert_eq!(client.server.session_count(), 0);
    assert_eq!(
        client.activate().unwrap_err(),
        StatusCode::BadSessionIdInvalid
    );
}

#[test]
fn an_activated_session_outlives_its_channel() {
    let server = server();
    let first = Client::new(&server);
    let token = first.token.clone();
    server.disconnect(first.connection);
    assert_eq!(server.session_count(), 1);
    let mut second = Client::connect(&server);
    second.token = token;
    second.activate().unwrap();
    assert_eq!(read(&mut second), Ok(()));
}

#[test]
fn an_inactive_session_times_out() {
    let server = server();
    let mut client = Client::new(&server);
    let start = Instant::now();
    let deadline = server.next_deadline().unwrap();
    assert!(deadline > start && deadline <= start + Duration::from_secs(60));
    server.tick(start + Duration::from_secs(40));
    assert_eq!(read(&mut client), Ok(()));
    server.tick(start + Duration::from_secs(80));
    assert_eq!(read(&mut client), Ok(()));
    server.tick(start + Duration::from_secs(120));
    server.tick(start + Duration::from_secs(181));
    assert_eq!(server.session_count(), 0);
    assert_eq!(read(&mut client), Err(StatusCode::BadSessionIdInvalid));
    assert_eq!(server.next_deadline(), None);
}

#[test]
fn sessions_are_limited() {
    let budgets = ServerBudgets {
        max_sessions: 2,
        ..ServerBudgets::default()
    };
    let server = builder().budgets(budgets).build().unwrap();
    let mut first = Client::new(&server);
    let mut idle = Client::connect(&server);
    idle.create().unwrap();
    // A Session that was never activated is closed for a new one.
    let mut second = Client::new(&server);
    assert_eq!(
        idle.activate().unwrap_err(),
        StatusCode::BadSessionIdInvalid
    );
    let mut third = Client::connect(&server);
    assert_eq!(third.create().unwrap_err(), StatusCode::BadTooManySessions);
    assert_eq!(read(&mut first), Ok(()));
    close(&mut second).unwrap();
    third.create().unwrap();
}

#[test]
fn fewer_channels_allow_fewer_sessions() {
    let server = server();
    server.limit_sessions(1);
    server.limit_sessions(5);
    assert_eq!(server.max_sessions(), 1);
    let _first = Client::new(&server);
    let mut second = Client::connect(&server);
    assert_eq!(second.create().unwrap_err(), StatusCode::BadTooManySessions);
}

#[test]
fn a_channel_has_a_session_while_one_of_several_is_open() {
    let server = server();
    let mut client = Client::new(&server);
    let first = client.token.clone();
    client.create().unwrap();
    client.activate().unwrap();
    assert!(client.connection.has_session());
    close(&mut client).unwrap();
    assert!(client.connection.has_session());
    client.token = first;
    close(&mut client).unwrap();
    assert!(!client.connection.has_session());
}

#[test]
fn sessions_without_a_channel_make_room_the_oldest_first() {
    let budgets = ServerBudgets {
        max_sessions: 3,
        ..ServerBudgets::default()
    };
    let server = builder().budgets(budgets).build().unwrap();
    let mut staying = Client::new(&server);
    let (first, second) = (Client::new(&server), Client::new(&server));
    let tokens = [first.token.clone(), second.token.clone()];
    // The last created Session loses its channel first.
    server.disconnect(second.connection);
    server.disconnect(first.connection);
    let mut idle = Client::connect(&server);
    idle.create().unwrap();
    let mut lost = Client::connect(&server);
    lost.token = tokens[1].clone();
    assert_eq!(
        lost.activate().unwrap_err(),
        StatusCode::BadSessionIdInvalid
    );
    // A Session that its client is about to activate is not displaced while there are abandoned ones.
    let mut newest = Client::new(&server);
    lost.token = tokens[0].clone();
    assert_eq!(
        lost.activate().unwrap_err(),
        StatusCode::BadSessionIdInvalid
    );
    idle.activate().unwrap();
    assert_eq!(
        Client::connect(&server).create().unwrap_err(),
        StatusCode::BadTooManySessions,
        "all have a channel"
    );
    for client in [&mut staying, &mut idle, &mut newest] {
        assert_eq!(read(client), Ok(()));
    }
}

#[test]
fn a_channel_with_many_sessions_that_it_does_not_activate_loses_them_first() {
    let budgets = ServerBudgets {
        max_sessions: 4,
        ..ServerBudgets::default()
    };
    let server = builder().budgets(budgets).build().unwrap();
    let mut honest = Client::connect(&server);
    honest.create().unwrap();
    let abandoned = Client::new(&server);
    let token = abandoned.token.clone();
    server.disconnect(abandoned.connection);
    let mut greedy = Client::connect(&server);
    for _ in 0..50 {
        greedy.create().unwrap();
    }
    honest.activate().unwrap();
    let mut returned = Client::connect(&server);
    returned.token = token;
    returned.activate().unwrap();
    greedy.activate().unwrap();
    assert_eq!(server.session_count(), 4);
}

#[test]
fn a_session_for_another_server_is_refused() {
    let mut client = Client::connect(&server());
    for (uri, result) in [
        ("urn:somebody:else", Some(StatusCode::BadServerUriInvalid)),
        ("urn:test:server", None),
        ("", None),
    ] {
        let created: Result<CreateSessionResponse, _> = client.call(CreateSessionRequest {
            server_uri: uri.into(),
            ..CreateSessionRequest::default()
        });
        assert_eq!(created.err(), result, "{uri}");
    }
}

#[test]
fn a_session_beyond_the_response_size_is_refused_and_closed() {
    let mut client = Client::connect(&server());
    let request = message(&CreateSessionRequest::default());
    let mut buffer = [0; 64];
    let mut response = takt_ua::binary::Encoder::fixed(&mut buffer);
    let server = Arc::clone(&client.server);
    server.handle(&mut client.connection, 1, &request, &mut response);
    let written = response.written().to_vec();
    assert_eq!(
        decode::<CreateSessionResponse>(&written).unwrap_err(),
        StatusCode::BadResponseTooLarge
    );
    assert_eq!(server.session_count(), 0, "no client can use it");
}

struct Doorman;

impl Authenticator for Doorman {
    fn allows_anonymous(&self) -> bool {
        false
    }

    fn allows_clear_text(&self) -> bool {
        true
    }

    fn allows_user_names(&self) -> bool {
        true
    }

    fn user_name(
        &self,
        _: &Channel,
        name: &str,
        password: &[u8],
    ) -> Result<UserIdentity, StatusCode> {
        match (name, password) {
            ("operator", b"secret") => Ok(UserIdentity::UserName {
                name: name.to_owned(),
            }),
            _ => Err(StatusCode::BadUserAccessDenied),
        }
    }
}

fn user(name: &str, password: &str) -> UserNameIdentityToken {
    UserNameIdentityToken {
        policy_id: "username".into(),
        user_name: name.into(),
        password: ByteString::from(password.as_bytes()),
        ..UserNameIdentityToken::default()
    }
}

#[test]
fn without_an_authenticator_all_users_are_anonymous() {
    let mut client = Client::connect(&server());
    client.create().unwrap();
    let anonymous = |policy: &str| AnonymousIdentityToken {
        policy_id: policy.into(),
    };
    assert!(activate_with(&mut client, &anonymous("anonymous")).is_ok());
    assert!(activate_with(&mut client, &anonymous("")).is_ok());
    let wrong = activate_with(&mut client, &anonymous("0"));
    assert_eq!(wrong.unwrap_err(), StatusCode::BadIdentityTokenInvalid);
    let rejected = activate_with(&mut client, &user("operator", "secret"));
    assert_eq!(rejected.unwrap_err(), StatusCode::BadIdentityTokenRejected);
    let nonsense = activate_with(&mut client, &CancelRequest::default());
    assert_eq!(nonsense.unwrap_err(), StatusCode::BadIdentityTokenInvalid);
}

#[test]
fn an_authenticator_decides_about_users() {
    let server = builder().authenticator(Arc::new(Doorman)).build().unwrap();
    let mut client = Client::connect(&server);
    client.create().unwrap();
    assert_eq!(
        client.activate().unwrap_err(),
        StatusCode::BadIdentityTokenRejected
    );
    let refused = activate_with(&mut client, &user("operator", "guess"));
    assert_eq!(refused.unwrap_err(), StatusCode::BadUserAccessDenied);
    let encrypted = UserNameIdentityToken {
        encryption_algorithm: "rsa".into(),
        ..user("operator", "secret")
    };
    let encrypted = activate_with(&mut client, &encrypted);
    assert_eq!(encrypted.unwrap_err(), StatusCode::BadIdentityTokenInvalid);
    activate_with(&mut client, &user("operator", "secret")).unwrap();
    assert_eq!(read(&mut client), Ok(()));
}

/// Returns the security of a channel whose client has this certificate. Without signatures, no key is needed.
fn signed(certificate: &[u8]) -> ChannelSecurity {
    ChannelSecurity {
        client_certificate: Arc::new(PeerCertificate::parse(certificate.to_vec())),
        ..ChannelSecurity::none()
    }
}

/// Connects the client through another channel of the same host to the same server.
fn reconnect(client: &mut Client, security: ChannelSecurity) {
    let address = ([127, 0, 0, 1], 50123).into();
    let url = "opc.tcp://test".to_owned();
    let server = Arc::clone(&client.server);
    client.connection = server.connect(Peer::tcp(address), security, url, Arc::new(|| ()));
}

#[test]
fn a_session_moves_to_a_channel_with_the_same_certificate_only() {
    let mut client = Client::connect(&server());
    reconnect(&mut client, signed(b"A"));
    client.create().unwrap();
    client.activate().unwrap();
    for other in [signed(b"B"), ChannelSecurity::none()] {
        reconnect(&mut client, other);
        assert_eq!(
            client.activate().err(),
            Some(StatusCode::BadUserAccessDenied)
        );
    }
    reconnect(&mut client, signed(b"A"));
    client.activate().unwrap();
    assert!(client.connection.has_session());
}

#[test]
fn a_method_is_told_the_security_of_the_channel_and_the_user_of_the_session() {
    let server = builder().authenticator(Arc::new(Doorman)).build().unwrap();
    let callers: Arc<Mutex<Vec<Caller>>> = Arc::default();
    let seen = Arc::clone(&callers);
    let method = move |caller: &Caller, _: &NodeId, _: &[Variant]| {
        seen.lock().unwrap().push(caller.clone());
        Ok(Vec::new())
    };
    let space = server.address_space();
    let method = space.add_method("Who").handler(method).add().unwrap();
    let mut client = Client::connect(&server);
    reconnect(&mut client, signed(b"A"));
    client.create().unwrap();
    for _ in 0..2 {
        activate_with(&mut client, &user("operator", "secret")).unwrap();
        let request_header = client.header();
        let called: CallResponse = client
            .call(CallRequest {
                request_header,
                methods_to_call: vec![CallMethodRequest {
                    object_id: NodeId::from(ids::OBJECTS_FOLDER),
                    method_id: method.clone(),
                    ..CallMethodRequest::default()
                }],
            })
            .unwrap();
        assert_eq!(called.results[0].status_code, StatusCode::Good);
        // The next call uses another channel.
        reconnect(&mut client, signed(b"A"));
    }
    let callers = callers.lock().unwrap();
    let [first, second] = callers.as_slice() else {
        panic!("{callers:?}");
    };
    assert_eq!(first.channel.security, signed(b"A"));
    assert_eq!(second.channel.security, signed(b"A"));
    assert_ne!(first.channel.id, second.channel.id);
    assert_eq!(first.session_id, second.session_id);
    let name = "operator".to_owned();
    assert_eq!(second.user, UserIdentity::UserName { name });
}

#[test]
fn cancelling_an_unknown_request_cancels_none() {
    let mut client = Client::new(&server());
    let request_header = client.header();
    let cancelled: CancelResponse = client
        .call(CancelRequest {
            request_header,
            request_handle: 17,
        })
        .unwrap();
    assert_eq!(cancelled.cancel_count, 0);
}
