//! Shared parts of the connection tests: both state machines connected in memory, a SecurityPolicy with the features
//! of a real one but no protection, and hand-made messages.

pub(crate) mod echo_server;
pub(crate) mod plant;
pub(crate) mod raw;
pub(crate) mod toy_policy;

use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_tcp::{
    ClientConnection, ClientConnectionConfig, ClientEvent, ServerConnection,
    ServerConnectionConfig, ServerEvent, TransportError,
};
use takt_ua::StatusCode;
use takt_ua::binary::{Decoder, Encoder};

pub(crate) const URL: &str = "opc.tcp://127.0.0.1:4840";
pub(crate) const CHANNEL: u32 = 77;

/// A client and a server whose bytes are moved explicitly.
pub(crate) struct Pair {
    pub(crate) client: ClientConnection,
    pub(crate) server: ServerConnection,
    pub(crate) now: Instant,
}

/// Results of the client's requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Response(u32, Vec<u8>),
    Aborted(u32, StatusCode),
}

impl Pair {
    pub(crate) fn new(client: ClientConnectionConfig, server: ServerConnectionConfig) -> Self {
        let now = Instant::now();
        Self {
            client: ClientConnection::new(client, URL),
            server: ServerConnection::new(Arc::new(server), CHANNEL, now),
            now,
        }
    }

    pub(crate) fn open(client: ClientConnectionConfig, server: ServerConnectionConfig) -> Self {
        let mut pair = Self::new(client, server);
        assert_eq!(pair.exchange(echo), Ok(Vec::new()));
        assert!(pair.client.is_open());
        pair
    }

    pub(crate) fn wait(&mut self, duration: Duration) {
        self.now += duration;
    }

    /// Moves bytes until neither side has any; the server answers requests with `serve`.
    pub(crate) fn exchange(
        &mut self,
        mut serve: impl FnMut(&[u8], &mut Encoder<'_>),
    ) -> Result<Vec<Answer>, TransportError> {
        let mut answers = Vec::new();
        loop {
            let mut moved = false;
            while !self.client.transmit().is_empty() {
                let space = self.server.receive_space();
                if space.is_empty() {
                    break;
                }
                let bytes = self.client.transmit();
                let count = bytes.len().min(space.len());
                space[..count].copy_from_slice(&bytes[..count]);
                self.server.received(count);
                self.client.transmitted(count);
                moved = true;
                self.serve(&mut serve)?;
            }
            while !self.server.transmit().is_empty() {
                let space = self.client.receive_space();
                let bytes = self.server.transmit();
                let count = bytes.len().min(space.len());
                space[..count].copy_from_slice(&bytes[..count]);
                self.client.received(count);
                self.server.transmitted(count, self.now);
                moved = true;
                while let Some(event) = self.client.poll(self.now)? {
                    match event {
                        ClientEvent::Opened => {}
                        ClientEvent::Response { request_id, body } => {
                            answers.push(Answer::Response(request_id, body.to_vec()));
                        }
                        ClientEvent::Aborted {
                            request_id, status, ..
                        } => answers.push(Answer::Aborted(request_id, status)),
                    }
                }
                self.serve(&mut serve)?;
            }
            if !moved {
                return Ok(answers);
            }
        }
    }

    fn serve(
        &mut self,
        serve: &mut impl FnMut(&[u8], &mut Encoder<'_>),
    ) -> Result<(), TransportError> {
        while let Some(event) = self.server.poll(self.now)? {
            if let ServerEvent::Request(mut request) = event {
                let ((), written) =
                    request.respond(|body, encoder| serve(body.bytes(), encoder))?;
                if !written {
                    request.fault(StatusCode::BadResponseTooLarge)?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn request(&mut self, body: &[u8]) -> u32 {
        self.client.request(|e| e.bytes(body)).unwrap()
    }
}

/// Answers with the request, or with nothing if that does not fit.
pub(crate) fn echo(body: &[u8], encoder: &mut Encoder<'_>) {
    let _ = encoder.bytes(body);
}

/// Returns a message of header and `body`.
pub(crate) fn message(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let size = u32::try_from(8 + body.len()).unwrap();
    [kind.as_slice(), &size.to_le_bytes(), body].concat()
}

pub(crate) fn hello(receive: u32, send: u32, max_message: u32, max_chunks: u32) -> Vec<u8> {
    let mut body: Vec<u8> = [0, receive, send, max_message, max_chunks]
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect();
    body.extend(u32::try_from(URL.len()).unwrap().to_le_bytes());
    body.extend(URL.as_bytes());
    message(b"HELF", &body)
}

/// Returns an OpenSecureChannel request, byte by byte.
pub(crate) fn open_request(
    channel: u32,
    policy: &str,
    sequence: u32,
    request_type: u32,
    mode: u32,
    lifetime: u32,
) -> Vec<u8> {
    let mut body = Vec::new();
    let mut e = Encoder::growing(&mut body, 10_000);
    e.u32(channel).unwrap();
    e.string(Some(policy)).unwrap();
    e.byte_string(None).unwrap();
    e.byte_string(None).unwrap();
    e.u32(sequence).unwrap();
    e.u32(1000 + sequence).unwrap(); // RequestId
    e.bytes(&[1, 0]).unwrap(); // four-byte NodeId, namespace 0
    e.u16(446).unwrap(); // OpenSecureChannelRequest_Encoding_DefaultBinary
    e.bytes(&[0, 0]).unwrap(); // authenticationToken
    e.i64(0).unwrap(); // timestamp
    e.u32(5).unwrap(); // requestHandle
    e.u32(0).unwrap(); // returnDiagnostics
    e.string(None).unwrap(); // auditEntryId
    e.u32(0).unwrap(); // timeoutHint
    e.bytes(&[0, 0, 0]).unwrap(); // additionalHeader
    e.u32(0).unwrap(); // clientProtocolVersion
    e.u32(request_type).unwrap();
    e.u32(mode).unwrap();
    e.byte_string(Some(&[0])).unwrap(); // clientNonce
    e.u32(lifetime).unwrap();
    message(b"OPNF", &body)
}

pub(crate) const NONE: &str = "http://opcfoundation.org/UA/SecurityPolicy#None";

/// Returns a chunk under SecurityPolicy None.
pub(crate) fn chunk(
    kind: &[u8; 4],
    channel: u32,
    token: u32,
    sequence: u32,
    request: u32,
    body: &[u8],
) -> Vec<u8> {
    let mut all: Vec<u8> = [channel, token, sequence, request]
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect();
    all.extend(body);
    message(kind, &all)
}

/// Feeds bytes to a server in pieces that fit.
pub(crate) fn feed(server: &mut ServerConnection, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let space = server.receive_space();
        let count = bytes.len().min(space.len());
        assert!(count > 0, "poll first");
        space[..count].copy_from_slice(&bytes[..count]);
        server.received(count);
        bytes = &bytes[count..];
    }
}

/// Returns the StatusCode and reason of an Error message, which must be all of `bytes`.
pub(crate) fn error_message(bytes: &[u8]) -> (StatusCode, String) {
    assert_eq!(&bytes[..4], b"ERRF", "{bytes:?}");
    let mut d = Decoder::new(&bytes[8..]);
    let status = StatusCode(d.u32().unwrap());
    let reason = d.string().unwrap().unwrap_or_default().to_owned();
    assert_eq!(d.remaining(), 0);
    (status, reason)
}
