//! Response messages that no service encodes: the ResponseHeader and the ServiceFault (OPC 10000-4, 7.33 and 7.35).

use takt_ua::binary::{EncodeError, Encoder};
use takt_ua::{DateTime, StatusCode, ids};

use super::fault::Fault;

/// Encodes the TypeId and the ResponseHeader (OPC 10000-4, 7.33) in one write: no diagnostics, an empty string table, no
/// additional header.
#[inline]
pub(crate) fn response_header(
    response: &mut Encoder<'_>,
    encoding_id: u32,
    now: DateTime,
    request_handle: u32,
    result: StatusCode,
) -> Result<(), EncodeError> {
    let Ok(id) = u16::try_from(encoding_id) else {
        // No service has such an id; its encoding would need more bytes.
        return Err(EncodeError::LengthOverflow);
    };
    let mut header = [0; HEADER_SIZE];
    let mut put = |at: usize, bytes: &[u8]| {
        if let Some(target) = header.get_mut(at..at + bytes.len()) {
            target.copy_from_slice(bytes);
        }
    };
    // NodeId in its four byte form: encoding byte 1, namespace 0, identifier.
    put(0, &[1, 0]);
    put(2, &id.to_le_bytes());
    put(4, &now.0.to_le_bytes());
    put(12, &request_handle.to_le_bytes());
    put(16, &result.0.to_le_bytes());
    // serviceDiagnostics: 1 byte, empty. stringTable: null.
    put(21, &(-1_i32).to_le_bytes());
    // additionalHeader: null NodeId, no body.
    response.bytes(&header)
}

const HEADER_SIZE: usize = 28;

/// Encodes a ServiceFault.
pub(crate) fn service_fault(
    response: &mut Encoder<'_>,
    request_handle: u32,
    fault: Fault,
) -> Result<(), EncodeError> {
    let id = ids::SERVICE_FAULT_ENCODING_DEFAULT_BINARY;
    response_header(response, id, DateTime::now(), request_handle, fault.0)
}

/// Returns a ServiceFault as a message of its own.
pub(crate) fn fault_message(request_handle: u32, fault: Fault) -> Vec<u8> {
    let mut message = Vec::with_capacity(HEADER_SIZE);
    let mut response = Encoder::growing(&mut message, HEADER_SIZE);
    // It fits: the buffer was allocated with this size.
    let _ = service_fault(&mut response, request_handle, fault);
    message
}
