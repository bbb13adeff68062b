//! OpenSecureChannel on the client's side: requests for tokens, and the responses (OPC 10000-6, 6.7.4, 6.7.7).

use std::time::{Duration, Instant};

use takt_crypto::KeyShare;
use takt_ua::enumerations::SecurityTokenRequestType;
use takt_ua::structures::{
    OpenSecureChannelRequest, OpenSecureChannelResponse, RequestHeader, ServiceFault,
};
use takt_ua::{DateTime, StatusCode};

use crate::chunk::{self, SequenceHeader};
use crate::config::ClientConnectionConfig;
use crate::error::TransportError;
use crate::hello::PROTOCOL_VERSION;
use crate::inbound::{Chunk, Inbound};
use crate::open_channel::{AsymmetricHeader, decode_message};
use crate::outbound::Outbound;
use crate::security::{Role, TokenSecurity};
use crate::security_error::SecurityError;
use crate::sequence::{SequenceReceiver, SequenceSender};
use crate::server_channel::nonce_field;
use crate::token::Token;

/// An unanswered OpenSecureChannel request.
#[derive(Debug)]
pub(crate) struct PendingOpen {
    request_id: u32,
    is_new: bool,
    /// The own part in the keys; it is used once.
    share: KeyShare,
    security: TokenSecurity,
}

impl PendingOpen {
    /// Sends the request: Issue for the first token of a channel, Renew for the following ones.
    pub(crate) fn send(
        config: &ClientConnectionConfig,
        request_id: u32,
        is_new: bool,
        inbound: &mut Inbound,
        outbound: &mut Outbound,
    ) -> Result<Self, TransportError> {
        let policy = &*config.policy;
        // SequenceNumbers continue over all tokens of a channel (OPC 10000-6, 6.7.2.4).
        if is_new {
            let legacy = policy.legacy_sequence_numbers();
            outbound.sequence = SequenceSender::new(legacy);
            inbound.sequence = SequenceReceiver::new(legacy);
        }
        let server = &config.server_certificate;
        match is_new {
            true => policy.accept_peer(server)?,
            false => policy.keep_peer(server)?,
        }
        let asymmetric = policy.asymmetric(server, None)?;
        let security = asymmetric.chunks;
        let share = policy.key_share()?;
        let lifetime = config.token_lifetime.as_millis();
        let request = OpenSecureChannelRequest {
            request_header: request_header(request_id),
            client_protocol_version: PROTOCOL_VERSION,
            request_type: if is_new {
                SecurityTokenRequestType::Issue
            } else {
                SecurityTokenRequestType::Renew
            },
            security_mode: config.security_mode,
            client_nonce: nonce_field(share.nonce()),
            // More than 49 days do not fit the field; the server revises the lifetime anyway.
            requested_lifetime: u32::try_from(lifetime).unwrap_or(u32::MAX),
        };
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
        let out = outbound.raw();
        header.emit(out, channel_id, sequence, &*security.send, &request)?;
        Ok(Self {
            request_id,
            is_new,
            share,
            security,
        })
    }

    /// Takes the response: the new token, and the SecureChannelId of a new channel.
    pub(crate) fn complete(
        self,
        config: &ClientConnectionConfig,
        chunk: &Chunk,
        inbound: &mut Inbound,
        outbound: &mut Outbound,
        now: Instant,
    ) -> Result<Token, TransportError> {
        let bytes = inbound.chunk(chunk);
        let channel_id = chunk::secure_channel_id(bytes);
        let (header, header_end) = AsymmetricHeader::parse(bytes)?;
        let policy = &*config.policy;
        if header.policy_uri != policy.uri() {
            return Err(TransportError::SecurityPolicy(header.policy_uri));
        }
        // OPC 10000-6, 6.7.4: abandon the channel if the certificate that signs differs from the one that was used
        // for encryption.
        // It is empty with SecurityPolicy None, which checks no certificate.
        let known = config.server_certificate.der();
        if !known.is_empty() && known != header.sender_certificate {
            return Err(SecurityError::OtherCertificate.into());
        }
        let (request_id, body) = inbound.open(chunk, header_end, &*self.security.receive)?;
        if request_id != self.request_id {
            return Err(TransportError::RequestIdUnknown(request_id));
        }
        let response = decode_open_response(inbound.buffer.get(body))?;
        let token = response.security_token;
        // A renewal must not move the client to another channel.
        let same = self.is_new || token.channel_id == outbound.channel_id;
        if token.channel_id != channel_id || !same {
            return Err(TransportError::SecureChannelIdInvalid(token.channel_id));
        }
        let server_nonce = response.server_nonce.as_bytes();
        let expected = policy.nonce_length();
        if expected > 0 && server_nonce.len() != expected {
            let found = server_nonce.len();
            return Err(TransportError::Nonce { expected, found });
        }
        let mode = config.security_mode;
        let security = policy.symmetric(Role::Client, mode, &self.share, server_nonce)?;
        if let Some(log) = &config.key_log
            && let Some(keys) = policy.logged_keys(Role::Client, mode, &self.share, server_nonce)
        {
            log.note(channel_id, token.token_id, &keys);
        }
        let lifetime = Duration::from_millis(token.revised_lifetime.into());
        inbound.channel_id = channel_id;
        outbound.channel_id = channel_id;
        Ok(Token::new(token.token_id, now, lifetime, security))
    }
}

fn decode_open_response(body: &[u8]) -> Result<OpenSecureChannelResponse, TransportError> {
    let refused = |status: StatusCode| TransportError::Peer {
        status,
        reason: String::new(),
    };
    match decode_message::<OpenSecureChannelResponse>(body) {
        Ok(response) if response.response_header.service_result.is_bad() => {
            Err(refused(response.response_header.service_result))
        }
        Ok(response) => Ok(response),
        // A server may refuse with a ServiceFault, which is another structure.
        Err(error) => match decode_message::<ServiceFault>(body) {
            Ok(fault) => Err(refused(fault.response_header.service_result)),
            Err(_) => Err(error),
        },
    }
}

/// Returns a RequestHeader without a Session.
pub(crate) fn request_header(request_id: u32) -> RequestHeader {
    RequestHeader {
        timestamp: DateTime::now(),
        request_handle: request_id,
        ..RequestHeader::default()
    }
}
