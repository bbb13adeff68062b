//! CreateSession, ActivateSession and CloseSession (OPC 10000-4, 5.7).

use std::time::Duration;

use takt_crypto::{AsymmetricSignature, Certificate, OwnCertificate, PublicKey};
use takt_ua::enumerations::{ApplicationType, MessageSecurityMode};
use takt_ua::structures::*;
use takt_ua::{
    ByteString, DateTime, LocalizedText, NodeId, SECURITY_POLICY_NONE, StatusCode, Variant, ids,
};

use super::attribute::Attribute;
use super::connection::Connection;
use super::ephemeral_key;
use super::message::{request_header, text};
use super::offers::is_over_tcp;
use super::options::ClientOptions;
use super::security::{Secured, names};
use super::server_run::{ServerRun, ServerTimes};
use super::tokens::Tokens;
use crate::endpoint::Endpoint;
use crate::error::ClientError;

/// Nonce length in bytes that the standard requires, with SecurityPolicy None too (OPC 10000-4, 5.7.2).
const NONCE_LENGTH: usize = 32;

/// Longest wait for the answer to CloseSession: the server ends a session that nobody closes after its timeout.
pub(crate) const CLOSING: Duration = Duration::from_millis(200);

/// An activated session.
#[derive(Debug)]
pub(crate) struct Session {
    run: ServerRun,
    /// Response that created it, with the endpoints of its channel only; its nonce is the newest one.
    created: CreateSessionResponse,
}

impl Session {
    pub(super) async fn open<T: Connection>(
        transport: &mut T,
        endpoint: &Endpoint,
        options: &ClientOptions,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        let mut nonce = vec![0; NONCE_LENGTH];
        getrandom::fill(&mut nonce).map_err(ClientError::Random)?;
        // The ApplicationUri has to be that of the certificate.
        let own = transport.secured().map(|secured| {
            let certificate = secured.identity.certificate();
            let uri = certificate.application_uri.clone().unwrap_or_default();
            (uri, ByteString::from(secured.identity.chain_der()))
        });
        let (uri, client_certificate) = own.unwrap_or_else(|| (options.uri(), ByteString::null()));
        let response: Result<CreateSessionResponse, ClientError> = transport
            .exchange_one(
                &CreateSessionRequest {
                    request_header: RequestHeader {
                        additional_header: ephemeral_key::request(transport.secured()),
                        ..request_header(&NodeId::NULL, 1, timeout)
                    },
                    client_description: ApplicationDescription {
                        application_uri: text(&uri),
                        product_uri: text("urn:takt"),
                        application_name: LocalizedText::from(options.application_name.as_str()),
                        application_type: ApplicationType::Client,
                        ..ApplicationDescription::default()
                    },
                    endpoint_url: text(&endpoint.to_string()),
                    session_name: text(&options.application_name),
                    client_nonce: ByteString::from(&*nonce),
                    client_certificate,
                    requested_session_timeout: options.session_timeout.as_secs_f64() * 1000.0,
                    ..CreateSessionRequest::default()
                },
                timeout,
            )
            .await;
        let mut created = match response {
            Err(error)
                if concerns_security(error.status_code()) && transport.secured().is_none() =>
            {
                let required = security_required(transport, endpoint, timeout).await;
                return Err(required.unwrap_or(error));
            }
            other => other?,
        };
        let proof = match transport.secured() {
            Some(secured) => prove(endpoint, secured, &nonce, &created),
            None => expect_unsecured(endpoint, &created.server_endpoints)
                .map(|()| SignatureData::default()),
        };
        created
            .server_endpoints
            .retain(|offer| is_of_channel(endpoint, offer, transport.secured()));
        let mut session = Self::of(created, ServerRun::begun());
        let activated = match proof {
            Ok(proof) => {
                let activated = session.activate(transport, endpoint, options, proof, timeout);
                activated.await
            }
            Err(error) => Err(error),
        };
        match activated {
            Ok(()) => Ok(session),
            Err(error) => {
                if !error.is_connection() {
                    // The server has it, although it cannot be used.
                    let _ = session.close(transport, CLOSING).await;
                }
                Err(error)
            }
        }
    }

    /// Activates the session on a new connection, after the loss of the previous one (OPC 10000-4, 5.7.3). Returns false if the server
    /// may have been restarted: the session is that of another client, and so is the connection now.
    ///
    /// # Errors
    /// [`ClientError::Service`] if the server has no such session any more, or refuses it: a new one is needed.
    pub(super) async fn resume<T: Connection>(
        &mut self,
        transport: &mut T,
        endpoint: &Endpoint,
        options: &ClientOptions,
        timeout: Duration,
    ) -> Result<bool, ClientError> {
        let refused = ClientError::Service {
            service: "ActivateSession",
            status: StatusCode::BadSessionIdInvalid,
        };
        let client_signature = match transport.secured() {
            Some(secured) => {
                let sent = self.created.server_certificate.as_bytes();
                let certificate = secured.server_certificate.leaf_der();
                let certificate =
                    certificate.filter(|leaf| Certificate::leaf_of(sent) == Some(leaf));
                // A server with another certificate gets a new session.
                let certificate = certificate.ok_or(refused)?;
                sign_nonce(endpoint, secured, certificate, &self.created)?
            }
            // `open` keeps the endpoints of the channel only.
            None => {
                let mut endpoints = self.created.server_endpoints.iter();
                match endpoints.all(|offer| is_unsecured(endpoint, offer)) {
                    true => SignatureData::default(),
                    false => return Err(refused),
                }
            }
        };
        // StartTime can be read in an activated session only, so that comes second.
        self.activate(transport, endpoint, options, client_signature, timeout)
            .await?;
        let times = server_times(transport, self.authentication_token(), timeout).await?;
        Ok(self.run.goes_on(times))
    }

    async fn activate<T: Connection>(
        &mut self,
        transport: &mut T,
        endpoint: &Endpoint,
        options: &ClientOptions,
        client_signature: SignatureData,
        timeout: Duration,
    ) -> Result<(), ClientError> {
        let tokens = Tokens::new(endpoint, options, transport.secured(), &self.created);
        let (user_identity_token, user_token_signature) = tokens.of(&options.identity)?;
        let activated: ActivateSessionResponse = transport
            .exchange_one(
                &ActivateSessionRequest {
                    request_header: request_header(self.authentication_token(), 2, timeout),
                    client_signature,
                    user_identity_token,
                    user_token_signature,
                    ..ActivateSessionRequest::default()
                },
                timeout,
            )
            .await?;
        // The next ActivateSession signs this one.
        self.created.server_nonce = activated.server_nonce;
        Ok(())
    }

    /// Returns the session that a response has created, in a run of its server.
    pub(super) fn of(created: CreateSessionResponse, run: ServerRun) -> Self {
        Self { run, created }
    }

    /// Returns the newest response that created it, and the run of its server.
    pub(super) fn into_parts(self) -> (CreateSessionResponse, ServerRun) {
        (self.created, self.run)
    }

    /// Reads when the server was started, so that [`resume`](Self::resume) knows it again.
    pub(super) async fn know_run<T: Connection>(&mut self, transport: &mut T, timeout: Duration) {
        // The next request meets a connection that is lost.
        if let Ok(times) = server_times(transport, self.authentication_token(), timeout).await {
            self.run.know(times);
        }
    }

    pub(crate) fn authentication_token(&self) -> &NodeId {
        &self.created.authentication_token
    }

    /// Closes the session at the server.
    ///
    /// # Errors
    /// The server does not answer in time, or refuses.
    pub(crate) async fn close<T: Connection>(
        &self,
        transport: &mut T,
        timeout: Duration,
    ) -> Result<(), ClientError> {
        let request = self.close_request(timeout);
        let closed: Result<CloseSessionResponse, _> =
            transport.exchange_one(&request, timeout).await;
        closed.map(|_| ())
    }

    /// Returns the request that closes the session and deletes its Subscriptions.
    pub(crate) fn close_request(&self, timeout: Duration) -> CloseSessionRequest {
        CloseSessionRequest {
            request_header: request_header(self.authentication_token(), 3, timeout),
            delete_subscriptions: true,
        }
    }
}

/// Reads the times of the server in an activated Session. Times that cannot be read are missing.
///
/// # Errors
/// Those of the connection.
async fn server_times<T: Connection>(
    transport: &mut T,
    token: &NodeId,
    timeout: Duration,
) -> Result<ServerTimes, ClientError> {
    let nodes = [
        ids::SERVER_SERVER_STATUS_START_TIME,
        ids::SERVER_SERVER_STATUS_CURRENT_TIME,
    ];
    let nodes_to_read = nodes.map(|node| ReadValueId {
        node_id: node.into(),
        attribute_id: Attribute::Value as u32,
        ..ReadValueId::default()
    });
    let request = ReadRequest {
        request_header: request_header(token, 4, timeout),
        nodes_to_read: nodes_to_read.into(),
        ..ReadRequest::default()
    };
    let response: ReadResponse = match transport.exchange_one(&request, timeout).await {
        Err(error) if error.is_connection() => return Err(error),
        Err(_) => return Ok(ServerTimes::default()),
        Ok(response) => response,
    };
    let time = |at: usize| match response.results.get(at)?.value {
        Some(Variant::DateTime(time)) if time != DateTime::MIN => Some(time),
        _ => None,
    };
    Ok(ServerTimes {
        start: time(0),
        now: time(1),
    })
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
async fn security_required<T: Connection>(
    transport: &mut T,
    endpoint: &Endpoint,
    timeout: Duration,
) -> Option<ClientError> {
    let response: GetEndpointsResponse = transport
        .exchange_one(
            &GetEndpointsRequest {
                request_header: request_header(&NodeId::NULL, 2, timeout),
                endpoint_url: text(&endpoint.to_string()),
                ..GetEndpointsRequest::default()
            },
            timeout,
        )
        .await
        .ok()?;
    expect_unsecured(endpoint, &response.endpoints).err()
}

/// Returns true if a server offers, over the transport of `endpoint`, sessions without security. A server of Takt lists its endpoints
/// in shared memory too, which never have any.
fn is_unsecured(endpoint: &Endpoint, offer: &EndpointDescription) -> bool {
    is_over_tcp(offer) != endpoint.is_shared_memory()
        && offer.security_mode == MessageSecurityMode::None
        && offer.security_policy_uri.as_str() == SECURITY_POLICY_NONE
}

/// Returns true for the endpoints with the security of the connection.
fn is_of_channel(
    endpoint: &Endpoint,
    offer: &EndpointDescription,
    secured: Option<&Secured>,
) -> bool {
    match secured {
        Some(secured) => {
            offer.security_mode == secured.mode
                && offer.security_policy_uri.as_str() == secured.profile.uri
        }
        None => is_unsecured(endpoint, offer),
    }
}

/// Refuses a server that offers secure endpoints only. A server that lists no endpoints is accepted.
fn expect_unsecured(
    endpoint: &Endpoint,
    offered: &[EndpointDescription],
) -> Result<(), ClientError> {
    let mut offers = offered.iter();
    if offered.is_empty() || offers.any(|offer| is_unsecured(endpoint, offer)) {
        return Ok(());
    }
    Err(ClientError::SecurityRequired {
        endpoint: endpoint.to_string(),
        offered: names(offered),
    })
}

/// Checks the server's proof that it has the key of its certificate, and returns the client's own proof.
fn prove(
    endpoint: &Endpoint,
    secured: &Secured,
    client_nonce: &[u8],
    created: &CreateSessionResponse,
) -> Result<SignatureData, ClientError> {
    let failed = |reason| ClientError::Proof {
        endpoint: endpoint.to_string(),
        reason,
    };
    let sent = created.server_certificate.as_bytes();
    let certificate = secured.server_certificate.leaf_der().unwrap_or_default();
    if Certificate::leaf_of(sent) != Some(certificate) {
        return Err(failed("it has another certificate than its secure channel"));
    }
    let (own, server) = (&secured.identity, secured.server_certificate.leaf());
    let algorithm = secured.profile.asymmetric_signature;
    let signature = &created.server_signature;
    if !server.is_some_and(|server| has_signed(server, algorithm, own, client_nonce, signature)) {
        return Err(failed("its signature is wrong"));
    }
    if !secured.is_confirmed(&created.server_endpoints) {
        return Err(failed(
            "the list of its endpoints was changed on the way, or does not contain the chosen one",
        ));
    }
    sign_nonce(endpoint, secured, certificate, created)
}

/// Returns true if the server has signed the client's certificate and nonce.
fn has_signed(
    server: &Certificate,
    algorithm: AsymmetricSignature,
    own: &OwnCertificate,
    client_nonce: &[u8],
    signature: &SignatureData,
) -> bool {
    let key = PublicKey::from_spki(&server.public_key);
    let proof = signature.signature.as_bytes();
    algorithm.is_named(signature.algorithm.as_str())
        && key.is_ok_and(|key| {
            own.verify_proof(&key, algorithm, client_nonce, proof)
                .is_ok()
        })
}

/// Returns the client's proof: its signature of the server's certificate and newest nonce.
fn sign_nonce(
    endpoint: &Endpoint,
    secured: &Secured,
    certificate: &[u8],
    created: &CreateSessionResponse,
) -> Result<SignatureData, ClientError> {
    let failed = |reason| ClientError::Proof {
        endpoint: endpoint.to_string(),
        reason,
    };
    let nonce = created.server_nonce.as_bytes();
    if nonce.len() < NONCE_LENGTH {
        return Err(failed("its nonce is too short"));
    }
    let algorithm = secured.profile.asymmetric_signature;
    sign(&secured.identity, algorithm, &[certificate, nonce].concat())
        .ok_or_else(|| failed("nothing can be signed"))
}

fn sign(
    identity: &OwnCertificate,
    algorithm: AsymmetricSignature,
    data: &[u8],
) -> Option<SignatureData> {
    let mut signature = vec![0; identity.key().size()];
    identity.key().sign(algorithm, data, &mut signature).ok()?;
    Some(SignatureData {
        algorithm: text(algorithm.uri()),
        signature: ByteString::from(signature),
    })
}

#[cfg(test)]
mod tests {
    use takt_crypto::{KeyKind, NewCertificate, PolicyProfile, PrivateKey};

    use super::*;

    fn created(name: &str, profile: &PolicyProfile) -> OwnCertificate {
        let new = NewCertificate {
            application_name: name.to_owned(),
            application_uri: format!("urn:{name}"),
            host_names: Vec::new(),
            addresses: Vec::new(),
            validity: Duration::from_secs(3600),
            key_bits: 2048,
        };
        new.create(profile.key_kind()).unwrap()
    }

    #[test]
    fn a_server_signs_the_certificate_of_the_client_alone_or_with_its_issuers() {
        let mut profiles = PolicyProfile::ALL.into_iter();
        let profile = profiles.find(|one| one.key_kind() != KeyKind::Rsa).unwrap();
        let algorithm = profile.asymmetric_signature;
        let (server, client) = (created("server", profile), created("client", profile));
        // Any certificate in the place of the issuer: nothing checks the chain here.
        let issuer = server.certificate();
        let chain = [client.certificate().der(), issuer.der()].concat();
        let signed_by_server = |data: &[u8]| {
            let data = [data, &[7; NONCE_LENGTH]].concat();
            sign(&server, algorithm, &data).unwrap()
        };
        let of_leaf = signed_by_server(client.certificate().der());
        let of_chain = signed_by_server(&chain);
        let has_signed = |own: &OwnCertificate, nonce: &[u8], signature: &SignatureData| {
            super::has_signed(server.certificate(), algorithm, own, nonce, signature)
        };
        assert!(has_signed(&client, &[7; NONCE_LENGTH], &of_leaf));
        assert!(!has_signed(&client, &[7; NONCE_LENGTH], &of_chain));
        assert!(!has_signed(&client, &[8; NONCE_LENGTH], &of_leaf));
        let key = PrivateKey::from_pem(&client.key().to_pem().unwrap()).unwrap();
        let issued = vec![client.certificate().clone(), issuer.clone()];
        let issued = OwnCertificate::new(issued, key).unwrap();
        assert!(has_signed(&issued, &[7; NONCE_LENGTH], &of_leaf));
        assert!(has_signed(&issued, &[7; NONCE_LENGTH], &of_chain));
    }
}
