//! Handler through which the transports call the services.

use std::net::SocketAddr;
use std::sync::Arc;

use takt_crypto::{CertificateError, PeerCertificate};
use takt_services::{AuditedAction, Connection, Server};
use takt_shm::{ApplicationName, PeerCredentials};
use takt_space::{Caller, Channel, ChannelSecurity, Peer};
use takt_tcp::{ChannelDescription, SecurityError, TcpPeer, TransportError};
use takt_ua::NodeIdRef;
use takt_ua::binary::{Decode, Decoder, Encoder};
use takt_ua::enumerations::MessageSecurityMode;
use takt_ua::request_handler::{CompletionWaker, RequestHandler, RequestOutcome};

use super::traffic::Counters;

/// The server that all transports of an application call, on one thread.
#[derive(Clone)]
pub(super) struct Services {
    pub(super) server: Arc<Server>,
    pub(super) counters: Arc<Counters>,
    /// False if channels with SecurityPolicy None are for discovery only.
    pub(super) allows_none: bool,
    /// True if they are for discovery only when the client is beyond the loopback interface.
    pub(super) none_on_loopback_only: bool,
}

impl Services {
    /// Counts a request of `length` bytes, and its response.
    #[inline]
    fn count(
        &self,
        length: usize,
        response: &mut Encoder<'_>,
        handle: impl FnOnce(&mut Encoder<'_>) -> RequestOutcome,
    ) -> RequestOutcome {
        let before = response.position();
        let outcome = handle(response);
        self.counters.request(length);
        // A response that comes later is counted by `take_completed`.
        if matches!(outcome, RequestOutcome::Complete) {
            self.counters.response(response.position() - before);
        }
        outcome
    }
}

impl RequestHandler for Services {
    type Connection = Connection;

    #[inline]
    fn handle(
        &self,
        connection: &mut Connection,
        request_id: u32,
        request: &[u8],
        response: &mut Encoder<'_>,
    ) -> RequestOutcome {
        self.count(request.len(), response, |response| {
            self.server
                .handle(connection, request_id, request, response)
        })
    }

    fn handle_owned(
        &self,
        connection: &mut Connection,
        request_id: u32,
        request: &mut Vec<u8>,
        response: &mut Encoder<'_>,
    ) -> RequestOutcome {
        self.count(request.len(), response, |response| {
            self.server
                .handle_owned(connection, request_id, request, response)
        })
    }

    fn is_turn_over(&self) -> bool {
        self.server.is_turn_over()
    }

    fn take_completed(&self, connection: &mut Connection) -> Option<(u32, Vec<u8>)> {
        let completed = connection.take_completed();
        if let Some((_, response)) = &completed {
            self.counters.response(response.len());
        }
        completed
    }

    fn disconnect(&self, connection: Connection) {
        self.server.disconnect(connection);
    }
}

impl takt_tcp::TcpChannels for Services {
    fn connect(
        &self,
        TcpPeer { address, user }: TcpPeer,
        channel: ChannelDescription<'_>,
        waker: CompletionWaker,
    ) -> Connection {
        let security = ChannelSecurity {
            policy_uri: channel.security_policy_uri.to_owned(),
            mode: channel.security_mode,
            client_certificate: Arc::clone(channel.client_certificate),
            server_certificate: channel.server_certificate.to_vec(),
        };
        let endpoint_url = channel.endpoint_url.to_owned();
        // A socket for IPv6 has clients over IPv4 with mapped addresses.
        let is_beyond = self.none_on_loopback_only && !address.ip().to_canonical().is_loopback();
        let is_restricted =
            (!self.allows_none || is_beyond) && security.mode == MessageSecurityMode::None;
        let peer = Peer::Tcp { address, user };
        let mut connection = self.server.connect(peer, security, endpoint_url, waker);
        if is_restricted {
            connection.restrict_to_discovery();
        }
        connection
    }

    fn has_session(&self, connection: &Connection) -> bool {
        connection.has_session()
    }

    fn failed(&self, address: SocketAddr, client: &Arc<PeerCertificate>, error: &TransportError) {
        let TransportError::Security(SecurityError::Certificate(error)) = error else {
            return;
        };
        let channel = Channel {
            id: 0,
            peer: Peer::tcp(address),
            security: ChannelSecurity {
                client_certificate: Arc::clone(client),
                ..ChannelSecurity::none()
            },
        };
        let action = AuditedAction::Certificate {
            event_type: event_type(*error),
        };
        let caller = Caller::of_channel(Arc::new(channel));
        self.server.audit_of(&caller, action, error.status_code());
    }
}

impl takt_shm::ShmChannels for Services {
    fn connect(
        &self,
        peer: Option<PeerCredentials>,
        name: &ApplicationName,
        waker: CompletionWaker,
    ) -> Connection {
        let peer = match peer {
            Some(peer) => Peer::SharedMemory {
                user: Some(peer.user),
                // A process in another PID namespace has no id here.
                process: (peer.process != 0).then_some(peer.process),
                groups: peer.groups,
            },
            // Only this process's own Unix user can open the memory of the public services.
            None => Peer::SharedMemory {
                user: Some(rustix::process::geteuid().as_raw()),
                process: None,
                groups: Vec::new(),
            },
        };
        let security = ChannelSecurity::none();
        self.server
            .connect(peer, security, name.endpoint_url(), waker)
    }

    fn locate(&self, connection: &mut Connection, node_id: &[u8]) -> Option<takt_shm::Located> {
        let node_id = NodeIdRef::decode(&mut Decoder::new(node_id)).ok()?;
        let location = self.server.shared_cell(connection, &node_id)?;
        let segment = takt_cell::shared::segment(location.segment)?;
        Some(takt_shm::Located {
            segment: (location.segment, segment),
            location: location.to_bytes().to_vec(),
        })
    }
}

/// Returns the subtype of AuditCertificateEventType for a check that failed (OPC 10000-5, 6.4.12 to 6.4.18).
fn event_type(error: CertificateError) -> &'static str {
    use CertificateError as E;
    match error {
        E::Structure | E::Signature | E::PolicyCheck => "AuditCertificateInvalidEventType",
        E::Untrusted | E::ChainIncomplete => "AuditCertificateUntrustedEventType",
        E::Time | E::IssuerTime => "AuditCertificateExpiredEventType",
        E::HostName | E::Uri => "AuditCertificateDataMismatchEventType",
        E::Use | E::IssuerUse => "AuditCertificateMismatchEventType",
        E::RevocationUnknown | E::IssuerRevocationUnknown | E::Revoked | E::IssuerRevoked => {
            "AuditCertificateRevokedEventType"
        }
    }
}
