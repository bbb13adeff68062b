//! ServiceFaults that the transport itself sends because a response is too large for the client (OPC 10000-4, 5.3).

use takt_ua::binary::{Decode, Decoder, EncodeError, Encoder};
use takt_ua::structures::{ResponseHeader, ServiceFault};
use takt_ua::{DateTime, NodeIdRef, StatusCode};

use crate::open_channel::Message;

/// Returns the RequestHandle of an encoded request: the client matches a fault by it, besides the RequestId.
pub(crate) fn handle_of_request(body: &[u8]) -> Option<u32> {
    let mut d = Decoder::new(body);
    NodeIdRef::skip(&mut d).ok()?; // TypeId
    NodeIdRef::skip(&mut d).ok()?; // authenticationToken
    d.i64().ok()?; // timestamp
    d.u32().ok()
}

/// Returns the RequestHandle in an encoded response.
pub(crate) fn handle_of_response(body: &[u8]) -> Option<u32> {
    let mut d = Decoder::new(body);
    NodeIdRef::skip(&mut d).ok()?; // TypeId
    d.i64().ok()?; // timestamp
    d.u32().ok()
}

/// Returns an encoded ServiceFault.
pub(crate) fn message(request_handle: u32, status: StatusCode) -> Vec<u8> {
    let mut message = Vec::new();
    let mut encoder = Encoder::growing(&mut message, usize::MAX);
    let written = encode_fault(&mut encoder, request_handle, status);
    debug_assert!(written.is_ok(), "it has no limit");
    message
}

/// Writes a ServiceFault.
pub(crate) fn encode_fault(
    encoder: &mut Encoder<'_>,
    request_handle: u32,
    status: StatusCode,
) -> Result<(), EncodeError> {
    let response_header = ResponseHeader {
        timestamp: DateTime::now(),
        request_handle,
        service_result: status,
        ..ResponseHeader::default()
    };
    ServiceFault { response_header }.encode_message(encoder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open_channel::decode_message;
    use takt_ua::NodeId;
    use takt_ua::structures::{ReadRequest, RequestHeader};

    #[test]
    fn a_fault_carries_the_handle_of_its_request() {
        let request = ReadRequest {
            request_header: RequestHeader {
                authentication_token: NodeId::string(3, "token"),
                timestamp: DateTime::now(),
                request_handle: 0xABCD,
                ..RequestHeader::default()
            },
            ..ReadRequest::default()
        };
        let mut body = Vec::new();
        let mut e = Encoder::growing(&mut body, 1000);
        request.encode_message(&mut e).unwrap();
        let handle = handle_of_request(&body).unwrap();
        assert_eq!(handle, 0xABCD);

        let mut out = Vec::new();
        let mut e = Encoder::growing(&mut out, 100);
        encode_fault(&mut e, handle, StatusCode::BadResponseTooLarge).unwrap();
        assert_eq!(handle_of_response(&out), Some(0xABCD));
        let fault: ServiceFault = decode_message(&out).unwrap();
        assert_eq!(
            fault.response_header.service_result,
            StatusCode::BadResponseTooLarge
        );
        assert_eq!(handle_of_request(&[]), None);
    }
}
