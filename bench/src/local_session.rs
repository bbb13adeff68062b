//! A Session with a server in this process. It passes requests to the server as a transport would.

use std::sync::Arc;

use takt_services::{Connection, Server};
use takt_space::{ChannelSecurity, Peer};
use takt_ua::binary::{Decode, Encode, Encoder};
use takt_ua::request_handler::RequestOutcome;
use takt_ua::structures::{
    ActivateSessionRequest, ActivateSessionResponse, CreateSessionRequest, CreateSessionResponse,
};
use takt_ua::{ByteString, NodeId, Structure};

use super::error::BenchError;
use super::payload::Payload;
use super::round_trip::{Access, MessageSizes, Operation, Service};
use super::subject;

/// Bytes of a response besides its value.
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
    pub(crate) fn open(payloads: &[Payload]) -> Result<Self, BenchError> {
        let server = subject::server(payloads, false)?;
        let largest = payloads.iter().map(|payload| payload.bytes()).max();
        let peer = Peer::SharedMemory {
            user: None,
            process: Some(std::process::id()),
            groups: Vec::new(),
        };
        let connection = server.connect(
            peer,
            ChannelSecurity::none(),
            "opc.iox2://TaktBench".to_owned(),
            Arc::new(|| ()),
        );
        let mut session = Self {
            server,
            connection,
            token: NodeId::NULL,
            response: vec![0; largest.unwrap_or(0) + RESPONSE],
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

    /// Handles one request and returns its response, in a buffer that is reused.
    #[inline]
    pub(crate) fn handle(&mut self, request: &[u8]) -> &[u8] {
        let mut encoder = Encoder::fixed(&mut self.response);
        let outcome = self
            .server
            .handle(&mut self.connection, 1, request, &mut encoder);
        let length = encoder.position();
        match outcome {
            RequestOutcome::Complete => self.response.get(..length).unwrap_or_default(),
            RequestOutcome::Deferred => &[],
        }
    }

    /// Returns the message of a Read.
    pub(crate) fn read_message(&self, payload: Payload) -> Vec<u8> {
        let node = subject::node_id(1, payload);
        subject::message(&subject::read_request(&self.token, &node))
    }

    /// Returns the message of a Write.
    pub(crate) fn write_message(&self, payload: Payload) -> Vec<u8> {
        let node = subject::node_id(1, payload);
        subject::message(&subject::write_request(&self.token, &node, payload))
    }

    /// Returns the operation with the sizes of its messages, after carrying it out once.
    pub(crate) fn operation(
        &mut self,
        service: Service,
        payload: Payload,
        access: Access,
    ) -> Result<Operation, BenchError> {
        let request = match service {
            Service::Read => self.read_message(payload),
            Service::Write => self.write_message(payload),
        };
        let response = self.handle(&request);
        let checked = match service {
            Service::Read => subject::check_read(response, payload),
            Service::Write => subject::check_write(response),
        };
        checked.map_err(BenchError::round_trip("this process"))?;
        Ok(Operation {
            service,
            payload,
            access,
            sizes: MessageSizes {
                request: request.len(),
                response: response.len(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_as_long_as_their_values_require() {
        let large = Payload::of_bytes(1 << 20).unwrap();
        let payloads = [Payload::SCALAR, Payload::ARRAY, large];
        let mut session = LocalSession::open(&payloads).unwrap();
        for payload in payloads {
            let mut sizes = |service| {
                let operation = session.operation(service, payload, Access::Bytes);
                operation.unwrap().sizes
            };
            let (read, write) = (sizes(Service::Read), sizes(Service::Write));
            for (long, short) in [
                (read.response, read.request),
                (write.request, write.response),
            ] {
                assert!(long > payload.bytes() && long < payload.bytes() + 200);
                assert!((20..200).contains(&short), "{short}");
            }
        }
    }
}
