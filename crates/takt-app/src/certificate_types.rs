//! Types of certificates of applications (OPC 10000-12, 7.8.4), and the kinds of their keys.

use takt_crypto::{EllipticCurve, KeyKind};
use takt_ua::{NodeId, ids};

/// Returns the NodeId of the type of certificates with keys of this kind.
pub(crate) fn type_of(kind: KeyKind) -> NodeId {
    NodeId::from(match kind {
        KeyKind::Rsa => ids::RSA_SHA256_APPLICATION_CERTIFICATE_TYPE,
        KeyKind::Ec(EllipticCurve::NistP256) => ids::ECC_NIST_P256_APPLICATION_CERTIFICATE_TYPE,
        KeyKind::Ec(EllipticCurve::NistP384) => ids::ECC_NIST_P384_APPLICATION_CERTIFICATE_TYPE,
        KeyKind::Ec(EllipticCurve::Curve25519) => ids::ECC_CURVE25519_APPLICATION_CERTIFICATE_TYPE,
    })
}

/// Returns the kind of the keys of a type of certificates; `None` for another type.
pub(crate) fn kind_of(certificate_type: &NodeId) -> Option<KeyKind> {
    let mut kinds = KeyKind::ALL.into_iter();
    kinds.find(|kind| type_of(*kind) == *certificate_type)
}
