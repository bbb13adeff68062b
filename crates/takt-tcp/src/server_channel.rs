//! The server's state of a SecureChannel, and the handling of OpenSecureChannel (OPC 10000-6, 6.7.4 and 6.7.7;
//! OPC 10000-4, 5.6.2).

use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_crypto::{KeyShare, PeerCertificate};
use takt_ua::enumerations::{MessageSecurityMode, SecurityTokenRequestType};
use takt_ua::structures::{
    ChannelSecurityToken, OpenSecureChannelRequest, OpenSecureChannelResponse, ResponseHeader,
};
use takt_ua::{ByteString, DateTime, SECURITY_POLICY_NONE};

use crate::chunk::{self, SequenceHeader};
use crate::config::ServerConnectionConfig;
use crate::error::TransportError;
use crate::hello::PROTOCOL_VERSION;
use crate::inbound::{Chunk, Inbound};
use crate::open_channel::{AsymmetricHeader, decode_message};
use crate::outbound::Outbound;
use crate::security::{AsymmetricSecurity, Role, SecurityPolicy};
use crate::security_error::SecurityError;
use crate::sequence::{SequenceReceiver, SequenceSender};
use crate::server_event::ChannelDescription;
use crate::token::{ServerTokens, Token};

/// SecurityPolicy and certificate that a client names in its first OpenSecureChannel request, for the report of a refusal.
#[derive(Debug, Default)]
pub(crate) struct ClaimedSecurity {
    /// SecurityPolicyUri; empty before the request.
    pub(crate) policy_uri: String,
    /// Certificate, which was not checked; empty without one.
    pub(crate) client: Arc<PeerCertificate>,
}

/// The security header of an `OPN` chunk, for which the policy has to decide.
#[derive(Debug)]
pub(crate) struct OpenRequest {
    policy: Arc<dyn SecurityPolicy>,
    pub(crate) client: Arc<PeerCertificate>,
    /// Thumbprint of the own certificate, as the client has sent it.
    thumbprint: Vec<u8>,
    header_end: usize,
    is_renewal: bool,
}

impl OpenRequest {
    /// Reads the header. The certificate of a new client is parsed here and nowhere else. `claimed` becomes what a new client
    /// names, also if its request is refused.
    pub(crate) fn read(
        channel: Option<&ServerChannel>,
        config: &ServerConnectionConfig,
        chunk: &Chunk,
        inbound: &Inbound,
        claimed: &mut ClaimedSecurity,
    ) -> Result<Self, TransportError> {
        let bytes = inbound.chunk(chunk);
        let channel_id = chunk::secure_channel_id(bytes);
        // A client without a channel sends 0.
        let expected = channel.map_or(0, |_| inbound.channel_id);
        if channel_id != expected {
            return Err(TransportError::SecureChannelIdInvalid(channel_id));
        }
        let (header, header_end) = AsymmetricHeader::parse(bytes)?;
        let (policy, client) = match channel {
            // OPC 10000-6, 6.7.7: a renewal uses the policy and the certificate of the channel.
            Some(open) if open.policy.uri() != header.policy_uri => {
                return Err(TransportError::SecurityPolicy(header.policy_uri));
            }
            Some(open) if open.is_of_another(&header.sender_certificate) => {
                return Err(SecurityError::OtherCertificate.into());
            }
            Some(open) => (Arc::clone(&open.policy), Arc::clone(&open.client)),
            None => {
                let client = peer_certificate(&header.policy_uri, header.sender_certificate);
                claimed.client = Arc::clone(&client);
                claimed.policy_uri = header.policy_uri;
                (find_policy(&config.policies, &claimed.policy_uri)?, client)
            }
        };
        Ok(Self {
            policy,
            client,
            thumbprint: header.receiver_thumbprint,
            header_end,
            is_renewal: channel.is_some(),
        })
    }

    /// Asks the policy whether the channel may open, or live on.
    pub(crate) fn decide(&self) -> Result<(), SecurityError> {
        match self.is_renewal {
            true => self.policy.keep_peer(&self.client),
            false => self.policy.accept_peer(&self.client),
        }
    }
}

#[derive(Debug)]
pub(crate) struct ServerChannel {
    policy: Arc<dyn SecurityPolicy>,
    mode: MessageSecurityMode,
    client: Arc<PeerCertificate>,
    server_certificate: Vec<u8>,
    last_nonce: Vec<u8>,
    last_token_id: u32,
    pub(crate) tokens: ServerTokens,
}

impl ServerChannel {
    pub(crate) fn describe<'a>(
        &'a self,
        channel_id: u32,
        endpoint_url: &'a str,
    ) -> ChannelDescription<'a> {
        ChannelDescription {
            channel_id,
            endpoint_url,
            security_policy_uri: self.policy.uri(),
            security_mode: self.mode,
            client_certificate: &self.client,
            server_certificate: &self.server_certificate,
        }
    }

    pub(crate) fn client(&self) -> &Arc<PeerCertificate> {
        &self.client
    }

    pub(crate) fn policy_uri(&self) -> &str {
        self.policy.uri()
    }

    /// Asks the policy whether the channel may live on.
    pub(crate) fn keep_client(&self) -> Result<(), TransportError> {
        Ok(self.policy.reconsider_peer(&self.client)?)
    }

    /// Returns true if a renewal comes with another certificate than that of the channel.
    fn is_of_another(&self, certificate: &[u8]) -> bool {
        self.policy.uri() != SECURITY_POLICY_NONE && self.client.der() != certificate
    }

    pub(crate) fn is_secured(&self) -> bool {
        self.policy.nonce_length() > 0
    }

    /// Opens the channel or renews its token, and answers. The policy has [decided](OpenRequest::decide) for the client.
    pub(crate) fn open(
        channel: &mut Option<Self>,
        config: &ServerConnectionConfig,
        chunk: &Chunk,
        opening: OpenRequest,
        (inbound, outbound): (&mut Inbound, &mut Outbound),
        now: Instant,
    ) -> Result<(), TransportError> {
        let OpenRequest {
            policy,
            client,
            thumbprint,
            header_end,
            ..
        } = opening;
        let asymmetric = policy.asymmetric(&client, Some(&thumbprint))?;
        // A renewal continues the SequenceNumbers of the channel (OPC 10000-6, 6.7.2.4).
        if channel.is_none() {
            let legacy = policy.legacy_sequence_numbers();
            inbound.sequence = SequenceReceiver::new(legacy);
            outbound.sequence = SequenceSender::new(legacy);
        }
        let (request_id, body) = inbound.open(chunk, header_end, &*asymmetric.chunks.receive)?;
        let request: OpenSecureChannelRequest = decode_message(inbound.buffer.get(body))?;

        let expected = match channel {
            None => SecurityTokenRequestType::Issue,
            Some(_) => SecurityTokenRequestType::Renew,
        };
        if request.request_type != expected {
            return Err(TransportError::RequestType(request.request_type.0));
        }
        let mode = request.security_mode;
        // A renewal must not weaken the security of the channel.
        let same_mode = channel.as_ref().is_none_or(|open| open.mode == mode);
        if !policy.allows(mode) || !same_mode {
            return Err(TransportError::SecurityMode(mode.0));
        }
        let client_nonce = request.client_nonce.as_bytes();
        let share = make_share(&*policy, client_nonce)?;
        let repeated = |open: &Self| !open.last_nonce.is_empty() && open.last_nonce == client_nonce;
        if channel.as_ref().is_some_and(repeated) {
            return Err(SecurityError::NonceRepeated.into());
        }
        let last_nonce = match policy.nonce_length() {
            0 => Vec::new(),
            _ => client_nonce.to_vec(),
        };
        let security = policy.symmetric(Role::Server, mode, &share, client_nonce)?;
        let lifetime = revise(request.requested_lifetime, config);
        let last_token_id = channel.as_ref().map_or(0, |open| open.last_token_id);
        let token_id = last_token_id.wrapping_add(1).max(1);

        let response = OpenSecureChannelResponse {
            response_header: ResponseHeader {
                timestamp: DateTime::now(),
                request_handle: request.request_header.request_handle,
                ..ResponseHeader::default()
            },
            server_protocol_version: PROTOCOL_VERSION,
            security_token: ChannelSecurityToken {
                channel_id: inbound.channel_id,
                token_id,
                created_at: DateTime::now(),
                revised_lifetime: milliseconds(lifetime),
            },
            server_nonce: nonce_field(share.nonce()),
        };
        let server_certificate = asymmetric.certificate.clone();
        answer(&*policy, asymmetric, outbound, request_id, &response)?;
        if let Some(log) = &config.key_log
            && let Some(keys) = policy.logged_keys(Role::Server, mode, &share, client_nonce)
        {
            log.note(inbound.channel_id, token_id, &keys);
        }

        let token = Token::new(token_id, now, lifetime, security);
        match channel {
            Some(open) => {
                open.last_token_id = token_id;
                open.last_nonce = last_nonce;
                open.tokens.renew(token);
            }
            None => {
                *channel = Some(Self {
                    policy,
                    mode,
                    client,
                    server_certificate,
                    last_nonce,
                    last_token_id: token_id,
                    tokens: ServerTokens::new(token),
                });
            }
        }
        Ok(())
    }
}

fn answer(
    policy: &dyn SecurityPolicy,
    asymmetric: AsymmetricSecurity,
    outbound: &mut Outbound,
    request_id: u32,
    response: &OpenSecureChannelResponse,
) -> Result<(), TransportError> {
    let header = AsymmetricHeader {
        policy_uri: policy.uri().into(),
        sender_certificate: asymmetric.certificate,
        receiver_thumbprint: asymmetric.peer_thumbprint,
    };
    let sequence = SequenceHeader {
        sequence_number: outbound.sequence.take(),
        request_id,
    };
    let channel_id = outbound.channel_id;
    header.emit(
        outbound.raw(),
        channel_id,
        sequence,
        &*asymmetric.chunks.send,
        response,
    )
}

/// Parses the certificate of a client. With SecurityPolicy None it is ignored (OPC 10000-4, 5.6.2.2): nobody has proved to own it.
fn peer_certificate(policy_uri: &str, der: Vec<u8>) -> Arc<PeerCertificate> {
    match policy_uri {
        SECURITY_POLICY_NONE => Arc::default(),
        _ => Arc::new(PeerCertificate::parse(der)),
    }
}

fn find_policy(
    policies: &[Arc<dyn SecurityPolicy>],
    uri: &str,
) -> Result<Arc<dyn SecurityPolicy>, TransportError> {
    let found = policies.iter().find(|policy| policy.uri() == uri);
    found
        .map(Arc::clone)
        .ok_or_else(|| TransportError::SecurityPolicy(uri.into()))
}

/// Checks the length of the peer's nonce and creates the own part in the keys.
fn make_share(policy: &dyn SecurityPolicy, peer_nonce: &[u8]) -> Result<KeyShare, TransportError> {
    let expected = policy.nonce_length();
    // If the policy has no nonces, the peer's nonce is ignored.
    if expected > 0 && peer_nonce.len() != expected {
        let found = peer_nonce.len();
        return Err(TransportError::Nonce { expected, found });
    }
    Ok(policy.key_share()?)
}

/// Returns the field of a nonce: null if there is none.
pub(crate) fn nonce_field(nonce: &[u8]) -> ByteString {
    if nonce.is_empty() {
        ByteString::null()
    } else {
        ByteString::from(nonce)
    }
}

fn revise(requested_ms: u32, config: &ServerConnectionConfig) -> Duration {
    let (least, most) = (config.min_token_lifetime, config.max_token_lifetime);
    match requested_ms {
        0 => most,
        // `clamp` would panic if the configured limits were in the wrong order.
        ms => Duration::from_millis(ms.into()).max(least).min(most),
    }
}

fn milliseconds(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_can_renew_its_token_every_second() {
        let config = ServerConnectionConfig::default();
        let revised = |requested| revise(requested, &config).as_millis();
        // Renewed after three quarters of its lifetime.
        assert_eq!(revised(1_334), 1_334);
        assert_eq!(revised(1), 1_000);
        assert_eq!(revised(0), 3_600_000);
        assert_eq!(revised(u32::MAX), 3_600_000);
    }
}
