//! Requests and responses as bytes, for those that measure or attack below the client.

use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::{ReadRequest, ReadValueId, RequestHeader};
use takt_ua::{DateTime, NodeId, NodeIdRef, Structure};

/// The attribute Value (OPC 10000-6, A.1).
const VALUE: u32 = 13;

/// Encodes a message: TypeId and structure (OPC 10000-6, 5.2.9).
pub fn message<S: Structure + Encode>(structure: &S) -> Vec<u8> {
    let mut message = NodeId::numeric(0, S::BINARY_ENCODING_ID).encode_to_vec();
    message.append(&mut structure.encode_to_vec());
    message
}

/// Returns the header of a request.
#[must_use]
pub fn header(token: &NodeId) -> RequestHeader {
    RequestHeader {
        authentication_token: token.clone(),
        timestamp: DateTime::now(),
        request_handle: 1,
        timeout_hint: 1000,
        ..RequestHeader::default()
    }
}

/// Returns the Read of one Value with both timestamps.
#[must_use]
pub fn read_request(token: &NodeId, node: &NodeId) -> ReadRequest {
    ReadRequest {
        request_header: header(token),
        timestamps_to_return: TimestampsToReturn::Both,
        nodes_to_read: vec![ReadValueId {
            node_id: node.clone(),
            attribute_id: VALUE,
            ..ReadValueId::default()
        }],
        ..ReadRequest::default()
    }
}

/// Decodes a response that must be an `S`.
///
/// # Errors
/// The text says which other message it is, or what is wrong with its bytes.
pub fn decode<S: Structure + for<'a> Decode<'a>>(response: &[u8]) -> Result<S, String> {
    let mut decoder = Decoder::new(response);
    let type_id = NodeIdRef::decode(&mut decoder).map_err(|error| error.to_string())?;
    if type_id != NodeIdRef::numeric(0, S::BINARY_ENCODING_ID) {
        return Err(format!("expected {}, received {type_id}", S::NAME));
    }
    S::decode(&mut decoder).map_err(|error| error.to_string())
}
