//! A Session with a server in this process: requests are handed to it as a transport would.

use std::sync::Arc;

use takt_services::{Connection, Outcome, Peer, Server, Transport};
use takt_ua::binary::{Decode, Encode, Encoder};
use takt_ua::structures::{
    ActivateSessionRequest, ActivateSessionResponse, CreateSessionRequest, CreateSessionResponse,
};
use takt_ua::{ByteString, NodeId, Structure};

use super::error::BenchError;
use super::floors::MessageSizes;
use super::payload::Payload;
use super::subject;

/// Room for every response that is asked for here.
const RESPONSE: usize = 16 * 1024;

/// An activated Session.
pub(crate) struct LocalSession {
    server: Arc<Server>,
    connection: Connection,
    token: NodeId,
    response: Vec<u8>,
}

impl LocalSession {
    /// Opens a Session with a [server](subject::server) of its own.
    pub(crate) fn open() -> Result<Self, BenchError> {
        let server = subject::server()?;
        let peer = Peer {
            transport: Transport::SharedMemory,
            user: None,
            process: Some(std::process::id()),
            address: "bench".to_owned(),
        };
        let connection = server.connect(peer, "opc.iox2://TaktBench".to_owned(), Arc::new(|| ()));
        let mut session = Self {
            server,
            connection,
            token: NodeId::NULL,
            response: vec![0; RESPONSE],
        };
        let created: CreateSessionResponse = session.call(&CreateSessionRequest {
            request_header: subject::header(&NodeId::NULL),
            client_nonce: ByteString::from(vec![0; 32]),
            requested_session_timeout: 3_600_000.0,
            ..CreateSessionRequest::default()
        })?;
        session.token = created.authentication_token;
        let _: ActivateSessionResponse = session.call(&ActivateSessionRequest {
            request_header: subject::header(&session.token),
            ..ActivateSessionRequest::default()
        })?;
        Ok(session)
    }

    fn call<Q: Structure + Encode, R: Structure + for<'a> Decode<'a>>(
        &mut self,
        request: &Q,
    ) -> Result<R, BenchError> {
        subject::decode(self.handle(&subject::message(request)))
            .map_err(BenchError::round_trip(Q::NAME))
    }

    /// Hands over one request and gives its response, which is encoded into a buffer that is used again and again.
    #[inline]
    pub(crate) fn handle(&mut self, request: &[u8]) -> &[u8] {
        let mut encoder = Encoder::fixed(&mut self.response);
        let outcome = self
            .server
            .handle(&mut self.connection, 1, request, &mut encoder);
        let length = encoder.position();
        match outcome {
            Outcome::Complete => self.response.get(..length).unwrap_or_default(),
            Outcome::Deferred => &[],
        }
    }

    /// The Read of `payload`.
    pub(crate) fn read_message(&self, payload: Payload) -> Vec<u8> {
        subject::read_message(&self.token, &subject::node_id(1, payload))
    }

    /// The Write of one UInt32.
    pub(crate) fn write_message(&self) -> Vec<u8> {
        subject::write_message(&self.token, &subject::node_id(1, Payload::Scalar))
    }

    /// How many bytes the Reads and their responses have, TypeId and structure.
    pub(crate) fn message_sizes(&mut self) -> Result<MessageSizes, BenchError> {
        let mut sizes = [(0, 0); 2];
        for (size, payload) in sizes.iter_mut().zip(Payload::ALL) {
            let request = self.read_message(payload);
            let response = self.handle(&request);
            subject::check_read(response, payload)
                .map_err(BenchError::round_trip("Read in this process"))?;
            *size = (request.len(), response.len());
        }
        let [scalar, array] = sizes;
        Ok(MessageSizes::new(|payload| match payload {
            Payload::Scalar => scalar,
            Payload::Array => array,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_answered_with_as_much_as_they_ask_for() {
        let mut session = LocalSession::open().unwrap();
        let sizes = session.message_sizes().unwrap();
        for payload in Payload::ALL {
            assert!(sizes.response(payload) > payload.bytes());
            assert!(sizes.response(payload) < payload.bytes() + 200);
            assert!((50..200).contains(&sizes.request(payload)));
        }
    }
}
