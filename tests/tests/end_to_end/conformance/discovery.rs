//! Discovery and Session services (OPC 10000-4, 5.5 and 5.7).

use takt_app::{Client, ClientError};
use takt_ua::enumerations::{ApplicationType, MessageSecurityMode};
use takt_ua::structures::{
    ActivateSessionRequest, AnonymousIdentityToken, CloseSessionRequest, CreateSessionRequest,
    FindServersRequest, GetEndpointsRequest, UserNameIdentityToken,
};
use takt_ua::{ExtensionObject, NodeId, StatusCode, UaString};

use crate::conformance::plant::{self, fault};

pub(crate) fn endpoints_name_both_transports(client: &mut Client) {
    let url = client.endpoint().to_string();
    let response = client
        .call(GetEndpointsRequest {
            endpoint_url: url.as_str().into(),
            ..GetEndpointsRequest::default()
        })
        .unwrap();
    assert_eq!(response.endpoints.len(), 2);
    for endpoint in &response.endpoints {
        assert_eq!(endpoint.security_mode, MessageSecurityMode::None);
        assert_eq!(
            endpoint.security_policy_uri.as_str(),
            "http://opcfoundation.org/UA/SecurityPolicy#None"
        );
        assert_eq!(endpoint.server.application_name.text.as_str(), "Plant");
        assert!(!endpoint.user_identity_tokens.is_empty());
        assert!(!endpoint.transport_profile_uri.is_empty());
    }
    assert!(
        response
            .endpoints
            .iter()
            .any(|endpoint| endpoint.endpoint_url.as_str() == url)
    );

    // Only endpoints with a profile that the client supports.
    let tcp = "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary";
    let response = client
        .call(GetEndpointsRequest {
            endpoint_url: url.as_str().into(),
            profile_uris: vec![tcp.into()],
            ..GetEndpointsRequest::default()
        })
        .unwrap();
    assert_eq!(response.endpoints.len(), 1);
    assert!(
        response.endpoints[0]
            .endpoint_url
            .as_str()
            .starts_with("opc.tcp://")
    );
}

pub(crate) fn servers_are_found_by_their_uri(client: &mut Client) {
    let mut find = |uris: Vec<UaString>| {
        client
            .call(FindServersRequest {
                server_uris: uris,
                ..FindServersRequest::default()
            })
            .unwrap()
            .servers
    };
    let all = find(Vec::new());
    assert_eq!(all.len(), 1);
    assert_eq!(
        all[0].application_uri.as_str(),
        "urn:takt:conformance:server"
    );
    assert_eq!(all[0].application_type, ApplicationType::Server);
    assert!(!all[0].discovery_urls.is_empty());
    assert_eq!(find(vec!["urn:takt:conformance:server".into()]).len(), 1);
    assert_eq!(find(vec!["urn:somebody:else".into()]).len(), 0);
}

fn session(client: &mut Client, timeout: f64) -> takt_ua::structures::CreateSessionResponse {
    let endpoint_url = client.endpoint().to_string();
    client
        .call(CreateSessionRequest {
            endpoint_url: endpoint_url.as_str().into(),
            session_name: "second".into(),
            client_nonce: takt_ua::ByteString::from(&[7_u8; 32]),
            requested_session_timeout: timeout,
            ..CreateSessionRequest::default()
        })
        .unwrap()
}

pub(crate) fn a_session_has_its_life_cycle(client: &mut Client) {
    let created = session(client, 10_000.0);
    assert!(!created.session_id.is_null());
    assert!(!created.authentication_token.is_null());
    assert_ne!(created.session_id, created.authentication_token);
    assert_eq!(created.server_nonce.as_bytes().len(), 32);
    assert!((created.revised_session_timeout - 10_000.0).abs() < f64::EPSILON);
    assert_eq!(created.server_endpoints.len(), 2);
    let again = session(client, f64::NAN);
    assert!(again.revised_session_timeout > 0.0);
    assert_ne!(again.authentication_token, created.authentication_token);
    assert_ne!(again.server_nonce, created.server_nonce);

    // The Client's own session is closed, and its next request opens a new one.
    let first = client.epoch();
    client.call(CloseSessionRequest::default()).unwrap();
    assert!(client.read(&plant::node("UInt32")).is_ok());
    assert_eq!(client.epoch(), first + 1);
}

pub(crate) fn sessions_of_others_cannot_be_used(client: &mut Client) {
    // An unknown token.
    let stranger = NodeId::numeric(0, 4_711);
    let read = takt_ua::structures::ReadRequest {
        request_header: header(&stranger),
        nodes_to_read: vec![plant::attribute(
            plant::node("UInt32"),
            takt_app::Attribute::Value,
        )],
        ..Default::default()
    };
    assert_eq!(raw_fault(client, &read), StatusCode::BadSessionIdInvalid);
    // A session that is not activated yet.
    let created = session(client, 10_000.0);
    let read = takt_ua::structures::ReadRequest {
        request_header: header(&created.authentication_token),
        ..read
    };
    assert_eq!(raw_fault(client, &read), StatusCode::BadSessionNotActivated);
    // An unknown user, and an invalid token.
    let user = ExtensionObject::from_structure(&UserNameIdentityToken {
        policy_id: "username".into(),
        user_name: "root".into(),
        password: takt_ua::ByteString::from(b"secret"),
        ..UserNameIdentityToken::default()
    });
    let status = fault(client.call(ActivateSessionRequest {
        user_identity_token: user,
        ..ActivateSessionRequest::default()
    }));
    assert!(
        [
            StatusCode::BadIdentityTokenRejected,
            StatusCode::BadIdentityTokenInvalid
        ]
        .contains(&status),
        "{status}"
    );
    let wrong_policy = ExtensionObject::from_structure(&AnonymousIdentityToken {
        policy_id: "no such policy".into(),
    });
    let status = fault(client.call(ActivateSessionRequest {
        user_identity_token: wrong_policy,
        ..ActivateSessionRequest::default()
    }));
    assert_eq!(status, StatusCode::BadIdentityTokenInvalid);
}

fn header(token: &NodeId) -> takt_ua::structures::RequestHeader {
    takt_ua::structures::RequestHeader {
        authentication_token: token.clone(),
        ..Default::default()
    }
}

/// Sends a request with the given token, and returns the fault.
fn raw_fault<Q: takt_ua::Structure + takt_ua::binary::Encode>(
    client: &mut Client,
    request: &Q,
) -> StatusCode {
    let result: Result<StatusCode, ClientError> = client.exchange(
        |_, encoder| {
            takt_ua::binary::Encode::encode(&NodeId::numeric(0, Q::BINARY_ENCODING_ID), encoder)?;
            request.encode(encoder)
        },
        crate::conformance::messages::service_result,
    );
    result.unwrap()
}
