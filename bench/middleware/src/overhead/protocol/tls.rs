//! TLS records (RFC 8446, 5.1): type, version, length.

use super::super::message::{Part, Purpose};

/// Returns true for the first bytes of a side of a TLS connection: a handshake.
pub(super) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(&[22, 3])
}

/// Returns true for the first bytes of any record.
pub(super) fn is_record(bytes: &[u8]) -> bool {
    matches!(bytes, [20..=23, 3, ..])
}

pub(super) fn next(rest: &[u8], _: usize) -> Option<Part> {
    let [code, _, _, high, low, ..] = *rest else {
        return None;
    };
    let bytes = 5 + usize::from(u16::from_be_bytes([high, low]));
    let (name, purpose) = match code {
        23 => ("TLS application data", Purpose::Unknown),
        22 => ("TLS handshake", Purpose::Control),
        _ => ("TLS alert or change", Purpose::Control),
    };
    (bytes <= rest.len()).then(|| Part::new(name, purpose, bytes))
}
