//! CreateSession, ActivateSession and CloseSession (OPC 10000-4, 5.7).

use std::time::Duration;

use takt_ua::enumerations::{ApplicationType, MessageSecurityMode, UserTokenType};
use takt_ua::structures::*;
use takt_ua::{ByteString, ExtensionObject, LocalizedText, NodeId, StatusCode};

use super::transport::Transport;
use super::{ClientOptions, Identity, request_header, text};
use crate::endpoint::Endpoint;
use crate::error::ClientError;

const SECURITY_POLICY_NONE: &str = "http://opcfoundation.org/UA/SecurityPolicy#None";

/// Nonce length in bytes that the standard requires, with SecurityPolicy None too (OPC 10000-4, 5.7.2).
const NONCE_LENGTH: usize = 32;

/// An activated session.
pub(super) struct Session {
    authentication_token: NodeId,
}

impl Session {
    pub(super) fn open(
        transport: &mut Transport,
        endpoint: &Endpoint,
        options: &ClientOptions,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let mut nonce = vec![0; NONCE_LENGTH];
        getrandom::fill(&mut nonce).map_err(ClientError::Random)?;
        let created: Result<CreateSessionResponse, ClientError> = transport.call(
            &CreateSessionRequest {
                request_header: request_header(&NodeId::NULL, 1, timeout),
                client_description: ApplicationDescription {
                    application_uri: text(&options.uri()),
                    product_uri: text("urn:takt"),
                    application_name: LocalizedText::from(options.application_name.as_str()),
                    application_type: ApplicationType::Client,
                    ..ApplicationDescription::default()
                },
                endpoint_url: text(&endpoint.to_string()),
                session_name: text(&options.application_name),
                client_nonce: ByteString::from(nonce),
                requested_session_timeout: options.session_timeout.as_secs_f64() * 1000.0,
                ..CreateSessionRequest::default()
            },
            timeout,
        );
        let created = created.map_err(|error| match error.status_code() {
            status if concerns_security(status) => {
                security_required(transport, endpoint, timeout).unwrap_or(error)
            }
            _ => error,
        })?;
        expect_unsecured(endpoint, &created.server_endpoints)?;
        let session = Self {
            authentication_token: created.authentication_token,
        };
        let user_identity_token =
            identity_token(endpoint, &options.identity, &created.server_endpoints)?;
        let _: ActivateSessionResponse = transport.call(
            &ActivateSessionRequest {
                request_header: request_header(&session.authentication_token, 2, timeout),
                user_identity_token,
                ..ActivateSessionRequest::default()
            },
            timeout,
        )?;
        Ok(session)
    }

    pub(super) fn authentication_token(&self) -> &NodeId {
        &self.authentication_token
    }

    /// Closes the session at the server. A server that does not respond is not waited for.
    pub(super) fn close(&self, transport: &mut Transport, timeout: Duration) {
        let _: Result<CloseSessionResponse, _> = transport.call(
            &CloseSessionRequest {
                request_header: request_header(&self.authentication_token, 3, timeout),
                delete_subscriptions: true,
            },
            timeout,
        );
    }
}

/// Returns true for the StatusCodes of servers that refuse a session without security.
fn concerns_security(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BadSecurityPolicyRejected
            | StatusCode::BadSecurityModeRejected
            | StatusCode::BadSecurityModeInsufficient
            | StatusCode::BadSecurityChecksFailed
            | StatusCode::BadNonceInvalid
            | StatusCode::BadCertificateInvalid
    )
}

/// Asks a server that refused a session which endpoints it has. GetEndpoints needs no session and no security
/// (OPC 10000-4, 5.5.4).
fn security_required(
    transport: &mut Transport,
    endpoint: &Endpoint,
    timeout: Duration,
) -> Option<ClientError> {
    let response: GetEndpointsResponse = transport
        .call(
            &GetEndpointsRequest {
                request_header: request_header(&NodeId::NULL, 2, timeout),
                endpoint_url: text(&endpoint.to_string()),
                ..GetEndpointsRequest::default()
            },
            timeout,
        )
        .ok()?;
    expect_unsecured(endpoint, &response.endpoints).err()
}

fn is_unsecured(offer: &EndpointDescription) -> bool {
    offer.security_mode == MessageSecurityMode::None
        && offer.security_policy_uri.as_str() == SECURITY_POLICY_NONE
}

/// Refuses a server that offers secure endpoints only. A server that lists no endpoints is accepted.
fn expect_unsecured(
    endpoint: &Endpoint,
    offered: &[EndpointDescription],
) -> Result<(), ClientError> {
    if offered.is_empty() || offered.iter().any(is_unsecured) {
        return Ok(());
    }
    let mut names: Vec<&str> = offered
        .iter()
        .map(|offer| {
            let uri = offer.security_policy_uri.as_str();
            uri.rsplit_once('#').map_or(uri, |(_, name)| name)
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    Err(ClientError::SecurityRequired {
        endpoint: endpoint.to_string(),
        offered: names.join(", "),
    })
}

/// Returns the token for `identity`, with the PolicyId under which the server offers it (OPC 10000-4, 7.40).
fn identity_token(
    endpoint: &Endpoint,
    identity: &Identity,
    offered: &[EndpointDescription],
) -> Result<ExtensionObject, ClientError> {
    let wanted = match identity {
        Identity::Anonymous => UserTokenType::Anonymous,
        Identity::UserName { .. } => UserTokenType::UserName,
    };
    let policies: Vec<&UserTokenPolicy> = offered
        .iter()
        .filter(|offer| is_unsecured(offer))
        .flat_map(|offer| &offer.user_identity_tokens)
        .collect();
    let policy_id = policies
        .iter()
        .find(|policy| policy.token_type == wanted)
        .map(|policy| policy.policy_id.clone());
    match (identity, policy_id) {
        (Identity::Anonymous, Some(policy_id)) => {
            Ok(ExtensionObject::from_structure(&AnonymousIdentityToken {
                policy_id,
            }))
        }
        // The server listed no policies: a null token stands for Anonymous (OPC 10000-4, 5.7.3).
        (Identity::Anonymous, None) if policies.is_empty() => Ok(ExtensionObject::default()),
        (Identity::UserName { name, password }, Some(policy_id)) => {
            Ok(ExtensionObject::from_structure(&UserNameIdentityToken {
                policy_id,
                user_name: text(name),
                password: ByteString::from(password.as_bytes().to_vec()),
                ..UserNameIdentityToken::default()
            }))
        }
        (_, None) => Err(ClientError::Identity {
            endpoint: endpoint.to_string(),
            reason: format!(
                "it offers {} with SecurityPolicy None",
                list_of_tokens(&policies)
            ),
        }),
    }
}

fn list_of_tokens(policies: &[&UserTokenPolicy]) -> String {
    if policies.is_empty() {
        return "nothing".to_owned();
    }
    let names: Vec<&str> = policies
        .iter()
        .map(|policy| match policy.token_type {
            UserTokenType::Anonymous => "Anonymous",
            UserTokenType::UserName => "UserName",
            UserTokenType::Certificate => "Certificate",
            UserTokenType::IssuedToken => "IssuedToken",
            _ => "an unknown kind",
        })
        .collect();
    names.join(", ")
}
