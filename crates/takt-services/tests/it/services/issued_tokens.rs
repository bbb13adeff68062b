//! Users with tokens of an authorization service: where tokens are offered and accepted, and the Sessions that end with them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_crypto::{PolicyProfile, now};
use takt_services::{EndpointConfig, IssuedUser, SHARED_MEMORY_PROFILE, Server, TCP_PROFILE};
use takt_space::{ChannelSecurity, Peer, UserRole};
use takt_ua::enumerations::{MessageSecurityMode, UserTokenType};
use takt_ua::structures::{
    ActivateSessionRequest, ActivateSessionResponse, GetEndpointsRequest, GetEndpointsResponse,
    IssuedIdentityToken,
};
use takt_ua::{ByteString, ExtensionObject, StatusCode};

use crate::common::{Client, builder};
use crate::services::test_users::TestUsers;

const ISSUER: &str = "{\"ua:authorityUrl\":\"https://login.plant\"}";

/// Accepts tokens that are the number of seconds for which they are valid.
fn issued(token: &[u8]) -> Result<IssuedUser, StatusCode> {
    let seconds = std::str::from_utf8(token)
        .ok()
        .and_then(|text| text.parse().ok());
    let seconds: i64 = seconds.ok_or(StatusCode::BadIdentityTokenRejected)?;
    Ok(IssuedUser {
        issuer: "https://login.plant".to_owned(),
        subject: "anna".to_owned(),
        roles: UserRole::Observer.into(),
        expires: now() + seconds,
    })
}

fn server() -> Arc<Server> {
    let server = builder().build().unwrap();
    server.set_users(Arc::new(TestUsers {
        issued: Some((ISSUER, issued)),
        ..TestUsers::default()
    }));
    server
}

fn activate(
    client: &mut Client,
    token: &str,
    algorithm: &str,
) -> Result<ActivateSessionResponse, StatusCode> {
    let request_header = client.header();
    client.call(ActivateSessionRequest {
        request_header,
        user_identity_token: ExtensionObject::from_structure(&IssuedIdentityToken {
            policy_id: "jwt".into(),
            token_data: ByteString::from(token.as_bytes()),
            encryption_algorithm: algorithm.into(),
        }),
        ..ActivateSessionRequest::default()
    })
}

#[test]
fn a_session_ends_with_its_token_unless_it_gets_another_one() {
    let server = server();
    let mut anonymous = Client::new(&server);
    let clients = ["10", "10", "10"].map(|token| {
        let mut client = Client::connect(&server);
        client.create().unwrap();
        activate(&mut client, token, "").unwrap();
        client
    });
    let [mut ends, mut renewed, mut without] = clients;
    // Another token, and another user, whose Session does not end.
    activate(&mut renewed, "40", "").unwrap();
    without.activate().unwrap();
    let begin = Instant::now();
    server.tick(begin + Duration::from_secs(8));
    assert_eq!(server.session_count(), 4);
    let due = server.next_deadline().unwrap();
    assert!(
        due <= begin + Duration::from_secs(11),
        "the end of the token is a deadline"
    );
    server.tick(begin + Duration::from_secs(12));
    assert_eq!(server.session_count(), 3);
    let gone = activate(&mut ends, "10", "").unwrap_err();
    assert_eq!(gone, StatusCode::BadSessionIdInvalid);
    for client in [&mut anonymous, &mut renewed, &mut without] {
        assert!(client.read_value(2258).value.is_some());
    }
    server.tick(begin + Duration::from_secs(42));
    assert_eq!(server.session_count(), 2);
}

#[test]
fn tokens_are_refused_where_nothing_encrypts_them() {
    let server = server();
    let local = || {
        let mut client = Client::connect(&server);
        client.create().unwrap();
        client
    };
    let rejected = activate(&mut local(), "nonsense", "").unwrap_err();
    assert_eq!(rejected, StatusCode::BadIdentityTokenRejected);
    // There is no SecurityPolicy that such a token could be encrypted with.
    let encrypted = activate(
        &mut local(),
        "10",
        "http://www.w3.org/2001/04/xmlenc#rsa-oaep",
    );
    assert_eq!(encrypted.unwrap_err(), StatusCode::BadIdentityTokenInvalid);
    let mut client = Client::connect(&server);
    let address = "127.0.0.1:1".parse().unwrap();
    let url = "opc.tcp://localhost:4840".to_owned();
    let peer = Peer::tcp(address);
    client.connection = server.connect(peer, ChannelSecurity::none(), url, Arc::new(|| {}));
    client.create().unwrap();
    let in_clear_text = activate(&mut client, "10", "").unwrap_err();
    assert_eq!(in_clear_text, StatusCode::BadIdentityTokenInvalid);
}

#[test]
fn tokens_are_offered_where_something_encrypts_them() {
    let server = server();
    let url = "opc.tcp://localhost:4840";
    let profile = PolicyProfile::ALL[0];
    let modes = [
        MessageSecurityMode::Sign,
        MessageSecurityMode::SignAndEncrypt,
    ];
    server.add_endpoint(EndpointConfig::without_security(url, TCP_PROFILE));
    for mode in modes {
        server.add_endpoint(EndpointConfig::secured(url, profile, mode));
    }
    let memory = EndpointConfig::without_security("opc.iox2://Test", SHARED_MEMORY_PROFILE);
    server.add_endpoint(memory);
    let mut client = Client::connect(&server);
    let found: GetEndpointsResponse = client.call(GetEndpointsRequest::default()).unwrap();
    for endpoint in found.endpoints {
        let is_memory = endpoint.endpoint_url.as_str().starts_with("opc.iox2:");
        let encrypts = endpoint.security_mode == MessageSecurityMode::SignAndEncrypt;
        let mut policies = endpoint.user_identity_tokens.iter();
        let issued = policies.find(|policy| policy.token_type == UserTokenType::IssuedToken);
        assert_eq!(
            issued.is_some(),
            is_memory || encrypts,
            "{:?}",
            endpoint.security_mode
        );
        if let Some(policy) = issued {
            let kind = "http://opcfoundation.org/UA/UserToken#JWT";
            assert_eq!(policy.issued_token_type, kind);
            assert_eq!(policy.issuer_endpoint_url, ISSUER);
        }
    }
}
