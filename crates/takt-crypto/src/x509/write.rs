//! DER as certificates and signing requests that are created here have it.

use std::net::IpAddr;

use der::asn1::ObjectIdentifier;

use super::element::tag;
use super::oid;
use crate::policy::{EllipticCurve, KeyKind};

/// Returns an element whose content is that of `parts`.
pub(crate) fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length = parts.iter().map(|part| part.len()).sum();
    let mut element = header(tag, length);
    for part in parts {
        element.extend_from_slice(part);
    }
    element
}

/// Returns tag and length (X.690, 10.1).
fn header(tag: u8, length: usize) -> Vec<u8> {
    match u8::try_from(length) {
        Ok(length @ 0..0x80) => vec![tag, length],
        _ => {
            let bytes = length.to_be_bytes();
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            let bytes = bytes.get(zeros..).unwrap_or_default();
            let count = u8::try_from(bytes.len()).unwrap_or(0x7F);
            [&[tag, 0x80 | count], bytes].concat()
        }
    }
}

/// Returns a SEQUENCE.
pub(crate) fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    element(tag::SEQUENCE, parts)
}

/// Returns an OBJECT IDENTIFIER.
pub(crate) fn identifier(oid: &ObjectIdentifier) -> Vec<u8> {
    element(tag::OBJECT_IDENTIFIER, &[oid.as_bytes()])
}

/// Returns a name of attributes in UTF-8, each in a relative name of its own (RFC 5280, 4.1.2.4).
pub(crate) fn name(attributes: &[(ObjectIdentifier, &str)]) -> Vec<u8> {
    let attributes = attributes.iter().map(|(kind, value)| {
        let value = element(tag::UTF8_STRING, &[value.as_bytes()]);
        let attribute = sequence(&[&identifier(kind), &value]);
        element(tag::SET, &[&attribute])
    });
    sequence(&[&attributes.collect::<Vec<_>>().concat()])
}

/// Returns names for a SubjectAltName (RFC 5280, 4.2.1.6).
pub(crate) fn general_names(
    uri: Option<&str>,
    host_names: &[String],
    addresses: &[IpAddr],
) -> Vec<u8> {
    let mut names = Vec::new();
    if let Some(uri) = uri {
        names.extend(element(tag::context(6), &[uri.as_bytes()]));
    }
    for host in host_names {
        names.extend(element(tag::context(2), &[host.as_bytes()]));
    }
    for address in addresses {
        names.extend(match address {
            IpAddr::V4(address) => element(tag::context(7), &[&address.octets()]),
            IpAddr::V6(address) => element(tag::context(7), &[&address.octets()]),
        });
    }
    names
}

/// Returns a KeyUsage (RFC 5280, 4.2.1.3); bit 0 is digitalSignature.
pub(crate) fn key_usage(bits: u16) -> Vec<u8> {
    let bytes = bits.to_le_bytes().map(u8::reverse_bits);
    // A list of named bits ends with its last bit that is set (X.690, 11.2.2).
    let used = match bytes {
        [0, 0] => 0,
        [_, 0] => 1,
        _ => 2,
    };
    let bytes = bytes.get(..used).unwrap_or_default();
    let unused = bytes.last().map_or(0, |last| last.trailing_zeros());
    let unused = u8::try_from(unused).unwrap_or_default();
    element(tag::BIT_STRING, &[&[unused], bytes])
}

/// Returns an extension.
pub(crate) fn extension(oid: &ObjectIdentifier, is_critical: bool, value: &[u8]) -> Vec<u8> {
    let critical: &[u8] = match is_critical {
        true => &[tag::BOOLEAN, 1, 0xFF],
        false => &[],
    };
    let value = element(tag::OCTET_STRING, &[value]);
    sequence(&[&identifier(oid), critical, &value])
}

/// Returns the AlgorithmIdentifier of signatures with keys of this kind (RFC 4055, 5; RFC 5758, 3.2; RFC 8410, 3).
pub(crate) fn algorithm(kind: KeyKind) -> Vec<u8> {
    match kind {
        // Only RSA has parameters: NULL.
        KeyKind::Rsa => sequence(&[&identifier(&oid::SHA256_WITH_RSA), &[0x05, 0x00]]),
        KeyKind::Ec(EllipticCurve::NistP256) => sequence(&[&identifier(&oid::ECDSA_WITH_SHA256)]),
        KeyKind::Ec(EllipticCurve::NistP384) => sequence(&[&identifier(&oid::ECDSA_WITH_SHA384)]),
        KeyKind::Ec(EllipticCurve::Curve25519) => sequence(&[&identifier(&oid::ED25519)]),
    }
}
