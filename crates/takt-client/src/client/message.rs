//! Messages in the OPC UA Binary DataEncoding (OPC 10000-6, 5.2.9), and what their headers contain.

use std::time::{Duration, Instant};

use takt_ua::binary::{Decode, DecodeError, DecodeErrorKind, Decoder, Encode, Encoder, Limits};
use takt_ua::structures::{RequestHeader, ResponseHeader, ServiceFault};
use takt_ua::{DateTime, NodeId, NodeIdRef, Structure, UaString, foreign};

use super::request::ServiceResponse;
use crate::endpoint::Endpoint;
use crate::error::{ClientError, ProtocolError};

/// Returns the time until `deadline`, at least a millisecond: a timeout of zero would not wait.
pub(crate) fn remaining(deadline: Instant) -> Duration {
    deadline
        .saturating_duration_since(Instant::now())
        .max(Duration::from_millis(1))
}

pub(crate) fn request_header(
    token: &NodeId,
    request_handle: u32,
    timeout: Duration,
) -> RequestHeader {
    RequestHeader {
        authentication_token: token.clone(),
        timestamp: DateTime::now(),
        request_handle,
        timeout_hint: u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX),
        ..RequestHeader::default()
    }
}

/// Writes a message body: the NodeId of the structure's binary encoding, then the structure (OPC 10000-6, 5.2.9).
pub(crate) fn encode_message<S: Structure + Encode>(
    message: &S,
    encoder: &mut Encoder<'_>,
) -> Result<(), takt_ua::binary::EncodeError> {
    NodeId::numeric(0, S::BINARY_ENCODING_ID).encode(encoder)?;
    message.encode(encoder)
}

/// Decodes a message body that is an `S` or a ServiceFault, within limits. Values that cannot be decoded are bad ones ([`foreign`]).
pub(crate) fn decode_message<S: ServiceResponse>(
    service: &'static str,
    endpoint: &Endpoint,
    limits: Limits,
    body: &[u8],
) -> Result<S, ClientError> {
    let body = foreign::decode_within(body, limits, |decoder| Body::decode(decoder));
    let body = body.map_err(|error| match error.kind {
        DecodeErrorKind::MemoryExceeded => {
            ClientError::too_much(endpoint, "elements", limits.max_memory)
        }
        _ => ClientError::protocol(endpoint, error),
    });
    match body? {
        Body::Response(response) => {
            let response: S = response;
            let status = response.header().service_result;
            match status.is_bad() {
                true => Err(ClientError::Service { service, status }),
                false => Ok(response),
            }
        }
        Body::Fault(fault) => Err(ClientError::Service {
            service,
            status: bad_result(&fault.response_header),
        }),
        Body::Other(type_id) => {
            let cause = ProtocolError::Content(format!("{} has the type {type_id}", S::NAME));
            Err(ClientError::protocol(endpoint, cause))
        }
    }
}

/// A message body.
enum Body<S> {
    Response(S),
    Fault(ServiceFault),
    /// Another type than that of the response.
    Other(NodeId),
}

impl<S: ServiceResponse> Body<S> {
    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let type_id = NodeIdRef::decode(decoder)?;
        if type_id == NodeIdRef::numeric(0, ServiceFault::BINARY_ENCODING_ID) {
            return ServiceFault::decode(decoder).map(Self::Fault);
        }
        match type_id == NodeIdRef::numeric(0, S::BINARY_ENCODING_ID) {
            true => S::decode(decoder).map(Self::Response),
            false => Ok(Self::Other(type_id.to_owned())),
        }
    }
}

/// Returns the fault's StatusCode, which some servers leave at Good.
pub(super) fn bad_result(header: &ResponseHeader) -> takt_ua::StatusCode {
    if header.service_result.is_bad() {
        header.service_result
    } else {
        takt_ua::StatusCode::BadUnexpectedError
    }
}

/// Returns a text as the standard's String.
pub(super) fn text(value: &str) -> UaString {
    UaString::from(value)
}
